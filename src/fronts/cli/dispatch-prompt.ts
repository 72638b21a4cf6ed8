/** The prompt of a dispatcher, with completion and history; news appears above it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { RalphError } from '../../error.ts'
import { parseCommandLine } from '../../formats/command-line.ts'
import { nearest } from '../../formats/nearest.ts'
import { writeWhole } from '../../host/files.ts'
import { mask } from '../../host/mask.ts'
import { parseArgs } from './args.ts'
import type { Context } from './context.ts'
import { watchPastes } from './dispatch-pastes.ts'
import { openScreen } from './dispatch-screen.ts'
import { VERBS } from './dispatch-verbs.ts'
import { jsonLine, paint, printable } from './text.ts'

export type PromptLine = {
  /** Prints above the line. */
  above(text: string): void
  close(): void
}

/** `names`: the agents, for completion. `leave`: the user quits; `pause` pauses the loops first. */
export type Prompting = {
  config: string
  names: () => string[]
  leave(pause: boolean): Promise<void>
  /** Reports a bug in ralph. */
  fail(cause: unknown): void
}

const OWN = ['help', 'quit']
const HISTORY = 1_000

export function openPromptLine(context: Context, { config, names, leave, fail }: Prompting): PromptLine {
  const { out } = context
  const history = join(context.home, 'dispatch-history')
  const line = openLine(context, history, names)
  const screen = openScreen(context, line)
  let busy = Promise.resolve()
  let interrupted = 0
  const pastes = watchPastes(context.machine)
  line.on('history', (lines: string[]) => keepHistory(history, lines))
  line.on('line', (part) => {
    if (screen.endWatching()) return
    const text = pastes.join(part)
    if (text === undefined) return
    busy = busy
      .then(() => obey(text))
      .catch(fail)
      .finally(screen.prompt)
  })
  line.on('SIGINT', () => {
    pastes.forget()
    if (screen.endWatching()) return
    if (Date.now() - interrupted < 2_000) return void leave(false)
    interrupted = Date.now()
    screen.above('The agents keep running when you leave. To leave, type quit or press Ctrl-C again.\n')
  })
  line.on('close', () => screen.isClosed() || void leave(false))
  screen.prompt()

  async function obey(text: string): Promise<void> {
    const [first = '', ...rest] = text.trim().split(/\s+/)
    if (first === '') return
    if (first === 'quit' || first === 'exit') return leave(rest[0] === 'pause').finally(screen.close)
    if (first === 'help') return out.write(helpText())
    try {
      const { verb, argv } = readLine(text)
      const args = parseArgs(verb.spec, argv)
      const run = () => verb.run({ args, context, crew: { config } })
      if (args.flag('watch')) return await screen.watch(async () => (await run()).text)
      const { text: said, json } = await (verb === VERBS.attach ? screen.lend(run).finally(pastes.ask) : run())
      out.write(args.flag('json') ? json.map((value) => jsonLine(value)).join('') : said)
    } catch (cause) {
      if (!(cause instanceof RalphError)) throw cause
      out.write(`${cause.message}\n`)
    }
  }

  return {
    above: screen.above,
    close() {
      pastes.close()
      screen.close()
    },
  }
}

function openLine({ machine, out }: Context, history: string, names: () => string[]): Interface {
  return createInterface({
    input: machine.stdin,
    output: machine.stdout,
    prompt: printable(paint(out, 'bold', 'ralph> ')),
    history: readHistory(history),
    historySize: HISTORY,
    completer: (text: string) => complete(text, names()),
  })
}

/** `1: fix the tests` and `say 1 use tabs` keep their text as typed; other lines are split as in a shell. */
export function readLine(text: string): { verb: (typeof VERBS)[string]; argv: string[] } {
  const [, agent, task] = /^([\w-]+):\s*([\s\S]*)$/.exec(text.trim()) ?? []
  if (agent !== undefined && task !== undefined) return { verb: verbNamed('task'), argv: asTyped(agent, task) }
  const [, name = '', rest = ''] = /^(\S+)\s*([\s\S]*)$/.exec(text.trim()) ?? []
  const verb = verbNamed(name)
  const [, who = '', words = ''] = /^(?!-)(\S+)\s+([\s\S]+)$/.exec(rest) ?? []
  if (words !== '' && (name === 'say' || (name === 'task' && !/^--(file|config|json)\b/.test(words))))
    return { verb, argv: asTyped(who, words) }
  return { verb, argv: rest === '' ? [] : parseCommandLine(rest) }
}

/** None of the text is parsed as an option. */
function asTyped(agent: string, words: string): string[] {
  return [agent, '--', words.replace(/^--\s+/, '')]
}

function verbNamed(name: string): (typeof VERBS)[string] {
  const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined
  if (verb) return verb
  const known = [...Object.keys(VERBS), ...OWN]
  const close = nearest(name, known)
  throw new RalphError(
    'usage',
    `Unknown command: "${name}".${close ? ` Did you mean "${close}"?` : ''} To give agent 1 a task, type "1: what to do". Type "help" for all commands.`,
  )
}

function complete(text: string, names: readonly string[]): [string[], string] {
  const words = text.split(/\s+/)
  const last = words.at(-1) ?? ''
  const choices = words.length === 1 ? [...Object.keys(VERBS), ...OWN, ...names.map((name) => `${name}:`)] : [...names]
  const found = choices.filter((choice) => choice.startsWith(last))
  return [(found.length > 0 ? found : choices).map((choice) => `${choice}${choice.endsWith(':') ? ' ' : ''}`), last]
}

function helpText(): string {
  const rows = [
    ['1: TEXT', 'Gives agent 1 a task.'],
    ...Object.entries(VERBS).map(([name, { spec }]) => [`${name} ${spec.words}`, spec.summary]),
    [
      'quit [pause]',
      'Leaves the dispatcher. The agents keep running in their panes; with "pause", their loops are paused first.',
    ],
  ]
  const width = Math.max(...rows.map(([left = '']) => left.length))
  return rows.map(([left = '', what]) => `  ${left.padEnd(width)}  ${what}\n`).join('')
}

function readHistory(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean)
  } catch {
    return [] // the first time
  }
}

function keepHistory(path: string, lines: readonly string[]): void {
  try {
    writeWhole(path, `${lines.map(mask).join('\n')}\n`)
  } catch {
    // The command has run; only the history is lost.
  }
}
