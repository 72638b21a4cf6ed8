/** The iterations, newest first: one line each, or in more detail. */
import type { Loop } from '../../src/engine/loop.ts'
import { type Iteration, openFailures } from '../data/iterations.ts'
import { go, route, withQuery } from '../data/route.ts'
import { Virtual } from '../parts/virtual.tsx'
import { count, duration, money } from '../words.ts'
import { Elapsed } from './elapsed.tsx'
import { CELLS } from './matrix.tsx'

const COMPACT = 54
const EXPANDED = 128

export function Timeline({
  loop,
  rows,
  chosen,
  choose,
}: {
  loop: Loop
  rows: readonly Iteration[]
  chosen: number | undefined
  choose: (n: number) => void
}) {
  const isExpanded = route.value.query.rows === 'expanded'
  const under = loop.next.kind === 'turn' ? loop.next : undefined
  const shown: (Iteration | { n: number; attempt: number })[] = under
    ? [...rows, { n: under.iteration, attempt: under.attempt }]
    : [...rows]
  shown.reverse()
  const height = isExpanded ? EXPANDED : COMPACT
  return (
    <section class="card timeline" aria-label="Iterations">
      <header>
        <h2 class="grow">{count(rows.length, 'iteration')}</h2>
        <button
          type="button"
          class="button quiet"
          aria-pressed={isExpanded}
          onClick={() => go(withQuery({ rows: isExpanded ? undefined : 'expanded' }), { replace: true })}
        >
          {isExpanded ? 'Compact' : 'Expand'}
        </button>
      </header>
      {shown.length === 0 && <p class="body muted">The first iteration has not started.</p>}
      <div class="timeline-rows" style={{ height: `min(${shown.length * height}px, 62dvh)` }}>
        <Virtual
          count={shown.length}
          rowHeight={height}
          label="Iterations, newest first"
          focus={shown.findIndex(({ n }) => n === chosen)}
          focusOn={`${chosen} ${isExpanded}`}
        >
          {(at) => {
            const row = shown[at]
            if (!row) return null
            return 'words' in row ? (
              <Line key={row.n} row={row} expanded={isExpanded} chosen={row.n === chosen} choose={choose} loop={loop} />
            ) : (
              <Running
                key="now"
                n={row.n}
                attempt={row.attempt}
                chosen={row.n === chosen}
                choose={choose}
                since={rows.at(-1)?.endedAt ?? loop.tally.startedAt}
              />
            )
          }}
        </Virtual>
      </div>
    </section>
  )
}

function Running({
  n,
  attempt,
  chosen,
  choose,
  since,
}: {
  n: number
  attempt: number
  chosen: boolean
  choose: (n: number) => void
  since: number
}) {
  return (
    <button type="button" class="iteration-row" aria-current={chosen} onClick={() => choose(n)}>
      <span class="chip blue">{n}</span>
      <span class="said">Running{attempt > 1 ? `, attempt ${attempt}` : ''}</span>
      <span class="meta">
        <Elapsed since={since} />
      </span>
    </button>
  )
}

type Shown = { row: Iteration; expanded: boolean; chosen: boolean; choose: (n: number) => void; loop: Loop }

function Line({ row, expanded, chosen, choose, loop }: Shown) {
  const { tone, mark, words } = verdictOf(row, loop)
  return (
    <button type="button" class="iteration-row" aria-current={chosen} onClick={() => choose(row.n)}>
      <span class={`chip ${tone}`}>
        {row.n} <span aria-hidden="true">{mark}</span>
      </span>
      <span class="said" dir="auto">
        {row.words || 'Said nothing.'}
      </span>
      <span class="cost number">{money(row.costUsd)}</span>
      <span class="meta">{[words, diffWords(row), duration(row.durationMs)].filter(Boolean).join(' · ')}</span>
      {expanded && (
        <span class="more">
          {row.refused && <span class="refused">{row.refused}</span>}
          {row.findings.slice(0, 2).map(({ path, words: found, kind }) => (
            <span key={kind + path} class="finding">
              ◆ {path}: {found}
            </span>
          ))}
          <span>
            {row.verdicts
              .map(
                ({ check, result, failures }) => `${check}: ${CELLS[result]?.words}${failures ? ` (${failures})` : ''}`,
              )
              .join(' · ') || 'No check ran.'}
          </span>
        </span>
      )}
    </button>
  )
}

export function verdictOf(
  row: Iteration,
  { next, tally }: Pick<Loop, 'next' | 'tally'>,
): { tone: string; mark: string; words: string } {
  const failures = openFailures(row.verdicts)
  if (row.end === 'failed' || row.end === 'unusable') return { tone: 'red', mark: '⚡', words: 'crashed' }
  if (row.end !== 'ok') return { tone: 'amber', mark: '◷', words: row.end.replaceAll('-', ' ') }
  const done = next.kind === 'complete' && tally.iteration === row.n
  if (done) return { tone: next.proof === 'verified' ? 'green' : 'teal', mark: '✓', words: next.proof }
  if (row.refused)
    return { tone: 'red', mark: '✗', words: failures ? `claim refused, ${failures} failing` : 'claim refused' }
  if (failures === undefined) return { tone: 'gray', mark: '·', words: row.claim === 'none' ? '' : 'claimed done' }
  return failures > 0
    ? { tone: 'red', mark: '✗', words: `${failures} failing` }
    : { tone: 'green', mark: '✓', words: 'checks pass' }
}

export function diffWords({ diff, changed }: Iteration): string {
  if (diff) return diff.files === 0 ? 'no change' : `+${diff.added} −${diff.removed}`
  return changed === false ? 'no change' : ''
}
