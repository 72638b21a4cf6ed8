/** What every chart has: its size in pixels, grid lines and labels, a tooltip, and a table below it. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Fill } from './bar-rows.tsx'
import { Numbers, type Table } from './numbers.tsx'

export const LEFT = 48
export const TOP = 8
const HEIGHT = 190
export const FLOOR = HEIGHT - 22

type Drawn = { label: string; table: Table; children: (width: number) => ComponentChildren }

export function Chart({ label, table, children }: Drawn) {
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
      <svg width={width} height={HEIGHT} role="img" aria-label={`${label}. The table below has the numbers.`}>
        {width > 0 && children(width)}
      </svg>
      <Numbers table={table} />
    </figure>
  )
}

/** The tooltip for a place under the pointer. */
export function Spot({
  title,
  x,
  width,
  children,
}: {
  title: string | undefined
  x: number
  width: number
  children: ComponentChildren
}) {
  return (
    <g>
      <title>{title}</title>
      <rect class="hover" x={x} y={TOP} width={width} height={FLOOR - TOP} />
      {children}
    </g>
  )
}

/** As many labels below a chart as fit. */
export function Names({ names, from, step }: { names: readonly string[]; from: number; step: number }) {
  const every = Math.ceil((8 + 7 * Math.max(...names.map(({ length }) => length))) / step)
  return (
    <>
      {names.map((name, at) =>
        at % every === 0 ? (
          <text key={name} x={from + at * step} y={HEIGHT - 5}>
            {name}
          </text>
        ) : null,
      )}
    </>
  )
}

export function Grid({ ticks, width }: { ticks: readonly { at: number; words: string }[]; width: number }) {
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

/** In stacking order. */
export function Legend({ fills, words }: { fills: readonly Fill[]; words: readonly string[] }) {
  return (
    <p class="legend">
      {fills.map((fill, at) => (
        <span key={fill}>
          <svg width="10" height="10" aria-hidden="true">
            <rect class={`fill-${fill}`} width="10" height="10" rx="2" />
          </svg>
          {words[at]}
          {at === 0 && ' (below)'}
        </span>
      ))}
    </p>
  )
}

export function heightAt(share: number): number {
  return FLOOR - share * (FLOOR - TOP)
}
