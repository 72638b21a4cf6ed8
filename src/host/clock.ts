/** The time, for whatever compares two moments: limits, waits, deadlines. */

/**
 * The wall clock, which somebody may set back: then time continues from where it was, so that no limit is lifted. A
 * jump forward is trusted, because a machine that has slept looks the same.
 */
export function steadyClock(
  wall: () => number = Date.now,
  elapsedMs: () => number = () => performance.now(),
): () => number {
  let [at, seen] = [wall(), elapsedMs()]
  return () => {
    const elapsed = elapsedMs()
    at = Math.max(wall(), at + elapsed - seen)
    seen = elapsed
    return Math.floor(at)
  }
}

/** A clock that follows another one, such as that of a database shared by several machines. */
export type FollowingClock = { now: () => number; follow(time: number): void }

/** Given the time again, it does not go back: two moments of one process stay in order. */
export function followingClock(own: () => number = steadyClock()): FollowingClock {
  let ahead: number | undefined
  let last = Number.NEGATIVE_INFINITY
  return {
    now() {
      last = Math.max(last, own() + (ahead ?? 0))
      return last
    },
    follow(time) {
      // Until then it had no reference, and may be far off.
      if (ahead === undefined) last = Number.NEGATIVE_INFINITY
      ahead = time - own()
    },
  }
}
