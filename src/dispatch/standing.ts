/** The state of an agent in its pane, in one word and one sentence. Pure. */
import { ended, type Loop } from '../engine/loop.ts'
import { cutTo, lastWords, oneLine } from '../formats/one-line.ts'
import type { CrewAgent, PaneRecord, PaneState } from './crew.ts'

export type PaneStanding = { state: PaneState; words: string; until?: number }

/** `loop` is the one it works on, otherwise the last one; `typing`: somebody is typing in its pane right now. */
export function standing(
  record: Pick<PaneRecord, 'agent' | 'facts' | 'seen' | 'paused'>,
  loop: Loop | undefined,
  { typing = false }: { typing?: boolean } = {},
): PaneStanding {
  const { facts, agent, seen, paused } = record
  if (facts.asks !== undefined) return { state: 'BLOCKED', words: `It asks: ${short(facts.asks)}` }
  if (isStalled(facts, loop))
    return {
      state: 'STALLED',
      words: `Its prompt did not arrive. Look at it with "attach ${agent.number}", then resend it with "retry ${agent.number}".`,
    }
  if (loop && !ended(loop)) {
    if (typing)
      return { state: 'NEEDS YOU', words: 'Somebody is typing in its pane. It continues when the input line is empty.' }
    return underWay(agent, loop, paused)
  }
  if (facts.at)
    return {
      state: 'WORKING',
      words: facts.at.kind === 'theirs' ? 'Working on what you typed.' : 'Working on its task.',
    }
  if (typeof paused === 'object') return { state: 'NEEDS YOU', words: asSentence(short(paused.trouble)) }
  if (loop && !seen) return over(loop)
  return { state: 'READY', words: readyWords(record) }
}

/** A task without a loop stays until it has arrived. */
function isStalled({ sent }: PaneRecord['facts'], loop: Loop | undefined): boolean {
  if (!sent?.stalled) return false
  return sent.mark.loop === '' || (loop?.id === sent.mark.loop && !ended(loop))
}

function readyWords({ facts, agent }: Pick<PaneRecord, 'facts' | 'agent'>): string {
  if (facts.up) return ''
  if (facts.ended) return 'It has exited and will restart with its next task.'
  return agent.worktree ? 'It will start with its next task.' : 'Starting up.'
}

function underWay({ number }: CrewAgent, { next, tally }: Loop, paused: PaneRecord['paused']): PaneStanding {
  switch (next.kind) {
    case 'wait':
      if (next.why === 'person') return { state: 'NEEDS YOU', words: `It asks: ${short(next.question ?? '')}` }
      if (next.why === 'cooldown')
        return {
          state: 'STUCK',
          words: `The breaker is open: ${short(next.stop.sentence)} Retry now with "resume ${number}".`,
          until: next.until,
        }
      if (next.why === 'paused' || next.until === undefined)
        return { state: 'NEEDS YOU', words: `${pauseWords(paused)} Continue with "resume ${number}".` }
      return { state: 'WAITING', words: WAITS[next.why], until: next.until }
    case 'check':
      return { state: 'WORKING', words: `Running checks: ${short(next.checks.join(', '))}` }
    case 'prove':
      return { state: 'WORKING', words: 'Testing the proof.' }
    default:
      return { state: 'WORKING', words: tally.iteration === 0 ? 'Starting task' : lastWords(tally.words) }
  }
}

const WAITS = {
  limit: 'Rate limit reached.',
  overload: 'The service is overloaded.',
  queued: 'Its loop is queued.',
} as const

function pauseWords(paused: PaneRecord['paused']): string {
  if (typeof paused === 'object') return asSentence(short(paused.trouble))
  switch (paused) {
    case 'typed':
      return 'You typed in its pane.'
    case 'closed':
      return 'Its pane was closed.'
    case 'stopped':
      return 'It was interrupted.'
    case undefined:
      return 'It is paused.'
  }
}

function over({ next }: Loop): PaneStanding {
  if (next.kind === 'complete') return { state: 'DONE', words: `${next.proof}. ${short(next.sentence)}` }
  if (next.kind === 'halt' && next.reason !== 'cancelled')
    return { state: 'STUCK', words: `${next.reason}: ${short(next.sentence)}` }
  return { state: 'READY', words: '' }
}

function asSentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`
}

function short(text: string): string {
  return cutTo(oneLine(text), 120)
}
