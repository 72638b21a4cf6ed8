/** Wakes those who wait for news. */

export type News = {
  ring(): void
  /** Waits until it rings, at most this long, or until the signal fires. */
  wait(ms?: number, signal?: AbortSignal): Promise<void>
}

// setTimeout cannot hold more than 24 days.
const LONGEST_MS = 2 ** 31 - 1

export function openNews(): News {
  const waiting = new Set<() => void>()
  return {
    ring() {
      for (const wake of [...waiting]) wake()
    },
    wait(ms, signal) {
      return new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const wake = () => {
          waiting.delete(wake)
          clearTimeout(timer)
          signal?.removeEventListener('abort', wake)
          resolve()
        }
        const timer = ms === undefined ? undefined : setTimeout(wake, Math.max(0, Math.min(ms, LONGEST_MS)))
        waiting.add(wake)
        signal?.addEventListener('abort', wake)
      })
    },
  }
}
