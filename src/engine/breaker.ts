/** The breaker: closed while a loop gets somewhere, half-open one step before it gives up, open when it must stop. */
import { count, type Stop } from './limits.ts'
import type { Loop } from './loop.ts'

const CRASHES = 3
const TEST_ONLY = 3

/** The first reason to stop trying, in the order of the policy. */
export function tripped({ spec, tally }: Loop): Stop | undefined {
  const { noProgress, sameError } = spec.limits
  if (tally.crashes >= CRASHES)
    return {
      reason: 'agent-failed',
      sentence: `The agent failed ${tally.crashes} times in a row: ${oneLine(tally.trouble ?? '')}`,
    }
  if (tally.repeats >= sameError)
    return {
      reason: 'same-error',
      sentence: `The same failure came ${count(tally.repeats, 'time')} in a row: ${oneLine(tally.error ?? '')}`,
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

/** Nothing moves any more. */
export function isStalled({ spec, tally }: Loop): boolean {
  return tally.testOnly >= TEST_ONLY || tally.stalled >= spec.limits.noProgress
}

const CRASHED_LOOPS = 2

/**
 * Whether the next loop with the same agents would fail just like the last one: they cannot be used, or every loop of late
 * ended because they crashed. `crashed` is how many did so, one after the other.
 */
export function doubt(crashed: number, { next }: Pick<Loop, 'next'>): { crashed: number; useless: boolean } {
  const reason = next.kind === 'halt' ? next.reason : undefined
  const now = reason === 'agent-failed' ? crashed + 1 : 0
  return { crashed: now, useless: reason === 'agent-unusable' || now >= CRASHED_LOOPS }
}

/** What the agent is told when the breaker is half-open. */
export function diagnosis({ spec, tally }: Loop): string | undefined {
  const { noProgress, sameError } = spec.limits
  if (tally.crashes > 0 && tally.crashes === CRASHES - 1)
    return 'The last two attempts crashed. Work in smaller steps, and avoid what ended them.'
  if (tally.repeats > 0 && tally.repeats === sameError - 1)
    return `The same failure came ${count(tally.repeats, 'time')} in a row. What you tried does not work: find the cause first, then take another way.`
  if (tally.testOnly > 0 && tally.testOnly === TEST_ONLY - 1)
    return 'The last iterations only ran tests. Change what is wrong, or say that you are done if nothing is.'
  if (tally.stalled > 0 && tally.stalled === noProgress - 1)
    return 'Nothing in the work tree has changed lately. Say what blocks you, then take one concrete step that changes a file.'
  return undefined
}

export function breakerState(loop: Loop): 'closed' | 'half-open' | 'open' {
  if (tripped(loop)) return 'open'
  return diagnosis(loop) ? 'half-open' : 'closed'
}

/** Without colours, terminal titles and other escape sequences. */
export function plain(text: string): string {
  return text.replace(ANSI, '')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const ANSI = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g

/** The last line that says something, short enough for a sentence. */
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
