/** The tasks, newest first, one row each. The filters are kept in the URL. */
import { useEffect, useState } from 'preact/hooks'
import type { FleetState } from '../../src/formats/fleet-task.ts'
import { go, route, withQuery } from '../data/route.ts'
import { useSettled } from '../data/settled.ts'
import { Loading, Problem } from '../parts/common.tsx'
import { useShortcuts } from '../parts/keys.tsx'
import { useMedia } from '../parts/media.ts'
import { attempt } from '../parts/toast.tsx'
import { Virtual } from '../parts/virtual.tsx'
import { actionsOf } from './actions.tsx'
import { NoMatch, NoTasks } from './empty.tsx'
import { learnNames, States, searchBox } from './filters.tsx'
import { type Filter, useFleetPages } from './fleet-pages.ts'
import type { Fleet } from './states.ts'
import { TaskRow } from './task-row.tsx'

const HEAD = 36
const ROW = 60
const ROW_ON_PHONE = 112

export function Tasks({ fleet }: { fleet: Fleet }) {
  const { query } = route.value
  const text = useSettled(query.text)
  const filter = filterOf({ ...query, text })
  const { listed, more, again, looksAt } = useFleetPages(filter)
  const { rows, error, loading, ended } = listed.value
  const [at, setAt] = useState(0)
  useEffect(() => learnNames(rows), [rows])
  const isPhone = useMedia('(max-width: 720px)')
  const height = isPhone ? ROW_ON_PHONE : ROW
  const chosen = rows[Math.min(at, rows.length - 1)]
  useShortcuts([
    { keys: 'j', words: 'Next task', run: () => setAt(Math.min(at + 1, rows.length - 1)) },
    { keys: 'k', words: 'Previous task', run: () => setAt(Math.max(at - 1, 0)) },
    { keys: 'Enter', words: 'Open its loop', run: () => chosen && go(`/loops/${chosen.loop_id}`) },
    { keys: 'd', words: 'Details', run: () => chosen && go(withQuery({ task: chosen.id }), { replace: true }) },
    { keys: '/', words: 'Search', run: () => searchBox.current?.focus() },
    ...(chosen ? actionsOf(chosen) : []).map(({ keys, words, run }) => ({
      keys,
      words: words.replace(' …', ''),
      run: () => void attempt(run),
    })),
  ])
  const isFiltered = Object.keys(filter).length > 0
  const tick = Math.floor(fleet.now / 10_000)
  return (
    <>
      <States counts={fleet.counts} />
      {error && <Problem error={error} retry={again} />}
      {!loading &&
        !error &&
        rows.length === 0 &&
        (isFiltered ? <NoMatch /> : <NoTasks workers={fleet.workers.length} />)}
      {loading && rows.length === 0 && <Loading lines={8} />}
      {rows.length > 0 && (
        <div class="loop-table" style={{ height: `${(isPhone ? 0 : HEAD) + rows.length * height + 2}px` }}>
          <div class="loop-row fleet-row head" aria-hidden="true">
            <span>Task</span>
            <span>State</span>
            <span>What is going on</span>
            <span>Submitter</span>
            <span class="right">Priority</span>
            <span class="right">Cost</span>
          </div>
          <Virtual count={rows.length} rowHeight={height} nearEnd={ended ? undefined : more} label="Tasks" focus={at}>
            {(index) => {
              const row = rows[index]
              if (!row) return null
              looksAt(row.id)
              return <TaskRow key={row.id} task={row} chosen={row === chosen} tick={tick} />
            }}
          </Virtual>
        </div>
      )}
    </>
  )
}

function filterOf({ state, submitter, project, text }: Readonly<Record<string, string | undefined>>): Filter {
  return {
    ...(state ? { state: state.split(',') as FleetState[] } : {}),
    ...(submitter ? { submitter } : {}),
    ...(project ? { project } : {}),
    ...(text ? { text } : {}),
  }
}
