/** `ralph fleet`: the status, budgets and settings of the fleet. */
import { nearest } from '../../formats/nearest.ts'
import { drainWorker } from '../../operations/drain-worker.ts'
import { getFleet } from '../../operations/get-fleet.ts'
import { setBudget } from '../../operations/set-budget.ts'
import { setFleet } from '../../operations/set-fleet.ts'
import { given } from '../../request/given.ts'
import { type Args, type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command, Context } from './context.ts'
import { drawFleet } from './fleet-status.ts'
import { budgetLine } from './fleet-view.ts'
import { watchChanges } from './status.ts'
import { jsonLine } from './text.ts'

const json = { help: 'print JSON' }

type Verb = 'status' | 'drain' | 'budget' | 'settings'

const verbs: Readonly<Record<Verb, CommandSpec>> = {
  status: {
    name: 'fleet status',
    words: '[options]',
    summary: 'Shows the workers and the tasks that have not ended, and what each is waiting for.',
    options: {
      all: { help: 'include tasks that have ended' },
      watch: { help: 'update whenever something changes, until Ctrl-C' },
      json,
    },
  },
  drain: {
    name: 'fleet drain',
    words: 'WORKER',
    summary: 'Drains a worker: it takes no new tasks, finishes its current iterations, and exits.',
    options: { json },
  },
  budget: {
    name: 'fleet budget',
    words: '[SUBMITTER USD|none]',
    summary: 'Shows the budgets, or sets what a submitter may spend per day (UTC).',
    about: '"*" is everyone without a budget of their own. Tasks over budget wait until the next day.',
    options: { json },
    examples: [
      ['ralph fleet budget ann@example.com 20', '$20 per day for one person'],
      ['ralph fleet budget "*" 5', '$5 per day for everyone else'],
    ],
  },
  settings: {
    name: 'fleet settings',
    words: '[options]',
    summary: 'Shows or changes the settings of the whole fleet.',
    options: {
      'keep-days': { value: 'N', help: 'remove tasks and their loops N days after they end' },
      heartbeat: { value: 'SECONDS', help: 'consider a worker dead when it is silent for SECONDS' },
      'most-deaths': { value: 'N', help: 'give up on a task when N workers in a row died while running it' },
      json,
    },
  },
}

const spec: CommandSpec = {
  name: 'fleet',
  words: '[VERB] …',
  summary: 'Shows the workers and tasks of the fleet, sets budgets and settings, drains workers.',
  about: `Verbs:
${Object.values(verbs)
  .map(({ name, summary }) => `  ${name.slice('fleet '.length).padEnd(8)}  ${summary}`)
  .join('\n')}

Without a verb, it shows the status. \`ralph submit\` submits tasks and \`ralph worker\` runs them; cancel, pause, resume, steer, retry,
show and status accept a task id in place of a loop. docs/fleet.md explains the setup.`,
  options: verbs.status.options,
  examples: [
    ['ralph fleet --database postgres://ralph@db.example.com/ralph', 'the status of the fleet'],
    ['ralph fleet drain build-7-k3f9', 'let a worker finish and exit'],
  ],
}

export const fleet: Command = {
  spec,
  verbs,
  async run(argv, context) {
    const [verb, rest] = verbIn(argv)
    return VERBS[verb](parseArgs(verbs[verb], rest, MOST_WORDS[verb]), context)
  },
}

const MOST_WORDS: Readonly<Record<Verb, number>> = { status: 0, drain: 1, budget: 2, settings: 0 }

function verbIn(argv: readonly string[]): [Verb, readonly string[]] {
  const [word, ...rest] = argv
  if (word === undefined || word.startsWith('-')) return ['status', argv]
  const names = Object.keys(verbs) as Verb[] // Object.keys loses the type
  const found = names.find((name) => name === word)
  if (found) return [found, rest]
  const close = nearest(word, names)
  throw usage(spec, `Unknown verb: "${word}".${close ? ` Did you mean "ralph fleet ${close}"?` : ''}`)
}

const VERBS: Readonly<Record<Verb, (args: Args, context: Context) => Promise<number>>> = {
  async status(args, context) {
    const draw = () => drawFleet(context, { json: args.flag('json'), all: args.flag('all') })
    context.out.write(await draw())
    if (args.flag('watch')) await watchChanges(context, draw)
    return 0
  },

  async drain(args, context) {
    const [worker] = args.words
    if (!worker) throw usage(args.spec, 'Missing WORKER: ralph fleet drain WORKER.')
    const drained = await drainWorker.run(context, { worker })
    return print(args, context, drained, `Worker ${worker} is draining: it exits after its current iterations.\n`)
  },

  async budget(args, context) {
    const [submitter, amount] = args.words
    if (submitter !== undefined && amount === undefined)
      throw usage(args.spec, `Missing amount: ralph fleet budget ${submitter} USD, or none.`)
    const { budgets } =
      submitter === undefined
        ? await getFleet.run(context, {})
        : await setBudget.run(context, { submitter, usd_per_day: usdIn(args, amount ?? '') })
    return print(args, context, { budgets }, budgets.map(budgetLine).join('') || 'No budgets are set.\n')
  },

  async settings(args, context) {
    const patch = given({
      keep_days: args.whole('keep-days', 1),
      heartbeat_seconds: args.whole('heartbeat', 10),
      most_deaths: args.whole('most-deaths', 1),
    })
    const isChange = Object.keys(patch).length > 0
    const { settings } = isChange ? await setFleet.run(context, patch) : await getFleet.run(context, {})
    const { keep_days, heartbeat_seconds, most_deaths } = settings
    const words = `keep-days ${keep_days} · heartbeat ${heartbeat_seconds} s · most-deaths ${most_deaths}\n`
    return print(args, context, { settings }, words)
  },
}

function usdIn(args: Args, text: string): number | null {
  if (text === 'none') return null
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Number(text)
  throw usage(args.spec, `The budget must be a number of dollars or none, got "${text}".`)
}

function print(args: Args, { out }: Context, value: unknown, words: string): number {
  out.write(args.flag('json') ? jsonLine(value) : words)
  return 0
}
