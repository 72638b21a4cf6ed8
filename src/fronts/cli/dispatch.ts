/** `ralph dispatch`: several agents in panes side by side, each looping on its own task. */
import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { RalphError } from '../../error.ts'
import { nearest } from '../../formats/nearest.ts'
import { type Listed, listAgents } from '../../operations/agents.ts'
import { runDispatcher } from '../../operations/dispatch.ts'
import { pause } from '../../operations/pause.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command, Context } from './context.ts'
import { openMessages } from './dispatch-messages.ts'
import { openPromptLine } from './dispatch-prompt.ts'
import { printUnit } from './dispatch-unit.ts'
import { VERBS } from './dispatch-verbs.ts'
import { agentJson, CALLS_YOU, printChange } from './dispatch-view.ts'
import { eventsSpec, followEvents, waitFor, waitSpec } from './dispatch-wait.ts'
import { watchChanges } from './status.ts'
import { count, jsonLine, paint } from './text.ts'

const spec: CommandSpec = {
  name: 'dispatch',
  words: '[VERB …] [options]',
  summary: 'Keeps several agents open in panes, each looping on its own task.',
  about: `Starts the agents of config.yaml in tmux, or reconnects to them, and keeps each one working until its task is proven done, stuck,
or out of iterations. Give them tasks at the prompt or from another terminal:

${verbRows()}

AGENT is a number or a name. \`ralph dispatch VERB --help\` lists the options of a verb; docs/dispatch.md explains everything else.
The agents keep running when the dispatcher exits; the next one reconnects to them.`,
  options: {
    config: { value: 'FILE', help: 'file that lists the agents (default: config.yaml)' },
    notify: { help: 'also show a desktop notification when an agent is done, stuck, or needs you' },
    'install-unit': { help: 'print a systemd user unit that starts it at boot' },
    json: { help: 'print JSON, one object per line, without a prompt' },
  },
  examples: [
    ['ralph dispatch', 'the agents of config.yaml in this folder'],
    ['ralph dispatch 1: "make the tests pass"', 'a task for agent 1, from another terminal'],
    ['ralph dispatch wait --any', 'wait until one is done, stuck, or needs you'],
  ],
}

function verbRows(): string {
  const rows = [
    ['AGENT: TEXT', 'Gives an agent a task.'],
    ...[...Object.values(VERBS).map(({ spec: of }) => of), waitSpec, eventsSpec].map(({ name, words, summary }) => [
      `${name.replace('dispatch ', '')} ${words}`.trim(),
      summary,
    ]),
  ]
  const width = Math.max(...rows.map(([left = '']) => left.length))
  return rows.map(([left = '', summary]) => `  ${left.padEnd(width)}  ${summary}`).join('\n')
}

export const dispatch: Command = {
  spec,
  verbs: {
    ...Object.fromEntries(Object.entries(VERBS).map(([name, { spec: of }]) => [name, of])),
    wait: waitSpec,
    events: eventsSpec,
  },
  async run(argv, context) {
    const [first = '', ...rest] = argv
    if (first === 'wait') return waitFor(rest, context)
    if (first === 'events') return followEvents(rest, context)
    if (first !== '' && !first.startsWith('-')) return sayVerb(argv, context)
    const args = parseArgs(spec, argv, 0)
    const config = args.text('config') ?? 'config.yaml'
    if (!existsSync(resolve(context.cwd, config)))
      throw usage(
        spec,
        `No such file: ${resolve(context.cwd, config)}. Copy ${resolve(context.root, 'config', 'config.yaml.example')} to start with, or use --config FILE.`,
      )
    if (args.flag('install-unit')) {
      const path = realpathSync(resolve(context.cwd, config))
      context.out.write(
        printUnit({ root: context.root, config: path, home: context.home, path: context.env.PATH ?? '' }),
      )
      return 0
    }
    return keep(context, { config, json: args.flag('json'), notify: args.flag('notify') })
  },
}

/** `ralph dispatch VERB …`, or `ralph dispatch 1: TEXT`. */
async function sayVerb(argv: readonly string[], context: Context): Promise<number> {
  const [first = '', ...rest] = argv
  // `1: fix it` may also be one quoted argument.
  const [, agent, words = ''] = /^([\w-]+):\s*([\s\S]*)$/.exec(first) ?? []
  const name = agent === undefined ? first : 'task'
  const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined
  if (!verb) throw unknownVerb(first)
  const args = parseArgs(verb.spec, agent === undefined ? rest : [agent, ...(words ? [words] : []), ...rest])
  const config = args.text('config')
  const crew = config === undefined ? {} : { config }
  const json = args.flag('json')
  const print = async () => {
    const { text, json: values, code = 0 } = await verb.run({ args, context, crew })
    return { code, text: json ? values.map((value) => jsonLine(value)).join('') : text }
  }
  const { text, code } = await print()
  context.out.write(text)
  if (name === 'status' && args.flag('watch')) await watchChanges(context, async () => (await print()).text)
  return code
}

function unknownVerb(name: string): RalphError {
  const close = nearest(name, [...Object.keys(VERBS), 'wait', 'events'])
  return usage(
    spec,
    `Unknown verb: "${name}".${close ? ` Did you mean "ralph dispatch ${close}"?` : ''} To give agent 1 a task: ralph dispatch 1: "what to do".`,
  )
}

type Keeping = { config: string; json: boolean; notify: boolean }

async function keep(context: Context, { config, json, notify }: Keeping): Promise<number> {
  const { out, now } = context
  const stop = new AbortController()
  const live = out.live && context.machine.stdin.isTTY === true && !json
  const names: string[] = []
  let line: ReturnType<typeof openPromptLine> | undefined
  const say = (text: string) => (line ? line.above(text) : out.write(text))
  const tell = (text: string, value: object) => say(json ? jsonLine(value) : `${text}\n`)
  const messages = openMessages(context, { desktop: notify, tell })
  const end = () => stop.abort()
  process.on('SIGTERM', end).on('SIGHUP', end)
  if (!live) process.on('SIGINT', end)
  const leave = async (pausing: boolean) => {
    if (pausing) await pauseAll(context, config)
    stop.abort()
  }
  let bug: { cause: unknown } | undefined
  const fail = (cause: unknown) => {
    bug ??= { cause }
    stop.abort()
  }
  try {
    await runDispatcher(context, config, {
      stop: stop.signal,
      begin(agents, path) {
        names.push(...agents.map(({ name }) => name))
        tell(
          `${paint(out, 'bold', 'ralph')} ${context.version} · ${count(agents.length, 'agent')} in ${path} · open a pane with: ralph dispatch attach 1`,
          { type: 'dispatch-start', config: path, agents: names },
        )
        for (const agent of agents.filter(({ permissions }) => permissions === 'bypass'))
          tell(`${agent.number} [${agent.name}] runs without asking for permissions (permissions: bypass).`, {
            type: 'note',
            agent: agent.name,
            text: 'runs without asking for permissions',
          })
        if (live) line = openPromptLine(context, { config: path, names: () => names, leave, fail })
      },
      changed(agent: Listed, webhook) {
        tell(printChange(agent, out, now()), agentJson(agent))
        if (CALLS_YOU.includes(agent.state)) messages.send(agent, webhook)
      },
      note: (agent, text) =>
        tell(`${paint(out, 'yellow', '!')} ${agent === undefined ? '' : `[${agent}] `}${text}`, {
          type: 'note',
          agent: agent ?? null,
          text,
        }),
    })
    await messages.end()
  } finally {
    line?.close()
    process.off('SIGTERM', end).off('SIGHUP', end).off('SIGINT', end)
  }
  if (bug) throw bug.cause
  const list = await listAgents.run(context, { config })
  if (!json)
    out.write(`The agents keep running in their panes. Return to them with: ralph dispatch --config ${list.config}\n`)
  return 0
}

async function pauseAll(context: Context, config: string): Promise<void> {
  for (const { loop } of (await listAgents.run(context, { config })).agents)
    if (loop?.open) await pause.run(context, { loop: loop.id })
}
