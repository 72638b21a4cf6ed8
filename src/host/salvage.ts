/**
 * What a database knew that no transcript says: loops without one, records of projects, tasks and agents in panes,
 * orders that were not delivered yet, and what an older ralph did.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from './migrate.ts'
import { parse } from './rows.ts'
import type { LocalTranscripts } from './transcript.ts'

/**
 * Writes down what only the database has: what an older ralph stored, the last fact of a ralph that was killed before
 * it could, and what a disk has changed in a transcript since.
 */
export function completeTranscripts(path: string, transcripts: LocalTranscripts): void {
  if (!existsSync(path)) return
  attempt(() => {
    const database = openDatabase(path) // which also brings it up to date
    try {
      const missing = database.prepare('SELECT n, fact FROM event WHERE loop = ? AND n > ? ORDER BY n')
      for (const { id, events } of database.prepare('SELECT id, events FROM loop').all()) {
        const last = transcripts.story(String(id))?.facts.length
        if (last === undefined || last >= Number(events)) continue
        // The loss of one loop does not block the others.
        attempt(() => {
          for (const { n, fact } of missing.all(String(id), last))
            void transcripts.addFact(String(id), Number(n), parse(fact, `loop ${id}`))
        })
      }
    } finally {
      database.close()
    }
  })
}

/** Copies it from the file that was set aside, as far as it can be read. */
export function salvage(home: string, aside: string): void {
  if (!existsSync(aside)) return
  const database = openDatabase(join(home, 'ralph.db'))
  try {
    database.prepare('ATTACH DATABASE ? AS old').run(aside)
    for (const copy of COPIES) attempt(() => database.exec(`BEGIN; ${copy} COMMIT`)) || database.exec('ROLLBACK')
  } catch {
    // It was set aside because it is damaged: what cannot be read is lost.
  } finally {
    database.close()
  }
}

function attempt(work: () => void): boolean {
  try {
    work()
    return true
  } catch {
    return false // it is damaged, which is why it is rebuilt; other parts may be readable
  }
}

// An older ralph also changed loops without a fact, so its facts alone do not give the rows it wrote. They do give what
// came after a loop was adopted, even if the old file is a copy from before.
const ADOPTED = `(SELECT loop, max(n) AS n, max(json_extract(fact, '$.loop.tally.iteration')) AS iteration FROM main.event
  WHERE json_extract(fact, '$.kind') = 'adopted' AND loop IN (SELECT id FROM old.loop) GROUP BY loop)`

function takeOverBefore(table: string, n: string): string {
  const from = (database: string) => `FROM ${database}.${table} AS known JOIN ${ADOPTED} AS adopted
    ON adopted.loop = known.loop AND known.${n} <= adopted.iteration AND adopted.iteration > 0`
  return `DELETE FROM main.${table} WHERE (loop, ${n}) IN (SELECT known.loop, known.${n} ${from('main')});
    INSERT INTO ${table} SELECT known.* ${from('old')};`
}

// Without those that SQLite computes from others.
const LOOP_COLUMNS = `id, dir, agent, prompt, spec, tally, next, status, reason, proof, iteration, iteration_limit, false_claims, tokens,
  cost_usd, epoch, holder, events, started_at, updated_at, owner`

/** Each is done completely or not at all. */
const COPIES = [
  // Loops without a readable transcript.
  `CREATE TEMP TABLE untold AS SELECT id FROM old.loop
   WHERE id NOT IN (SELECT id FROM main.loop) AND json_valid(spec) AND json_valid(tally) AND json_valid(next);
   INSERT INTO loop (${LOOP_COLUMNS}) SELECT ${LOOP_COLUMNS} FROM old.loop WHERE id IN untold;
   INSERT INTO event (loop, n, at, fact, next) SELECT loop, n, at, fact, next FROM old.event WHERE loop IN untold ORDER BY seq;
   INSERT INTO iteration SELECT * FROM old.iteration WHERE loop IN untold;
   INSERT INTO check_result SELECT * FROM old.check_result WHERE loop IN untold;`,
  'INSERT OR REPLACE INTO project SELECT folder, record, updated_at FROM old.project WHERE json_valid(record);',
  // A task that was forgotten stays forgotten; its loop has a transcript nevertheless.
  `DELETE FROM main.task WHERE loop IN (SELECT id FROM old.loop);
   INSERT OR REPLACE INTO task SELECT vault, id, loop, record FROM old.task
   WHERE loop IN (SELECT id FROM main.loop) AND json_valid(record);`,
  `INSERT OR REPLACE INTO told SELECT id, loop, at, by, "order" FROM old.told WHERE loop IN (SELECT id FROM main.loop);`,
  ...Object.entries({
    pane: 'record',
    pane_mail: 'mail',
    pane_change: 'change',
    board_task: 'record',
    board_group: 'record',
    board_change: 'change',
    answer: undefined,
  }).map(
    ([table, json]) =>
      `INSERT OR REPLACE INTO ${table} SELECT * FROM old.${table} ${json ? `WHERE json_valid(${json})` : ''};`,
  ),
  ...Object.entries({ comment: 'json_valid(comment)', pass: 'true', report: 'json_valid(report)', seen: 'true' }).map(
    ([table, isSound]) =>
      `INSERT OR REPLACE INTO ${table} SELECT * FROM old.${table} WHERE loop IN (SELECT id FROM main.loop) AND ${isSound};`,
  ),
  takeOverBefore('iteration', 'n'),
  takeOverBefore('check_result', 'iteration'),
  `UPDATE main.event SET next = theirs.next FROM old.event AS theirs JOIN ${ADOPTED} AS adopted ON adopted.loop = theirs.loop
   WHERE theirs.loop = event.loop AND theirs.n = event.n AND event.n <= adopted.n;`,
]
