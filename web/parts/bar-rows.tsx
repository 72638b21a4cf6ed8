/** Horizontal bars with a name and a number each, and the legend that says what a colour stands for. */
import { Fragment } from 'preact'
import { Numbers, type Table } from './numbers.tsx'

/** What a colour stands for; the words of the legend go with it. */
export type Fill = 'pass' | 'fail' | 'none' | 'plain'

/** `share` of 1 is as wide as there is room; `low` and `high` draw the interval around it. */
export type Row = { name: string; share: number; fill: Fill; words: string; more?: string; low?: number; high?: number }

export function Rows({
  label,
  head,
  rows,
  table,
}: {
  label: string
  head?: readonly string[]
  rows: readonly Row[]
  table: Table
}) {
  const hasMore = rows.some(({ more }) => more !== undefined)
  return (
    <figure class="chart">
      <div class={`bar-rows${hasMore ? ' more' : ''}`} role="img" aria-label={label}>
        {head?.map((words) => (
          <small key={words}>{words}</small>
        ))}
        {rows.map(({ name, share, fill, words, more, low, high }) => (
          <Fragment key={name}>
            <span title={name}>{name}</span>
            <svg width="100%" height="16" aria-hidden="true">
              <rect class={`fill-${fill}`} width={percentOf(share)} height="16" rx="2" />
              {low !== undefined && high !== undefined && (
                <>
                  <line class="reach" x1={percentOf(low)} x2={percentOf(high)} y1="8" y2="8" />
                  <line class="reach" x1={percentOf(low)} x2={percentOf(low)} y1="4" y2="12" />
                  <line class="reach" x1={percentOf(high)} x2={percentOf(high)} y1="4" y2="12" />
                </>
              )}
            </svg>
            <span class="number">{words}</span>
            {hasMore && <span class="number right">{more}</span>}
          </Fragment>
        ))}
      </div>
      <Numbers table={table} />
    </figure>
  )
}

export function Legend({ keys }: { keys: readonly (readonly [fill: Fill, words: string])[] }) {
  return (
    <p class="legend">
      {keys.map(([fill, words]) => (
        <span key={fill}>
          <svg width="10" height="10" aria-hidden="true">
            <rect class={`fill-${fill}`} width="10" height="10" rx="2" />
          </svg>
          {words}
        </span>
      ))}
    </p>
  )
}

function percentOf(share: number): string {
  return `${Math.round(share * 1_000) / 10}%`
}
