/** How an agent in its pane stands, in one word and one sentence. Pure. */
import { ended, type Loop } from '../engine/loop.ts'
import { cutTo, oneLine } from '../formats/one-line.ts'
import type { CrewAgent, PaneRecord, PaneState } from './crew.ts'

export type PaneStanding = { state: PaneState; words: string; until?: number }

/** `loop` is the one it works on, or else the last one; `typing`: somebody types in its pane just now. */
export function standing(
  record: Pick<PaneRecord, 'agent' | 'facts' | 'seen' | 'paused'>,
  loop: Loop | undefined,
  { typing = false }: { typing?: boolean } = {},
): PaneStanding {
  const { facts, agent, seen, paused } = record
  if (facts.asks !== undefined) return { state: 'BLOCKED', words: `It asks: ${short(facts.asks)}` }
  if (facts.sent?.stalled)
    return {
      state: 'STALLED',
      words: `Its prompt did not arrive. Look: attach ${agent.number}, then retry ${agent.number}`,
    }
  if (loop && !ended(loop)) {
    if (typing) return { state: 'NEEDS YOU', words: 'Somebody types in its pane; it goes on when its line is empty.' }
    return underWay(agent, loop, paused)
  }
  if (facts.at) return { state: 'WORKING', words: facts.at.kind === 'theirs' ? 'On what you typed.' : 'On its task.' }
  if (loop && !seen) return over(loop)
  return { state: 'READY', words: readyWords(record) }
}

function readyWords({ facts, agent }: Pick<PaneRecord, 'facts' | 'agent'>): string {
  if (facts.up) return ''
  if (facts.ended) return 'It has ended, and is started with its next task.'
  return agent.worktree ? 'It is started with its next task.' : 'It is starting.'
}

function underWay({ number }: CrewAgent, { next, tally }: Loop, paused: PaneRecord['paused']): PaneStanding {
  switch (next.kind) {
    case 'wait':
      if (next.why === 'person') return { state: 'NEEDS YOU', words: `It asks: ${short(next.question ?? '')}` }
      if (next.why === 'cooldown')
        return {
          state: 'STUCK',
          words: `The breaker is open: ${short(next.stop.sentence)} resume ${number} tries at once.`,
          until: next.until,
        }
      if (next.why === 'paused' || next.until === undefined)
        return { state: 'NEEDS YOU', words: `${pauseWords(paused)} resume ${number} goes on.` }
      return { state: 'WAITING', words: WAITS[next.why], until: next.until }
    case 'check':
      return { state: 'WORKING', words: `Checks run: ${short(next.checks.join(', '))}` }
    case 'prove':
      return { state: 'WORKING', words: 'Its proof is tried.' }
    default:
      return { state: 'WORKING', words: tally.iteration === 0 ? 'Starting task' : lastWords(tally.words) }
  }
}

const WAITS = { limit: 'Its limit is reached.', overload: 'Its service is overloaded.' } as const

function pauseWords(paused: PaneRecord['paused']): string {
  if (typeof paused === 'object') return short(paused.trouble)
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

/** What the agent said last, as the list of agents quotes it. */
export function lastWords(words: string): string {
  return short(words.split('\n').find((line) => line.trim() !== '') ?? '')
}

function short(text: string): string {
  return cutTo(oneLine(text), 120)
}
