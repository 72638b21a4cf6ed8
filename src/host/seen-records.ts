/** How far a person has seen what happened to loops, in SQLite. */
import type { Asking } from './asking.ts'
import { unknownLoop } from './loop-store.ts'
import type { SeenRecords } from './store.ts'

/** Nobody has seen what has not happened yet. */
const MARK = `INSERT INTO seen (loop, n) SELECT id, min(?, events) FROM loop WHERE id = ?
  ON CONFLICT (loop) DO UPDATE SET n = max(n, excluded.n) RETURNING n`

export function seenRecords({ one }: Asking): SeenRecords {
  return {
    async mark(loop, n) {
      const row = one(MARK, n, loop)
      if (!row) throw unknownLoop(loop)
      return Number(row.n)
    },
  }
}
