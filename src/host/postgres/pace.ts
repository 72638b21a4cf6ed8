/** How often those who listen for changes look. Each of them asks a few questions then, so the more there are, the less often. */

/** `togetherMs`: what comes together is told once. `pollMs`: without having heard anything. */
export type Pace = { togetherMs: number; pollMs: number }

/** `slots`: of all workers together. Four thousand ask no more in all than a hundred would. */
export function paceFor(slots: number): Pace {
  const togetherMs = Math.min(1_000, 25 + slots / 4)
  return { togetherMs, pollMs: Math.max(1_000, 10 * togetherMs) }
}
