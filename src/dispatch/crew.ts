/** The agents of one config file, kept in panes. */
import { createHash } from 'node:crypto'
import type { Config } from '../formats/config.ts'
import type { PaneKey } from '../host/store.ts'
import type { PaneFacts } from './pane-facts.ts'

/** One agent, as the config or the user asked for it. */
export type CrewAgent = {
  name: string
  /** Its position in the list, used to refer to it. */
  number: number
  /** As `--agent` takes it. */
  agent: string
  /** Its folder; with `worktree`, the repository whose worktrees it works in, one per task. */
  dir: string
  worktree: boolean
  model?: string
  permissions: 'ask' | 'bypass'
  args: string[]
  checks: string[]
  setup?: string
  /** The settings of its loops. */
  config: Config
  /** It is kept on a task until it is done. Otherwise it gets each task once, and nothing is checked. */
  enabled: boolean
  /** The user added it while the dispatcher was running, so the config does not name it. */
  added?: true
}

export const STATES = ['READY', 'WORKING', 'BLOCKED', 'WAITING', 'NEEDS YOU', 'DONE', 'STUCK', 'STALLED'] as const
export type PaneState = (typeof STATES)[number]

/** What is stored about it. */
export type PaneRecord = {
  agent: CrewAgent
  /** The config file. */
  config: string
  facts: PaneFacts
  /** The loop it works on. */
  loop?: string
  /** The last one that ended, and whether the user has looked since. */
  last?: string
  seen?: true
  /** Why its loop was paused, if nobody said `pause`. */
  paused?: 'typed' | 'closed' | 'stopped' | { trouble: string }
  state: PaneState
  since: number
  /** One sentence about the state. */
  words: string
  /** When it continues by itself. */
  until?: number
  /** How often it had to be restarted. */
  restarts: number
  /** The command that prepared its folder. */
  setUp?: string
}

/** What watchers see. */
export type Change = Pick<PaneRecord, 'state' | 'words' | 'until'> & { loop?: string; iteration?: number }

/** A crew by its config file. */
export function crewOf(config: string): string {
  return createHash('sha256').update(config).digest('hex').slice(0, 8)
}

/** The name of its terminal. */
export function tagOf({ crew, name }: PaneKey): string {
  return `${name}-${crew.slice(0, 4)}`
}

/** Only this folder's code writes records. */
export function recordIn({ record }: { record: unknown }): PaneRecord {
  return record as PaneRecord
}
