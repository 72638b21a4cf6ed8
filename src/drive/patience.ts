/** Waiting for a loop that another process holds for a moment. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Held, Lease, LoopStore } from '../host/store.ts'

/** The lease as soon as it is free, or its holder when the time is up. */
export async function leasePatiently(
  store: Pick<LoopStore, 'lease'>,
  id: string,
  patienceMs: number,
): Promise<Lease | Held> {
  const until = performance.now() + patienceMs
  for (;;) {
    const lease = await store.lease(id, 0)
    if (!('heldBy' in lease) || performance.now() >= until) return lease
    await sleep(5 + Math.random() * 20)
  }
}
