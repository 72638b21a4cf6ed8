/** `ralph dispatch wait` and `events`: for scripts that react when an agent is done or needs someone. */
import { once } from 'node:events'
import { jsonText } from '../../formats/harmless.ts'
import { mask } from '../../host/mask.ts'
import { type Listed, listAgents } from '../../operations/agents.ts'
import type { CrewName } from '../../operations/crew-place.ts'
import { type ListedChange, listChanges } from '../../operations/list-changes.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import type { Context } from './context.ts'
import { agentJson, printChange } from './dispatch-view.ts'
import { jsonLine } from './text.ts'

const CONFIG = {
  value: 'FILE',
  help: 'config file of the dispatcher (default: config.yaml in this folder, or the only one in use)',
}

export const waitSpec: CommandSpec = {
  name: 'dispatch wait',
  words: '[--any|--all] [AGENT…]',
  summary: 'Waits until agents are done, stuck, or need you.',
  about:
    'Without AGENT, it waits for all agents. Exit codes: 0 done, 1 stuck, 4 needs you (with several agents, the first of 1, 4, 0 that applies), 124 timed out, 130 interrupted.',
  options: {
    any: { help: 'wait for any one of them' },
    all: { help: 'wait for all of them (default)' },
    timeout: { value: 'MIN', help: 'give up after MIN minutes' },
    config: CONFIG,
    json: { help: 'print the agents as JSON, one object per line' },
  },
}

export const eventsSpec: CommandSpec = {
  name: 'dispatch events',
  words: '',
  summary: "Prints a line whenever an agent's state changes, until Ctrl-C.",
  options: {
    after: { value: 'SEQ', help: 'start after this event; 0 starts at the beginning' },
    config: CONFIG,
    json: { help: 'print JSON, one object per line' },
  },
}

/** What a state means for a script; undefined: keep waiting. */
function verdictOf({ state, queue }: Listed): 'done' | 'stuck' | 'needs-you' | 'idle' | undefined {
  switch (state) {
    case 'WORKING':
    case 'WAITING':
      return undefined
    case 'READY':
      return queue.length > 0 ? undefined : 'idle'
    case 'DONE':
      return queue.length > 0 ? undefined : 'done'
    case 'STUCK':
      return 'stuck'
    case 'BLOCKED':
    case 'NEEDS YOU':
    case 'STALLED':
      return 'needs-you'
  }
}

const CODES = { done: 0, idle: 0, 'needs-you': 4, stuck: 1 } as const

export async function waitFor(argv: readonly string[], context: Context): Promise<number> {
  const args = parseArgs(waitSpec, argv)
  if (args.flag('any') && args.flag('all')) throw usage(waitSpec, 'Use either --any or --all, not both.')
  const names = args.words
  const minutes = args.amount('timeout')
  const deadline = minutes === undefined ? undefined : context.now() + minutes * 60_000
  const asked = { ...crewIn(args.text('config')), ...(names.length > 0 ? { agents: names } : {}) }
  let warned = false
  const found = async () => {
    const { agents, running, config } = await listAgents.run(context, asked)
    const over = agents.map((agent) => ({ agent, verdict: verdictOf(agent) }))
    const rested = over.filter(({ verdict }) => verdict !== undefined)
    const moved = rested.filter(({ verdict }) => verdict !== 'idle')
    if (rested.length === over.length) return rested
    if (args.flag('any') && moved.length > 0) return moved
    if (!running && !warned) context.note(absent(config))
    warned ||= !running
    return undefined
  }
  const rested = await untilFound(context, found, deadline)
  if (rested === 'stopped') return 130
  if (rested === 'late') return 124
  for (const { agent } of rested)
    context.out.write(
      args.flag('json') ? jsonLine(agentJson(agent)) : `${printChange(agent, context.out, agent.since)}\n`,
    )
  const codes = rested.map(({ verdict }) => CODES[verdict ?? 'idle'])
  return codes.includes(1) ? 1 : codes.includes(4) ? 4 : 0
}

function absent(config: string): string {
  return `No dispatcher is running, so nothing will change until you start one: ralph dispatch --config ${config}`
}

function crewIn(config: string | undefined): CrewName {
  return config === undefined ? {} : { config }
}

async function untilFound<Found>(
  context: Context,
  look: () => Promise<Found | undefined>,
  deadline: number | undefined,
): Promise<Found | 'stopped' | 'late'> {
  const enough = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]).then(() => 'stopped' as const)
  const idle = setInterval(() => {}, 2 ** 30) // a pending promise alone does not keep the process alive
  try {
    for (;;) {
      let unwatch = () => {}
      let timer: NodeJS.Timeout | undefined
      const changed = new Promise<'changed'>((resolve) => {
        unwatch = context.store().onChange(() => resolve('changed'))
        if (deadline !== undefined) timer = setTimeout(() => resolve('changed'), Math.max(0, deadline - context.now()))
      })
      try {
        const found = await look()
        if (found !== undefined) return found
        if (deadline !== undefined && context.now() >= deadline) return 'late'
        if ((await Promise.race([changed, enough])) === 'stopped') return 'stopped'
      } finally {
        unwatch()
        clearTimeout(timer)
      }
    }
  } finally {
    clearInterval(idle)
  }
}

export async function followEvents(argv: readonly string[], context: Context): Promise<number> {
  const args = parseArgs(eventsSpec, argv, 0)
  const crew = crewIn(args.text('config'))
  let seen = args.whole('after')
  if (seen === undefined) for await (const { seq } of changesAfter(context, crew, 0)) seen = seq
  const print = args.flag('json') ? changeJson : (change: Numbered) => printChange(change, context.out, change.at)
  await untilFound<never>(
    context,
    async () => {
      for await (const change of changesAfter(context, crew, seen ?? 0)) {
        context.out.write(`${print(change)}\n`)
        seen = change.seq
      }
      return undefined
    },
    undefined,
  )
  return 130
}

/** `number` is 0 for a removed agent. */
type Numbered = ListedChange & { name: string; number: number }

async function* changesAfter(context: Context, crew: CrewName, after: number): AsyncGenerator<Numbered> {
  for (let seen = after; ; ) {
    const { changes } = await listChanges.run(context, { ...crew, after: seen })
    if (changes.length === 0) return
    const { agents } = await listAgents.run(context, crew)
    for (const change of changes) {
      const number = agents.find(({ name }) => name === change.agent)?.number ?? 0
      yield { ...change, name: change.agent, number }
      seen = change.seq
    }
  }
}

function changeJson({ seq, at, agent, number, state, words, until, loop, iteration }: Numbered): string {
  return jsonText({
    type: 'transition',
    seq,
    at: new Date(at).toISOString(),
    agent,
    number: number || null,
    state,
    words: mask(words),
    loop_id: loop ?? null,
    iteration: iteration ?? null,
    until: until === undefined ? null : new Date(until).toISOString(),
  })
}
