/** Filters for the board; all of them are kept in the URL. */
import { BOARD_STATUSES, type BoardStatus } from '../../src/formats/board-task.ts'
import { go, route, withQuery } from '../data/route.ts'
import type { OutputOf } from '../data/source.ts'
import { Button, Link } from '../parts/common.tsx'
import { statusWords } from './actions.tsx'

type Props = { search: { current: HTMLInputElement | null }; groups: OutputOf<'list_groups'>['groups'] }

export function BoardFilters({ search, groups }: Props) {
  const { text, group, label, archived } = route.value.query
  const set = (changes: Record<string, string | undefined>) => go(withQuery(changes), { replace: true })
  return (
    <search class="filters">
      {label && (
        <Button run={() => set({ label: undefined })} label={`Stop showing only ${label}`}>
          {label} ×
        </Button>
      )}
      <input
        ref={search}
        type="search"
        placeholder="Search  /"
        aria-label="Search tasks"
        value={text ?? ''}
        onInput={({ currentTarget }) => set({ text: currentTarget.value })}
        onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
      />
      {groups.length > 0 && (
        <select
          aria-label="Group"
          value={group ?? ''}
          onChange={({ currentTarget }) => set({ group: currentTarget.value })}
        >
          <option value="">All groups</option>
          {groups.map(({ project_id, name }) => (
            <option key={project_id} value={project_id}>
              {name}
            </option>
          ))}
        </select>
      )}
      <Link to={withQuery({ archived: archived ? undefined : '1' })} class="button">
        {archived ? 'Back to the board' : 'Archive'}
      </Link>
    </search>
  )
}

type Counts = Partial<Record<BoardStatus, number>> | undefined

/** A phone has room for one column. */
export function Segments({ chosen, counts }: { chosen: BoardStatus | undefined; counts: Counts }) {
  return (
    <nav class="segments" aria-label="Columns">
      {BOARD_STATUSES.map((status) => (
        <button
          key={status}
          type="button"
          aria-pressed={status === chosen}
          onClick={() => go(withQuery({ column: status }), { replace: true })}
        >
          {statusWords(status)} <span class="number">{counts?.[status]}</span>
        </button>
      ))}
    </nav>
  )
}
