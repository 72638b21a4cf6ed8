/**
 * Converts loops of an older ralph to the current format: each gets a fact with the whole loop, and replay starts
 * there.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Fact } from '../engine/loop.ts'
import { upgradeLoop } from '../engine/upgrade.ts'
import { type StoredLoop, toLoop } from './rows.ts'
import type { TurnRecords } from './transcript.ts'

/** Runs within the transaction of a migration. What is written to the transcripts twice counts only once there. */
export function adoptLoops(database: DatabaseSync, transcripts: TurnRecords): void {
  const change = database.prepare('UPDATE loop SET spec = ?, tally = ?, next = ?, events = ? WHERE id = ?')
  const add = database.prepare('INSERT INTO event (loop, n, at, fact, next) VALUES (?, ?, ?, ?, ?)')
  // ralph wrote the rows itself.
  for (const row of database.prepare('SELECT * FROM loop').all() as StoredLoop[]) {
    const loop = readable(row)
    if (!loop) continue
    const [n, at] = [Number(row.events) + 1, Number(row.updated_at)]
    const fact: Fact = { kind: 'adopted', at, loop }
    change.run(...[loop.spec, loop.tally, loop.next].map((part) => JSON.stringify(part)), n, String(row.id))
    add.run(String(row.id), n, at, JSON.stringify(fact), JSON.stringify(loop.next))
    // A loop whose transcripts were removed could not be rebuilt anyway.
    if (transcripts.lastFact(String(row.id)) >= 0) void transcripts.addFact(String(row.id), n, fact)
  }
}

/** Undefined for a damaged row: it is reported when somebody asks for it, and does not block the others. */
function readable(row: StoredLoop): ReturnType<typeof upgradeLoop> | undefined {
  try {
    return upgradeLoop(toLoop(row))
  } catch {
    return undefined
  }
}
