/** Scans everything in the store for records that can no longer be read. */
import { isRalphError } from '../error.ts'
import type { Asking } from './asking.ts'
import { damagedRecord } from './plain-words.ts'
import { type Row, type StoredLoop, toEvent, toSoundLoop } from './rows.ts'

/** The first one, in a sentence; undefined if all of them can be read. */
export function damageIn({ all }: Asking): string | undefined {
  const ids = all('SELECT id FROM loop').map((row) => String(row.id))
  for (const id of ids) {
    const found =
      troubleWith(() => all('SELECT * FROM loop WHERE id = ?', id).map((row) => toSoundLoop(row as StoredLoop))) ??
      troubleWith(() => all('SELECT * FROM event WHERE loop = ? ORDER BY n', id).map(toEvent))
    if (found) return found
  }
  for (const [table, column, name] of RECORDS) {
    const [row] = all(`SELECT * FROM ${table} WHERE NOT json_valid("${column}") LIMIT 1`)
    if (row) return damagedRecord(name(row), 'it is not JSON').message
  }
  return undefined
}

type Record = [table: string, column: string, name: (row: Row) => string]

export const RECORDS: readonly Record[] = [
  ['project', 'record', ({ folder }) => `project ${folder}`],
  ['task', 'record', ({ vault, id }) => `task ${id} of ${vault}`],
  ['comment', 'comment', ({ loop }) => `loop ${loop}`],
  ['report', 'report', ({ loop }) => `loop ${loop}`],
  ['board_task', 'record', ({ id }) => `task ${id} of the board`],
  ['board_group', 'record', ({ id }) => `group ${id} of the board`],
  ['board_change', 'change', () => 'the board'],
  ['pane', 'record', ({ name }) => `agent ${name}`],
  ['pane_mail', 'mail', ({ name }) => `the mail of agent ${name}`],
  ['pane_change', 'change', ({ name }) => `agent ${name}`],
]

export function troubleWith(read: () => unknown): string | undefined {
  try {
    read()
    return undefined
  } catch (cause) {
    if (isRalphError(cause)) return cause.message
    throw cause
  }
}
