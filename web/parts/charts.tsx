/** Charts in plain SVG, drawn in the pixels they get. Each says in words what it shows, and has its numbers in a table. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { percent } from '../words.ts'
import type { Fill } from './bar-rows.tsx'
import { Numbers, type Table } from './numbers.tsx'

const LEFT = 40
const TOP = 8
const BOTTOM = 22
const HEIGHT = 190
const FLOOR = HEIGHT - BOTTOM

/** `label`: what one would say about it to somebody who cannot see it. */
export function Chart({
  label,
  table,
  children,
}: {
  label: string
  table: Table
  children: (width: number) => ComponentChildren
}) {
  const box = useRef<HTMLElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const look = () => setWidth(box.current?.clientWidth ?? 0)
    const watch = new ResizeObserver(look)
    look()
    if (box.current) watch.observe(box.current)
    return () => watch.disconnect()
  }, [])
  return (
    <figure class="chart" ref={box}>
      <svg width={width} height={HEIGHT} role="img" aria-label={label}>
        {width > 0 && children(width)}
      </svg>
      <Numbers table={table} />
    </figure>
  )
}

/** `parts` lie on each other, the first one below, in the order of `fills`. */
export type Column = { name: string; title: string; parts: readonly number[] }

export function Columns({
  columns,
  fills,
  axis = String,
  least = 1,
  ...chart
}: {
  label: string
  table: Table
  columns: readonly Column[]
  fills: readonly Fill[]
  axis?: (value: number) => string
  /** The smallest distance between two lines. */
  least?: number
}) {
  const { most, ticks } = scaleOf(Math.max(0, ...columns.map(({ parts }) => sum(parts))), least)
  return (
    <Chart {...chart}>
      {(width) => {
        const step = (width - LEFT) / Math.max(columns.length, 4)
        const every = Math.ceil((8 + 7 * Math.max(...columns.map(({ name }) => name.length))) / step)
        return (
          <>
            <Grid ticks={ticks.map((value) => ({ at: value / most, words: axis(value) }))} width={width} />
            {columns.map(({ name, title, parts }, at) => (
              <g key={name}>
                <title>{title}</title>
                <rect class="hover" x={LEFT + at * step} y={TOP} width={step} height={FLOOR - TOP} />
                {parts.map((part, which) => (
                  <rect
                    key={fills[which]}
                    class={`fill-${fills[which]}`}
                    x={LEFT + at * step + Math.min(5, step * 0.12)}
                    width={Math.min(56, step * 0.76)}
                    y={heightAt(sum(parts.slice(0, which + 1)) / most)}
                    height={Math.max(0, (part / most) * (FLOOR - TOP) - (part ? 1 : 0))}
                    rx="1.5"
                  />
                ))}
                {at % every === 0 && (
                  <text x={LEFT + at * step + Math.min(5, step * 0.12) + Math.min(56, step * 0.76) / 2} y={HEIGHT - 5}>
                    {name}
                  </text>
                )}
              </g>
            ))}
          </>
        )
      }}
    </Chart>
  )
}

export type Point = { name: string; rate: number; low: number; high: number }

/** Shares from 0 to 100 %, with the band in which they probably lie. */
export function Curve({ points, ...chart }: { label: string; table: Table; points: readonly Point[] }) {
  return (
    <Chart {...chart}>
      {(width) => {
        const step = (width - LEFT - 16) / Math.max(1, points.length - 1)
        const every = Math.ceil(30 / step)
        const place = (at: number, rate: number) => `${LEFT + 6 + at * step} ${heightAt(rate)}`
        const highs = points.map(({ high }, at) => place(at, high))
        const lows = points.map(({ low }, at) => place(at, low)).reverse()
        return (
          <>
            <Grid ticks={[0, 0.25, 0.5, 0.75, 1].map((at) => ({ at, words: percent(at) }))} width={width} />
            <path class="band" d={`M${[...highs, ...lows].join('L')}Z`} />
            <path class="curve" d={`M${points.map(({ rate }, at) => place(at, rate)).join('L')}`} />
            {points.map(({ name, rate, low, high }, at) => (
              <g key={name}>
                <title>{`${name}: ${percent(rate)} (${percent(low)} to ${percent(high)})`}</title>
                <rect class="hover" x={LEFT + 6 + (at - 0.5) * step} y={TOP} width={step} height={FLOOR - TOP} />
                <circle class="fill-plain" cx={LEFT + 6 + at * step} cy={heightAt(rate)} r="3" />
                {at % every === 0 && (
                  <text x={LEFT + 6 + at * step} y={HEIGHT - 5}>
                    {name}
                  </text>
                )}
              </g>
            ))}
          </>
        )
      }}
    </Chart>
  )
}

function Grid({ ticks, width }: { ticks: readonly { at: number; words: string }[]; width: number }) {
  return (
    <>
      {ticks.map(({ at, words }) => (
        <g key={at}>
          <path class="grid" d={`M${LEFT} ${Math.round(heightAt(at)) + 0.5}H${width}`} />
          <text class="tick" x={LEFT - 6} y={heightAt(at) + 4}>
            {words}
          </text>
        </g>
      ))}
    </>
  )
}

function heightAt(share: number): number {
  return FLOOR - share * (FLOOR - TOP)
}

/** Round numbers at the lines, at most five of them. */
function scaleOf(highest: number, least: number): { most: number; ticks: number[] } {
  const size = Math.max(least, 10 ** Math.floor(Math.log10(highest / 4 || 1)))
  const step = [1, 2, 5].map((times) => times * size).find((one) => one * 4 >= highest) ?? 10 * size
  const lines = Math.max(1, Math.ceil(highest / step))
  return { most: step * lines, ticks: Array.from({ length: lines + 1 }, (_, at) => at * step) }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, one) => total + one, 0)
}
