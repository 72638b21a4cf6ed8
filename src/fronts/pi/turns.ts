/** Carries out the hook program's answers: gives the agent its turns, waits between them, and has each one judged. */
import { setTimeout as sleep } from 'node:timers/promises'
import { neverStarts } from '../../engine/limits.ts'
import { isOver as isOverStatus } from '../../engine/loop.ts'
import type { Answer, Stop } from './answer.ts'
import type { Apart } from './apart.ts'
import type { Asker } from './asker.ts'
import { drafts, turnCard } from './card.ts'
import { beginTurn, type Course, enter, onlyNews, type Phase, progressOf, tell } from './course.ts'
import type { Draft } from './host.ts'
import { clock } from './words.ts'

/** What every part of the drive works with. */
export type Works = { course: Course; asker: Asker; apart: Apart }

/** Nothing is running any longer, or nothing ever was. */
export function isOver({ status }: Answer): boolean {
  return status === 'none' || isOverStatus(status)
}

const LOOK_MS = 25

/** Everything that an answer can ask for outside an agent run. */
export function carryOut(works: Works, told: Answer): void {
  const { course } = works
  const { answer } = course
  if (told.status !== 'paused' || answer?.status !== 'paused')
    tell(course, told.next === 'turn' ? onlyNews(course, told) : told)
  // While waiting, the loop counts as being at the next iteration.
  const iteration = told.next === 'wait' ? Math.max(told.iteration, answer?.iteration ?? 0) : told.iteration
  course.answer = { ...told, iteration }
  if (told.next === 'turn') give(works, told)
  else if (told.next === 'wait') wait(works, told.waitMs)
  else if (told.context === 'process' && !isOver(told)) runApart(works, told.loop)
  else enter(course, told.status === 'needs-input' ? 'person' : 'idle')
}

function give(works: Works, told: Answer): void {
  const { course } = works
  beginTurn(course, told)
  const options = { triggerTurn: true, deliverAs: 'followUp' } as const
  if (course.session.send(turnCard(told), options)) void expectBegin(works)
  else enter(course, 'idle')
}

async function expectBegin(works: Works): Promise<void> {
  const { course } = works
  const { session, record: given } = course
  for (let idleMs = 0; !neverStarts(idleMs); idleMs += LOOK_MS) {
    await sleep(LOOK_MS)
    if (session.isBusy() || course.phase !== 'turn' || course.record !== given) return
    if (!session.isIdle()) idleMs = 0
  }
  await settle(works, 'error')
}

function wait(works: Works, ms: number): void {
  const { course, asker } = works
  const until = Date.now() + ms
  enter(course, 'waiting')
  course.session.board.show(() => ({
    ...progressOf(course),
    doing: `waiting ${clock(until - Date.now())}, ESC pauses`,
  }))
  const wake = async () => {
    await course.session.untilIdle()
    const told = isIn(course, 'waiting') ? await asker.ask({ event: 'woke' }) : undefined
    if (told && isIn(course, 'waiting')) carryOut(works, told)
  }
  sleep(ms, undefined, { signal: asker.signal() }).then(wake, () => undefined) // stopped: something else continues
}

function runApart({ course, apart }: Works, loop: string): void {
  course.shown = { ...course.shown, since: Date.now() }
  enter(course, 'apart', 'starting a separate process')
  apart.run(loop)
}

/** The run is about to end: the entries that continue it, or undefined when it may settle. */
export async function boundary(works: Works, outcome: Stop['outcome']): Promise<Draft[] | undefined> {
  const { course } = works
  if (course.phase !== 'turn') return undefined
  const told = await judge(works, outcome)
  if (told?.next !== 'turn') {
    if (told) carryOut(works, told)
    return undefined
  }
  tell(course, onlyNews(course, told))
  beginTurn(course, told)
  return drafts(told)
}

/** The run has ended. Without an outcome it is read from the last message. */
export async function settle(works: Works, outcome?: Stop['outcome']): Promise<void> {
  const { escaped, record } = works.course
  const told = await judge(works, outcome ?? (escaped && record.stop().outcome === 'error' ? 'aborted' : undefined))
  if (told) carryOut(works, told)
}

/** The run has ended, and Pi may continue by itself. */
export async function settleUnless(
  works: Works,
  continues: (error: string | undefined) => Promise<boolean>,
): Promise<void> {
  const { course } = works
  if (course.phase !== 'turn') return
  const given = course.record
  course.settling = true
  const isOver = !(await continues(given.stop().error_message))
  course.settling = false
  if (isOver && isIn(course, 'turn') && course.record === given) await settle(works)
}

async function judge({ course, asker }: Works, outcome?: Stop['outcome']): Promise<Answer | undefined> {
  enter(course, 'asking', 'judging the turn')
  const { compactedAt } = course
  const compacted = compactedAt === undefined ? {} : { compacted_at: compactedAt }
  const told = await asker.ask({ event: 'stop', ...course.record.stop(outcome), ...compacted })
  return isIn(course, 'asking') ? told : undefined
}

/** Asked again after a wait: something may have moved it in the meantime. */
function isIn({ phase }: Course, wanted: Phase): boolean {
  return phase === wanted
}
