/** The agents in panes, as people and programs ask for them, and what they can be told. */

import { parseAgent } from '../agents/index.ts'
import { type PaneRecord, type PaneState, tagOf } from '../dispatch/crew.ts'
import { lastWords } from '../dispatch/standing.ts'
import { breakerState } from '../engine/breaker.ts'
import { iterationLimit } from '../engine/limits.ts'
import { ended, type Grade, type Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { openTmux } from '../host/tmux.ts'
import { given } from '../request/given.ts'
import { refuseBelowTurn } from './below-turn.ts'
import { type CrewName, findAgent, findCrew, mustBeApart, toAgent } from './crew-place.ts'
import { findLoop } from './find-loop.ts'
import { giveOrder } from './give-order.ts'
import type { Context, Operation } from './operation.ts'

export type { Change } from '../dispatch/crew.ts'
export { tagOf } from '../dispatch/crew.ts'

export type Listed = {
  number: number
  name: string
  agent: string
  dir: string
  state: PaneState
  since: number
  words: string
  until?: number
  /** `hook`: its client tells what happens. `screen`: it can only be read off its screen. */
  tells: 'hook' | 'screen'
  restarts: number
  /** Who is told about it, from its config. */
  webhook?: string
  queue: { number: number; prompt: string }[]
  loop?: LoopOfAgent
}

/** The loop that it works on, or else the last one. */
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
  summary: 'Lists the agents that a dispatcher keeps in panes: what each is doing, and how its loop stands.',
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
    ...given({ until, webhook: agent.config.notify_webhook, ...(loop ? { loop: loopOf(loop) } : {}) }),
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

async function tasksOf(context: Context, crew: string, name: string): Promise<{ id: number; prompt: string }[]> {
  return (await context.store().panes.mail(crew)).flatMap(({ id, name: of, mail }) =>
    of === name && mail.kind === 'task' ? [{ id, prompt: mail.prompt }] : [],
  )
}

type OneAgent = CrewName & { agent: string }

/** `ahead`: how many tasks it does first, with the one it is at. `running`: a dispatcher is there to give it. */
export type Tasked = { agent: string; ahead: number; running: boolean }

export const giveTask: Operation<OneAgent & { prompt: string }, Tasked> = {
  name: 'give_task',
  effect: 'write',
  summary: 'Gives an agent in a pane a task. It begins at once, or when the tasks before it are over.',
  async run(context, { agent, prompt, ...crew }) {
    await refuseBelowTurn(context)
    const place = await findCrew(context, crew)
    const { name, record } = findAgent(place, agent)
    const ahead = (await tasksOf(context, place.id, name)).length + (record.loop === undefined ? 0 : 1)
    await context.store().panes.post({ crew: place.id, name }, { kind: 'task', prompt })
    return { agent: name, ahead, running: place.running }
  },
}

export const dropTask: Operation<OneAgent & { task: number }, { agent: string; prompt: string }> = {
  name: 'drop_task',
  effect: 'destroy',
  summary: 'Removes a task from the queue of an agent, by its number in the queue.',
  async run(context, { agent, task, ...crew }) {
    const place = await findCrew(context, crew)
    const { name } = findAgent(place, agent)
    const queue = await tasksOf(context, place.id, name)
    const found = queue[task - 1]
    if (found && (await context.store().panes.strike(found.id))) return { agent: name, prompt: found.prompt }
    throw new RalphError(
      'usage',
      `The queue of ${name} has no task ${task}; it has ${queue.length}. See them with: ralph dispatch queue ${name}`,
    )
  },
}

/** What is left for the dispatcher, who does it as soon as it runs. */
export type Left = { agent: string; running: boolean }

export const seeAgent: Operation<OneAgent, Left> = {
  name: 'see_agent',
  effect: 'write',
  summary: 'Marks what an agent has done as seen: from DONE or STUCK it becomes READY.',
  run: (context, { agent, ...crew }) => leave(context, crew, { agent, kind: 'seen' }),
}

export const retryAgent: Operation<OneAgent, Left> = {
  name: 'retry_agent',
  effect: 'write',
  summary: 'Sends a prompt again that did not arrive (STALLED).',
  run: (context, { agent, ...crew }) => leave(context, crew, { agent, kind: 'retry' }),
}

async function leave(
  context: Context,
  crew: CrewName,
  { agent, kind }: { agent: string; kind: 'seen' | 'retry' },
): Promise<Left> {
  const place = await findCrew(context, crew)
  const { name } = findAgent(place, agent)
  await context.store().panes.post({ crew: place.id, name }, { kind })
  return { agent: name, running: place.running }
}

export type Adding = CrewName & {
  name: string
  /** As `--agent` takes it. */
  agent?: string
  dir?: string
  worktree?: boolean
  model?: string
  checks?: string[]
  permissions?: 'ask' | 'bypass'
}

export const addAgent: Operation<Adding, Left> = {
  name: 'add_agent',
  effect: 'write',
  summary: 'Adds an agent to a running dispatcher, in a pane of its own.',
  async run(context, { config, dir, ...asked }) {
    await refuseBelowTurn(context)
    const place = await findCrew(context, given({ config }))
    if (!place.running) throw notRunning(place.config)
    if (!/^[A-Za-z][\w-]{0,30}$/.test(asked.name))
      throw new RalphError(
        'usage',
        `"${asked.name}" is not a name for an agent. Use letters, digits, _ and -, a letter first.`,
      )
    if (place.panes.some(({ name }) => name.toLowerCase() === asked.name.toLowerCase()))
      throw new RalphError('usage', `There is an agent ${asked.name} already. Choose another name.`)
    const agent = toAgent(context, {
      path: place.config,
      ralph: place.panes[0]?.record.agent.config ?? {},
      agent: { ...asked, line: 0, ...(dir === undefined ? {} : { dir: `${context.cwd}/${dir}` }) },
      number: place.panes.length + 1,
    })
    mustBeApart(
      [...place.panes.map(({ record }) => ({ agent: record.agent, line: 0 })), { agent, line: 0 }],
      place.config,
    )
    await context.store().panes.post({ crew: place.id, name: '' }, { kind: 'add', agent })
    return { agent: asked.name, running: true }
  },
}

export const removeAgent: Operation<OneAgent, Left> = {
  name: 'remove_agent',
  effect: 'destroy',
  summary: 'Ends an agent and closes its pane. An agent of the config comes back when the dispatcher is started again.',
  async run(context, { agent, ...crew }) {
    await refuseBelowTurn(context)
    const place = await findCrew(context, crew)
    const { name, record } = findAgent(place, agent)
    if (record.loop !== undefined)
      throw new RalphError(
        'usage',
        `${name} works on loop ${record.loop}. Cancel it first: ralph dispatch cancel ${name}`,
      )
    if (place.running) {
      await context.store().panes.post({ crew: place.id, name }, { kind: 'remove' })
      return { agent: name, running: true }
    }
    await openTmux(context.home, context.env).close(tagOf({ crew: place.id, name }))
    await context.store().panes.forget({ crew: place.id, name })
    return { agent: name, running: false }
  },
}

function notRunning(config: string): RalphError {
  return new RalphError(
    'usage',
    `No dispatcher is running for ${config}. Start it with: ralph dispatch --config ${config}`,
  )
}

export const setLimits: Operation<{ loop: string; iterations: number }, { loop: string; iterations: number }> = {
  name: 'set_limits',
  effect: 'write',
  summary: 'Changes how many iterations a loop may take; 0 is no limit.',
  async run(context, { loop: name, iterations }) {
    await refuseBelowTurn(context)
    const id = await findLoop(context, name)
    await giveOrder(context, id, { kind: 'limits', limits: { iterations } })
    return { loop: id, iterations }
  },
}

/** The loop that an agent works on, for the verbs that are about loops. */
export async function loopOfAgent(
  context: Context,
  { agent, ...crew }: OneAgent,
): Promise<{ name: string; loop: string; record: PaneRecord }> {
  const { name, record } = findAgent(await findCrew(context, crew), agent)
  const loop = record.loop ?? record.last
  if (loop !== undefined) return { name, loop, record }
  throw new RalphError('usage', `${name} has no task yet. Give it one: ralph dispatch ${record.agent.number}: TASK`)
}
