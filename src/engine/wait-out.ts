/** What happens to a loop whose agent could not work: another agent takes over, the loop waits, or it halts. */
import { oneLine } from './breaker.ts'
import { count, overBudget, retryAt } from './limits.ts'
import type { Loop, Turn } from './loop.ts'
import { again, halt, tooManyAttempts, waitUntil } from './moves.ts'
import { agentsOf, freeAgent, nextBack, type Rest, withRest } from './roster.ts'

type Fault = 'limit' | 'overload'

/** `agent`: whose turn it was. */
type Faulty = { agent: string; turn: Turn; at: number }

/** A turn that hit a limit or an overload. */
export function waitOut(loop: Loop, why: Fault, { agent, turn, at }: Faulty): Loop {
  const { spec } = loop
  const tally = why === 'overload' ? { ...loop.tally, overloadedSince: loop.tally.overloadedSince ?? at } : loop.tally
  const counted = { ...loop, tally }
  const stop = tooManyAttempts(tally) ?? overBudget({ limits: spec.limits, tally }, at)
  if (stop) return halt(counted, stop)
  // Each of several agents has its own patience; a single one counts its failures in a row.
  const faults = spec.agents ? (tally.resting?.[agent]?.faults ?? 0) + 1 : tally.faults
  const giveUp = givesUpAt(counted)
  const rest = { faults, words: turn.words, ...(turn.resetsAt === undefined ? {} : { resetsAt: turn.resetsAt }) }
  if (giveUp !== undefined && at >= giveUp) return unusable(counted, { agent, rest })
  const until = Math.min(retryAt(faults, at, turn.resetsAt), giveUp ?? Number.POSITIVE_INFINITY)
  return standIn(counted, why, { agent, rest: { ...rest, until }, at })
}

/** When an overload has lasted too long. */
function givesUpAt({ spec, tally }: Loop): number | undefined {
  const { overloadMinutes = 0 } = spec.limits
  if (!(overloadMinutes > 0) || tally.overloadedSince === undefined) return undefined
  return tally.overloadedSince + overloadMinutes * 60_000
}

/** The next agent takes over at once; if none is free, the loop waits for the first to come back. */
export function standIn(loop: Loop, why: Fault, { agent, rest, at }: { agent: string; rest: Rest; at: number }): Loop {
  const rested = { ...loop, tally: withRest(loop.tally, agent, rest) }
  const { spec, tally } = rested
  if (spec.agents && freeAgent(spec, tally, at) !== undefined) return again(rested, at)
  const back = nextBack(spec, tally)
  if (!back) return unusable(loop, { agent, rest })
  if (spec.limits.onLimit === 'stop' && why === 'limit') return stopAtLimit(rested, back.agent, at)
  return waitUntil(spec.agents ? rested : loop, why, back.until, at)
}

/** The user chose not to wait for a limit. */
function stopAtLimit(loop: Loop, agent: string, at: number): Loop {
  const { spec, tally } = loop
  const { until = 0, resetsAt, words = '' } = tally.resting?.[agent] ?? {}
  const who = spec.agents ? agent : 'It'
  // An implausible reset does not count.
  const back =
    resetsAt === until
      ? `${who} can continue in ${count(Math.ceil((until - at) / 60_000), 'minute')}, at ${new Date(until).toISOString().slice(0, 16).replace('T', ' ')} UTC`
      : `${who} does not say when it can continue`
  return halt(loop, {
    reason: 'agent-unusable',
    sentence: `${spec.agents ? 'All agents are' : 'The agent is'} rate-limited, and ralph was told not to wait. ${back}: ${oneLine(words)}`,
  })
}

function unusable(loop: Loop, { agent, rest }: { agent: string; rest: Rest }): Loop {
  const { spec } = loop
  const { resting, overloadedSince } = withRest(loop.tally, agent, rest)
  const words = agentsOf(spec).map(
    (name) => `${spec.agents ? `${name}: ` : ''}${oneLine(resting?.[name]?.words ?? '')}`,
  )
  const several = words.length > 1
  const subject = several ? 'No agent is usable' : 'The agent is not usable'
  const failed =
    overloadedSince === undefined
      ? ''
      : ` ${several ? 'their services have' : 'its service has'} failed for ${lasting(spec.limits.overloadMinutes ?? 0)}.`
  return halt(loop, { reason: 'agent-unusable', sentence: `${subject}:${failed} ${words.join(' · ')}` })
}

function lasting(minutes: number): string {
  return minutes >= 60 && minutes % 60 === 0 ? count(minutes / 60, 'hour') : count(minutes, 'minute')
}
