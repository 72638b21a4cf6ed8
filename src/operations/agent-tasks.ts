/** Tasks and messages for an agent in a pane. */
import type { PaneRecord } from '../dispatch/crew.ts'
import { count } from '../engine/limits.ts'
import { RalphError } from '../error.ts'
import { tasksOf } from './agents.ts'
import { refuseBelowTurn } from './below-turn.ts'
import { type CrewName, findAgent, findCrew } from './crew-place.ts'
import type { Context, Operation } from './operation.ts'

export type OneAgent = CrewName & { agent: string }

/** `ahead`: how many tasks come first, including the current one. `running`: a dispatcher is running to deliver it. */
export type Tasked = { agent: string; ahead: number; running: boolean }

export const giveTask: Operation<OneAgent & { prompt: string }, Tasked> = {
  name: 'give_task',
  effect: 'write',
  person: true,
  summary: 'Gives an agent in a pane a task. It starts now, or after the tasks queued before it.',
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
  person: true,
  summary: "Removes a task from an agent's queue, by its position.",
  async run(context, { agent, task, ...crew }) {
    await refuseBelowTurn(context)
    const place = await findCrew(context, crew)
    const { name } = findAgent(place, agent)
    const queue = await tasksOf(context, place.id, name)
    const found = queue[task - 1]
    if (found && (await context.store().panes.strike(found.id))) return { agent: name, prompt: found.prompt }
    throw new RalphError(
      'usage',
      `The queue of ${name} has ${count(queue.length, 'task')}, so there is no task ${task}. List them: ralph dispatch queue ${name}`,
    )
  },
}

/** Leaves an order for the dispatcher, which carries it out as soon as it runs. */
export type Left = { agent: string; running: boolean }

export const seeAgent: Operation<OneAgent, Left> = {
  name: 'see_agent',
  effect: 'write',
  summary: 'Marks the work of an agent as seen: DONE or STUCK becomes READY.',
  run: (context, { agent, ...crew }) => leave(context, crew, { agent, kind: 'seen' }),
}

export const retryAgent: Operation<OneAgent, Left> = {
  name: 'retry_agent',
  effect: 'write',
  summary: 'Resends a prompt that did not arrive (STALLED).',
  async run(context, { agent, ...crew }) {
    const { name, record } = findAgent(await findCrew(context, crew), agent)
    if (record.state !== 'STALLED')
      throw new RalphError('usage', `${name} is ${record.state}, not STALLED: there is no prompt to resend.`)
    return leave(context, crew, { agent, kind: 'retry' })
  },
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

/** The loop that an agent works on, for commands about loops. */
export async function loopOfAgent(
  context: Context,
  { agent, ...crew }: OneAgent,
): Promise<{ name: string; loop: string; record: PaneRecord }> {
  const { name, record } = findAgent(await findCrew(context, crew), agent)
  const loop = record.loop ?? record.last
  if (loop !== undefined) return { name, loop, record }
  throw new RalphError('usage', `${name} has no task yet. Assign one: ralph dispatch ${record.agent.number}: TASK`)
}
