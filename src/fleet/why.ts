/** Why a task of the fleet is not being worked on now, in a sentence for people. */
import { FLEET_OVER, type FleetState, type FleetTask } from '../formats/fleet-task.ts'
import type { Held } from './picture.ts'
import { heldSentence } from './schedule-words.ts'

/** `held`: what the scheduler says of those that are ready. `states`: of the tasks that others depend on. */
export type Around = { held: ReadonlyMap<string, Held>; states: ReadonlyMap<string, FleetState> }

/** Null: it is being worked on, or is over. */
export function whyNot(task: FleetTask, { held, states }: Around): string | null {
  switch (task.state) {
    case 'waiting':
      return dependencyWords(task, states)
    case 'ready': {
      const why = held.get(task.id)
      return why ? heldSentence(why, timeWords) : (task.sentence ?? 'It is next.')
    }
    case 'released':
      return 'The next free worker takes it.'
    case 'resting':
      return restWords(task)
    case 'merging':
      return mergeWords(task)
    default:
      return null
  }
}

/** It waits for a task that will not be done unless somebody retries it. */
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
      ? `Waits for ${broken}, which has failed. Try that again: ralph retry ${broken}`
      : `Waits for ${broken}, which was cancelled. Try that again: ralph retry ${broken}`
  const on = task.depends_on.filter((id) => states.get(id) !== 'done')
  return heldSentence({ kind: 'dependencies', on }, timeWords)
}

function restWords({ sentence, due_at }: FleetTask): string {
  const until = due_at === null ? undefined : `Continues after ${timeWords(due_at)}.`
  if (sentence === null) return until ?? 'Is paused.'
  return until === undefined ? sentence : `${sentence} ${until}`
}

/** `due_at`: it could not be merged, and is tried again. */
function mergeWords({ base, merge_job, sentence, due_at }: FleetTask): string {
  if (merge_job) return `Is being merged into ${base}.`
  return sentence && due_at !== null
    ? `Waits to be merged into ${base}: ${sentence}`
    : `Waits to be merged into ${base}.`
}

export function isOver({ state }: Pick<FleetTask, 'state'>): boolean {
  return FLEET_OVER.includes(state)
}

function timeWords(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
