/** What a database knew that no transcript tells: last facts, records of projects and tasks, orders that nobody has heard yet. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Fact } from '../engine/loop.ts'
import { openDatabase } from './migrate.ts'
import { parse } from './rows.ts'
import type { LocalTranscripts } from './transcript.ts'

/**
 * Adds the facts that a transcript lacks because ralph was killed between the two writes. The next lease does the same, but
 * nobody leases a loop that has ended.
 */
export function completeTranscripts(transcripts: LocalTranscripts, aside: string): void {
  if (!existsSync(aside)) return
  try {
    const database = new DatabaseSync(aside)
    try {
      const missing = database.prepare('SELECT n, fact FROM event WHERE loop = ? AND n > ? ORDER BY n')
      for (const id of transcripts.loops()) {
        if (!transcripts.story(id)) continue
        for (const { n, fact } of missing.all(id, transcripts.lastFact(id)))
          transcripts.addFact(id, Number(n), parse<Fact>(fact))
      }
    } finally {
      database.close()
    }
  } catch {
    // It was put aside because it is damaged: what cannot be read is lost.
  }
}

const COPIES = [
  'INSERT OR REPLACE INTO project SELECT folder, record, updated_at FROM old.project',
  `INSERT OR REPLACE INTO task SELECT vault, id, loop, record FROM old.task
   WHERE loop IN (SELECT id FROM main.loop)`,
  `INSERT OR REPLACE INTO told SELECT id, loop, at, by, "order" FROM old.told
   WHERE loop IN (SELECT id FROM main.loop)`,
]

/** Copies them from the file that was put aside, as far as they can be read. */
export function salvage(home: string, aside: string): void {
  if (!existsSync(aside)) return
  const database = openDatabase(join(home, 'ralph.db'))
  try {
    database.prepare('ATTACH DATABASE ? AS old').run(aside)
    for (const copy of COPIES) database.exec(copy)
  } catch {
    // It was put aside because it is damaged: what cannot be read is lost.
  } finally {
    database.close()
  }
}
