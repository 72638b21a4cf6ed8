/** Statistics over many loops. */
import { GRADES, type Grade, type Usage } from '../engine/loop.ts'
import { type Finishing, finishingOf } from './finishing.ts'
import { isCompleted, isFinished, type LoopNumbers, type Sums } from './numbers.ts'
import { type Share, type Spread, shareOf, spreadOf, sumOf } from './share.ts'

export type Analytics = {
  loops: number
  byStatus: Record<string, number>
  /** Completed loops, out of those that completed or halted. */
  success: Share
  byGrade: (Share & { grade: Grade })[]
  /** Why loops stopped short, the most frequent first. */
  stops: { reason: string; loops: number }[]
  iterations: {
    total: number
    /** Of completed loops. */
    toDone: Spread | undefined
    histogram: { iterations: number; completed: number; stopped: number }[]
  }
  finishing: Finishing[]
  byAgent: Group[]
  byType: Group[]
  bySize: Group[]
  cost: Cost
  tokens: Usage & { total: number }
  /** `loops`: those with at least one, out of those that did anything. */
  falseClaims: { claims: number; loops: Share }
  /** What was noticed about tests and configuration. `refused`: claims that rested only on changed ones. */
  weakened: { refused: number; loops: Share; altered: number; findings: Sums['findings'] }
  checks: (Sums['checks'][number] & { rate: number })[]
  days: Day[]
}

/** Loops that share a trait; `name` is null if it is unknown. */
export type Group = {
  name: string | null
  loops: number
  success: Share
  iterations: Spread | undefined
  falseClaims: number
  tokens: number
  costUsd: number
}

/** Only counts loops whose agent reports its cost. `onNothingUsd`: the cost of loops that did not complete. */
export type Cost = {
  totalUsd: number
  /** How many completed loops report a cost, and the cost of one. */
  completed: number
  perCompletedUsd: number | undefined
  /** The same, including everything spent on loops that did not complete. */
  withFailuresUsd: number | undefined
  onNothingUsd: number
}

/** A calendar day in UTC, by when loops started. */
export type Day = {
  day: string
  loops: number
  completed: number
  verified: number
  halted: number
  iterations: number
  falseClaims: number
  costUsd: number
}

/** Iterations that few loops reach would only make the answer long. */
const MOST_ITERATIONS = 100

export function analyse(loops: readonly LoopNumbers[], sums: Sums): Analytics {
  const finished = loops.filter(isFinished)
  const completed = loops.filter(isCompleted)
  const tried = loops.filter(({ iterations }) => iterations > 0)
  const altered = loops.filter(({ proof }) => proof === 'altered').length
  return {
    loops: loops.length,
    byStatus: countsOf(loops.map(({ status }) => status)),
    success: shareOf(completed.length, finished.length),
    byGrade: GRADES.map((grade) => ({
      grade,
      ...shareOf(completed.filter(({ proof }) => proof === grade).length, finished.length),
    })),
    stops: Object.entries(countsOf(loops.flatMap(({ reason }) => reason ?? []))).map(([reason, n]) => ({
      reason,
      loops: n,
    })),
    iterations: {
      total: totalOf(loops, 'iterations'),
      toDone: spreadOf(completed.map(({ iterations }) => iterations)),
      histogram: histogramOf(finished),
    },
    finishing: finishingOf(loops).slice(0, MOST_ITERATIONS),
    byAgent: groupsOf(loops, ({ agent }) => agent),
    byType: groupsOf(loops, ({ type }) => type ?? null),
    bySize: groupsOf(loops, ({ size }) => size ?? null),
    cost: costOf(loops),
    tokens: { total: totalOf(loops, 'tokens'), ...sums.usage },
    falseClaims: {
      claims: totalOf(loops, 'falseClaims'),
      loops: shareOf(tried.filter(({ falseClaims }) => falseClaims > 0).length, tried.length),
    },
    weakened: {
      refused: totalOf(loops, 'bent'),
      loops: shareOf(tried.filter(({ bent, findings }) => bent > 0 || findings > 0).length, tried.length),
      altered,
      findings: sums.findings,
    },
    checks: sums.checks.map((row) => ({ ...row, rate: row.failures / row.runs })),
    days: daysOf(loops),
  }
}

type Counted = 'iterations' | 'tokens' | 'falseClaims' | 'bent' | 'costUsd'

function totalOf(loops: readonly LoopNumbers[], field: Counted): number {
  return sumOf(loops.map((loop) => loop[field]))
}

/** The most frequent first. */
function countsOf(names: readonly string[]): Record<string, number> {
  const counts = [...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length] as const)
  return Object.fromEntries(counts.sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)))
}

function histogramOf(finished: readonly LoopNumbers[]): Analytics['iterations']['histogram'] {
  return [...Map.groupBy(finished, ({ iterations }) => iterations)]
    .map(([iterations, loops]) => {
      const completed = loops.filter(isCompleted).length
      return { iterations, completed, stopped: loops.length - completed }
    })
    .sort((a, b) => a.iterations - b.iterations)
}

/** The largest first, unknown last. */
function groupsOf(loops: readonly LoopNumbers[], nameOf: (loop: LoopNumbers) => string | null): Group[] {
  return [...Map.groupBy(loops, nameOf)]
    .map(([name, all]) => {
      const completed = all.filter(isCompleted)
      return {
        name,
        loops: all.length,
        success: shareOf(completed.length, all.filter(isFinished).length),
        iterations: spreadOf(completed.map(({ iterations }) => iterations)),
        falseClaims: totalOf(all, 'falseClaims'),
        tokens: totalOf(all, 'tokens'),
        costUsd: totalOf(all, 'costUsd'),
      }
    })
    .sort((a, b) => Number(a.name === null) - Number(b.name === null) || b.loops - a.loops || order(a.name, b.name))
}

function order(a: string | null, b: string | null): number {
  return (a ?? '') < (b ?? '') ? -1 : 1
}

function costOf(loops: readonly LoopNumbers[]): Cost {
  const priced = loops.filter(({ costUsd }) => costUsd > 0)
  const completed = priced.filter(isCompleted)
  const lost = priced.filter(({ status, reason }) => status === 'halted' || reason === 'cancelled')
  const [onDone, onNothing] = [totalOf(completed, 'costUsd'), totalOf(lost, 'costUsd')]
  const per = (usd: number) => (completed.length === 0 ? undefined : usd / completed.length)
  return {
    totalUsd: totalOf(priced, 'costUsd'),
    completed: completed.length,
    perCompletedUsd: per(onDone),
    withFailuresUsd: per(onDone + onNothing),
    onNothingUsd: onNothing,
  }
}

function daysOf(loops: readonly LoopNumbers[]): Day[] {
  return [...Map.groupBy(loops, ({ startedAt }) => new Date(startedAt).toISOString().slice(0, 10))]
    .map(([day, all]) => ({
      day,
      loops: all.length,
      completed: all.filter(isCompleted).length,
      verified: all.filter(({ proof }) => proof === 'verified').length,
      halted: all.filter(({ status }) => status === 'halted').length,
      iterations: totalOf(all, 'iterations'),
      falseClaims: totalOf(all, 'falseClaims'),
      costUsd: totalOf(all, 'costUsd'),
    }))
    .sort((a, b) => (a.day < b.day ? -1 : 1))
}
