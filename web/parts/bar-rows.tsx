/** Horizontal bars, each with a name and a number. */
import { Fragment } from 'preact'
import { Numbers, type Table } from './numbers.tsx'

/** What a color stands for, always next to a word. */
export type Fill = 'pass' | 'fail' | 'none' | 'plain'

/** A `share` of 1 fills the width; `low` and `high` draw the interval around it. */
export type Row = {
  name: string
  share: number
  fill: Fill
  words: string
  more?: string
  low?: number | undefined
  high?: number | undefined
}

/** `table`: for data beyond what the rows show. */
export function Rows({
  label,
  heads,
  rows,
  table = {
    head: heads,
    rows: rows.map(({ name, words, more }) => [name, words, ...(more === undefined ? [] : [more])]),
  },
}: {
  label: string
  heads: readonly string[]
  rows: readonly Row[]
  table?: Table
}) {
  const isWide = heads.length > 2
  return (
    <figure class="chart">
      <div
        class={`bar-rows${isWide ? ' more' : ''}`}
        role="img"
        aria-label={`${label}. The table below has the numbers.`}
      >
        {rows.map(({ name, share, fill, words, more, low = 0, high = 0 }) => (
          <Fragment key={name}>
            <span title={name}>{name}</span>
            <svg width="100%" height="16" aria-hidden="true">
              <rect class={`fill-${fill}`} width={percentOf(share)} height="16" rx="2" />
              {high > 0 && <rect class="reach" x={percentOf(low)} width={percentOf(high - low)} y="6.5" height="3" />}
            </svg>
            <span class="number">{words}</span>
            {isWide && <span class="number right">{more}</span>}
          </Fragment>
        ))}
      </div>
      <Numbers table={table} />
    </figure>
  )
}

function percentOf(share: number): string {
  return `${Math.round(share * 1_000) / 10}%`
}
