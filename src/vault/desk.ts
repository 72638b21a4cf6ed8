/** What all work on one vault shares. */
import type { HistoryEntry } from '../formats/task-state.ts'
import type { Store } from '../host/store.ts'
import type { VaultSettings } from './settings.ts'

export type VaultDesk = {
  /** The vault, without links on the way to it. */
  vault: string
  settings: VaultSettings
  store: Store
  home: string
  env: Readonly<Record<string, string | undefined>>
  now: () => number
  /** Reports something to the user, once. */
  note: (text: string) => void
  /** A cache of the loops' iterations. */
  histories: Map<string, History>
}

export type History = { seq: number; at: number; entries: Entry[]; calls: number | null }

/** An iteration, numbered only if its number was reported. */
export type Entry = Omit<HistoryEntry, 'iteration'> & { iteration?: number }
