/** Filters for tasks: text, submitter, project; and how many there are in each state. */
import { signal } from '@preact/signals'
import { createRef } from 'preact'
import { go, route, withQuery } from '../data/route.ts'
import { Link } from '../parts/common.tsx'
import { capital } from '../words.ts'
import { type Fleet, STATES, stateName, type Task } from './states.ts'

export const searchBox = createRef<HTMLInputElement>()

export function Filters() {
  return (
    <search class="filters">
      <input
        ref={searchBox}
        type="search"
        placeholder="Search  /"
        aria-label="Search titles"
        value={route.value.query.text ?? ''}
        onInput={({ currentTarget }) => set({ text: currentTarget.value })}
        onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
      />
      <Choice name="submitter" all="All submitters" />
      <Choice name="project" all="All projects" />
    </search>
  )
}

function set(changes: Record<string, string | undefined>): void {
  go(withQuery(changes), { replace: true })
}

type Names = { submitter: readonly string[]; project: readonly string[] }

/** All values seen so far: with a filter on, the rows show only a few. */
const known = signal<Names>({ submitter: [], project: [] })

export function learnNames(rows: readonly Task[]): void {
  const { submitter, project } = known.peek()
  const more = {
    submitter: new Set([...submitter, ...rows.map((row) => row.submitter)]),
    project: new Set([...project, ...rows.flatMap((row) => row.project ?? [])]),
  }
  if (more.submitter.size + more.project.size > submitter.length + project.length)
    known.value = { submitter: [...more.submitter].sort(), project: [...more.project].sort() }
}

function Choice({ name, all }: { name: keyof Names; all: string }) {
  const value = route.value.query[name] ?? ''
  const names = known.value[name]
  if (names.length === 0 && !value) return null
  return (
    <select
      aria-label={capital(name)}
      value={value}
      onChange={({ currentTarget }) => set({ [name]: currentTarget.value })}
    >
      <option value="">{all}</option>
      {value && !names.includes(value) && <option value={value}>{value}</option>}
      {names.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  )
}

export function States({ counts }: { counts: Fleet['counts'] }) {
  const chosen = route.value.query.state
  const shown = STATES.filter((state) => counts[state] || chosen === state)
  if (shown.length === 0) return null
  return (
    <nav class="fleet-states" aria-label="States">
      {shown.map((state) => (
        <Link
          key={state}
          to={withQuery({ state: chosen === state ? undefined : state })}
          aria-current={chosen === state ? 'page' : undefined}
        >
          <span class={`share-key ${state}`} aria-hidden="true" />
          {stateName(state)} <span class="number">{counts[state] ?? 0}</span>
        </Link>
      ))}
    </nav>
  )
}
