/** The passes of turns, and what agents report with them, in SQLite. */
import type { Report } from '../engine/report.ts'
import type { Asking } from './asking.ts'
import { parse, readable } from './rows.ts'
import type { ReportRecords, TurnKey } from './store.ts'

/** Whether the loop is at exactly this turn. */
const IS_NOW = `json_valid(loop.next) AND json_extract(loop.next, '$.kind') = 'turn' AND json_extract(loop.next, '$.iteration') = pass.iteration
  AND json_extract(loop.next, '$.attempt') = pass.attempt`

export function reportRecords({ all, one, run, insert, transaction }: Asking): ReportRecords {
  const turnOf = (hash: string): TurnKey | undefined => {
    const row = one(`SELECT pass.* FROM pass JOIN loop ON loop.id = pass.loop WHERE hash = ? AND ${IS_NOW}`, hash)
    return row && { loop: String(row.loop), iteration: Number(row.iteration), attempt: Number(row.attempt) }
  }
  return {
    async issue(turn, hash) {
      transaction(() => {
        run('DELETE FROM pass WHERE loop = ?', turn.loop)
        insert('pass', { hash, ...turn })
      })
    },

    turnOf: async (hash) => turnOf(hash),

    add: async (hash, report) =>
      transaction(() => {
        const turn = turnOf(hash)
        if (!turn) return false
        insert('report', { ...turn, at: report.at, report: JSON.stringify(report) })
        return true
      }),

    async of({ loop, iteration, attempt }) {
      const rows = all(
        'SELECT report FROM report WHERE loop = ? AND iteration = ? AND attempt = ? ORDER BY id',
        loop,
        iteration,
        attempt,
      )
      return readable(rows, (row) => parse<Report>(row.report, `loop ${loop}`))
    },
  }
}
