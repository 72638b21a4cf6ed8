/** Work that only one may do at a time, in this process and in others on this machine. */
import { setTimeout as sleep } from 'node:timers/promises'
import { holdAlone } from './lock.ts'

/** `lock`: the file that stands for it. The kernel frees it when its holder dies. */
export function inTurnAlone<Result>(lock: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
  const mine = async () => {
    const held = await takeLock(lock, signal)
    try {
      return await work()
    } finally {
      held.close()
    }
  }
  const result = (queues.get(lock) ?? Promise.resolve()).then(mine, mine)
  queues.set(lock, result)
  return result
}

const queues = new Map<string, Promise<unknown>>()

/** Polled, since a blocking wait would stop everything else in this process. */
async function takeLock(lock: string, signal: AbortSignal | undefined): Promise<{ close(): void }> {
  for (;;) {
    signal?.throwIfAborted()
    const held = holdAlone(lock, 0)
    if (held) return held
    await sleep(SHORTEST_MS + Math.random() * SHORTEST_MS, undefined, signal ? { signal } : {})
  }
}

const SHORTEST_MS = 25
