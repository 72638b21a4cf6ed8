/** Makes a lost or damaged database anew from the transcripts. */
import { type Rebuilt, rebuild as rebuildDatabase } from '../drive/rebuild.ts'
import { remakeTask } from '../vault/remake.ts'
import type { Operation } from './operation.ts'

export const rebuild: Operation<Record<string, never>, Rebuilt> = {
  name: 'rebuild',
  effect: 'destroy',
  summary: 'Puts the database aside and makes a new one from the transcripts.',
  run: ({ home, now }) => rebuildDatabase(home, now, remakeTask),
}
