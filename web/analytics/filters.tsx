/** Filters for the statistics. All of them are kept in the URL. */
import { useQuery } from '../data/query.ts'
import { go, type Route, route, withQuery } from '../data/route.ts'
import type { InputOf } from '../data/source.ts'
import { agentName, folderName } from '../words.ts'

type Filter = InputOf<'get_analytics'>

const SINCE: readonly (readonly [value: string, words: string])[] = [
  ['7', 'Last 7 days'],
  ['', 'Last 30 days'],
  ['90', 'Last 90 days'],
  ['all', 'All time'],
]

const OWNERS: readonly (readonly [value: string, words: string])[] = [
  ['person', 'Command line'],
  ['board', 'Board'],
  ['project', 'Projects'],
  ['vault', 'Vaults'],
  ['session', 'Sessions'],
  ['pane', 'Panes'],
]

/** From the start of a day, so that the same query is used all day. */
export function filterOf({ since = '30', dir, agent, type, owner }: Route['query']): Filter {
  return {
    ...(since === 'all' ? {} : { since: new Date().setHours(0, 0, 0, 0) - (Number(since) || 30) * 86_400_000 }),
    ...(dir ? { dir } : {}),
    ...(agent ? { agent } : {}),
    ...(type ? { type } : {}),
    ...(owner ? { owner: owner as NonNullable<Filter['owner']> } : {}),
  }
}

export function Filters() {
  const { query } = route.value
  const { since } = query
  // Queried without the other filters, so that one choice does not narrow the next.
  const all = useQuery('get_analytics', filterOf(since ? { since } : {})).value
  const folders = useQuery('get_overview', {}).value?.folders ?? []
  const names = (groups: readonly { name: string | null }[] = []) =>
    groups.flatMap(({ name }) => (name === null ? [] : [[name, name] as const]))
  return (
    <search class="filters">
      <Choice name="since" label="Time" choices={SINCE} />
      <Choice
        name="dir"
        label="Folder"
        any="All folders"
        choices={folders.map(({ dir }) => [dir, folderName(dir)] as const)}
      />
      <Choice
        name="agent"
        label="Agent"
        any="All agents"
        choices={names(all?.byAgent).map(([value]) => [value, agentName(value)] as const)}
      />
      <Choice name="type" label="Type" any="All types" choices={names(all?.byType)} />
      <Choice name="owner" label="Started by" any="Started anywhere" choices={OWNERS} />
    </search>
  )
}

type Choices = readonly (readonly [value: string, words: string])[]

function Choice({ name, label, any, choices }: { name: string; label: string; any?: string; choices: Choices }) {
  const chosen = route.value.query[name] ?? ''
  const isListed = chosen === '' || choices.some(([value]) => value === chosen)
  return (
    <select
      aria-label={label}
      value={chosen}
      onChange={({ currentTarget }) => go(withQuery({ [name]: currentTarget.value }), { replace: true })}
    >
      {any && <option value="">{any}</option>}
      {!isListed && <option value={chosen}>{chosen}</option>}
      {choices.map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </select>
  )
}
