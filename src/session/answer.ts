/** ralph's answer to a session: whether its agent takes another turn, and what the user sees. */
import { iterationLimit } from '../engine/limits.ts'
import type { Loop, Verdict } from '../engine/loop.ts'
import { secretsOf } from '../host/sealed.ts'
import type { Context } from './hosts.ts'

/** `cap`: says how many turns in a row the host allows. */
export type Note = { level: 'info' | 'warning' | 'error'; text: string; kind?: 'cap' }

export type Answer = {
  /** Absent: the answer is about no loop of this session. */
  loop?: Loop
  /** The prompt of the next turn. Absent: the agent may stop. */
  prompt?: string
  /** The next turn should not remember the earlier ones. */
  fresh?: boolean
  /** When to call again, for a loop that waits for its agent. */
  waitMs?: number
  context?: Context
  /** An agent of the repository that the user must trust first. */
  trust?: { path: string; text: string; mark: string }
  /** What the checks reported in this call. */
  verdicts?: readonly Verdict[]
  /** The same in one line, with the failures. */
  checked?: string
  show: Note[]
}

export const NOTHING: Answer = { show: [] }

export function say(text: string, level: Note['level'] = 'info'): Answer {
  return { show: [{ level, text }] }
}

/** Puts secrets back in place of their marks, for whoever supplied them. */
export function opened(home: string, text: string, given: unknown): string {
  return text.includes('…masked-') ? secretsOf(home, given).open(text) : text
}

/** The note for a loop that simply continues. */
export function progressNote({ spec, tally, next }: Loop): Note {
  const most = iterationLimit(spec.limits, tally)
  const iteration = next.kind === 'turn' ? next.iteration : tally.iteration
  return { level: 'info', text: `ralph: iteration ${iteration}${most > 0 ? ` of ${most}` : ''}` }
}
