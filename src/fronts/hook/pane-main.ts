/** The hook program of an agent in a pane: puts its client's reports into the dispatcher's mail. Prints nothing and never fails. */
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { openAsking } from '../../host/asking.ts'
import { openCurrent } from '../../host/database.ts'
import { postMail } from '../../host/pane-mail.ts'
import { sealMail } from '../../host/sealing-store.ts'
import { readNotice } from './notice.ts'

async function main(): Promise<void> {
  const { env } = process
  const [crew, name] = (env.RALPH_PANE ?? '').split('/')
  if (!crew || !name || env.RALPH_LOOP_ID) return // an agent that ralph itself started inside this one
  const launch = Number(env.RALPH_PANE_LAUNCH)
  const mail = await readNotice(readFileSync(0, 'utf8'), env, Date.now)
  if (!mail) return
  const home = resolve(env.RALPH_HOME || join(homedir(), '.ralph'))
  const asking = openAsking(join(home, 'ralph.db'), (path) => {
    const database = openCurrent(path)
    if (!database) throw new Error('it is of another version')
    return database
  })
  postMail(asking, { crew, name }, { mail: sealMail(home, { ...mail, launch }), at: Date.now() })
}

main().catch(() => {}) // not the client's fault; its screen shows what this could not report
