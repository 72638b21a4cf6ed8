/** Prints `ralph stats`. */
import type { Analytics, Group } from '../../analytics/analytics.ts'
import type { Share, Spread } from '../../analytics/share.ts'
import { money, spent, tokenWords } from '../../formats/spent-words.ts'
import { count, short, table } from './text.ts'

export function printStats(analytics: Analytics, columns: number): string {
  const { byAgent, byType, bySize, checks } = analytics
  const isNamed = ({ name }: Group) => name !== null
  return [
    table(summary(analytics), columns),
    table(groupRows('agent', byAgent), columns),
    ...(byType.some(isNamed) ? [table(groupRows('type', byType), columns)] : []),
    ...(bySize.some(isNamed) ? [table(groupRows('size', bySize), columns)] : []),
    ...(checks.length > 0 ? [table(checkRows(checks), columns)] : []),
  ].join('\n')
}

function summary(analytics: Analytics): string[][] {
  const { loops, success, byGrade, iterations, cost, tokens, falseClaims, weakened, stops } = analytics
  const { total, toDone } = iterations
  return [
    ['loops', String(loops)],
    ['completed', `${success.count} of ${success.of} finished${shareWords(success)}`],
    ['by grade', byGrade.map(({ grade, count: n }) => `${n} ${grade}`).join(', ')],
    ['iterations', `${total}${toDone ? `; until done: ${spreadWords(toDone)}` : ''}`],
    ...(total > 0 ? [['done by', finishingWords(analytics)]] : []),
    [
      'false claims caught',
      `${falseClaims.claims} in ${count(falseClaims.loops.count, 'loop')}${shareWords(falseClaims.loops)}`,
    ],
    [
      'weakened proofs',
      `${count(weakened.refused, 'claim')} refused, ${count(weakened.loops.count, 'loop')} with findings, ${weakened.altered} altered`,
    ],
    ['tokens', String(tokens.total)],
    ...(cost.totalUsd === 0 && tokens.total > 0 && success.count > 0
      ? [
          [
            'tokens per completed loop',
            `${tokenWords(tokens.total / success.count)}, including loops that did not complete`,
          ],
        ]
      : []),
    ['cost', money(cost.totalUsd)],
    ...(cost.totalUsd > 0 ? [['cost per completed loop', costWords(cost)]] : []),
    ...stops.map(({ reason, loops: n }) => [reason === 'cancelled' ? reason : `halted: ${reason}`, count(n, 'loop')]),
  ]
}

/** `, 67% (30–90%)`. */
function shareWords({ rate, low = 0, high = 1 }: Share): string {
  return rate === undefined ? '' : `, ${percent(rate)}% (${percent(low)}–${percent(high)}%)`
}

function spreadWords({ mean, median, p90 }: Spread): string {
  return `mean ${mean.toFixed(1)}, median ${median}, p90 ${p90}`
}

const MARKS = [1, 2, 3, 5, 8, 13, 21, 34]

/** `iteration 1: 40%, 2: 61%, 3: 70%`. */
function finishingWords({ finishing }: Analytics): string {
  const rows = finishing.filter(({ iteration }) => MARKS.includes(iteration) || iteration === finishing.length)
  return `iteration ${rows.map(({ iteration, by }) => `${iteration}: ${percent(by)}%`).join(', ')}`
}

function costWords({ perCompletedUsd, withFailuresUsd, onNothingUsd }: Analytics['cost']): string {
  const nothing = `${money(onNothingUsd)} spent on loops that did not complete`
  if (perCompletedUsd === undefined || withFailuresUsd === undefined) return nothing
  return `${money(perCompletedUsd)}, ${money(withFailuresUsd)} including failures; ${nothing}`
}

function groupRows(head: string, groups: readonly Group[]): string[][] {
  return [
    [head, 'loops', 'completed', 'iterations until done', 'false claims', 'cost'],
    ...groups.map(({ name, loops, success, iterations, falseClaims, costUsd, tokens }) => [
      short(name ?? '-', 30),
      String(loops),
      `${success.count} of ${success.of}${shareWords(success)}`,
      iterations ? spreadWords(iterations) : '-',
      String(falseClaims),
      spent({ costUsd, tokens }),
    ]),
  ]
}

const MOST_CHECKS = 5

function checkRows(checks: Analytics['checks']): string[][] {
  return [
    ['check', 'failed', 'runs'],
    ...checks
      .slice(0, MOST_CHECKS)
      .map(({ check, failures, runs, rate }) => [short(check, 50), `${failures} (${percent(rate)}%)`, String(runs)]),
  ]
}

function percent(rate: number): string {
  return String(Math.round(rate * 100))
}
