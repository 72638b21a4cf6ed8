/**
 * How likely loops are to finish, iteration by iteration: a discrete hazard. The hazard of all iterations together has
 * a Beta(1, 3) prior; that of each iteration is drawn towards it with the weight of one loop, which is enough for
 * iterations that few loops reached and promises little where many failed.
 */
import type { HaltReason } from '../engine/loop.ts'
import { isCompleted, type LoopNumbers } from './numbers.ts'

/**
 * `reached`: loops that took this iteration; `finished`: those that completed with it. `by`: the chance that a loop has
 * completed by then, `open`: that it is still running. `still`: the chance that a running one will complete, as far as
 * any loop ever went.
 */
export type Finishing = {
  iteration: number
  reached: number
  finished: number
  by: number
  open: number
  still: number
}

type Known = Pick<LoopNumbers, 'status' | 'reason' | 'iterations'>

/** Limit reached or cancelled: how it would have continued is unknown. All other ends are the loop's own. */
const CUT_SHORT: readonly HaltReason[] = ['max-iterations', 'timeout', 'cost', 'tokens', 'max-attempts', 'cancelled']

/** One row per iteration, as far as any loop went; nothing is predicted beyond that. */
export function finishingOf(loops: readonly Known[]): Finishing[] {
  const ends = Map.groupBy(loops, ({ iterations }) => iterations)
  const last = Math.max(0, ...ends.keys())
  const rows: Omit<Finishing, 'still'>[] = []
  const usual = usualHazard(loops)
  let reached = loops.length - (ends.get(0)?.length ?? 0)
  let by = 0
  let open = 1
  for (let iteration = 1; iteration <= last; iteration++) {
    const here = ends.get(iteration) ?? []
    const finished = here.filter(isCompleted).length
    const each = open / (reached + 1)
    by += each * (finished + usual)
    open -= each * (finished + usual + here.filter(hasGivenUp).length)
    rows.push({ iteration, reached, finished, by, open })
    reached -= here.length
  }
  return rows.map((row) => ({ ...row, still: (by - row.by) / row.open }))
}

/** The share of all iterations that complete a loop. */
function usualHazard(loops: readonly Known[]): number {
  const taken = loops.reduce((sum, { iterations }) => sum + iterations, 0)
  const finished = loops.filter((loop) => isCompleted(loop) && loop.iterations > 0).length
  return (finished + 1) / (taken + 4)
}

/** The chance that a loop with `done` iterations completes within `limit`; 0: no limit. */
export function chanceOf(rows: readonly Finishing[], done: number, limit: number): number {
  const within = (limit === 0 ? rows.at(-1) : rows[Math.min(limit, rows.length) - 1])?.by ?? 0
  if (done === 0) return within
  const before = rows[done - 1]
  return before ? Math.max(0, within - before.by) / before.open : 0
}

function hasGivenUp({ status, reason }: Known): boolean {
  return status === 'halted' && reason !== undefined && !CUT_SHORT.includes(reason)
}
