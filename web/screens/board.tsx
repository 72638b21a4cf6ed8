/** The board: every task in the column of its status. */
import { useRef } from 'preact/hooks'
import { BOARD_STATUSES } from '../../src/formats/board-task.ts'
import { type Listed, move, openMenu, taskActions } from '../board/actions.tsx'
import type { Around } from '../board/card.tsx'
import { Column, type Filter } from '../board/column.tsx'
import { NoTasks } from '../board/empty.tsx'
import { BoardFilters, Segments } from '../board/filters.tsx'
import { step } from '../board/walk.ts'
import { anyLoop, anyTask, useQuery } from '../data/query.ts'
import { route } from '../data/route.ts'
import { useSettled } from '../data/settled.ts'
import { Button } from '../parts/common.tsx'
import { useShortcuts } from '../parts/keys.tsx'
import { useMedia } from '../parts/media.ts'
import { attempt } from '../parts/toast.tsx'
import { newTask } from './task-dialog.tsx'

export function BoardScreen() {
  const { query } = route.value
  const { group, label, archived, column } = query
  const text = useSettled(query.text)
  const counts = useQuery('get_overview', {}, anyTask).value?.tasks
  const groups = useQuery('list_groups', {}, anyTask).value?.groups ?? []
  const loops = useQuery('list_loops', { owner: 'board', limit: 100 }, anyLoop).value?.loops ?? []
  const known = useRef(new Map<string, Listed>()).current
  const search = useRef<HTMLInputElement>(null)
  const isPhone = useMedia('(max-width: 720px)')
  useShortcuts(keysOf(known, () => search.current?.focus()))
  const filter: Filter = {
    ...(text ? { text } : {}),
    ...(group ? { project_id: group } : {}),
    ...(archived ? { archived: true } : {}),
  }
  const around: Around = {
    loops: new Map(loops.map((row) => [row.id, row])),
    titleOf: (id) => known.get(id)?.title ?? id,
    repoOf: (id) => groups.find(({ project_id }) => project_id === id)?.repo ?? null,
  }
  const shown = isPhone ? [BOARD_STATUSES.find((one) => one === column) ?? 'todo'] : BOARD_STATUSES
  const isPlain = !text && !group && !label && !archived
  const isEmpty = isPlain && counts && Object.values(counts).every((count) => count === 0)
  return (
    <div class="screen board">
      <header class="screen-head">
        <h1>{archived ? 'Archive' : 'Board'}</h1>
        <BoardFilters search={search} groups={groups} />
        <Button kind="primary" run={() => newTask(group ? { project_id: group } : {})} title="New task (n)">
          New task
        </Button>
      </header>
      {isPhone && !isEmpty && <Segments chosen={shown[0]} counts={isPlain ? counts : undefined} />}
      {isEmpty ? (
        <NoTasks />
      ) : (
        <div class="columns-of-board">
          {shown.map((status) => (
            <Column
              key={status}
              status={status}
              total={isPlain ? counts?.[status] : undefined}
              filter={filter}
              label={label}
              around={around}
              found={(tasks) => {
                for (const task of tasks) known.set(task.id, task)
              }}
              drop={(id) => {
                const task = known.get(id)
                if (task && task.status !== status) void attempt(() => move(task, status))
              }}
            />
          ))}
        </div>
      )}
    </div>
  )
}

/** Keys act on the focused card. */
function keysOf(known: ReadonlyMap<string, Listed>, search: () => void) {
  const chosen = () => known.get(document.activeElement?.closest<HTMLElement>('[data-task]')?.dataset.task ?? '')
  const act = (name: string) => () => {
    const task = chosen()
    const action = task && taskActions(task).find((one) => one.name === name)
    if (action) void attempt(action.run)
  }
  return [
    { keys: 'j', words: 'Next card', run: () => step(0, 1) },
    { keys: 'k', words: 'Previous card', run: () => step(0, -1) },
    { keys: 'h', words: 'Column to the left', run: () => step(-1, 0) },
    { keys: 'l', words: 'Column to the right', run: () => step(1, 0) },
    { keys: '↵', words: 'Open the card', run: () => {} },
    { keys: 's', words: 'Start', run: act('start') },
    { keys: 'e', words: 'Edit', run: act('edit') },
    { keys: 'a', words: 'Archive', run: act('archive') },
    {
      keys: 'm',
      words: 'Move and other actions',
      run: () => {
        const task = chosen()
        if (task) openMenu(task)
      },
    },
    { keys: '/', words: 'Search', run: search },
  ]
}
