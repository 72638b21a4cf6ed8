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
