/** One column of the board, a page of cards at a time. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { BoardStatus } from '../../src/formats/board-task.ts'
import { anyTask, useQuery, type Wakes } from '../data/query.ts'
import type { InputOf } from '../data/source.ts'
import { Button, Loading, Problem } from '../parts/common.tsx'
import { type Listed, statusWords } from './actions.tsx'
import { type Around, Card } from './card.tsx'

export type Filter = Pick<InputOf<'list_tasks'>, 'text' | 'project_id' | 'archived'>

/** `label`: only tasks with this label or type. `found`: called with the tasks shown. */
export type Shown = { filter: Filter; label: string | undefined; around: Around; found(tasks: readonly Listed[]): void }

const PAGE = 50
const MOST = 200

const WORDS: Readonly<Record<BoardStatus, string>> = {
  todo: 'Tasks wait here until you start them.',
  'in-progress': 'Started tasks, queued or running.',
  'in-review': 'Finished work in a worktree, waiting for you to accept it.',
  done: 'Verified, or accepted by you.',
  cancelled: 'Set aside.',
}

export function Column(props: Shown & { status: BoardStatus; total: number | undefined; drop(id: string): void }) {
  const { status, total, drop, ...shown } = props
  const [isOver, setOver] = useState(false)
  return (
    <section
      class={`column${isOver ? ' over' : ''}`}
      aria-label={statusWords(status)}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        drop(event.dataTransfer?.getData('text/plain') ?? '')
      }}
    >
      <h2>
        {statusWords(status)} <span class="number muted">{total || ''}</span>
      </h2>
      <Cards status={status} {...shown} />
    </section>
  )
}

/** The next page is loaded once somebody asks for it. */
function Cards({ status, after, ...shown }: Shown & { status: BoardStatus; after?: string }) {
  const { filter, label, around, found } = shown
  const [isMore, setMore] = useState(false)
  const asked = { ...filter, status: [status], limit: label ? MOST : PAGE, ...(after ? { after } : {}) }
  const { value, error, refresh } = useQuery('list_tasks', asked, anyTask)
  const last = useRef(value)
  if (value) last.current = value
  const page = last.current
  const tasks = (page?.tasks ?? []).filter(({ type, labels }) => !label || type === label || labels.includes(label))
  useEffect(() => found(page?.tasks ?? []), [page])
  const bars = useStrips(tasks.flatMap(({ loop_id }) => loop_id ?? []))
  if (!page) return error ? <Problem error={error} retry={refresh} /> : <Loading lines={2} />
  return (
    <>
      {tasks.map((task) => (
        <Card key={task.id} task={task} bars={bars.get(task.loop_id ?? '')} around={around} />
      ))}
      {tasks.length === 0 && !after && <p class="muted">{label || filter.text ? 'Nothing matches.' : WORDS[status]}</p>}
      {page.next && isMore && <Cards status={status} after={page.next} {...shown} />}
      {page.next && !isMore && <Button run={() => setMore(true)}>Show more</Button>}
    </>
  )
}

function useStrips(loops: readonly string[]) {
  const wakes: Wakes = (message) => message.type === 'loop-event' && loops.includes(message.loop)
  const asked = loops.length > 0 ? { loops: loops.slice(0, MOST), most: 16 } : undefined
  const { value } = useQuery('list_strips', asked, wakes)
  const last = useRef(value)
  if (value) last.current = value
  return new Map(last.current?.strips.map(({ loop, bars }) => [loop, bars]))
}
