/** Rebuilds a lost or damaged database from the transcripts. */
import { type Rebuilt, rebuild as rebuildDatabase } from '../drive/rebuild.ts'
import { RalphError } from '../error.ts'
import { runningServer } from '../host/server-file.ts'
import { remakeTask } from '../vault/remake.ts'
import type { Operation } from './operation.ts'

export const rebuild: Operation<Record<string, never>, Rebuilt> = {
  name: 'rebuild',
  effect: 'destroy',
  summary: 'Moves the database aside and rebuilds it from the transcripts.',
  async run({ home, now, close }) {
    const server = runningServer(home)
    // It would go on with the file that is moved aside.
    if (server)
      throw new RalphError(
        'server-running',
        `ralph serve uses the database (${server.url}). Stop it, then rebuild: kill ${server.pid}`,
      )
    await close() // of the database that is put aside
    return rebuildDatabase(home, now, remakeTask)
  },
}
