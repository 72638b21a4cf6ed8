/** Answers to requests that carry a key, in SQLite. */
import type { Asking } from './asking.ts'
import type { AnswerRecords } from './store.ts'

const KEPT_MS = 24 * 3_600_000

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
        if (row.input !== input) return { kind: 'reused' }
        if (row.answer !== null) return { kind: 'answered', answer: String(row.answer) }
        return { kind: Number(row.at) < since ? 'lost' : 'busy' }
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
