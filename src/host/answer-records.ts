/** Answers to requests that carry a key, in SQLite. */
import type { Asking } from './asking.ts'
import type { Row } from './rows.ts'
import type { AnswerRecords, KeyStanding } from './store.ts'

export const KEPT_MS: number = 24 * 3_600_000

export function answerRecords({ one, run, insert, transaction }: Asking, now: () => number): AnswerRecords {
  return {
    async begin(key, input, since) {
      return transaction(() => {
        run('DELETE FROM answer WHERE at < ?', now() - KEPT_MS)
        const row = one('SELECT * FROM answer WHERE key = ?', key)
        if (!row) {
          insert('answer', { key, input, answer: null, at: now() })
          return { kind: 'new' }
        }
        return standingOf(row, input, since)
      })
    },
    async end(key, answer) {
      run('UPDATE answer SET answer = ? WHERE key = ?', answer, key)
    },
    async forget(key) {
      run('DELETE FROM answer WHERE key = ?', key)
    },
  }
}

/** The answer for a key that was used before. */
export function standingOf(row: Row, input: string, since: number): KeyStanding {
  if (row.input !== input) return { kind: 'reused' }
  if (row.answer !== null) return { kind: 'answered', answer: String(row.answer) }
  return { kind: Number(row.at) < since ? 'lost' : 'busy' }
}
