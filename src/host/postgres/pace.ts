/** How often those who listen for changes look. Each of them asks a few questions then, so the more there are, the less often. */

/** `togetherMs`: what comes together is told once. `pollMs`: without having heard anything. */
export type Pace = { togetherMs: number; pollMs: number }

/** A thousand workers ask no more in all than forty. */
export function paceFor(workers: number): Pace {
  const togetherMs = Math.min(1_000, 25 + workers)
  return { togetherMs, pollMs: Math.max(1_000, 10 * togetherMs) }
}
