/** What ralph answers a session: whether its agent takes another turn, and what the person is shown. */
import { iterationLimit } from '../engine/limits.ts'
import type { Loop, Verdict } from '../engine/loop.ts'
import { secretsOf } from '../host/sealed.ts'
import type { Context } from './hosts.ts'

/** `cap`: it tells how far the host lets a loop go on. */
export type Note = { level: 'info' | 'warning' | 'error'; text: string; kind?: 'cap' }

export type Answer = {
  /** Absent: this session has no loop, or none that concerns it. */
  loop?: Loop
  /** The words of the next turn. Absent: the agent is left alone. */
  prompt?: string
  /** The next turn should not remember the earlier ones. */
  fresh?: boolean
  /** When to come back, for a loop that waits for its agent. */
  waitMs?: number
  context?: Context
  /** An agent of the repository that the person must agree to first. */
  trust?: { path: string; text: string; mark: string }
  /** What the checks of this call said. */
  verdicts?: readonly Verdict[]
  /** The same in one line, with what failed. */
  checked?: string
  show: Note[]
}

export const NOTHING: Answer = { show: [] }

export function say(text: string, level: Note['level'] = 'info'): Answer {
  return { show: [{ level, text }] }
}

/** A text with secrets in the place of their marks, for whoever has given them. */
export function opened(home: string, text: string, given: unknown): string {
  return text.includes('…masked-') ? secretsOf(home, given).open(text) : text
}

/** That a loop simply goes on. */
export function goesOn({ spec, tally, next }: Loop): Note {
  const most = iterationLimit(spec.limits, tally)
  const iteration = next.kind === 'turn' ? next.iteration : tally.iteration
  return { level: 'info', text: `ralph: iteration ${iteration}${most > 0 ? ` of ${most}` : ''}` }
}
