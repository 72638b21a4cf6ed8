/** The headline numbers, each with a line that says what it counts. */
import { GRADE_WORDS, gradeBadge } from '../badge.ts'
import type { OutputOf } from '../data/source.ts'
import { BadgeView } from '../parts/common.tsx'
import { count, money, percent } from '../words.ts'

export type Analytics = OutputOf<'get_analytics'>
type Share = Analytics['success']

export function Tiles({ analytics }: { analytics: Analytics }) {
  const { success, iterations, cost, falseClaims, weakened } = analytics
  const { toDone } = iterations
  const lost = cost.totalUsd > 0 ? cost.onNothingUsd / cost.totalUsd : undefined
  return (
    <div class="tiles">
      <Tile
        name="Success"
        value={percent(success.rate)}
        more={`${success.count} of ${success.of} finished${intervalWords(success)}`}
        note="Completed loops, out of those that completed or halted."
      />
      <Tile
        name="Iterations to done"
        value={toDone ? String(toDone.median) : '–'}
        more={toDone ? `median; nine in ten need up to ${toDone.p90}` : 'none completed yet'}
        note={`${count(iterations.total, 'iteration')} in total.`}
      />
      <Tile
        name="Cost per completed task"
        value={money(cost.perCompletedUsd)}
        more={`with failed loops: ${money(cost.withFailuresUsd)}`}
        note={`${count(cost.completed, 'loop')} with a known cost.`}
      />
      <Tile
        name="Spent without a result"
        value={percent(lost)}
        more={`${money(cost.onNothingUsd)} of ${money(cost.totalUsd)}`}
        note="Loops that halted or were cancelled."
      />
      <Tile
        name="False claims caught"
        value={String(falseClaims.claims)}
        more={`in ${falseClaims.loops.count} of ${count(falseClaims.loops.of, 'loop')}${rateWords(falseClaims.loops)}`}
        note="The agent said “done”, the checks said no."
      />
      <Tile
        name="Weakened proofs refused"
        value={String(weakened.refused)}
        more={`${count(weakened.loops.count, 'loop')} changed tests; ${weakened.altered} ended altered`}
        note="Claims that passed only with changed tests."
      />
    </div>
  )
}

function Tile({ name, value, more, note }: { name: string; value: string; more: string; note: string }) {
  return (
    <section class="card tile">
      <h2>{name}</h2>
      <p class="figure">{value}</p>
      <p>{more}</p>
      <p class="muted">{note}</p>
    </section>
  )
}

function rateWords({ rate }: Share): string {
  return rate === undefined ? '' : ` (${percent(rate)})`
}

/** `; 95% interval 78–92%`. */
export function intervalWords({ low, high }: Share): string {
  return low === undefined || high === undefined ? '' : `; 95% interval ${Math.round(low * 100)}–${percent(high)}`
}

/** Not all success is equal: what the proofs show. */
export function Grades({ analytics: { byGrade, success } }: { analytics: Analytics }) {
  return (
    <section class="card chart-card">
      <h2>How well success is proven</h2>
      <p class="muted">
        {success.of - success.count > 0
          ? `The proof grades of completed loops; ${success.of - success.count} did not complete.`
          : 'The proof grades of completed loops.'}
      </p>
      <svg class="grades" width="100%" height="14" aria-hidden="true">
        {byGrade.map(({ grade, rate = 0 }, at) => {
          const before = byGrade.slice(0, at).reduce((sum, one) => sum + (one.rate ?? 0), 0)
          return (
            <rect key={grade} class={`grade-${grade}`} x={`${before * 100}%`} width={`${rate * 100}%`} height="14" />
          )
        })}
      </svg>
      <ul class="grade-list">
        {byGrade.map(({ grade, count: loops, rate }) => (
          <li key={grade}>
            <svg class={`grade-${grade}`} width="10" height="10" aria-hidden="true">
              <rect width="10" height="10" rx="2" />
            </svg>
            <BadgeView badge={gradeBadge(grade)} />
            <strong class="number">{loops}</strong> <span class="number muted">{percent(rate)}</span>
            <small>{GRADE_WORDS[grade]}</small>
          </li>
        ))}
      </ul>
    </section>
  )
}
