/** What a database knew that no transcript tells: records of projects and tasks, and orders that nobody has heard yet. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from './migrate.ts'

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
