/** Places of experiments left by killed drivers. */
import type { DatabaseSync } from 'node:sqlite'
import { lockLoop } from '../host/lock.ts'
import { sweepPlaces } from '../host/proof-tree.ts'

/**
 * Removes those of loops that no process is running, except `own`, which is about to resume. Holds their locks
 * meanwhile, so that a driver that starts just then does not lose what it has created.
 */
export async function removeLeftPlaces(home: string, own?: string): Promise<void> {
  const held: DatabaseSync[] = []
  const isDriven = async (loop: string) => {
    const lock = loop === own ? undefined : lockLoop(home, loop)
    if (lock) held.push(lock)
    return !lock
  }
  try {
    await sweepPlaces(home, isDriven)
  } catch {
    // What cannot be removed now takes up space, and is tried again at the next start.
  } finally {
    for (const lock of held) lock.close()
  }
}
