/** Decides which tasks of the fleet go into the queue now, and why the others do not. Pure: the caller brings the picture. */
import type { Demand } from './demand.ts'
import type { Held, Picture, Schedule, Waiting } from './picture.ts'
import { openSlots, type Slots } from './slots.ts'
import { openTaken, type Taken } from './taken.ts'

/**
 * Shares the slots between submitters: the one with the fewest running tasks goes first, then the one that has waited
 * longest. Priority decides only among the tasks of one submitter.
 */
export function schedule(picture: Picture): Schedule {
  const pass: Pass = {
    slots: openSlots(picture),
    taken: openTaken(picture.busy),
    purses: new Map(),
    answer: { release: [], held: new Map() },
  }
  const later = lineUp(picture, pass).sort((a, b) => b.share - a.share)
  let round: Line[] = []
  for (let share = 0; round.length + later.length > 0; share++) {
    if (round.length === 0) share = later.at(-1)?.share ?? share
    for (let line = later.at(-1); line?.share === share; line = later.at(-1)) {
      round.push(line)
      later.pop()
    }
    // A submitter that got a slot re-enters the next round with a share that is larger by one.
    round = round.sort(byTurn).filter((line) => releaseOne(line, picture, pass))
  }
  return pass.answer
}

/** What changes during a pass. It only shrinks, so a refused task need not be considered again. */
type Pass = { slots: Slots; taken: Taken; purses: Map<string, Purse>; answer: Schedule }

type Purse = { leftUsd: number; reservedUsd: number }

/** The tasks of one submitter that could start, in order. */
type Line = { submitter: string; ready: Ready[]; next: number; share: number; since: number }

type Ready = { task: Waiting; demand: Demand }

function lineUp(picture: Picture, { slots, answer }: Pass): Line[] {
  const lines = new Map<string, Line>()
  for (const task of picture.waiting) {
    const { submitter } = task
    const demand = slots.demandOf(task.needs)
    const why = notReady(task, picture.now) ?? demand.trouble
    if (why) {
      answer.held.set(task.id, why)
      continue
    }
    const line = lines.get(submitter)
    if (line) line.ready.push({ task, demand })
    else lines.set(submitter, { submitter, ready: [{ task, demand }], next: 0, share: 0, since: 0 })
  }
  for (const { submitter, state } of picture.busy) {
    const line = lines.get(submitter)
    if (line && (state === 'released' || state === 'running')) line.share++
  }
  for (const line of lines.values()) {
    const oldest = line.ready.reduce((time, { task }) => Math.min(time, task.createdAt), Number.POSITIVE_INFINITY)
    line.since = Math.max(oldest, picture.releasedAt(line.submitter) ?? oldest)
    line.ready.sort(byPriority)
  }
  return [...lines.values()]
}

function notReady({ dependsOn, dueAt }: Waiting, now: number): Held | undefined {
  if (dependsOn.length > 0) return { kind: 'dependencies', on: dependsOn }
  if (dueAt !== undefined && dueAt > now) return { kind: 'not-due', until: dueAt }
  return undefined
}

function byPriority({ task: a }: Ready, { task: b }: Ready): number {
  return b.priority - a.priority || a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)
}

function byTurn(a: Line, b: Line): number {
  return a.since - b.since || (a.submitter < b.submitter ? -1 : 1)
}

function releaseOne(line: Line, picture: Picture, pass: Pass): boolean {
  for (let ready = line.ready[line.next]; ready; ready = line.ready[line.next]) {
    line.next++
    const { task } = ready
    const purse = purseOf(task.submitter, picture, pass)
    const why = refusal(ready, purse, pass)
    if (why) {
      pass.answer.held.set(task.id, why)
      continue
    }
    pass.taken.take(task)
    purse.reservedUsd += task.reserveUsd
    pass.answer.release.push(task.id)
    line.since = picture.now
    return true
  }
  return false
}

/** First match wins. Files come late because comparing them is slow; the slot comes last because asking for it takes it. */
function refusal({ task, demand }: Ready, purse: Purse, { slots, taken }: Pass): Held | undefined {
  const why =
    taken.branch(task) ?? overBudget(task, purse) ?? (slots.isFull(demand) ? noSlot(demand) : taken.files(task))
  if (why) return why
  return slots.take(demand) ? undefined : noSlot(demand)
}

function noSlot({ slots }: Demand): Held {
  return { kind: 'no-slot', slots }
}

// Floating-point sums are inexact: a budget of 0.3 has room for 0.1 and 0.2.
const ROUNDING_USD = 1e-9

function overBudget({ reserveUsd }: Waiting, purse: Purse): Held | undefined {
  const leftUsd = purse.leftUsd - purse.reservedUsd
  // A task that reserves nothing may still cost something, so its submitter must have money left.
  return leftUsd > ROUNDING_USD && reserveUsd <= leftUsd + ROUNDING_USD
    ? undefined
    : { kind: 'over-budget', reserveUsd, leftUsd }
}

function purseOf(submitter: string, { leftUsd }: Picture, { purses }: Pass): Purse {
  const known = purses.get(submitter)
  if (known) return known
  const purse = { leftUsd: leftUsd(submitter) ?? Number.POSITIVE_INFINITY, reservedUsd: 0 }
  purses.set(submitter, purse)
  return purse
}
