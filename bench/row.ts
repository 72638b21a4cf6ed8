/** One line of the table: what was measured, what it is compared to, and what the budget allows. */
import type { Spread } from './spread.ts'

export type Unit = 'ms' | 'KB' | 'MB' | '×' | '%' | 'rows' | 's' | '/s'

export type Row = {
  what: string
  measured: Spread
  unit: Unit
  yardstick?: { what: string; measured: Spread }
  figure?: { value: number; unit: Unit }
  /** The most that `figure` may be. Rows without it help to find where the time went. */
  budget?: number
  /** The least that it may be. */
  atLeast?: number
}

export function isOver({ figure, budget, atLeast }: Row): boolean {
  if (figure === undefined) return false
  return (budget !== undefined && !(figure.value <= budget)) || (atLeast !== undefined && !(figure.value >= atLeast))
}

function isBudgeted({ budget, atLeast }: Row): boolean {
  return budget !== undefined || atLeast !== undefined
}

export function toJson(row: Row): object {
  return { ...row, ...(isBudgeted(row) ? { ok: !isOver(row) } : {}) }
}

const WIDTHS = { what: 56, measured: 22, yardstick: 46, figure: 11, budget: 11 }

export function printHeader(): string {
  return line({
    what: 'what',
    measured: 'median (calmest)',
    yardstick: 'yardstick',
    figure: 'figure',
    budget: 'budget',
  })
}

export function printRow(row: Row): string {
  const { yardstick, figure, budget, atLeast } = row
  return line({
    what: isBudgeted(row) ? row.what : `  ${row.what}`,
    measured: amounts(row.measured, row.unit),
    yardstick: yardstick ? `${yardstick.what} ${amounts(yardstick.measured, row.unit)}` : '',
    figure: figure ? amount(figure.value, figure.unit) : '',
    budget: !figure
      ? ''
      : budget !== undefined
        ? `≤ ${budget} ${figure.unit}`
        : atLeast !== undefined
          ? `≥ ${atLeast} ${figure.unit}`
          : '',
    verdict: !isBudgeted(row) ? '' : isOver(row) ? 'over' : 'ok',
  })
}

type Cells = { [Name in keyof typeof WIDTHS]: string } & { verdict?: string }

function line({ what, measured, yardstick, figure, budget, verdict = '' }: Cells): string {
  return [
    what.padEnd(WIDTHS.what),
    measured.padStart(WIDTHS.measured),
    `   ${yardstick.padEnd(WIDTHS.yardstick)}`,
    figure.padStart(WIDTHS.figure),
    budget.padStart(WIDTHS.budget),
    `  ${verdict}`,
  ]
    .join('')
    .trimEnd()
}

function amounts({ median, calm }: Spread, unit: Unit): string {
  return calm === median ? amount(median, unit) : `${amount(median, unit)} (${digits(calm)})`
}

function amount(value: number, unit: Unit): string {
  return `${digits(value)} ${unit}`
}

function digits(value: number): string {
  return value.toFixed(Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0)
}
