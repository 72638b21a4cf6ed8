/** Rebuilds a lost or damaged database from the transcripts. */
import { type Rebuilt, rebuild as rebuildDatabase } from '../drive/rebuild.ts'
import { RalphError } from '../error.ts'
import { isLocked } from '../host/lock.ts'
import { readServerFile, SERVER_LOCK } from '../host/server-file.ts'
import { remakeTask } from '../vault/remake.ts'
import type { Operation } from './operation.ts'

export const rebuild: Operation<Record<string, never>, Rebuilt> = {
  name: 'rebuild',
  effect: 'destroy',
  summary: 'Moves the database aside and rebuilds it from the transcripts.',
  async run({ home, database, now, close }) {
    if (database)
      throw new RalphError('usage', 'Only the database in RALPH_HOME can be rebuilt. Restore this one from a backup.')
    // It would keep using the file that is moved aside.
    if (isLocked(home, SERVER_LOCK)) {
      const { url = 'still starting', pid } = readServerFile(home) ?? {}
      const how = pid === undefined ? '' : `: kill ${pid}`
      throw new RalphError('server-running', `ralph serve is using the database (${url}). Stop it, then rebuild${how}`)
    }
    await close() // of the database that is moved aside
    return rebuildDatabase(home, now, remakeTask)
  },
}
