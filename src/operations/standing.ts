/** The state of a loop in one sentence, with what to type next. */
import { stopped } from '../engine/breaker.ts'
import { shownFolder } from '../engine/home-folder.ts'
import { count } from '../engine/limits.ts'
import { ALLOW, type Grade, type Loop, leftAt, type Next, type Tally } from '../engine/loop.ts'
import { cutTo, oneLine } from '../formats/one-line.ts'
import { gradeWords } from '../formats/proof-words.ts'
import { continueCommand } from '../formats/room-words.ts'
import { grantHint, hiddenTools } from './grant-words.ts'
import { ownerOf } from './owners.ts'

export type Standing = {
  kind: Grade | 'cancelled' | 'halted' | 'asks' | 'waiting' | 'under-way'
  sentence: string
  /** What to type next. */
  hint: string
  /** Its work is waiting to be accepted. */
  acceptable?: true
}

/** `accepted`: its work has already been accepted. */
export function standingOf(loop: Loop, { accepted = false }: { accepted?: boolean } = {}): Standing {
  const { id, tally, next } = loop
  const after = `after ${count(tally.iteration, 'iteration')}`
  switch (next.kind) {
    case 'complete':
      return {
        kind: next.proof,
        sentence: `complete, proof: ${gradeWords(next)}${tally.iteration > 0 ? `, ${after}` : ''}. ${next.sentence}`,
        hint: next.proof === 'claimed' ? checkHint(loop, accepted) : storyHint(loop, accepted),
        ...(isAcceptable(loop, accepted) ? { acceptable: true } : {}),
      }
    case 'halt':
      if (next.reason === 'cancelled')
        return { kind: 'cancelled', sentence: `cancelled ${after}. ${next.sentence}`, hint: storyHint(loop, accepted) }
      return {
        kind: 'halted',
        sentence: `halted (${next.reason}) ${after}. ${next.sentence}${next.reason === 'verifier-broken' ? '' : openFailures(tally)}${hiddenTools(loop, next.reason)}`,
        hint: storyHint(loop, accepted),
      }
    case 'wait':
      return waitStanding(loop, next, after)
    case 'turn':
    case 'check':
    case 'prove':
    case 'restore':
      return {
        kind: 'under-way',
        sentence: `running ${after} in ${shownFolder(loop)}.`,
        hint: `Watch it: ralph show ${id} --follow`,
      }
  }
}

type Wait = Extract<Next, { kind: 'wait' }>

function waitStanding(loop: Loop, next: Wait, after: string): Standing {
  const { id } = loop
  if (next.about === ALLOW)
    return {
      kind: 'asks',
      sentence: `needs input ${after}. ${oneLine(next.question ?? '')}`,
      hint: answerHint(loop, next.about),
    }
  if (next.why === 'person' && loop.tally.ask?.kind === 'permission')
    return {
      kind: 'asks',
      sentence: `needs input ${after}. ${cutTo(oneLine(next.question ?? ''), 300)}`,
      hint: ownerOf(loop).hints?.(loop).answer ?? grantHint(loop),
    }
  if (next.why === 'person')
    return {
      kind: 'asks',
      sentence: `needs input ${after}. It asks: ${cutTo(oneLine(next.question ?? ''), 300)}`,
      hint: answerHint(loop, next.about),
    }
  if (next.why === 'cooldown')
    return {
      kind: 'waiting',
      sentence: `waiting ${after}. ${waitWords(next)}.`,
      hint: `Retry now: ralph resume ${id}`,
    }
  if (next.why === 'queued')
    return {
      kind: 'waiting',
      sentence: 'queued. It starts when a worker is free and its dependencies are done.',
      hint: `Start it now: ralph resume ${id}`,
    }
  if (next.why === 'paused' && next.question)
    return {
      kind: 'waiting',
      sentence: `paused ${after}. ${oneLine(next.question)}`,
      hint: `Resume: ralph resume ${id}`,
    }
  return {
    kind: 'waiting',
    sentence: `${next.until === undefined ? 'paused' : `waiting for the agent until ${timeOfDay(next.until)},`} ${after}.`,
    hint: `Resume: ralph resume ${id}`,
  }
}

function answerHint(loop: Loop, about: string | undefined): string {
  const { id } = loop
  const own = ownerOf(loop).hints?.(loop).answer
  if (own !== undefined) return own
  if (about === ALLOW) return `Allow it: ralph allow ${id} · or say what to do instead: ralph steer ${id} "…"`
  return `Answer: ralph steer ${id} "your answer"`
}

function isAcceptable(loop: Loop, accepted: boolean): boolean {
  return !accepted && loop.spec.work.worktree !== undefined && !ownerOf(loop).hints?.(loop).merges
}

function storyHint(loop: Loop, accepted: boolean): string {
  return [
    ...(isAcceptable(loop, accepted) ? [`Accept its work: ralph accept ${loop.id}`] : []),
    ...(leftAt(loop) !== undefined && loop.next.kind === 'halt' ? [`Undo the rollback: ralph undo ${loop.id}`] : []),
    ...roomHint(loop),
    `Details: ralph show ${loop.id}`,
  ].join(' · ')
}

function checkHint(loop: Loop, accepted: boolean): string {
  const check = ownerOf(loop).hints?.(loop).check ?? '--verify "npm test"'
  return `${isAcceptable(loop, accepted) ? `${storyHint(loop, accepted)} · ` : ''}Next time: ${check}`
}

/** How to continue it, if only a limit stopped it. */
export function roomHint(loop: Loop): string[] {
  const command = continueCommand(loop)
  return command === undefined || ownerOf(loop).refuses?.(loop, { kind: 'extend' }) ? [] : [`Resume: ${command}`]
}

function openFailures({ failures }: Tally): string {
  return failures ? ` At the last check, ${count(failures, 'failure')} remained.` : ''
}

/** What a loop waits for until a known time. `left`: the remaining time, shown after the time of day. */
export function waitWords(next: Next, left = ''): string | undefined {
  if (next.kind !== 'wait' || next.until === undefined) return undefined
  const until = `${timeOfDay(next.until)}${left}`
  if (next.why === 'cooldown') return `${stopped(next.stop.sentence)} The breaker is open; one more try at ${until}`
  return `waiting until ${until} for the agent's ${next.why === 'limit' ? 'limit to reset' : 'service to recover'}`
}

/** The same for programs. */
export function waitFields(next: Next): object {
  if (next.kind !== 'wait' || next.until === undefined) return {}
  return { waits_for: next.why, waits_until: new Date(next.until).toISOString() }
}

/** `15:30:00` in local time; with the date if it is not today. */
export function timeOfDay(at: number): string {
  const time = new Date(at)
  const day = time.toDateString() === new Date().toDateString() ? '' : ` on ${time.toDateString().slice(0, 10)}`
  return `${time.toTimeString().slice(0, 8)}${day}`
}
