/** How long drivers promise to take until they move a loop again: one that takes longer is stuck. */
import { LONG_PATIENCE_MS } from '../host/waiting.ts'
import type { Workbench } from './hands.ts'

const SLACK_MS = 60_000

/** Time before and after a program: looking at the files, and waiting for scarce resources. */
export const AROUND_MS: number = LONG_PATIENCE_MS + SLACK_MS

type Expecting = Pick<Workbench, 'expect'>

/** `deadlineMs`: by then it has ended in any case. `graceMs`: the time it gets to exit. */
export type TurnLimits = { silenceMs: number; deadlineMs?: number; graceMs: number }

/** Called before an agent starts. The returned function is called with each of its signs of life. */
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

/** Called before a program that may take this many minutes. */
export function promiseMinutes({ expect }: Expecting, minutes: number): void {
  expect?.(Math.max(0, minutes) * 60_000 + AROUND_MS)
}
