/**
 * How many points the crash tests try, and from which seed: `RALPH_CRASH_POINTS=100 RALPH_CRASH_SEED=7 npx vitest run
 * <file>`. In these tests the two take precedence over RALPH_TEST_RUNS and RALPH_TEST_SEED, which apply without them.
 */
import { type Chance, drawChance } from '../src/host/chance.test-support.ts'

export function crashChance(usually: Chance): Chance {
  const { runs, seed } = drawChance(usually)
  const { RALPH_CRASH_POINTS: points, RALPH_CRASH_SEED: own } = process.env
  return { runs: Number(points ?? runs), seed: Number(own ?? seed) }
}

/** Mulberry32: small, and the same everywhere. */
export function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
