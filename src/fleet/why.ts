/** Why no agent is working on a task of the fleet now, in a sentence for people. */
import { FLEET_OVER, type FleetState, type FleetTask } from '../formats/fleet-task.ts'
import type { Held } from './picture.ts'
import { heldSentence } from './schedule-words.ts'

/** `held`: why the scheduler holds ready tasks back. `states`: of the tasks that others depend on. `silent`: dead workers, and when each was last heard from. */
export type Around = {
  held: ReadonlyMap<string, Held>
  states: ReadonlyMap<string, FleetState>
  silent: ReadonlyMap<string, number>
}

/** Null: an agent is working on it, or it has ended. */
export function whyNot(task: FleetTask, { held, states, silent }: Around): string | null {
  switch (task.state) {
    case 'waiting':
      return dependencyWords(task, states)
    case 'ready': {
      const why = held.get(task.id)
      return why ? heldSentence(why, timeWords) : (task.sentence ?? 'Next in line.')
    }
    case 'released':
      return 'The next free worker will take it.'
    case 'running': {
      const since = silent.get(task.worker ?? '')
      return since === undefined ? null : `Worker ${task.worker} has not been heard from since ${timeWords(since)}.`
    }
    case 'resting':
      return restWords(task)
    case 'merging':
      return mergeWords(task)
    default:
      return null
  }
}

/** A dependency that will not finish unless it is retried. */
export function brokenDependency(
  { state, depends_on }: Pick<FleetTask, 'state' | 'depends_on'>,
  states: Around['states'],
): string | undefined {
  if (state !== 'waiting') return undefined
  return depends_on.find((id) => ['failed', 'cancelled'].includes(states.get(id) ?? ''))
}

function dependencyWords(task: FleetTask, states: Around['states']): string {
  const broken = brokenDependency(task, states)
  if (broken !== undefined)
    return states.get(broken) === 'failed'
      ? `Waiting for ${broken}, which failed. Retry it: ralph retry ${broken}`
      : `Waiting for ${broken}, which was cancelled. Retry it: ralph retry ${broken}`
  const on = task.depends_on.filter((id) => states.get(id) !== 'done')
  return heldSentence({ kind: 'dependencies', on }, timeWords)
}

function restWords({ sentence, due_at }: FleetTask): string {
  const until = due_at === null ? undefined : `Continues after ${timeWords(due_at)}.`
  if (sentence === null) return until ?? 'Paused.'
  return until === undefined ? sentence : `${sentence} ${until}`
}

/** `due_at`: the merge failed and is retried then. */
function mergeWords({ base, merge_job, sentence, due_at }: FleetTask): string {
  if (merge_job) return `Being merged into ${base}.`
  return sentence && due_at !== null
    ? `Waiting to be merged into ${base}: ${sentence}`
    : `Waiting to be merged into ${base}.`
}

export function isOver({ state }: Pick<FleetTask, 'state'>): boolean {
  return FLEET_OVER.includes(state)
}

function timeWords(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
