/** Options of a command line as parts of a request. */
import { RalphError } from '../../error.ts'
import type { LoopRequest } from '../../request/request.ts'
import { parseIterations } from '../../request/resolve.ts'
import { type Args, type CommandSpec, usage } from './args.ts'

/** What is said about the agent's work. */
export function agentRequest(
  args: Args,
): Pick<
  LoopRequest,
  'model' | 'permissions' | 'context' | 'agentArgs' | 'sandbox' | 'silenceMinutes' | 'checkMinutes'
> {
  const model = args.text('model')
  const permissions = oneOf(args, 'permissions', ['bypass', 'ask'])
  const context = oneOf(args, 'context', ['fresh', 'same'])
  const [silenceMinutes, checkMinutes] = [args.amount('silence'), args.amount('check-timeout')]
  return {
    agentArgs: args.rest,
    sandbox: args.flag('sandbox'),
    ...(model === undefined ? {} : { model }),
    ...(permissions === undefined ? {} : { permissions }),
    ...(context === undefined ? {} : { context }),
    ...(silenceMinutes === undefined ? {} : { silenceMinutes }),
    ...(checkMinutes === undefined ? {} : { checkMinutes }),
  }
}

export function limitsRequest(args: Args): NonNullable<LoopRequest['limits']> {
  const given = args.text('max-iterations')
  const iterations = given === undefined ? undefined : parseIterations(given)
  if (given !== undefined && iterations === undefined)
    throw usage(args.spec, `--max-iterations must be a whole number, auto or auto:N, but is "${given}".`)
  const [minutes, costUsd, tokens] = [args.amount('timeout'), args.amount('max-cost'), args.whole('max-tokens', 1)]
  const [noProgress, sameError] = [args.whole('no-progress', 1), args.whole('same-error', 1)]
  return {
    ...(iterations === undefined ? {} : { iterations }),
    ...(minutes === undefined ? {} : { minutes }),
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(noProgress === undefined ? {} : { noProgress }),
    ...(sameError === undefined ? {} : { sameError }),
  }
}

/** What is wrong with what was asked for comes with the way to the help, as what is wrong with the words themselves does. */
export async function withHelp<Result>(spec: CommandSpec, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof RalphError && cause.code === 'usage') throw usage(spec, cause.message)
    throw cause
  }
}

/** One of these words; undefined where none is given. */
export function oneOf<Choice extends string>(args: Args, name: string, choices: readonly Choice[]): Choice | undefined {
  const given = args.text(name)
  const found = choices.find((choice) => choice === given)
  if (given !== undefined && found === undefined)
    throw usage(args.spec, `--${name} must be ${choices.join(' or ')}, but is "${given}".`)
  return found
}
