/** Stores what each iteration changed in the database, where the board finds it. */
import type { Loop } from '../engine/loop.ts'
import type { FleetTask } from '../formats/fleet-task.ts'
import { secretsOf } from '../host/sealed.ts'
import type { Lease } from '../host/store.ts'
import { type ReadingDiff, readTaskDiffs } from '../host/task-diff.ts'
import { type Desk, sentenceOf } from './fleet-desk.ts'

type Keeping = { loop: Loop; lease: Lease; reading: Omit<ReadingDiff, 'mask'> }

/** Runs before the turn is saved. If it fails, the turn still counts; the board just shows less. */
export async function keepDiffs(
  { context, store, say }: Desk,
  task: FleetTask,
  { loop, lease, reading }: Keeping,
): Promise<void> {
  try {
    const mask = secretsOf(context.home, loop).masking().text
    for (const kept of await readTaskDiffs({ ...reading, mask })) await store.diffs?.keep(lease, kept)
  } catch (cause) {
    say(`the diff of iteration ${reading.iteration} could not be stored: ${sentenceOf(cause)}`, task)
  }
}
