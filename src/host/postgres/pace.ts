/**
 * How often listeners look for changes. Each of them sends a few queries then, so the more there are, the less often.
 */

/** `togetherMs`: changes within this time are reported once. `pollMs`: the interval without a notification. */
export type Pace = { togetherMs: number; pollMs: number }

/** `slots`: of all workers together. Four thousand send no more queries in all than a hundred would. */
export function paceFor(slots: number): Pace {
  const togetherMs = Math.min(1_000, 25 + slots / 4)
  return { togetherMs, pollMs: Math.max(1_000, 10 * togetherMs) }
}
