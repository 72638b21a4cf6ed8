/** Carries out the hook program's answers in the user's session. Decides nothing. */
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
  /** A slash command; undefined when ralph gave no answer. */
  command(name: CommandName, args: string): Promise<Answer | undefined>
  /** Stops everything that is running at once, including the agent's turn. */
  breakOff(order: 'pause' | 'cancel'): Promise<void>
  /** Resolves when the loop is no longer running. */
  ended(): Promise<void>
  /** Text that the user typed while the loop waits for an answer. */
  reply(text: string): Promise<Answer | undefined>
  /** A session that Pi has resumed may have a loop. */
  find(): Promise<void>
  /** The user's own run may come before the loop's first turn: only what follows its prompt belongs to the loop. */
  prompted(): void
  saw(message: Message): void
  /** Pi has compacted the context. */
  compacted(): void
  /** The run is about to end: the entries that continue it, or undefined when it may settle. */
  boundary(outcome: Stop['outcome']): Promise<Draft[] | undefined>
  /** The run has ended. Without an outcome it is read from the last message. */
  settle(outcome?: Stop['outcome']): Promise<void>
  /** The run has ended, and Pi may continue by itself. */
  settleUnless(continues: (error: string | undefined) => Promise<boolean>): Promise<void>
  /** ESC, when Pi would not report it. */
  escape(): { consume: true } | undefined
  /** Resolves when nothing is running any longer, neither the loop nor the agent. */
  over(): Promise<Answer | undefined>
  /** Pi leaves the session: everything stops, and the loop can be resumed. Returns what to show the user later. */
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
    settleUnless: (continues) => settleUnless(works, continues),
    escape: () => pressEscape(works),
    async over() {
      await course.ending.promise
      await session.untilIdle()
      return course.answer
    },
    leave: () => leave(works),
  }
}
