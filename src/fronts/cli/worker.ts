/** `ralph worker`: runs fleet tasks on this machine. */
import { runWorker } from '../../operations/run-worker.ts'
import { given } from '../../request/given.ts'
import { type Args, type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command, Context } from './context.ts'
import { jsonLine, paint } from './text.ts'

const spec: CommandSpec = {
  name: 'worker',
  words: '--database URL [options]',
  summary: 'Runs fleet tasks on this machine until it is stopped.',
  about: `Takes tasks that need only the agents and labels it offers. Its clones and worktrees are in RALPH_HOME; only one worker can use a RALPH_HOME.
git must be able to clone and push without prompting. Ctrl-C or SIGTERM drains the worker: it takes no new tasks, finishes the
current iterations and exits; other workers continue from there. A second Ctrl-C stops at once.`,
  options: {
    concurrency: { value: 'N', help: 'run up to N tasks at once (default: 2)' },
    agents: { value: 'A[,B…]', help: 'agents to offer (default: those logged in here, acp and command)' },
    labels: { value: 'A[,B…]', help: 'labels that tasks can require, such as gpu or linux' },
    account: {
      value: 'AGENT=NAME',
      many: true,
      help: 'account an agent uses here (default: one per agent); a rate limit pauses the account on all workers; may be repeated',
    },
    json: { help: 'print one JSON object per line' },
  },
  examples: [
    ['ralph worker --database postgres://ralph@db.example.com/ralph', 'with all agents that are logged in'],
    ['ralph worker --concurrency 4 --agents claude --labels gpu,linux', 'with RALPH_DATABASE set'],
    ['ralph worker --agents claude --account claude=team-b', 'with a second account'],
  ],
}

export const worker: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 0)
    const [labels, concurrency] = [listIn(args, 'labels') ?? [], args.whole('concurrency', 1) ?? 2]
    const view = openLines(context, args.flag('json'))
    const leaving = onSignals(view.say)
    try {
      await runWorker(context, {
        ...given({ agents: listIn(args, 'agents') }),
        ...{ labels, concurrency, version: context.version, drain: leaving.drain, stop: leaving.stop },
        accounts: accountsIn(args),
        say: (text, task) => view.say(text, task?.id),
        ready: ({ id, host, agents }) =>
          view.begin({ id, host, agents: Object.fromEntries(agents), labels, concurrency }),
      })
      view.say('Worker stopped.')
    } finally {
      leaving.release()
    }
    return leaving.code()
  },
}

function listIn(args: Args, name: string): string[] | undefined {
  const words = args
    .text(name)
    ?.split(',')
    .map((word) => word.trim())
  if (words?.some((word) => word === '')) throw usage(spec, `--${name} contains an empty name.`)
  return words && [...new Set(words)]
}

function accountsIn(args: Args): Map<string, string> {
  return new Map(
    args.many('account').map((text) => {
      const [, agent, name] = /^([\w-]+)=([^\p{Cc}]{1,100})$/u.exec(text) ?? []
      if (agent === undefined || name === undefined)
        throw usage(spec, `--account must be AGENT=NAME, such as claude=team-b, got "${text}".`)
      return [agent, name]
    }),
  )
}

type StartInfo = {
  id: string
  host: string
  agents: Record<string, string>
  labels: readonly string[]
  concurrency: number
}
type Lines = { begin(worker: StartInfo): void; say(text: string, task?: string): void }

function openLines(context: Context, json: boolean): Lines {
  const { out, now, version, database = '', home } = context
  const place = placeOf(database)
  if (json)
    return {
      begin: (worker) => out.write(jsonLine({ type: 'worker-start', ...worker, version, database: place, home })),
      say: (text, task) =>
        out.write(jsonLine({ type: 'note', at: new Date(now()).toISOString(), ...given({ task }), text })),
    }
  return {
    begin({ id, agents, labels, concurrency }) {
      const offered = Object.entries(agents).map(([agent, account]) =>
        agent === account ? agent : `${agent}=${account}`,
      )
      const seats = `${concurrency} ${concurrency === 1 ? 'task' : 'tasks'} at a time`
      const tags = labels.length > 0 ? ` · labels ${labels.join(', ')}` : ''
      out.write(`${paint(out, 'bold', 'ralph worker')} ${id} · ${version} · ${seats} · ${offered.join(', ')}${tags}\n`)
      out.write(`${place} · ${home}\nPress Ctrl-C to stop after the current iterations.\n`)
    },
    say: (text, task) => out.write(`${timeOf(now())}  ${task === undefined ? '' : `${task}  `}${text}\n`),
  }
}

/** Without user and password. */
function placeOf(database: string): string {
  const { hostname, port, pathname } = URL.parse(database) ?? { hostname: '', port: '', pathname: '' }
  return `${hostname || 'this machine'}${port && `:${port}`}${pathname}`
}

function timeOf(at: number): string {
  return new Date(at).toTimeString().slice(0, 8)
}

type Leaving = { drain: AbortSignal; stop: AbortSignal; code(): number; release(): void }

/** The first signal drains the worker, the second stops it at once. */
function onSignals(say: (text: string) => void): Leaving {
  const [drain, stop] = [new AbortController(), new AbortController()]
  let code = 0
  const hear = (signal: NodeJS.Signals) => {
    if (signal === 'SIGINT') code = 130
    if (drain.signal.aborted) return stop.abort()
    say('Draining: finishing the current iterations. Press Ctrl-C again to stop at once.')
    drain.abort()
  }
  for (const signal of SIGNALS) process.on(signal, hear)
  return {
    drain: drain.signal,
    stop: stop.signal,
    code: () => code,
    release: () => SIGNALS.forEach((signal) => void process.off(signal, hear)),
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
