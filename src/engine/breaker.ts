/** The breaker: closed while a loop makes progress, half-open one step before it gives up, open when it must stop. */
import { count } from './limits.ts'
import type { Limits, Loop, Tally } from './loop.ts'

const CRASHES = 3
const TEST_ONLY = 3

/** Why the breaker opens. */
export type Trip = { reason: 'agent-failed' | 'same-error' | 'test-only' | 'no-progress'; sentence: string }

/** The first reason to stop trying, in the order of the policy. */
export function tripped({ spec, tally }: Loop): Trip | undefined {
  const { noProgress, sameError } = spec.limits
  if (tally.crashes >= CRASHES)
    return {
      reason: 'agent-failed',
      sentence: stopped(`The agent failed ${tally.crashes} times in a row: ${oneLine(tally.trouble ?? '')}`),
    }
  if (tally.repeats >= sameError)
    return {
      reason: 'same-error',
      sentence: stopped(
        `The same failure occurred ${count(tally.repeats, 'time')} in a row: ${oneLine(tally.error ?? '')}`,
      ),
    }
  if (tally.testOnly >= TEST_ONLY)
    return {
      reason: 'test-only',
      sentence: `${count(tally.testOnly, 'iteration')} in a row only ran tests and changed nothing.`,
    }
  if (tally.stalled >= noProgress)
    return { reason: 'no-progress', sentence: `${count(tally.stalled, 'iteration')} in a row changed nothing.` }
  return undefined
}

/** No progress. */
export function isStalled({ spec, tally }: Loop): boolean {
  return tally.testOnly >= TEST_ONLY || tally.stalled >= spec.limits.noProgress
}

const CRASHED_LOOPS = 2

/**
 * Whether the next loop with the same agents would fail just like the last one: they are unusable, or every recent loop
 * ended because they crashed. `crashed`: how many in a row did.
 */
export function doubt(crashed: number, { next }: Pick<Loop, 'next'>): { crashed: number; useless: boolean } {
  const reason = next.kind === 'halt' ? next.reason : undefined
  const now = reason === 'agent-failed' ? crashed + 1 : 0
  return { crashed: now, useless: reason === 'agent-unusable' || now >= CRASHED_LOOPS }
}

/** What the agent reads when the breaker is half-open. */
export function diagnosis(loop: Loop): string | undefined {
  const reason = nearest(loop)
  return reason && adviceOn(reason, loop.tally)
}

/** What would open the breaker with the next turn. */
function nearest({ spec, tally }: Loop): Trip['reason'] | undefined {
  const { noProgress, sameError } = spec.limits
  if (tally.crashes > 0 && tally.crashes === CRASHES - 1) return 'agent-failed'
  if (tally.repeats > 0 && tally.repeats === sameError - 1) return 'same-error'
  if (tally.testOnly > 0 && tally.testOnly === TEST_ONLY - 1) return 'test-only'
  return tally.stalled > 0 && tally.stalled === noProgress - 1 ? 'no-progress' : undefined
}

export function adviceOn(reason: Trip['reason'], { repeats }: Tally): string {
  switch (reason) {
    case 'agent-failed':
      return 'The last attempts crashed. Work in smaller steps and avoid what caused the crash.'
    case 'same-error':
      return `The same failure occurred ${count(repeats, 'time')} in a row. Your approach does not work: find the cause, then try a different one.`
    case 'test-only':
      return 'The last iterations only ran tests. Fix what is wrong; if nothing is, say that you are done.'
    case 'no-progress':
      return 'Nothing in the worktree has changed recently. Say what blocks you, then take one concrete step that changes a file.'
  }
}

/** The counts one step before the breaker opens again. */
export function halfOpen(tally: Tally, { noProgress, sameError }: Limits): Tally {
  const below = (value: number, limit: number) => Math.max(0, Math.min(value, limit - 1))
  return {
    ...tally,
    crashes: below(tally.crashes, CRASHES),
    repeats: below(tally.repeats, sameError),
    testOnly: below(tally.testOnly, TEST_ONLY),
    stalled: below(tally.stalled, noProgress),
  }
}

export function breakerState(loop: Loop): 'closed' | 'half-open' | 'open' {
  const { next, tally } = loop
  const cools = next.kind === 'wait' && next.why === 'cooldown'
  const failed = 'reason' in next && next.reason === tally.retry?.stop.reason
  if (cools || failed || tripped(loop)) return 'open'
  return tally.retry || diagnosis(loop) ? 'half-open' : 'closed'
}

/** Strips colors, terminal titles and other escape sequences. */
export function plain(text: string): string {
  return text.replace(ANSI, '')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const ANSI = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g

/** The last non-empty line, short enough for a sentence. */
export function oneLine(text: string): string {
  const line =
    text
      .replace(ANSI, '')
      .split('\n')
      .map((part) => part.trim())
      .filter(Boolean)
      .at(-1) ?? 'it said nothing.'
  return line.length > 200 ? `${line.slice(0, 199)}…` : line
}

/** Adds a missing full stop, so that another sentence can follow. */
export function stopped(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`
}
