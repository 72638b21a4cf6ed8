/** Comments of people on lines of a diff, in SQLite, and the orders that deliver them to loops. */
import type { Order } from '../engine/loop.ts'
import { readOrder } from '../engine/stored.ts'
import type { Asking } from './asking.ts'
import { parse, type Row } from './rows.ts'
import type { Comment, CommentRecords, SentOrder, StoredComment, Telling } from './store.ts'

export function commentRecords(asking: Asking, now: () => number): CommentRecords {
  const { one, all, run, insert, transaction } = asking
  return {
    async add(loop, comments, tells) {
      return transaction(() => {
        const added = comments.map((comment) => {
          const at = now()
          insert('comment', { loop, hearer: loop, at, comment: JSON.stringify(comment), delivered: null })
          const id = Number(one('SELECT last_insert_rowid() AS id')?.id)
          return { ...comment, id, loop, at, hearer: loop, delivered: null }
        })
        if (tells && added.length > 0) leaveOrder(asking, loop, tells(added), now())
        return added
      })
    },

    async list(loop) {
      return all('SELECT * FROM comment WHERE loop = ? OR hearer = ? ORDER BY id', loop, loop).map(toComment)
    },

    async remove(id, tells) {
      return transaction(() => {
        const found = one('SELECT * FROM comment WHERE id = ?', id)
        if (!found || found.delivered !== null || !takeBack(asking, toComment(found), tells)) return false
        run('DELETE FROM comment WHERE id = ?', id)
        return true
      })
    },

    async deliver(ids, iteration) {
      transaction(() => {
        // It is delivered once: another attempt at the turn repeats it.
        for (const id of ids) run('UPDATE comment SET delivered = ? WHERE id = ? AND delivered IS NULL', iteration, id)
      })
    },
  }
}

/** Runs inside the transaction that creates the loop, so that only one of two callers gets the same comments. */
export function tellNew(asking: Asking, loop: string, told: readonly Telling[], at: number): void {
  for (const each of told) {
    if ('order' in each) leaveOrder(asking, loop, each, at)
    else {
      const waiting = asking.all(
        'SELECT * FROM comment WHERE hearer = ? AND delivered IS NULL ORDER BY id',
        each.commentsOf,
      )
      if (waiting.length > 0) leaveOrder(asking, loop, each.tells(waiting.map(toComment)), at)
    }
  }
}

/** Runs inside a transaction. The comments in an order belong to that loop from now on. */
export function leaveOrder({ insert, run }: Asking, loop: string, { by, order }: SentOrder, at: number): void {
  insert('told', { loop, at, by, order: JSON.stringify(order) })
  for (const id of commentsIn(order)) run('UPDATE comment SET hearer = ? WHERE id = ?', loop, id)
}

/** The comments that it delivers. */
export function commentsIn(order: Order): number[] {
  return order.kind === 'say' ? [...(order.comments ?? [])] : []
}

const TELLS_IT = `EXISTS (SELECT 1 FROM json_each(CASE json_valid("order") WHEN 1 THEN "order" ELSE '{}' END, '$.comments') WHERE value = ?)`
const TOLD_IT = `EXISTS (SELECT 1 FROM json_each(CASE json_valid(fact) WHEN 1 THEN fact ELSE '{}' END, '$.order.comments') WHERE value = ?)`

/** Whether the loop has not received it yet; the rest of the order that would deliver it stays. */
function takeBack(
  { one, all, run }: Asking,
  { id, hearer }: StoredComment,
  tells: (left: readonly StoredComment[]) => Order,
): boolean {
  const waiting = one(`SELECT * FROM told WHERE loop = ? AND ${TELLS_IT}`, hearer, id)
  if (!waiting) return one(`SELECT 1 FROM event WHERE loop = ? AND ${TOLD_IT}`, hearer, id) === undefined
  const left = leftOf(waiting, id, all('SELECT * FROM comment WHERE hearer = ? ORDER BY id', hearer))
  if (left.length === 0) run('DELETE FROM told WHERE id = ?', Number(waiting.id))
  else run('UPDATE told SET "order" = ? WHERE id = ?', JSON.stringify(tells(left)), Number(waiting.id))
  return true
}

/** The order without this comment. `hearers`: all comments for its loop. */
export function leftOf(waiting: Row, id: number, hearers: readonly Row[]): StoredComment[] {
  const ids = commentsIn(readOrder(String(waiting.order))).filter((each) => each !== id)
  return hearers.map(toComment).filter((comment) => ids.includes(comment.id))
}

export function toComment({ id, loop, at, hearer, delivered, comment }: Row): StoredComment {
  return {
    ...parse<Comment>(comment, `loop ${loop}`),
    id: Number(id),
    loop: String(loop),
    at: Number(at),
    hearer: String(hearer),
    delivered: delivered === null ? null : Number(delivered),
  }
}
