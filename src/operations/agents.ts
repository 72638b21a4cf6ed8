/** Lists the agents in panes, with the state of each and of its loop. */
import { parseAgent } from '../agents/index.ts'
import type { PaneRecord, PaneState } from '../dispatch/crew.ts'
import { breakerState } from '../engine/breaker.ts'
import { iterationLimit } from '../engine/limits.ts'
import { ended, type Grade, type Loop } from '../engine/loop.ts'
import { lastWords } from '../formats/one-line.ts'
import { given } from '../request/given.ts'
import { type CrewName, findAgent, findCrew } from './crew-place.ts'
import type { Context, Operation } from './operation.ts'

export type Listed = {
  number: number
  name: string
  agent: string
  dir: string
  state: PaneState
  since: number
  words: string
  until?: number
  /** `hook`: its client reports what happens. `screen`: ralph can only read its screen. */
  tells: 'hook' | 'screen'
  restarts: number
  queue: { number: number; prompt: string }[]
  loop?: LoopOfAgent
}

/** The current loop, or else the last one. */
export type LoopOfAgent = {
  id: string
  iteration: number
  most: number
  /** What the agent said last. */
  last: string
  breaker: 'closed' | 'half-open' | 'open'
  proof?: Grade
  costUsd: number
  tokens: number
  startedAt: number
  open: boolean
}

export type AgentList = { config: string; running: boolean; agents: Listed[] }

export const listAgents: Operation<CrewName & { agents?: string[] }, AgentList> = {
  name: 'list_agents',
  effect: 'read',
  summary: 'Lists the agents that a dispatcher runs in panes, with the state of each and of its loop.',
  async run(context, { agents: names, ...crew }) {
    const place = await findCrew(context, crew)
    const wanted = names
      ? names.map((name) => findAgent(place, name))
      : place.panes.map((pane) => ({ crew: place.id, ...pane }))
    const agents = await Promise.all(wanted.map((pane) => toListed(context, pane)))
    return { config: place.config, running: place.running, agents }
  },
}

type Known = { crew: string; name: string; record: PaneRecord }

export async function toListed(context: Context, { crew, name, record }: Known): Promise<Listed> {
  const store = context.store()
  const id = record.loop ?? record.last
  const loop = id === undefined ? undefined : await store.load(id).catch(() => undefined) // the home was cleared
  const { agent, state, since, words, until, restarts } = record
  const { agent: kind } = parseAgent(agent.agent)
  return {
    number: agent.number,
    name,
    agent: agent.agent,
    dir: record.facts.dir ?? agent.dir,
    state,
    since,
    words,
    tells: kind.pane ? 'hook' : 'screen',
    restarts,
    queue: (await tasksOf(context, crew, name)).map(({ prompt }, index) => ({ number: index + 1, prompt })),
    ...given({ until, loop: loop && loopOf(loop) }),
  }
}

function loopOf(loop: Loop): LoopOfAgent {
  const { id, spec, tally, next } = loop
  return {
    id,
    iteration: Math.max(1, tally.iteration + (next.kind === 'turn' ? 1 : 0)),
    most: iterationLimit(spec.limits, tally),
    last: lastWords(tally.words) || 'Starting task',
    breaker: breakerState(loop),
    costUsd: tally.costUsd,
    tokens: tally.tokens,
    startedAt: tally.startedAt,
    open: !ended(loop),
    ...(next.kind === 'complete' ? { proof: next.proof } : {}),
  }
}

/** Its queue, in order. */
export async function tasksOf(context: Context, crew: string, name: string): Promise<{ id: number; prompt: string }[]> {
  return (await context.store().panes.mail(crew)).flatMap(({ id, name: of, mail }) =>
    of === name && mail.kind === 'task' ? [{ id, prompt: mail.prompt }] : [],
  )
}
