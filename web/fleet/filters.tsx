/** Which tasks are shown: how many there are of each state, a search, whose they are and of which project. */
import { go, route, withQuery } from '../data/route.ts'
import { Link } from '../parts/common.tsx'
import { capital } from '../words.ts'
import { type Fleet, STATES, type Task } from './states.ts'

type Search = { current: HTMLInputElement | null }

export function Filters({ counts, rows, search }: { counts: Fleet['counts']; rows: readonly Task[]; search: Search }) {
  const { query } = route.value
  const set = (changes: Record<string, string | undefined>) => go(withQuery(changes), { replace: true })
  return (
    <div class="fleet-filters">
      <nav class="fleet-states" aria-label="States">
        {STATES.filter((state) => counts[state] || query.state === state).map((state) => (
          <Link
            key={state}
            to={withQuery({ state: query.state === state ? undefined : state })}
            aria-current={query.state === state ? 'page' : undefined}
          >
            <span class={`share-key ${state}`} aria-hidden="true" />
            {capital(state)} <span class="number">{counts[state] ?? 0}</span>
          </Link>
        ))}
      </nav>
      <search class="filters">
        <input
          ref={search}
          type="search"
          placeholder="Search  /"
          aria-label="Search in titles"
          value={query.text ?? ''}
          onInput={({ currentTarget }) => set({ text: currentTarget.value })}
          onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
        />
        <Choice name="submitter" all="All submitters" rows={rows} set={set} />
        <Choice name="project" all="All projects" rows={rows} set={set} />
      </search>
    </div>
  )
}

/** All that have been seen so far: with a filter, the rows tell of few. */
const SEEN = { submitter: new Set<string>(), project: new Set<string>() }

function Choice({
  name,
  all,
  rows,
  set,
}: {
  name: 'submitter' | 'project'
  all: string
  rows: readonly Task[]
  set: (changes: Record<string, string | undefined>) => void
}) {
  const value = route.value.query[name] ?? ''
  const seen = SEEN[name]
  for (const row of rows) if (row[name] !== null) seen.add(row[name])
  if (value) seen.add(value)
  if (seen.size === 0) return null
  return (
    <select
      aria-label={capital(name)}
      value={value}
      onChange={({ currentTarget }) => set({ [name]: currentTarget.value })}
    >
      <option value="">{all}</option>
      {[...seen].sort().map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  )
}
