/** What the tasks of one execution have used in total, against their shared limits. */
import { overBudget, type Used, whatIsLeft } from '../engine/limits.ts'
import type { Limits, Loop } from '../engine/loop.ts'
import type { ProjectStop } from '../engine/schedule.ts'
import type { Store } from '../host/store.ts'
import type { ProjectRecord } from './record.ts'

type Spent = { costUsd: number; tokens: number }

/** Per loop: before this execution, and in total. */
export type Spending = { before: Spent; now: Spent }

/** By loop. */
export async function spentBefore(known: { record: ProjectRecord; store: Store }): Promise<Map<string, Spending>> {
  const { record, store } = known
  const spent = new Map<string, Spending>()
  for (const id of record.open.flatMap((open) => (open.merging ? [open.loop, open.merging.loop] : [open.loop]))) {
    const loop = await store.load(id).catch(() => undefined) // ralph was killed before it created the loop
    if (loop) spent.set(id, { before: loop.tally, now: loop.tally })
  }
  return spent
}

/** For all tasks together. */
export type SharedLimits = Omit<Limits, 'iterations' | 'ceiling'>

export type Purse = {
  saw(loop: Loop): void
  over(at: number): ProjectStop | undefined
  /** The limits that a loop may get now. */
  left(at: number): SharedLimits
}

type Opening = { limits: SharedLimits; startedAt: number; spent: Map<string, Spending> }

export function openPurse({ limits, startedAt, spent }: Opening): Purse {
  const used = (): Used => ({
    startedAt,
    restedMs: 0,
    costUsd: sumOf(spent, ({ costUsd }) => costUsd),
    tokens: sumOf(spent, ({ tokens }) => tokens),
  })
  return {
    saw({ id, tally }) {
      const before = spent.get(id)?.before ?? { costUsd: 0, tokens: 0 }
      spent.set(id, { before, now: tally })
    },
    over: (at) => overBudget({ limits, tally: used() }, at),
    left: (at) => ({ ...limits, ...whatIsLeft(limits, used(), at) }),
  }
}

function sumOf(spent: ReadonlyMap<string, Spending>, amount: (spent: Spent) => number): number {
  return [...spent.values()].reduce((sum, { before, now }) => sum + amount(now) - amount(before), 0)
}
