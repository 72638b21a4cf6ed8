/** The states of a fleet task, as words, colors and shapes. */
import { FLEET_OVER, type FleetState } from '../../src/formats/fleet-task.ts'
import type { Badge } from '../badge.ts'
import type { OutputOf } from '../data/source.ts'
import { capital, folderName } from '../words.ts'

export type Fleet = OutputOf<'get_fleet'>
export type Worker = Fleet['workers'][number]
export type Task = OutputOf<'list_fleet_tasks'>['tasks'][number]

/** Running tasks first, finished ones last. */
export const STATES: readonly FleetState[] = [
  'running',
  'merging',
  'released',
  'ready',
  'waiting',
  'resting',
  'done',
  'failed',
  'cancelled',
]

export const OPEN_STATES: readonly FleetState[] = STATES.filter((state) => !FLEET_OVER.includes(state))

export function isOver(state: FleetState): boolean {
  return FLEET_OVER.includes(state)
}

const BADGES: Readonly<Record<FleetState, Omit<Badge, 'word'>>> = {
  running: { tone: 'blue', mark: '●', busy: true },
  merging: { tone: 'teal', mark: '⇥', busy: true },
  released: { tone: 'blue', mark: '→' },
  ready: { tone: 'gray', mark: '○' },
  waiting: { tone: 'gray', mark: '…' },
  resting: { tone: 'amber', mark: '‖' },
  done: { tone: 'green', mark: '✓' },
  failed: { tone: 'red', mark: '■' },
  cancelled: { tone: 'gray', mark: '×' },
}

export function stateBadge(state: FleetState): Badge {
  return { word: stateName(state), ...BADGES[state] }
}

/** A resting task waits for a time or for a person. */
export function stateName(state: FleetState): string {
  return state === 'resting' ? 'On hold' : capital(state)
}

/** Why it is in this state, in one sentence. */
export function noteOf({ state, why, sentence, worker, base }: Task): string {
  if (state === 'running' && !sentence) return why ?? (worker ? `Running on ${worker}.` : '')
  if (state === 'done' && !sentence) return base ? `On ${base}.` : ''
  return why ?? sentence ?? ''
}

/** `git@example.com:shop/api.git` becomes `api` where space is tight. */
export function repoName(repo: string): string {
  return folderName(repo.split(':').at(-1) ?? repo).replace(/\.git$/, '')
}
