/** What a database knew that no transcript tells: records of projects and tasks, orders that nobody has heard yet, and what an older ralph did. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from './migrate.ts'

/** Copies it from the file that was put aside, as far as it can be read. */
export function salvage(home: string, aside: string): void {
  if (!existsSync(aside)) return
  const database = openDatabase(join(home, 'ralph.db'))
  try {
    database.prepare('ATTACH DATABASE ? AS old').run(aside)
    for (const copy of COPIES) attempt(() => database.exec(`BEGIN; ${copy} COMMIT`)) || database.exec('ROLLBACK')
  } catch {
    // It was put aside because it is damaged: what cannot be read is lost.
  } finally {
    database.close()
  }
}

function attempt(work: () => void): boolean {
  try {
    work()
    return true
  } catch {
    return false // as above; the others may be readable
  }
}

// An older ralph also changed loops without a fact, so that its facts alone do not give the rows it wrote.
const ADOPTED = `(SELECT loop FROM main.event WHERE json_extract(fact, '$.kind') = 'adopted' INTERSECT SELECT id FROM old.loop)`

/** Each is done whole or not at all. */
const COPIES = [
  'INSERT OR REPLACE INTO project SELECT folder, record, updated_at FROM old.project;',
  // A task that was forgotten stays forgotten; its loop has a transcript all the same.
  `DELETE FROM main.task WHERE loop IN (SELECT id FROM old.loop);
   INSERT OR REPLACE INTO task SELECT vault, id, loop, record FROM old.task WHERE loop IN (SELECT id FROM main.loop);`,
  `INSERT OR REPLACE INTO told SELECT id, loop, at, by, "order" FROM old.told WHERE loop IN (SELECT id FROM main.loop);`,
  ...['iteration', 'check_result'].map(
    (table) => `DELETE FROM main.${table} WHERE loop IN ${ADOPTED};
     INSERT INTO ${table} SELECT * FROM old.${table} WHERE loop IN ${ADOPTED};`,
  ),
  `UPDATE main.event SET next = theirs.next FROM old.event AS theirs
   WHERE theirs.loop = event.loop AND theirs.n = event.n AND event.loop IN ${ADOPTED};`,
]
