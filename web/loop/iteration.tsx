/** The selected iteration: its facts, why it was not the last, and tabs with everything else. */
import type { ComponentChildren } from 'preact'
import type { Iteration } from '../data/iterations.ts'
import { go, route, withQuery } from '../data/route.ts'
import { isRecorded } from '../data/source.ts'
import { fork, rollback, undo } from '../parts/actions.tsx'
import { BadgeView, Button } from '../parts/common.tsx'
import { agentName, amount, duration, money, timeOf } from '../words.ts'
import { DiffTab } from './diff.tsx'
import type { Found } from './head.tsx'
import { Matrix } from './matrix.tsx'
import { PromptTab } from './prompt.tsx'
import { ProofTab } from './proof.tsx'
import { StoryTab } from './story.tsx'
import { SummaryTab } from './summary.tsx'
import { showTab, TABS } from './tabs.ts'
import { diffWords, verdictOf } from './timeline.tsx'
import { TranscriptTab } from './transcript.tsx'

export type Chosen = { found: Found; row: Iteration | undefined; n: number }

export function IterationPanel({
  found,
  rows,
  chosen,
}: {
  found: Found
  rows: readonly Iteration[]
  chosen: number | undefined
}) {
  const row = rows.find(({ n }) => n === chosen)
  const tab = TABS.find((one) => one.tab === route.value.query.tab)?.tab ?? 'summary'
  const n = chosen ?? 0
  return (
    <section class="card iteration" aria-label={n ? `Iteration ${n}` : 'No iteration yet'}>
      <header>
        <h2 class="grow title-line">
          {n ? `Iteration ${n}` : 'No iteration yet'} {row && <RowBadge row={row} found={found} />}
        </h2>
        {route.value.query.i && chosen !== rows.at(-1)?.n && (
          <Button kind="quiet" run={() => go(withQuery({ i: undefined }), { replace: true })}>
            Follow the latest
          </Button>
        )}
        {row && !isRecorded() && found.loop.spec.work.owner?.kind !== 'fleet' && (
          <IterationActions found={found} n={n} />
        )}
      </header>
      {row && <Facts row={row} />}
      <Matrix found={found} rows={rows} chosen={chosen} />
      <div class="tabs" role="tablist" aria-label="About this iteration">
        {TABS.map(({ tab: name, words, key }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={tab === name}
            aria-controls="tab-panel"
            tabIndex={tab === name ? 0 : -1}
            title={`${words} (${key})`}
            onClick={() => showTab(name, chosen)}
            onKeyDown={(event) => moveTab(event, name, chosen)}
          >
            {words}
            {name === 'diff' && row?.diff ? <small> {row.diff.files}</small> : null}
          </button>
        ))}
      </div>
      <div class="tab-panel" role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`}>
        {viewOf(tab, { found, row, n })}
      </div>
    </section>
  )
}

function viewOf(tab: string, chosen: Chosen): ComponentChildren {
  const { found, n, row } = chosen
  const { id } = found.loop
  if (tab === 'proof') return <ProofTab id={id} />
  if (tab === 'story') return <StoryTab id={id} />
  if (n === 0) return <p class="muted body">Nothing has happened yet.</p>
  if (tab === 'diff') return <DiffTab key={n} loop={found.loop} n={n} findings={row?.findings ?? []} under={!row} />
  if (tab === 'transcript') return <TranscriptTab key={n} loop={id} n={n} />
  if (tab === 'prompt') return <PromptTab key={n} loop={id} n={n} />
  return <SummaryTab key={n} {...chosen} />
}

function moveTab(event: KeyboardEvent, name: string, chosen: number | undefined): void {
  const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
  if (!by) return
  const at = TABS.findIndex(({ tab }) => tab === name)
  const next = TABS[(at + by + TABS.length) % TABS.length]
  if (!next) return
  showTab(next.tab, chosen)
  document.getElementById(`tab-${next.tab}`)?.focus()
}

function RowBadge({ row, found }: { row: Iteration; found: Found }) {
  const { tone, mark, words } = verdictOf(row, found.loop)
  if (!words) return null
  return <BadgeView badge={{ word: words.charAt(0).toUpperCase() + words.slice(1), tone: tone as 'red', mark }} />
}

function IterationActions({ found, n }: { found: Found; n: number }) {
  const { id } = found.loop
  return (
    <div class="loop-actions">
      <Button run={() => fork(id, n)}>Fork from here …</Button>
      <Button run={() => rollback(id, n)}>Roll back to here …</Button>
      <details class="menu">
        <summary class="button" aria-label="More actions">
          ⋯
        </summary>
        <div class="menu-list">
          <Button kind="quiet" run={() => rollback(id, 0)}>
            Roll back to the start …
          </Button>
          <Button kind="quiet" run={() => undo(id)}>
            Undo the last rollback
          </Button>
        </div>
      </details>
    </div>
  )
}

function Facts({ row }: { row: Iteration }) {
  const { usage } = row
  return (
    <dl class="facts">
      <Fact name="Claim">{CLAIMS[row.claim]}</Fact>
      <Fact name="Duration">
        {duration(row.durationMs)} <small>ended {timeOf(row.endedAt)}</small>
      </Fact>
      <Fact name={usage ? 'Tokens in / cached / out' : 'Tokens'}>
        {usage ? `${amount(usage.input)} / ${amount(usage.cached)} / ${amount(usage.output)}` : amount(row.tokens)}
      </Fact>
      <Fact name="Cost">
        {money(row.costUsd)} <small>{row.costSource === 'reported' ? 'reported' : 'not reported'}</small>
      </Fact>
      <Fact name="Changed">{diffWords(row) || 'unknown'}</Fact>
      <Fact name="Checkpoint">{row.commit ? <code>{row.commit.slice(0, 10)}</code> : 'none'}</Fact>
      <Fact name="Agent">
        <span title={row.agent}>{agentName(row.agent)}</span>
      </Fact>
      <Fact name="Ended">
        {row.end === 'ok' ? 'normally' : row.end.replaceAll('-', ' ')}
        {row.attempts > 1 && <small> after {row.attempts} attempts</small>}
      </Fact>
    </dl>
  )
}

const CLAIMS = { none: 'none', weak: 'maybe done', clear: 'done' } as const

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
