/** Places of experiments that killed drivers left behind. */
import type { DatabaseSync } from 'node:sqlite'
import { lockLoop } from '../host/lock.ts'
import { sweepPlaces } from '../host/proof-tree.ts'

/**
 * Removes those of loops that nobody drives, except for `own`, which is about to be taken up. Their locks are held meanwhile,
 * so that a driver that comes just then does not lose what it has made.
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
    // What cannot be removed now takes up room, and is tried again at the next start.
  } finally {
    for (const lock of held) lock.close()
  }
}
