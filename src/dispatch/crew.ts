/** The agents of one config file, as they are kept in panes. */
import { createHash } from 'node:crypto'
import type { Config } from '../formats/config.ts'
import type { PaneKey } from '../host/store.ts'
import type { PaneFacts } from './hear.ts'

/** One of them, as the config or a person asked for it. */
export type CrewAgent = {
  name: string
  /** Its place in the list, by which people call it. */
  number: number
  /** As `--agent` takes it. */
  agent: string
  /** Its folder; with `worktree`, the repository whose worktrees it works in, one a task. */
  dir: string
  worktree: boolean
  model?: string
  permissions: 'ask' | 'bypass'
  args: string[]
  checks: string[]
  setup?: string
  /** What holds for its loops. */
  config: Config
  /** It is kept busy on a task until that is done. Else it gets each task once, and nothing is checked. */
  enabled: boolean
  /** A person asked for it while the dispatcher ran, so that the config does not name it. */
  added?: true
}

export const STATES = ['READY', 'WORKING', 'BLOCKED', 'WAITING', 'NEEDS YOU', 'DONE', 'STUCK', 'STALLED'] as const
export type PaneState = (typeof STATES)[number]

/** What is kept of it. */
export type PaneRecord = {
  agent: CrewAgent
  /** The config file. */
  config: string
  facts: PaneFacts
  /** The loop it works on. */
  loop?: string
  /** The last one that is over, and whether a person has looked since. */
  last?: string
  seen?: true
  /** Why its loop was paused, where nobody said `pause`. */
  paused?: 'typed' | 'closed' | 'stopped' | { trouble: string }
  state: PaneState
  since: number
  /** One sentence about the state. */
  words: string
  /** When it goes on by itself. */
  until?: number
  /** How often it had to be started again. */
  restarts: number
  /** The command that its folder was prepared with. */
  setUp?: string
}

/** What those who watch are told. */
export type Change = Pick<PaneRecord, 'state' | 'words' | 'until'> & { loop?: string; iteration?: number }

/** A crew by its config file. */
export function crewOf(config: string): string {
  return createHash('sha256').update(config).digest('hex').slice(0, 8)
}

/** The name of its terminal. */
export function tagOf({ crew, name }: PaneKey): string {
  return `${name}-${crew.slice(0, 4)}`
}

/** A record is this folder's own, and nobody else writes one. */
export function recordIn({ record }: { record: unknown }): PaneRecord {
  return record as PaneRecord
}
