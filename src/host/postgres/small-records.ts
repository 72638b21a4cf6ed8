/** Projects, answers, what a person has seen, passes and reports, in Postgres. */
import type { Report } from '../../engine/report.ts'
import { KEPT_MS, standingOf } from '../answer-records.ts'
import { unknownLoop } from '../loop-store.ts'
import { parse, type Row, readable } from '../rows.ts'
import type { AnswerRecords, ProjectRecords, ReportRecords, SeenRecords, TurnKey } from '../store.ts'
import type { PgAsking } from './asking.ts'

export function projectRecords({ one, run }: PgAsking, now: () => number): ProjectRecords {
  return {
    async load(folder) {
      const row = await one('SELECT record FROM project WHERE folder = $1', folder)
      return row && parse(row.record, `project ${folder}`)
    },
    save: (folder, record) =>
      run(
        `INSERT INTO project VALUES ($1, $2, $3)
         ON CONFLICT (folder) DO UPDATE SET record = excluded.record, updated_at = excluded.updated_at`,
        folder,
        JSON.stringify(record),
        now(),
      ),
    forget: (folder) => run('DELETE FROM project WHERE folder = $1', folder),
  }
}

export function answerRecords({ run, transaction }: PgAsking, now: () => number): AnswerRecords {
  return {
    begin: (key, input, since) =>
      transaction(async (inside) => {
        await inside.run('DELETE FROM answer WHERE at < $1', now() - KEPT_MS)
        // If two come at once, the second waits here for the first.
        const made = await inside.one(
          'INSERT INTO answer VALUES ($1, $2, NULL, $3) ON CONFLICT (key) DO NOTHING RETURNING key',
          key,
          input,
          now(),
        )
        if (made) return { kind: 'new' }
        const row = await inside.one('SELECT * FROM answer WHERE key = $1', key)
        return row ? standingOf(row, input, since) : { kind: 'busy' } // it was just deleted
      }),
    end: (key, answer) => run('UPDATE answer SET answer = $1 WHERE key = $2', answer, key),
    forget: (key) => run('DELETE FROM answer WHERE key = $1', key),
  }
}

/** Nobody has seen what has not happened yet. */
const MARK = `INSERT INTO seen (loop, n) SELECT id, least($1, events) FROM loop WHERE id = $2
  ON CONFLICT (loop) DO UPDATE SET n = greatest(seen.n, excluded.n) RETURNING n`

export function seenRecords({ transaction }: PgAsking): SeenRecords {
  return {
    async mark(loop, n) {
      const row = await transaction(({ one }) => one(MARK, n, loop))
      if (!row) throw unknownLoop(loop)
      return Number(row.n)
    },
  }
}

const TURN_OF = `SELECT pass.* FROM pass JOIN loop ON loop.id = pass.loop
  WHERE hash = $1 AND turn_iteration = pass.iteration AND turn_attempt = pass.attempt`

export function reportRecords({ all, one, transaction }: PgAsking): ReportRecords {
  return {
    issue: (turn, hash) =>
      transaction(async ({ run, insert }) => {
        await run('DELETE FROM pass WHERE loop = $1', turn.loop)
        await insert('pass', { hash, ...turn })
      }),

    turnOf: async (hash) => toTurn(await one(TURN_OF, hash)),

    add: (hash, report) =>
      transaction(async (inside) => {
        // Its loop does not move on while this is written.
        const turn = toTurn(await inside.one(`${TURN_OF} FOR SHARE`, hash))
        if (!turn) return false
        await inside.insert('report', { ...turn, at: report.at, report: JSON.stringify(report) })
        return true
      }),

    async of({ loop, iteration, attempt }) {
      const rows = await all(
        'SELECT report FROM report WHERE loop = $1 AND iteration = $2 AND attempt = $3 ORDER BY id',
        loop,
        iteration,
        attempt,
      )
      return readable(rows, (row) => parse<Report>(row.report, `loop ${loop}`))
    },
  }
}

function toTurn(row: Row | undefined): TurnKey | undefined {
  return row && { loop: String(row.loop), iteration: Number(row.iteration), attempt: Number(row.attempt) }
}
