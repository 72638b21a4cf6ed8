/**
 * The limits of a loop: what is used up, how long to wait for an agent that cannot work, how many iterations a task may
 * take.
 */
import type { HaltReason, Limits, Loop, Size, Tally } from './loop.ts'

export type Stop = { reason: HaltReason; sentence: string }

/** Attempts at one iteration, waits included. With half-hour waits this is two days of trying. */
export const ATTEMPTS = 100

/** The limit that has been reached, if any. */
export function spent({ spec, tally }: Loop, at: number): Stop | undefined {
  const { limits } = spec
  const most = iterationLimit(limits, tally)
  if (most > 0 && tally.iteration >= most)
    return {
      reason: 'max-iterations',
      sentence: noIterations(most),
    }
  return overBudget({ limits, tally }, at)
}

export function noIterations(most: number): string {
  return `Reached the limit of ${count(most, 'iteration')}.`
}

/** What a loop, or several together, have used. */
export type Used = Pick<Tally, 'startedAt' | 'restedMs' | 'tokens' | 'costUsd'>
type Budget = Pick<Limits, 'minutes' | 'tokens' | 'costUsd'>

/** Time, tokens and money: the limits that attempts which do not count can also reach. */
export function overBudget({ limits, tally }: { limits: Budget; tally: Used }, at: number): Stop | undefined {
  if (limits.minutes !== undefined && at >= deadline(limits.minutes, tally)) return outOfTime(limits.minutes)
  if (limits.tokens !== undefined && tally.tokens >= limits.tokens)
    return { reason: 'tokens', sentence: `Used ${count(tally.tokens, 'token')}; the limit is ${limits.tokens}.` }
  if (limits.costUsd !== undefined && tally.costUsd >= limits.costUsd)
    return {
      reason: 'cost',
      sentence: `Spent $${tally.costUsd.toFixed(2)}; the limit is $${limits.costUsd.toFixed(2)}.`,
    }
  return undefined
}

export function outOfTime(minutes: number | undefined): Stop {
  const limit = minutes === undefined ? '' : ` of ${count(minutes, 'minute')}`
  return { reason: 'timeout', sentence: `Reached the time limit${limit}.` }
}

/** When the time of a loop runs out. */
export function deadline(minutes: number, { startedAt, restedMs }: Pick<Used, 'startedAt' | 'restedMs'>): number {
  return startedAt + restedMs + minutes * 60_000
}

/** Whether a loop in a turn has no time left. */
export function isOverdue({ spec, tally, next }: Loop, at: number): boolean {
  const { minutes } = spec.limits
  return next.kind === 'turn' && minutes !== undefined && at >= deadline(minutes, tally)
}

/** Limits that allow this much on top of what has been used so far. */
export function onTop(limits: Limits, tally: Tally, at: number): Limits {
  const { costUsd, tokens, minutes } = limits
  const restedMs = tally.restedMs + (tally.restingSince === undefined ? 0 : at - tally.restingSince)
  return {
    ...limits,
    ...(costUsd === undefined ? {} : { costUsd: costUsd + tally.costUsd }),
    ...(tokens === undefined ? {} : { tokens: tokens + tally.tokens }),
    ...(minutes === undefined ? {} : { minutes: minutes + (at - tally.startedAt - restedMs) / 60_000 }),
  }
}

/** What is left of shared limits for the next loop; always enough to start with. */
export function whatIsLeft(limits: Budget, used: Used, at: number): Budget {
  const { costUsd, tokens, minutes } = limits
  return {
    ...(costUsd === undefined ? {} : { costUsd: Math.max(0.000_001, costUsd - used.costUsd) }),
    ...(tokens === undefined ? {} : { tokens: Math.max(1, tokens - used.tokens) }),
    ...(minutes === undefined
      ? {}
      : { minutes: Math.max(0.01, Math.ceil((deadline(minutes, used) - at) / 600) / 100) }),
  }
}

/** How many iterations this loop may take now; 0: no limit. */
export function iterationLimit(limits: Limits, tally: Tally): number {
  return limits.iterations === 0 ? 0 : limits.iterations + tally.extra
}

/** An adaptive limit grows by two while open failures keep falling, up to its ceiling. 0: it does not grow. */
export function extension({ spec, tally }: Loop): number {
  const { ceiling, iterations } = spec.limits
  if (ceiling === undefined || iterations === 0 || !tally.falling) return 0
  return Math.max(0, Math.min(2, ceiling - iterationLimit(spec.limits, tally)))
}

/** Whether a host that allows this many turns in a row, counted from iteration `since`, would refuse another one. */
export function overCap({ tally }: Pick<Loop, 'tally'>, since: number, most: number): boolean {
  return tally.iteration - since > most
}

/** Whether the requested turn is the last that such a host takes. */
export function atCap({ tally }: Pick<Loop, 'tally'>, since: number, most: number): boolean {
  return tally.iteration - since === most
}

const BEGIN_MS = 5_000

/** An idle agent that has not started its turn after this time never will: it has no model, or no key. */
export function neverStarts(idleMs: number): boolean {
  return idleMs >= BEGIN_MS
}

const LONGEST_RESET_MS = 8 * 24 * 3_600_000

/**
 * When to try again: at the reset time the agent named, otherwise after 1, 2, 4 … 30 minutes. A reset more than a week
 * away is a misreading.
 */
export function retryAt(faults: number, at: number, resetsAt: number | undefined): number {
  if (resetsAt !== undefined && resetsAt > at && resetsAt - at <= LONGEST_RESET_MS) return resetsAt
  return at + Math.min(2 ** (faults - 1), 30) * 60_000
}

/** Cheap indicators of a task's size. */
export type Extent = { words: number; items: number; stages: number; files: number }

export function sizeOf({ words, items, stages, files }: Extent): Size {
  const points =
    Math.min(words / 150, 3) + Math.min((items + 2 * stages) / 4, 4) + (files > 5_000 ? 2 : files > 500 ? 1 : 0)
  if (points < 1) return 'S'
  if (points < 3) return 'M'
  return points < 5 ? 'L' : 'XL'
}

const BY_SIZE: Readonly<Record<Size, number>> = { S: 6, M: 10, L: 16, XL: 24 }

/** How many loops must have ended before they say anything about the next one. */
export const ENOUGH_HISTORY = 20

/** The initial adaptive limit: by size; with enough completed loops, what nine in ten of them needed. */
export function estimateIterations(size: Size, history: readonly number[], ceiling: number): number {
  const guess = history.length >= ENOUGH_HISTORY ? quantile(history, 0.9) + 2 : BY_SIZE[size]
  return Math.max(1, Math.min(guess, ceiling))
}

/** The value that this share of all values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * share) - 1] ?? 0
}

/** `1 minute`, `3 minutes`. */
export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`
}
