/** What ralph answers a session: whether its agent takes another turn, and what the person is shown. */
import { claimTag } from '../engine/claim.ts'
import { iterationLimit } from '../engine/limits.ts'
import type { Loop, Verdict } from '../engine/loop.ts'
import { secretsOf } from '../host/sealed.ts'
import { buildTurnPrompt } from '../prompt/turn-prompt.ts'
import type { Armed } from './armed.ts'
import { type Context, HOSTS } from './hosts.ts'

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

/**
 * The prompt of the turn a loop asks for, in a session that remembers the earlier ones or does not. What the host would
 * cut or spell out is in the face as it was typed.
 */
export function promptOf(
  home: string,
  loop: Loop,
  { context, host, face }: Pick<Armed, 'context' | 'host' | 'face'>,
): string {
  const { spec, next } = loop
  if (next.kind !== 'turn' || context === 'process') return ''
  const { mostBytes, escapes } = HOSTS[host]
  const open = (text: string) => opened(home, text, [spec, next.heard])
  const task = open(spec.prompt.trimEnd())
  const built = open(buildTurnPrompt({ ...loop, spec: { ...spec, work: { ...spec.work, context } } }, next))
  const [sign] = spec.signals
  const rules = built.slice(task.length)
  const rest = escapes && spec.promise && sign ? rules.replaceAll(claimTag(spec.promise), sign) : rules
  if (!face) return task + rest
  if (mostBytes !== undefined && Buffer.byteLength(task + rest) > mostBytes)
    return `The task is in the file ${face}, below the lines at its top: read all of it before anything else.${rest}`
  const typed =
    escapes && /[<>&]/.test(task)
      ? `\n\nBrackets may reach you as XML entities; the task as it was typed is in ${face}.`
      : ''
  return task + typed + rest
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
