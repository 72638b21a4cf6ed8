/** What drivers promise about the time until they move a loop again: who stays away for longer is stuck. */
import { LONG_PATIENCE_MS } from '../host/waiting.ts'
import type { Workbench } from './hands.ts'

const SLACK_MS = 60_000

/** What comes before and after a program: the files are looked at, and a machine that is short of something is waited for. */
export const AROUND_MS: number = LONG_PATIENCE_MS + SLACK_MS

type Expecting = Pick<Workbench, 'expect'>

/** `deadlineMs`: until then it has ended in any case. `graceMs`: the time that it is given to end. */
export type TurnLimits = { silenceMs: number; deadlineMs?: number; graceMs: number }

/** Before an agent is started. What it returns is called with each of its signs of life. */
export function promiseTurn({ expect }: Expecting, { silenceMs, deadlineMs, graceMs }: TurnLimits): () => void {
  if (!expect) return () => {}
  const end = performance.now() + (deadlineMs ?? Number.POSITIVE_INFINITY)
  const promise = (more: number) => {
    const left = Math.max(0, Math.min(silenceMs, end - performance.now()))
    expect(left + graceMs + more)
  }
  promise(AROUND_MS)
  return () => promise(SLACK_MS)
}

/** Before a program that has so many minutes. */
export function promiseMinutes({ expect }: Expecting, minutes: number): void {
  expect?.(Math.max(0, minutes) * 60_000 + AROUND_MS)
}
