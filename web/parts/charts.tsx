/** Charts in plain SVG, drawn at their real pixel size, each with a table of its numbers below. */
import { percent } from '../words.ts'
import type { Fill } from './bar-rows.tsx'
import { Chart, FLOOR, Grid, heightAt, LEFT, Legend, Names, Spot, TOP } from './chart-frame.tsx'
import type { Table } from './numbers.tsx'

/** `parts` are stacked, the first at the bottom, in the order of `fills`. */
export type Column = { name: string; parts: readonly number[] }

/** `heads`: the heading of the first column, then one per part. `least`: the smallest distance between two grid lines. */
export function Columns({
  label,
  heads,
  fills,
  columns,
  words = String,
  least = 1,
}: {
  label: string
  heads: readonly string[]
  fills: readonly Fill[]
  columns: readonly Column[]
  words?: (value: number) => string
  least?: number
}) {
  const { most, ticks } = scaleOf(Math.max(0, ...columns.map(({ parts }) => sum(parts))), least)
  const rows = columns.map(({ name, parts }) => [name, ...parts.map(words)])
  return (
    <>
      {fills.length > 1 && <Legend fills={fills} words={heads.slice(1)} />}
      <Chart label={label} table={{ head: heads, rows }}>
        {(width) => {
          const step = (width - LEFT - 12) / Math.max(columns.length, 4)
          const bar = Math.min(56, step * 0.76)
          return (
            <>
              <Grid ticks={ticks.map((value) => ({ at: value / most, words: words(value) }))} width={width} />
              {columns.map(({ name, parts }, at) => (
                <Spot
                  key={name}
                  title={rows[at]?.map((value, which) => `${heads[which]}: ${value}`).join('\n')}
                  x={LEFT + at * step}
                  width={step}
                >
                  {parts.map((part, which) => (
                    <rect
                      key={fills[which]}
                      class={`fill-${fills[which]}`}
                      x={LEFT + at * step + (step - bar) / 2}
                      width={bar}
                      y={heightAt(sum(parts.slice(0, which + 1)) / most)}
                      height={Math.max(0, (part / most) * (FLOOR - TOP) - (part ? 1 : 0))}
                      rx="1.5"
                    />
                  ))}
                </Spot>
              ))}
              <Names names={columns.map(({ name }) => name)} from={LEFT + step / 2} step={step} />
            </>
          )
        }}
      </Chart>
    </>
  )
}

export type Point = { name: string; rate: number; low: number; high: number }

/** Shares from 0 to 100%, with their confidence band. */
export function Curve({ label, table, points }: { label: string; table: Table; points: readonly Point[] }) {
  return (
    <Chart label={label} table={table}>
      {(width) => {
        const from = LEFT + 6
        const step = (width - from - 10) / Math.max(1, points.length - 1)
        const place = (at: number, rate: number) => `${from + at * step} ${heightAt(rate)}`
        const band = [
          ...points.map(({ high }, at) => place(at, high)),
          ...points.map(({ low }, at) => place(at, low)).reverse(),
        ]
        return (
          <>
            <Grid ticks={[0, 0.25, 0.5, 0.75, 1].map((at) => ({ at, words: percent(at) }))} width={width} />
            <path class="band" d={`M${band.join('L')}Z`} />
            <path class="curve" d={`M${points.map(({ rate }, at) => place(at, rate)).join('L')}`} />
            {points.map(({ name, rate, low, high }, at) => (
              <Spot
                key={name}
                title={`${name}: ${percent(rate)} (${percent(low)} to ${percent(high)})`}
                x={from + (at - 0.5) * step}
                width={step}
              >
                <circle class="fill-plain" cx={from + at * step} cy={heightAt(rate)} r="3" />
              </Spot>
            ))}
            <Names names={points.map(({ name }) => name)} from={from} step={step} />
          </>
        )
      }}
    </Chart>
  )
}

/** Round numbers for the grid lines, at most five. */
function scaleOf(highest: number, least: number): { most: number; ticks: number[] } {
  const size = Math.max(least, 10 ** Math.floor(Math.log10(highest / 4 || 1)))
  const step = [1, 2, 5].map((times) => times * size).find((one) => one * 4 >= highest) ?? 10 * size
  const lines = Math.max(1, Math.ceil(highest / step))
  return { most: step * lines, ticks: Array.from({ length: lines + 1 }, (_, at) => at * step) }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, one) => total + one, 0)
}
