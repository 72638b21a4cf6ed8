/** Comments of people on lines of a diff, in Postgres, and the orders that deliver them to loops. */
import type { Order } from '../../engine/loop.ts'
import { leftOf, toComment } from '../comment-records.ts'
import type { CommentRecords, SentOrder, StoredComment, Telling } from '../store.ts'
import type { PgAsking } from './asking.ts'
import { toOrderColumns } from './loop-columns.ts'

export function commentRecords({ all, transaction }: PgAsking, now: () => number): CommentRecords {
  return {
    add: (loop, comments, tells) =>
      transaction(async (inside) => {
        const added: StoredComment[] = []
        for (const comment of comments) {
          const at = now()
          const sql = 'INSERT INTO comment (loop, hearer, at, comment) VALUES ($1, $1, $2, $3) RETURNING id'
          const row = await inside.one(sql, loop, at, JSON.stringify(comment))
          added.push({ ...comment, id: Number(row?.id), loop, at, hearer: loop, delivered: null })
        }
        if (tells && added.length > 0) await leaveOrder(inside, loop, tells(added), now())
        return added
      }),

    async list(loop) {
      return (await all('SELECT * FROM comment WHERE loop = $1 OR hearer = $1 ORDER BY id', loop)).map(toComment)
    },

    remove: (id, tells) =>
      transaction(async (inside) => {
        const found = await inside.one('SELECT * FROM comment WHERE id = $1 AND delivered IS NULL FOR UPDATE', id)
        if (!found || !(await takeBack(inside, toComment(found), tells))) return false
        await inside.run('DELETE FROM comment WHERE id = $1', id)
        return true
      }),

    deliver: (ids, iteration) =>
      // It is delivered once: another attempt at the turn repeats it.
      transaction(({ run }) =>
        run('UPDATE comment SET delivered = $1 WHERE id = ANY ($2) AND delivered IS NULL', iteration, ids),
      ),
  }
}

/**
 * Runs inside the transaction that creates the loop: of two callers for the same comments, the second waits, and finds
 * none.
 */
export async function tellNew(asking: PgAsking, loop: string, told: readonly Telling[], at: number): Promise<void> {
  for (const each of told) {
    if ('order' in each) await leaveOrder(asking, loop, each, at)
    else {
      const waiting = await asking.all(
        'SELECT * FROM comment WHERE hearer = $1 AND delivered IS NULL ORDER BY id FOR UPDATE',
        each.commentsOf,
      )
      if (waiting.length > 0) await leaveOrder(asking, loop, each.tells(waiting.map(toComment)), at)
    }
  }
}

/** Runs inside a transaction. The comments in an order belong to that loop from now on. */
export async function leaveOrder(asking: PgAsking, loop: string, { by, order }: SentOrder, at: number): Promise<void> {
  const columns = toOrderColumns(order)
  await asking.insert('told', { loop, at, by, ...columns })
  await asking.run('UPDATE comment SET hearer = $1 WHERE id = ANY ($2)', loop, columns.comments ?? [])
}

/** Whether the loop has not received it yet; the rest of the order that would deliver it stays. */
async function takeBack(
  { one, all, run }: PgAsking,
  { id, hearer }: StoredComment,
  tells: (left: readonly StoredComment[]) => Order,
): Promise<boolean> {
  const waiting = await one('SELECT * FROM told WHERE loop = $1 AND $2 = ANY (comments) FOR UPDATE', hearer, id)
  if (!waiting) return !(await one('SELECT 1 FROM event WHERE loop = $1 AND $2 = ANY (comments)', hearer, id))
  const left = leftOf(waiting, id, await all('SELECT * FROM comment WHERE hearer = $1 ORDER BY id', hearer))
  if (left.length === 0) await run('DELETE FROM told WHERE id = $1', Number(waiting.id))
  else {
    const { order, comments } = toOrderColumns(tells(left))
    await run(
      'UPDATE told SET "order" = $1, comments = $2 WHERE id = $3',
      order ?? '',
      comments ?? [],
      Number(waiting.id),
    )
  }
  return true
}
