/** Agents in panes and their mail, in SQLite. */
import type { Asking } from './asking.ts'
import { beginningOf } from './loop-store.ts'
import { postMail } from './pane-mail.ts'
import { parse, type Row, readable, toNewColumns } from './rows.ts'
import type { Mail, PaneChange, PaneKey, PaneRecords, PaneRow, StoredMail } from './store.ts'
import type { TurnRecords } from './transcript.ts'

type Around = { now: () => number; transcripts: TurnRecords }

export const PORTION = 500

export function paneRecords(asking: Asking, around: Around): PaneRecords {
  return { ...known(asking, around), ...mailboxes(asking, around), ...changes(asking) }
}

/** What is known about each. */
function known(asking: Asking, { now, transcripts }: Around): Pick<PaneRecords, 'list' | 'save' | 'forget' | 'begin'> {
  const { run, all, insert, transaction } = asking
  const write = ({ crew, name }: PaneKey, record: unknown) =>
    insert('pane', { crew, name, record: JSON.stringify(record) }, 'REPLACE')
  return {
    async list(crew) {
      const rows =
        crew === undefined ? all('SELECT * FROM pane') : all('SELECT * FROM pane WHERE crew = ? ORDER BY name', crew)
      return readable(rows, toPane)
    },

    async save(pane, record, { struck = [], change } = {}) {
      transaction(() => {
        write(pane, record)
        for (const mail of struck) remove(asking, mail)
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

    async begin(task, loop, pane, record) {
      const begun = transaction(() => {
        if (!remove(asking, task)) return false
        insert('loop', toNewColumns(loop))
        write(pane, record)
        return true
      })
      if (begun) transcripts.begin(beginningOf(loop))
      return begun
    },
  }
}

/** The mail for them. */
function mailboxes(asking: Asking, { now }: Around): Pick<PaneRecords, 'post' | 'mail' | 'strike'> {
  return {
    post: async (pane, mail) => postMail(asking, pane, { mail, at: now() }),

    async mail(crew) {
      return readable(asking.all('SELECT * FROM pane_mail WHERE crew = ? ORDER BY id', crew), toMail)
    },

    strike: async (mail) => asking.transaction(() => remove(asking, mail)),
  }
}

/** False if it is already deleted. Runs inside a transaction. */
function remove({ one, run }: Asking, mail: number): boolean {
  if (!one('SELECT id FROM pane_mail WHERE id = ?', mail)) return false
  run('DELETE FROM pane_mail WHERE id = ?', mail)
  return true
}

/** How they changed. */
function changes({ run, all }: Asking): Pick<PaneRecords, 'changes' | 'prune'> {
  return {
    async changes(after, crew) {
      const rows =
        crew === undefined
          ? all('SELECT * FROM pane_change WHERE seq > ? ORDER BY seq LIMIT ?', after, PORTION)
          : all('SELECT * FROM pane_change WHERE seq > ? AND crew = ? ORDER BY seq LIMIT ?', after, crew, PORTION)
      return readable(rows, toPaneChange)
    },

    async prune(before) {
      run('DELETE FROM pane_change WHERE at < ?', before)
    },
  }
}

export function toPane(row: Row): PaneRow {
  return { ...keyOf(row), record: parse<unknown>(row.record, `agent ${row.name}`) }
}

export function toMail(row: Row): StoredMail {
  const mail = parse<Mail>(row.mail, `the mail of agent ${row.name}`)
  return { ...keyOf(row), id: Number(row.id), at: Number(row.at), mail }
}

export function toPaneChange(row: Row): PaneChange {
  const change = parse<unknown>(row.change, `agent ${row.name}`)
  return { ...keyOf(row), seq: Number(row.seq), at: Number(row.at), change }
}

function keyOf(row: Row): PaneKey {
  return { crew: String(row.crew), name: String(row.name) }
}
