/** Turns command-line options into parts of a request. */
import { REQUIRABLE, type Stage } from '../../engine/loop.ts'
import { RalphError } from '../../error.ts'
import { globTrouble } from '../../formats/glob.ts'
import { serviceTrouble } from '../../formats/services.ts'
import { given } from '../../request/given.ts'
import type { LoopRequest } from '../../request/request.ts'
import { parseIterations } from '../../request/resolve.ts'
import { type Args, type CommandSpec, usage } from './args.ts'

/** The options about the agent. */
export function agentRequest(args: Args): Pick<LoopRequest, AgentOption> {
  return given({
    agentArgs: args.rest,
    sandbox: sandboxOf(args),
    sandboxAllow: servicesOf(args),
    model: args.text('model'),
    permissions: oneOf(args, 'permissions', ['bypass', 'ask']),
    context: oneOf(args, 'context', ['fresh', 'same']),
    silenceMinutes: args.amount('silence'),
    checkMinutes: args.amount('check-timeout'),
  })
}

type AgentOption =
  | 'model'
  | 'permissions'
  | 'context'
  | 'agentArgs'
  | 'sandbox'
  | 'sandboxAllow'
  | 'silenceMinutes'
  | 'checkMinutes'

/** `off` overrides a config that turns the sandbox on. */
function sandboxOf(args: Args): LoopRequest['sandbox'] {
  const how = oneOf(args, 'sandbox', ['strict', 'off'])
  return how === 'off' ? false : (how ?? (args.flag('sandbox') ? true : undefined))
}

function servicesOf(args: Args): string[] | undefined {
  const names = args.many('sandbox-allow').flatMap((text) => text.split(',').map((name) => name.trim()))
  for (const name of names) {
    const trouble = serviceTrouble(name)
    if (trouble) throw usage(args.spec, `--sandbox-allow: ${trouble}.`)
  }
  return names.length > 0 ? [...new Set(names)] : undefined
}

/** The options about the proof. */
export function proofRequest(args: Args): Pick<LoopRequest, ProofOption> {
  return given({
    proof: oneOf(args, 'proof', ['off', 'seal', 'full']),
    require: oneOf(args, 'require', REQUIRABLE),
    protect: someOf(args, 'protect'),
    mayChange: someOf(args, 'may-change'),
    proofMinutes: args.amount('proof-minutes'),
  })
}

type ProofOption = 'proof' | 'require' | 'protect' | 'mayChange' | 'proofMinutes'

/** The options about the proof that every command that starts loops has. */
export const PROOF_OPTIONS: readonly string[] = ['require', 'protect', 'may-change', 'proof', 'proof-minutes']

/** Valid globs; undefined if none is given. */
function someOf(args: Args, name: string): string[] | undefined {
  const texts = args.many(name)
  for (const text of texts) {
    const trouble = globTrouble(text)
    if (text.trim() === '') throw usage(args.spec, `--${name} is empty. Give a glob such as "test/**".`)
    if (trouble) throw usage(args.spec, `--${name} "${text}" ${trouble}. Write it like "test/**".`)
  }
  return texts.length > 0 ? texts : undefined
}

export function limitsRequest(args: Args): NonNullable<LoopRequest['limits']> {
  const text = args.text('max-iterations')
  const iterations = text === undefined ? undefined : parseIterations(text)
  if (text !== undefined && iterations === undefined)
    throw usage(args.spec, `--max-iterations must be a whole number, auto or auto:N, got "${text}".`)
  return given({
    iterations,
    minutes: args.amount('timeout'),
    costUsd: args.amount('max-cost'),
    tokens: args.whole('max-tokens', 1),
    noProgress: args.whole('no-progress', 1),
    sameError: args.whole('same-error', 1),
    overloadMinutes: args.amount('overload'),
    onLimit: oneOf(args, 'on-limit', ['wait', 'stop']),
  })
}

/** Usage errors that an operation finds also point to the help of the command. */
export async function withHelp<Result>(spec: CommandSpec, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof RalphError && cause.code === 'usage') throw usage(spec, cause.message)
    throw cause
  }
}

function orOf(choices: readonly string[]): string {
  return `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`
}

/** One of these choices; undefined if the option is not given. */
export function oneOf<Choice extends string>(args: Args, name: string, choices: readonly Choice[]): Choice | undefined {
  const text = args.text(name)
  const found = choices.find((choice) => choice === text)
  if (text !== undefined && found === undefined)
    throw usage(args.spec, `--${name} must be ${orOf(choices)}, got "${text}".`)
  return found
}

/** `NAME=CMD`, or a name alone. */
export function parseStage(text: string): Stage {
  const at = text.indexOf('=')
  const name = (at < 0 ? text : text.slice(0, at)).trim()
  return at < 0 ? { name } : { name, check: text.slice(at + 1).trim() }
}
