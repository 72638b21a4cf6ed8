/** `ralph run`: starts a loop from a prompt and drives it in this process. */
import { resolve } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { readText } from '../../host/config.ts'
import { getForecast } from '../../operations/get-forecast.ts'
import { start } from '../../operations/start-loop.ts'
import { given } from '../../request/given.ts'
import { type Args, parseArgs, usage } from './args.ts'
import type { Command, Context } from './context.ts'
import { driveHere } from './drive-here.ts'
import { agentRequest, limitsRequest, oneOf, parseStage, proofRequest, withHelp } from './request.ts'
import { runSpec } from './run-options.ts'

export const run: Command = {
  spec: runSpec,
  async run(argv, context) {
    const args = parseArgs(runSpec, argv)
    const prompt = await promptOf(args, context)
    const asked = given({
      prompt,
      dir: args.text('dir'),
      agent: args.text('agent'),
      promise: promised(args),
      signals: args.many('signal'),
      checks: args.many('verify'),
      until: args.text('until'),
      type: typed(args),
      stages: args.many('stage').map(parseStage),
      limits: limitsRequest(args),
      onHalt: oneOf(args, 'on-halt', ['keep', 'best', 'restore']),
      worktree: args.flag('worktree'),
      mcp: args.flag('mcp') || undefined,
    })
    const starting = start.run(context, { ...asked, ...agentRequest(args), ...proofRequest(args) })
    const { loop, why } = await withHelp(runSpec, starting)
    const forecast = await getForecast.run(context, { loop })
    return driveHere(context, loop, {
      ...given({ json: args.flag('json'), notify: args.flag('notify'), why }),
      forecast,
    })
  },
}

export function promised(args: Args): string | undefined {
  const promise = args.text('completion-promise')
  if (promise?.trim() === '') throw usage(args.spec, '--completion-promise is empty. Give some text, or leave it out.')
  return promise
}

export function typed(args: Args): string | undefined {
  const type = args.text('type')?.trim()
  if (type === '') throw usage(args.spec, '--type is empty. Give a kind of work such as feature, or leave it out.')
  return type
}

export async function promptOf(args: Args, context: Context): Promise<string> {
  const until = args.text('until')
  if (until?.trim() === '') throw usage(args.spec, '--until is empty. Give the command that must pass.')
  const text = (await readPrompt(args, context)) ?? (until && `Make the command \`${until}\` pass.`)
  if (text?.trim()) return text
  throw usage(
    args.spec,
    `Missing prompt. Say what to do: ralph ${args.spec.name} "Make the tests pass" … or use --file.`,
  )
}

async function readPrompt(args: Args, context: Context): Promise<string | undefined> {
  const [word, ...more] = args.words
  if (more.length > 0)
    throw usage(args.spec, `The prompt must be one argument, got ${args.words.length}. Put it in quotes.`)
  const file = args.text('file')
  if (file !== undefined && word !== undefined) throw usage(args.spec, 'Use either a prompt or --file, not both.')
  if (word === '-') return readAll(context.machine.stdin)
  if (file === undefined) return word
  return readText(resolve(context.cwd, file), 'prompt')
}
