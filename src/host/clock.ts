/** The time, for whatever compares two moments: limits, waits, deadlines. */

/**
 * The time of the wall, which somebody may set back: time goes on from where it was then, so that no limit is lifted. Set
 * forward, it is taken at its word, because a machine that has slept looks the same.
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

/** A clock that goes by another one, such as that of a database that several machines share. */
export type FollowingClock = { now: () => number; follow(time: number): void }

/** Told the time again, it does not go back: two moments of one process stay in their order. */
export function followingClock(own: () => number = steadyClock()): FollowingClock {
  let ahead: number | undefined
  let last = Number.NEGATIVE_INFINITY
  return {
    now() {
      last = Math.max(last, own() + (ahead ?? 0))
      return last
    },
    follow(time) {
      // Until then it had nothing to go by, and may be far off.
      if (ahead === undefined) last = Number.NEGATIVE_INFINITY
      ahead = time - own()
    },
  }
}
