/** Where a loop can go next: another turn, a wait, its end. The rules of `step` are built from these. */
import { oneLine } from './breaker.ts'
import { saidSentence } from './feedback.ts'
import { ATTEMPTS, count, deadline, overBudget, type Stop } from './limits.ts'
import { type Loop, leftAt, type Next, type Tally, turnOf } from './loop.ts'

export type Restore = Extract<Next, { kind: 'restore' }>
export type Wait = Extract<Next, { kind: 'wait' }>

/** The turn this loop asks for, if time and money allow another. */
export function again(loop: Loop, at: number): Loop {
  const { spec } = loop
  const tally = hear(loop.tally)
  const stop = overBudget({ limits: spec.limits, tally }, at)
  return stop ? halt(loop, stop) : { ...loop, tally, next: turnOf(spec, tally, at) }
}

/** Adds what was said to the feedback of the next turn. */
function hear(tally: Tally): Tally {
  if (tally.said.length === 0) return tally
  const heard = [...(tally.heard ?? []), ...tally.said.filter(({ by }) => by === 'person').map(({ words }) => words)]
  const comments = [...(tally.comments ?? []), ...tally.said.flatMap((said) => said.comments ?? [])]
  return {
    ...tally,
    feedback: [...tally.feedback, ...tally.said.map(saidSentence)],
    ...(heard.length > 0 ? { heard } : {}),
    ...(comments.length > 0 ? { comments } : {}),
    said: [],
  }
}

export function waitUntil(loop: Loop, why: Exclude<Wait['why'], 'cooldown'>, until: number, at: number): Loop {
  const { spec, tally } = loop
  if (spec.limits.minutes !== undefined && until >= deadline(spec.limits.minutes, tally))
    return halt(loop, {
      reason: 'timeout',
      sentence: `The agent can continue in ${count(Math.ceil((until - at) / 60_000), 'minute')}, which is past the time limit of ${count(spec.limits.minutes, 'minute')}: ${oneLine(tally.trouble ?? '')}`,
    })
  return { ...loop, next: { kind: 'wait', why, until } }
}

export function withFeedback(loop: Loop, feedback: string[]): Loop {
  return { ...loop, tally: { ...loop.tally, feedback: [...new Set([...loop.tally.feedback, ...feedback])] } }
}

export function tooManyAttempts({ attempt, iteration }: Tally): Stop | undefined {
  if (attempt <= ATTEMPTS) return undefined
  return {
    reason: 'max-attempts',
    sentence: `Iteration ${iteration + 1} was attempted ${ATTEMPTS} times, but the agent never got to work.`,
  }
}

export function halt(loop: Loop, stop: Stop & { rejected?: true }): Loop {
  const to = leftAt(loop)
  return { ...loop, next: to === undefined ? { kind: 'halt', ...stop } : { kind: 'restore', to, ...stop } }
}

export function afterRestore(loop: Loop, { kind: _, to, ...stop }: Restore, trouble: string | undefined): Loop {
  const left =
    trouble === undefined
      ? `The files were restored to their state ${stateWords(to)}.`
      : `The files could not be restored: ${trouble}`
  return { ...loop, next: { ...stop, kind: 'halt', sentence: `${stop.sentence} ${left}` } }
}

/** The state that files are restored to. */
export function stateWords(to: number): string {
  return to === 0 ? 'before the loop began' : `after iteration ${to}, the best so far`
}

/** The time limit does not run while the loop waits for a person. */
export function rest(tally: Tally, at: number): Tally {
  return tally.restingSince === undefined ? { ...tally, restingSince: at } : tally
}

export function wake({ restingSince, ...tally }: Tally, at: number): Tally {
  return { ...tally, restedMs: tally.restedMs + Math.max(0, at - (restingSince ?? at)) }
}
