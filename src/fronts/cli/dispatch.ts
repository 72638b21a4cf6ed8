/** `ralph dispatch`: several agents side by side in panes, each kept going on its own task. */
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
import { paint } from './text.ts'

const spec: CommandSpec = {
  name: 'dispatch',
  words: '[VERB …] [options]',
  summary: 'Keeps several agents open in panes, each looping on its own task.',
  about: `Starts the agents of config.yaml in tmux, or finds them again, and keeps each going on its task until that is proven done, is
stuck or at its limit. Give them tasks and watch them on its prompt line, or from any other terminal:

${verbRows()}

AGENT is a number or a name. \`ralph dispatch VERB --help\` tells the options of each; docs/dispatch.md tells everything else.
The agents stay when the dispatcher ends; it finds them again.`,
  options: {
    config: { value: 'FILE', help: 'which agents there are (default config.yaml)' },
    notify: { help: 'when an agent is done, stuck or needs you: a message on the desktop, too' },
    'install-unit': { help: 'print a systemd user unit that starts it with the machine' },
    json: { help: 'print one JSON object a line, and read no verbs' },
  },
  examples: [
    ['ralph dispatch', 'the agents of config.yaml in this folder'],
    ['ralph dispatch 1: "make the tests pass"', 'a task for agent 1, from another terminal'],
    ['ralph dispatch wait --any && notify-send "an agent is done"', 'go on when one is done'],
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
        `${resolve(context.cwd, config)} does not exist. Copy ${resolve(context.root, 'config', 'config.yaml.example')} to begin with, or name a file: --config FILE.`,
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
  const [, agent] = /^([\w-]+):$/.exec(first) ?? []
  const name = agent === undefined ? first : 'task'
  const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined
  if (!verb) throw unknownVerb(first)
  const args = parseArgs(verb.spec, agent === undefined ? rest : [agent, ...rest])
  const config = args.text('config')
  const crew = config === undefined ? {} : { config }
  const json = args.flag('json')
  const print = async () => {
    const { text, json: values, code = 0 } = await verb.run({ args, context, crew })
    return { code, text: json ? values.map((value) => `${JSON.stringify(value)}\n`).join('') : text }
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
    `There is no verb "${name}".${close ? ` Did you mean "ralph dispatch ${close}"?` : ''} A task is given with: ralph dispatch 1: "what to do".`,
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
  const tell = (text: string, value: object) => say(json ? `${JSON.stringify(value)}\n` : `${text}\n`)
  const messages = openMessages(context, { desktop: notify, tell })
  const end = () => stop.abort()
  process.on('SIGTERM', end).on('SIGHUP', end)
  if (!live) process.on('SIGINT', end)
  const leave = async (pausing: boolean) => {
    if (pausing) await pauseAll(context, config)
    stop.abort()
  }
  try {
    await runDispatcher(context, config, {
      stop: stop.signal,
      begin(agents, path) {
        names.push(...agents.map(({ name }) => name))
        tell(
          `${paint(out, 'bold', 'ralph')} ${context.version} · ${agents.length} agents of ${path} · ralph dispatch attach 1 opens a pane`,
          { type: 'dispatch-start', config: path, agents: names },
        )
        for (const agent of agents.filter(({ permissions }) => permissions === 'bypass'))
          tell(`${agent.number} [${agent.name}] asks for no permission (permissions: bypass).`, {
            type: 'note',
            agent: agent.name,
            text: 'asks for no permission',
          })
        if (live) line = openPromptLine(context, { config: path, names: () => names, leave })
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
    await messages.sent()
  } finally {
    line?.close()
    process.off('SIGTERM', end).off('SIGHUP', end).off('SIGINT', end)
  }
  const list = await listAgents.run(context, { config })
  if (!json) out.write(`The agents stay in their panes. Go on: ralph dispatch --config ${list.config}\n`)
  return 0
}

async function pauseAll(context: Context, config: string): Promise<void> {
  for (const { loop } of (await listAgents.run(context, { config })).agents)
    if (loop?.open) await pause.run(context, { loop: loop.id })
}
