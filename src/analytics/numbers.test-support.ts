/** Loops as analytics see them. */
import type { LoopNumbers, Sums } from './numbers.ts'

export const NO_SUMS: Sums = { usage: { input: 0, cached: 0, output: 0 }, checks: [], findings: [] }

const FIRST_DAY = Date.UTC(2026, 0, 5, 9)
const DAY = 86_400_000

let made = 0

export function loopWith(numbers: Partial<LoopNumbers> & { day?: number } = {}): LoopNumbers {
  const { day = 0, ...rest } = numbers
  return {
    id: `loop-${made++}`,
    dir: '/work',
    agent: 'claude',
    owner: 'person',
    status: 'completed',
    iterations: 1,
    iterationLimit: 10,
    falseClaims: 0,
    bent: 0,
    findings: 0,
    tokens: 0,
    costUsd: 0,
    startedAt: FIRST_DAY + day * DAY,
    updatedAt: FIRST_DAY + day * DAY,
    ...rest,
  }
}

export function done(iterations: number, rest: Partial<LoopNumbers> = {}): LoopNumbers {
  return loopWith({ status: 'completed', proof: 'verified', iterations, ...rest })
}

export function halted(iterations: number, reason: NonNullable<LoopNumbers['reason']>): LoopNumbers {
  return loopWith({ status: 'halted', reason, iterations })
}

export function many(times: number, loop: () => LoopNumbers): LoopNumbers[] {
  return Array.from({ length: times }, loop)
}
