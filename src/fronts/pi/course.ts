/** Where the loop of a session is, and what the user sees of it. */
import type { Answer, Verdict } from './answer.ts'
import { reportCard } from './card.ts'
import { afterEvent, type ChildEvent } from './child-loop.ts'
import type { Session } from './session.ts'
import { openTurnRecord, type TurnRecord } from './turn-record.ts'
import { endWords, type Progress } from './words.ts'

/**
 * idle: nothing to do here. turn: the agent works for the loop. asking: its turn is being judged, checks run.
 * waiting: until the program wants to be woken. apart: the loop runs in its own process. person: it waits for an answer.
 */
export type Phase = 'idle' | 'turn' | 'asking' | 'waiting' | 'apart' | 'person'

export type Course = {
  session: Session
  phase: Phase
  /** The program's last answer. */
  answer: Answer | undefined
  /** Of the current turn. */
  record: TurnRecord
  /** The model must not remember earlier turns. */
  fresh: boolean
  /** When Pi last compacted the context. */
  compactedAt?: number
  /** The user has pressed ESC in this turn. */
  escaped: boolean
  /** An older Pi may still continue by itself. */
  settling: boolean
  shown: { doing: string; since: number; checks: readonly Verdict[] }
  /** Resolves when nothing of the loop is running any longer. */
  ending: { promise: Promise<void>; resolve(): void }
}

export function openCourse(session: Session): Course {
  return {
    session,
    phase: 'idle',
    answer: undefined,
    record: openTurnRecord(),
    fresh: false,
    escaped: false,
    settling: false,
    shown: { doing: '', since: 0, checks: [] },
    ending: openEnding(),
  }
}

export function isActive({ phase }: Course): boolean {
  return phase !== 'idle' && phase !== 'person'
}

export function enter(course: Course, next: Phase, doing = ''): void {
  if (!isActive(course)) course.ending = openEnding()
  course.phase = next
  show(course, { doing })
  if (isActive(course)) return
  course.shown = { ...course.shown, checks: [] }
  course.ending.resolve()
}

export function beginTurn(course: Course, told: Answer): void {
  course.answer = told
  course.fresh = told.fresh
  course.escaped = false
  course.record = openTurnRecord()
  course.shown = { ...course.shown, since: Date.now() }
  enter(course, 'turn', 'the agent is working')
}

export function show(course: Course, change: Partial<Course['shown']>): void {
  course.shown = { ...course.shown, ...change }
  course.session.board.show(isActive(course) ? () => progressOf(course) : undefined)
}

export function progressOf({ answer, phase, record, shown }: Course): Progress {
  return {
    iteration: answer?.iteration ?? 0,
    maxIterations: answer?.maxIterations ?? 0,
    checks: shown.checks,
    elapsedMs: Date.now() - shown.since,
    doing: shown.doing,
    costUsd: (answer?.costUsd ?? 0) + (phase === 'turn' || phase === 'asking' ? record.costUsd() : 0),
  }
}

export function tell(course: Course, told: Answer): void {
  const end = endWords(told)
  course.session.board.say([...(end === undefined ? [] : [{ level: 'info', text: end } as const]), ...told.show])
  if (told.checks.length > 0) course.shown = { ...course.shown, checks: told.checks }
}

/** Between turns, the card and the lines above the editor show the rest. */
export function onlyNews(course: Course, told: Answer): Answer {
  if (!isActive(course) || !course.session.hasPerson()) return told
  return { ...told, show: told.show.filter(({ level }) => level !== 'info') }
}

/** Reports of the process next to the session. */
export function sawApart(course: Course, event: ChildEvent): void {
  const { session } = course
  if (!course.answer) return
  const answer = afterEvent(course.answer, event)
  course.answer = answer
  if (event.kind === 'iteration') show(course, { since: Date.now(), doing: 'the agent is working' })
  if (event.kind === 'doing') show(course, { doing: event.doing })
  if (event.kind === 'checked') show(course, { checks: event.checks })
  if (event.kind === 'message') session.say('info', event.text)
  if (event.kind === 'error') session.say('error', `Ralph: ${event.text}`)
  if (event.kind === 'end') tell(course, answer)
  // A busy agent would treat it as an instruction.
  if (event.kind === 'said' && event.text && session.hasPerson() && session.isIdle())
    session.send(reportCard(event.text, answer), { triggerTurn: false })
}

/** `Promise.withResolvers`, which Node 20 does not have. */
function openEnding(): Course['ending'] {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve: () => resolve() }
}
