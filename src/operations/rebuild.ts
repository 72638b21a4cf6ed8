/** Rebuilds a lost or damaged database from the transcripts. */
import { type Rebuilt, rebuild as rebuildDatabase } from '../drive/rebuild.ts'
import { remakeTask } from '../vault/remake.ts'
import type { Operation } from './operation.ts'

export const rebuild: Operation<Record<string, never>, Rebuilt> = {
  name: 'rebuild',
  effect: 'destroy',
  summary: 'Moves the database aside and rebuilds it from the transcripts.',
  async run({ home, now, close }) {
    await close() // of the database that is put aside
    return rebuildDatabase(home, now, remakeTask)
  },
}
