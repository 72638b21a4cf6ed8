/** The tasks of the fleet, newest first, a page at a time. */
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { openPages, type Pages, usePages } from '../data/pages.ts'
import { call, type InputOf } from '../data/source.ts'
import type { Task } from './states.ts'
import { acted, LOOK_MS, useEvery } from './use-fleet.ts'

export type Filter = Pick<InputOf<'list_fleet_tasks'>, 'state' | 'submitter' | 'project' | 'text'>

const PAGE = 60

/** `looksAt` gets the last rendered row, so that its page is kept up to date. */
export function useFleetPages(filter: Filter): Pages<Task> & { looksAt(row: string): void } {
  const open = useMemo(
    () =>
      openPages<Task>({
        async list(after) {
          const { tasks, next } = await call('list_fleet_tasks', { ...filter, limit: PAGE, ...after })
          return { rows: tasks, next }
        },
      }),
    [JSON.stringify(filter)],
  )
  const inView = useRef('')
  usePages(open, (message) => {
    if (message.type === 'loop-start') open.changed(() => false)
    if (message.type === 'loop-event') open.changed(({ loop_id }) => loop_id === message.loop)
  })
  useEffect(() => acted.subscribe((times) => void (times > 0 && open.again())), [open])
  // Why a task waits changes without any event.
  useEvery(LOOK_MS, () => open.changed(({ id }) => id === inView.current))
  return {
    ...open,
    looksAt(row) {
      inView.current = row
    },
  }
}
