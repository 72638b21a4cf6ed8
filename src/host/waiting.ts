/** Waits for what will soon be available again, such as a lock of another program, and says so once. */
import { setTimeout as sleep } from 'node:timers/promises'

export type Waiting = {
  /** Why it is worth waiting, as a sentence; undefined: it is not, or no longer. */
  why(cause: unknown, waitedMs: number): string | undefined
  signal?: AbortSignal | undefined
}

/** Tries again until it works, or waiting no longer makes sense; then throws the last failure. */
export async function untilItWorks<Result>(work: () => Promise<Result>, waiting: Waiting): Promise<Result> {
  const { signal } = waiting
  const began = performance.now()
  let said: (() => void) | undefined
  try {
    for (let nap = SHORTEST_NAP_MS; ; nap = Math.min(nap * 2, LONGEST_NAP_MS)) {
      try {
        return await work()
      } catch (cause) {
        const waitedMs = performance.now() - began
        const why = waiting.why(cause, waitedMs)
        if (why === undefined || signal?.aborted) throw cause
        if (waitedMs >= WORTH_TELLING_MS) said ??= say(why)
        // Those who wait together do not all come back at once.
        await sleep(nap * (0.5 + Math.random()), undefined, signal ? { signal } : {}).catch(() => {})
      }
    }
  } finally {
    said?.()
  }
}

/** How long an unattended loop waits. */
export const LONG_PATIENCE_MS: number = 10 * 60_000

const SHORTEST_NAP_MS = 20
const LONGEST_NAP_MS = 300

/** A shorter wait is not worth a line. */
const WORTH_TELLING_MS = 1_000

const listeners: ((text: string) => void)[] = []
const waited = new Map<string, number>()

/** Reports what ralph waits for to the latest listener. Returns a function that stops it. */
export function onNotice(listener: (text: string) => void): () => void {
  const own = (text: string) => listener(text) // the same function may listen twice
  listeners.push(own)
  return () => {
    const at = listeners.indexOf(own)
    if (at >= 0) listeners.splice(at, 1)
  }
}

/** Something that a person should know. */
export function tell(text: string): void {
  listeners.at(-1)?.(text)
}

/** If several wait for the same, one of them reports it. Returns a function to call when the wait has ended. */
function say(why: string): () => void {
  const others = waited.get(why) ?? 0
  waited.set(why, others + 1)
  if (others === 0) tell(why)
  return () => {
    const left = (waited.get(why) ?? 1) - 1
    if (left > 0) waited.set(why, left)
    else waited.delete(why)
  }
}
