/** Leaves mail for an agent in a pane: all that its hook program needs of the store. */
import type { Asking } from './asking.ts'
import type { Mail, PaneKey } from './store.ts'

/** Undefined if there is no such agent. */
export function postMail(
  { one, run, transaction }: Asking,
  { crew, name }: PaneKey,
  { mail, at }: { mail: Mail; at: number },
): number | undefined {
  return transaction(() => {
    const known = name === '' || one('SELECT name FROM pane WHERE crew = ? AND name = ?', crew, name) !== undefined
    if (!known) return undefined
    run('INSERT INTO pane_mail (crew, name, at, mail) VALUES (?, ?, ?, ?)', crew, name, at, JSON.stringify(mail))
    return Number(one('SELECT last_insert_rowid() AS id')?.id)
  })
}
