/** Agents in panes and their mail, in SQLite. */
import type { Asking } from './asking.ts'
import { beginningOf } from './loop-store.ts'
import { postMail } from './pane-mail.ts'
import { parse, toNewColumns } from './rows.ts'
import type { Mail, PaneKey, PaneRecords } from './store.ts'
import type { TurnRecords } from './transcript.ts'

type Around = { now: () => number; transcripts: TurnRecords }

const PORTION = 500

export function paneRecords(asking: Asking, { now, transcripts }: Around): PaneRecords {
  const { run, all, one, insert, transaction } = asking
  const write = ({ crew, name }: PaneKey, record: unknown) =>
    insert('pane', { crew, name, record: JSON.stringify(record) }, 'REPLACE')
  const has = (mail: number) => one('SELECT id FROM pane_mail WHERE id = ?', mail) !== undefined
  const remove = (mail: number) => run('DELETE FROM pane_mail WHERE id = ?', mail)
  return {
    async list(crew) {
      const rows =
        crew === undefined ? all('SELECT * FROM pane') : all('SELECT * FROM pane WHERE crew = ? ORDER BY name', crew)
      return rows.map((row) => ({ ...keyOf(row), record: parse<unknown>(row.record) }))
    },

    async save(pane, record, { struck = [], change } = {}) {
      transaction(() => {
        write(pane, record)
        for (const mail of struck) remove(mail)
        if (change !== undefined)
          insert('pane_change', { crew: pane.crew, name: pane.name, at: now(), change: JSON.stringify(change) })
      })
    },

    async forget({ crew, name }) {
      transaction(() => {
        run('DELETE FROM pane WHERE crew = ? AND name = ?', crew, name)
        run('DELETE FROM pane_mail WHERE crew = ? AND name = ?', crew, name)
      })
    },

    post: async (pane, mail) => postMail(asking, pane, { mail, at: now() }),

    async mail(crew) {
      return all('SELECT * FROM pane_mail WHERE crew = ? ORDER BY id', crew).map((row) => ({
        ...keyOf(row),
        id: Number(row.id),
        at: Number(row.at),
        mail: parse<Mail>(row.mail),
      }))
    },

    async strike(mail) {
      return transaction(() => has(mail) && (remove(mail), true))
    },

    async begin(task, loop, pane, record) {
      const begun = transaction(() => {
        if (!has(task)) return false
        remove(task)
        insert('loop', toNewColumns(loop))
        write(pane, record)
        return true
      })
      if (begun) transcripts.begin(beginningOf(loop))
      return begun
    },

    async changes(after, crew) {
      const rows =
        crew === undefined
          ? all('SELECT * FROM pane_change WHERE seq > ? ORDER BY seq LIMIT ?', after, PORTION)
          : all('SELECT * FROM pane_change WHERE seq > ? AND crew = ? ORDER BY seq LIMIT ?', after, crew, PORTION)
      return rows.map((row) => ({
        ...keyOf(row),
        seq: Number(row.seq),
        at: Number(row.at),
        change: parse<unknown>(row.change),
      }))
    },

    async prune(before) {
      run('DELETE FROM pane_change WHERE at < ?', before)
    },
  }
}

function keyOf(row: Readonly<Record<string, unknown>>): PaneKey {
  return { crew: String(row.crew), name: String(row.name) }
}
