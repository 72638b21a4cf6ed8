/** Agents in panes and their mail, in Postgres. */
import { PORTION, toMail, toPane, toPaneChange } from '../pane-records.ts'
import { readable } from '../rows.ts'
import type { PaneKey, PaneRecords } from '../store.ts'
import type { PgAsking } from './asking.ts'
import { insertNumbered } from './counter.ts'
import { insertLoop } from './loop-columns.ts'

export function paneRecords(asking: PgAsking, now: () => number): PaneRecords {
  return { ...known(asking, now), ...mailboxes(asking, now), ...changes(asking) }
}

/** What is known about each. */
function known(asking: PgAsking, now: () => number): Pick<PaneRecords, 'list' | 'save' | 'forget' | 'begin'> {
  const { all, transaction } = asking
  return {
    list: async (crew) =>
      readable(
        await all('SELECT * FROM pane WHERE crew = coalesce($1, crew) ORDER BY crew, name', crew ?? null),
        toPane,
      ),

    save: (pane, record, { struck = [], change } = {}) =>
      transaction(async (inside) => {
        await write(inside, pane, record)
        await inside.run('DELETE FROM pane_mail WHERE id = ANY ($1)', struck)
        if (change === undefined) return
        const columns = { crew: pane.crew, name: pane.name, at: now(), change: JSON.stringify(change) }
        await insertNumbered(inside, { table: 'pane_change', counter: 'pane' }, columns)
      }),

    forget: ({ crew, name }) =>
      transaction(async ({ run }) => {
        await run('DELETE FROM pane WHERE crew = $1 AND name = $2', crew, name)
        await run('DELETE FROM pane_mail WHERE crew = $1 AND name = $2', crew, name)
      }),

    begin: (task, loop, pane, record) =>
      transaction(async (inside) => {
        if (!(await remove(inside, task))) return false
        await insertLoop(inside, loop)
        await write(inside, pane, record)
        return true
      }),
  }
}

function write({ run }: PgAsking, { crew, name }: PaneKey, record: unknown): Promise<void> {
  const sql = 'INSERT INTO pane VALUES ($1, $2, $3) ON CONFLICT (crew, name) DO UPDATE SET record = excluded.record'
  return run(sql, crew, name, JSON.stringify(record))
}

/** The mail for them. */
function mailboxes(asking: PgAsking, now: () => number): Pick<PaneRecords, 'post' | 'mail' | 'strike'> {
  const post = `INSERT INTO pane_mail (crew, name, at, mail) SELECT $1, $2, $3, $4
    WHERE $2 = '' OR EXISTS (SELECT 1 FROM pane WHERE crew = $1 AND name = $2) RETURNING id`
  return {
    async post({ crew, name }, mail) {
      const row = await asking.transaction(({ one }) => one(post, crew, name, now(), JSON.stringify(mail)))
      return row && Number(row.id)
    },
    mail: async (crew) =>
      readable(await asking.all('SELECT * FROM pane_mail WHERE crew = $1 ORDER BY id', crew), toMail),
    strike: (mail) => asking.transaction((inside) => remove(inside, mail)),
  }
}

/** False if it is already deleted. */
async function remove({ one }: PgAsking, mail: number): Promise<boolean> {
  return (await one('DELETE FROM pane_mail WHERE id = $1 RETURNING id', mail)) !== undefined
}

/** How they changed. */
function changes({ run, all }: PgAsking): Pick<PaneRecords, 'changes' | 'prune'> {
  const after = 'SELECT * FROM pane_change WHERE seq > $1 AND crew = coalesce($2, crew) ORDER BY seq LIMIT $3'
  return {
    changes: async (seq, crew) => readable(await all(after, seq, crew ?? null, PORTION), toPaneChange),
    prune: (before) => run('DELETE FROM pane_change WHERE at < $1', before),
  }
}
