/** The state of a loop as a word, a color and a shape: the same in every list, card and headline. */
import type { Grade, HaltReason, Next, Status } from '../src/engine/loop.ts'
import { capital, plain, timeOf } from './words.ts'

export type Tone = 'blue' | 'green' | 'teal' | 'amber' | 'red' | 'gray'

/** `mark`: a shape to go with the color, because color alone must not carry meaning. */
export type Badge = { word: string; tone: Tone; mark: string; busy?: true }

type Shown = { status: Status; next: Next; iteration: number; unattended?: boolean }

export function badgeOf({ status, next, iteration, unattended }: Shown): Badge {
  if (unattended) return { word: 'Not running', tone: 'red', mark: '!' }
  switch (next.kind) {
    case 'turn':
      return { word: `Iteration ${next.iteration}`, tone: 'blue', mark: '●', busy: true }
    case 'check':
      return {
        word: next.because === 'start' ? 'Baseline checks' : 'Verifying',
        tone: 'blue',
        mark: '◌',
        busy: true,
      }
    case 'prove':
      return { word: `Proving · ${next.run}`, tone: 'blue', mark: '◌', busy: true }
    case 'restore':
      return { word: 'Restoring files', tone: 'blue', mark: '↺', busy: true }
    case 'wait':
      return waiting(next, iteration)
    case 'complete':
      return gradeBadge(next.proof)
    case 'halt':
      return status === 'cancelled' ? { word: 'Cancelled', tone: 'gray', mark: '×' } : stopBadge(next.reason)
  }
}

export function stopBadge(reason: HaltReason): Badge {
  return { word: `Stopped · ${STOPS[reason] ?? plain(reason)}`, tone: 'red', mark: '■' }
}

/** Short forms of the longest reasons; the sentence has the rest. */
const STOPS: Partial<Record<HaltReason, string>> = {
  'max-iterations': 'limit',
  'agent-unusable': 'agent',
  'agent-failed': 'crashes',
  'verifier-broken': 'check broken',
  'max-attempts': 'attempts',
}

function waiting(next: Extract<Next, { kind: 'wait' }>, iteration: number): Badge {
  switch (next.why) {
    case 'person':
      return { word: next.about === 'allow' ? 'Allow tests?' : 'Needs you', tone: 'amber', mark: '?' }
    case 'queued':
      return { word: 'Queued', tone: 'gray', mark: '…' }
    case 'paused':
      return { word: iteration > 0 ? `Paused after ${iteration}` : 'Paused', tone: 'gray', mark: '‖' }
    case 'limit':
      return { word: until('Rate limit', next.until), tone: 'amber', mark: '◷' }
    case 'overload':
      return { word: until('Overloaded', next.until), tone: 'amber', mark: '◷' }
    case 'cooldown':
      return { word: until('Cooling down', next.until), tone: 'amber', mark: '◷' }
  }
}

function until(word: string, at: number | undefined): string {
  return at === undefined ? word : `${word} · ${timeOf(at)}`
}

const GRADES: Readonly<Record<Grade, Omit<Badge, 'word'>>> = {
  verified: { tone: 'green', mark: '✓' },
  tested: { tone: 'teal', mark: '✓' },
  kept: { tone: 'teal', mark: '=' },
  altered: { tone: 'amber', mark: '≠' },
  claimed: { tone: 'gray', mark: '“' },
}

export function gradeBadge(grade: Grade): Badge {
  return { word: capital(grade), ...GRADES[grade] }
}

/** What each grade means, in one line. */
export const GRADE_WORDS: Readonly<Record<Grade, string>> = {
  verified: 'A check that failed before the loop passes now, even with the original tests.',
  tested: 'The checks passed before, but new tests fail without this work.',
  kept: 'The checks still pass: nothing broke. Only the agent says the task is done.',
  altered: 'The checks pass, but tests or configuration changed along the way.',
  claimed: 'There is no check: only the agent says the task is done.',
}
