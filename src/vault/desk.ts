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
  /** Tells something that a person should know, once. */
  note: (text: string) => void
  /** The iterations of loops as far as they have been read. */
  histories: Map<string, History>
}

export type History = { seq: number; at: number; entries: Entry[]; calls: number | null }

/** An iteration, which has its number only where that was told. */
export type Entry = Omit<HistoryEntry, 'iteration'> & { iteration?: number }
