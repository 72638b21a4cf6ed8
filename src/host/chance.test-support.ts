/**
 * How often a slow randomized test runs, and from which seed: `RALPH_TEST_RUNS=300 RALPH_TEST_SEED=7 npx vitest run
 * <file>` runs it 300 times with the draws of seed 7. Without a seed, each run of the suite uses a new one.
 */
import { randomInt } from 'node:crypto'

export type Chance = { runs: number; seed: number }

export function drawChance(usually: Partial<Chance> & Pick<Chance, 'runs'>): Chance {
  const { RALPH_TEST_RUNS: runs, RALPH_TEST_SEED: seed } = process.env
  return { runs: Number(runs ?? usually.runs), seed: Number(seed ?? usually.seed ?? randomInt(2 ** 31)) }
}
