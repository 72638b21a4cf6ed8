/** All loops, newest first, one row each with its strip. The filters are kept in the URL. */
import { useRef, useState } from 'preact/hooks'
import { isOver, type Status } from '../../src/engine/loop.ts'
import { badgeOf } from '../badge.ts'
import { type Bars, type Filter, type Row, useLoopPages } from '../data/loop-pages.ts'
import { useQuery } from '../data/query.ts'
import { go, route, withQuery } from '../data/route.ts'
import { useSettled } from '../data/settled.ts'
import { actionsFor } from '../parts/actions.tsx'
import { BadgeView, Button, Code, Empty, Link, Loading, Problem, Sentence } from '../parts/common.tsx'
import { useShortcuts } from '../parts/keys.tsx'
import { useMedia } from '../parts/media.ts'
import { memo } from '../parts/memo.ts'
import { Strip, StripLegend } from '../parts/strip.tsx'
import { attempt } from '../parts/toast.tsx'
import { Virtual } from '../parts/virtual.tsx'
import { agentName, ago, duration, folderName, money, plain, titleOf } from '../words.ts'
import { newTask } from './task-dialog.tsx'

const HEAD = 36
const ROW = 60
const ROW_ON_PHONE = 104

export function LoopsScreen() {
  const { query } = route.value
  const text = useSettled(query.text)
  const filter = filterOf({ ...query, text })
  const { listed, bars, more, again } = useLoopPages(filter)
  const { rows, error, loading, ended } = listed.value
  const [at, setAt] = useState(0)
  const search = useRef<HTMLInputElement>(null)
  const isPhone = useMedia('(max-width: 720px)')
  const height = isPhone ? ROW_ON_PHONE : ROW
  const chosen = rows[Math.min(at, rows.length - 1)]
  useShortcuts([
    { keys: 'j', words: 'Next loop', run: () => setAt(Math.min(at + 1, rows.length - 1)) },
    { keys: 'k', words: 'Previous loop', run: () => setAt(Math.max(at - 1, 0)) },
    { keys: 'Enter', words: 'Open the loop', run: () => chosen && go(`/loops/${chosen.id}`) },
    { keys: '/', words: 'Search', run: () => search.current?.focus() },
    ...(chosen ? actionsFor({ ...chosen, title: titleOf(chosen.prompt) }) : []).flatMap(({ keys, words, run }) =>
      keys ? [{ keys, words: words.replace(' …', ''), run: () => void attempt(run) }] : [],
    ),
  ])
  const isFiltered = Object.keys(filter).length > 0
  const tick = Math.floor(Date.now() / 10_000)
  return (
    <div class="screen loops">
      <header class="screen-head">
        <h1>Loops</h1>
        <Filters search={search} />
        <Button kind="primary" run={() => newTask()} title="New task (n)">
          New task
        </Button>
      </header>
      {error && <Problem error={error} retry={again} />}
      {!loading && !error && rows.length === 0 && (isFiltered ? <NoMatch /> : <NoLoops />)}
      {loading && rows.length === 0 && <Loading lines={8} />}
      {rows.length > 0 && (
        <div class="loop-table" style={{ height: `${(isPhone ? 0 : HEAD) + rows.length * height + 2}px` }}>
          <div class="loop-row head" aria-hidden="true">
            <span>Task</span>
            <span>State</span>
            <span>Iterations</span>
            <span class="right">Count</span>
            <span>What is going on</span>
            <span class="right">Cost</span>
            <span class="right">Time</span>
          </div>
          <Virtual count={rows.length} rowHeight={height} nearEnd={ended ? undefined : more} label="Loops" focus={at}>
            {(index) => {
              const row = rows[index]
              return (
                row && (
                  <LoopLine key={row.id} row={row} bars={bars.value.get(row.id)} chosen={row === chosen} tick={tick} />
                )
              )
            }}
          </Virtual>
        </div>
      )}
      {rows.length > 0 && <StripLegend />}
    </div>
  )
}

const STATES: readonly { words: string; status: readonly Status[] }[] = [
  { words: 'All states', status: [] },
  { words: 'Open', status: ['queued', 'running', 'verifying', 'waiting', 'needs-input', 'paused'] },
  { words: 'Running', status: ['running', 'verifying'] },
  { words: 'Waiting', status: ['waiting', 'needs-input', 'paused', 'queued'] },
  { words: 'Completed', status: ['completed'] },
  { words: 'Stopped', status: ['halted', 'cancelled'] },
]

function filterOf({ status, text, dir, owner }: Readonly<Record<string, string | undefined>>): Filter {
  return {
    ...(status ? { status: status.split(',') as Status[] } : {}),
    ...(text ? { text } : {}),
    ...(dir ? { dir } : {}),
    ...(owner ? { owner: owner as NonNullable<Filter['owner']> } : {}),
  }
}

function Filters({ search }: { search: { current: HTMLInputElement | null } }) {
  const { query } = route.value
  const folders = useQuery('get_overview', {}).value?.folders ?? []
  const set = (changes: Record<string, string | undefined>) => go(withQuery(changes), { replace: true })
  return (
    <search class="filters">
      <input
        ref={search}
        type="search"
        placeholder="Search  /"
        aria-label="Search prompts"
        value={query.text ?? ''}
        onInput={({ currentTarget }) => set({ text: currentTarget.value })}
        onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
      />
      <select
        aria-label="State"
        value={query.status ?? ''}
        onChange={({ currentTarget }) => set({ status: currentTarget.value })}
      >
        {query.status && !STATES.some(({ status }) => status.join(',') === query.status) && (
          <option value={query.status}>{plain(query.status)}</option>
        )}
        {STATES.map(({ words, status }) => (
          <option key={words} value={status.join(',')}>
            {words}
          </option>
        ))}
      </select>
      <select
        aria-label="Folder"
        value={query.dir ?? ''}
        onChange={({ currentTarget }) => set({ dir: currentTarget.value })}
      >
        <option value="">All folders</option>
        {query.dir && !folders.some(({ dir }) => dir === query.dir) && (
          <option value={query.dir}>{folderName(query.dir)}</option>
        )}
        {folders.map(({ dir }) => (
          <option key={dir} value={dir}>
            {folderName(dir)}
          </option>
        ))}
      </select>
      <select
        aria-label="Started by"
        value={query.owner ?? ''}
        onChange={({ currentTarget }) => set({ owner: currentTarget.value })}
      >
        <option value="">Started anywhere</option>
        {['person', 'board', 'project', 'vault', 'session', 'pane', 'fleet'].map((owner) => (
          <option key={owner} value={owner}>
            {OWNERS[owner]}
          </option>
        ))}
      </select>
    </search>
  )
}

const OWNERS: Readonly<Record<string, string>> = {
  person: 'Command line',
  board: 'Board',
  project: 'Projects',
  vault: 'Vaults',
  session: 'Sessions',
  pane: 'Panes',
  fleet: 'Fleet',
}

/** `tick`: changes over time, since the row shows durations. */
type Line = { row: Row; bars: Bars | undefined; chosen: boolean; tick: number }

const LoopLine = memo(({ row, bars, chosen }: Line) => {
  const isOpen = !isOver(row.status)
  return (
    <article class={`loop-row${chosen ? ' chosen' : ''}`} aria-current={chosen}>
      <div class="what">
        <Link to={`/loops/${row.id}`} class="cover">
          {titleOf(row.prompt)}
        </Link>
        <small>
          {folderName(row.dir)} · {agentName(row.agent)} · {ago(row.startedAt)}
        </small>
      </div>
      <BadgeView badge={badgeOf(row)} />
      <Strip
        bars={bars}
        iteration={row.iteration}
        limit={isOpen ? row.iterationLimit : 0}
        now={row.next.kind === 'turn'}
      />
      <span class="right number">
        {row.iteration}
        {row.iterationLimit > 0 && <span class="muted"> / {row.iterationLimit}</span>}
      </span>
      <span class="note">
        <Sentence text={noteOf(row)} />
      </span>
      <span class="right number">{money(row.costUsd)}</span>
      <span class="right number">{duration((isOpen ? Date.now() : row.updatedAt) - row.startedAt)}</span>
    </article>
  )
})

function noteOf({ next, falseClaims }: Row): string {
  switch (next.kind) {
    case 'turn':
      return falseClaims > 0 ? `${falseClaims} refused claim${falseClaims === 1 ? '' : 's'}` : ''
    case 'check':
      return next.because === 'claim' ? 'Checking a claim' : ''
    case 'prove':
      return 'Checks pass; testing the proof'
    case 'wait':
      return next.question ?? ''
    case 'restore':
    case 'complete':
    case 'halt':
      return next.sentence
  }
}

function NoLoops() {
  return (
    <Empty title="No loops yet">
      <p>
        A loop is one task that an agent keeps working on until a check proves it done. Create a task here, or start a
        loop in a terminal:
      </p>
      <Code>ralph run "Make the tests pass" --verify "npm test"</Code>
      <p>To look around first, no account needed:</p>
      <Code>ralph demo --serve</Code>
    </Empty>
  )
}

function NoMatch() {
  return (
    <Empty title="No loop matches">
      <Button run={() => go('/loops', { replace: true })}>Show all loops</Button>
    </Empty>
  )
}
