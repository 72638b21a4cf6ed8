/** Carries out what the hook program answers, in the session that the person is in. Decides nothing. */
import type { Answer, CommandName, Stop } from './answer.ts'
import { openApart } from './apart.ts'
import { openAsker } from './asker.ts'
import { enter, isActive, openCourse, type Phase, sawApart, show } from './course.ts'
import type { Program } from './hook-program.ts'
import type { Draft, Message } from './host.ts'
import { breakOff, command, find, leave, pressEscape, reply } from './orders.ts'
import type { Session } from './session.ts'
import { openTurnRecord } from './turn-record.ts'
import { boundary, settle, settleUnless, type Works } from './turns.ts'

export type Drive = {
  phase(): Phase
  isActive(): boolean
  /** Whether the model must not remember earlier turns. */
  isFresh(): boolean
  /** What a person typed behind a `/`; undefined when ralph gave no answer. */
  command(name: CommandName, args: string): Promise<Answer | undefined>
  /** Ends what is under way at once, also the turn of the agent. */
  breakOff(order: 'pause' | 'cancel'): Promise<void>
  /** When the loop is not at work any more. */
  ended(): Promise<void>
  /** What a person typed while the loop waits for an answer. */
  reply(text: string): Promise<Answer | undefined>
  /** A session that Pi has taken up again may have a loop. */
  find(): Promise<void>
  /** The person's own run may come before the loop's first turn: only what follows its prompt is the loop's. */
  prompted(): void
  saw(message: Message): void
  /** Pi has shortened what the model remembers. */
  compacted(): void
  /** The run is about to end: the entries with which it goes on, or undefined when it may settle. */
  boundary(outcome: Stop['outcome']): Promise<Draft[] | undefined>
  /** The run has ended. Without an outcome it is read from the last message. */
  settle(outcome?: Stop['outcome']): Promise<void>
  /** The run has ended, and Pi may go on by itself. */
  settleUnless(goesOn: (error: string | undefined) => Promise<boolean>): Promise<void>
  /** ESC, where Pi would not tell of it. */
  escape(): { consume: true } | undefined
  /** When nothing is under way any more, neither the loop nor a run of the agent. */
  over(): Promise<Answer | undefined>
  /** Pi leaves the session: what is under way ends, and the loop can be resumed. Returns what to tell the person later. */
  leave(): Promise<string | undefined>
}

export function openDrive(session: Session, program: Program): Drive {
  const course = openCourse(session)
  const works: Works = {
    course,
    asker: openAsker(session, program, {
      checking: (check) => show(course, { doing: `checking: ${check}` }),
      failed: () => enter(course, 'idle'),
    }),
    apart: openApart(session, program, {
      saw: (event) => sawApart(course, event),
      ended: () => enter(course, 'idle'),
    }),
  }
  return {
    phase: () => course.phase,
    isActive: () => isActive(course),
    isFresh: () => isActive(course) && course.fresh,
    command: (name, args) => command(works, name, args),
    breakOff: (order) => breakOff(works, order),
    ended: () => course.ending.promise,
    reply: (text) => reply(works, text),
    find: () => find(works),
    prompted() {
      if (course.phase === 'turn') course.record = openTurnRecord()
    },
    saw: (message) => course.record.saw(message),
    compacted() {
      course.compactedAt = Date.now()
    },
    boundary: (outcome) => boundary(works, outcome),
    settle: (outcome) => settle(works, outcome),
    settleUnless: (goesOn) => settleUnless(works, goesOn),
    escape: () => pressEscape(works),
    async over() {
      await course.ending.promise
      await session.untilIdle()
      return course.answer
    },
    leave: () => leave(works),
  }
}
