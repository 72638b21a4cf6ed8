/** One task on the board. */
import { type Badge, badgeOf } from '../badge.ts'
import type { Row } from '../data/loop-pages.ts'
import { withQuery } from '../data/route.ts'
import { BadgeView, Button, Link } from '../parts/common.tsx'
import { type Bar, Strip } from '../parts/strip.tsx'
import { agentName, capital, folderName, plain } from '../words.ts'
import { isOver, type Listed, openMenu, taskActions } from './actions.tsx'

/** Context for a card: the newest loops, task titles, group folders. */
export type Around = {
  loops: ReadonlyMap<string, Row>
  titleOf(id: string): string
  repoOf(group: string): string | null
}

function placeOf({ loop_id, id }: Pick<Listed, 'loop_id' | 'id'>): string {
  return loop_id ? `/loops/${loop_id}` : `/tasks/${id}`
}

export function Card({ task, bars, around }: { task: Listed; bars: readonly Bar[] | undefined; around: Around }) {
  const { id, title, priority, labels, type, waits_for, loop_id } = task
  const [first] = taskActions(task).filter(({ name }) => name === 'start' || name === 'accept')
  const folder = task.repo ?? (task.project_id && around.repoOf(task.project_id))
  const about = [
    task.project_id,
    folder && folderName(folder),
    agentName(task.agent),
    priority ? `priority ${priority}` : '',
  ]
  return (
    <article
      class="card task-card"
      draggable
      onDragStart={(event) => event.dataTransfer?.setData('text/plain', id)}
      data-task={id}
    >
      <Link to={placeOf(task)} class="cover">
        {title}
      </Link>
      <small>{[...new Set(about.filter((word) => word))].join(' · ')}</small>
      {(type || labels.length > 0) && (
        <p class="labels">
          {[...(type ? [type] : []), ...labels].map((label) => (
            <Link key={label} to={withQuery({ label })} class="label" aria-label={`Show only ${label}`}>
              {label}
            </Link>
          ))}
        </p>
      )}
      {waits_for.length > 0 && <p class="waits">◷ Waits for {waits_for.map(around.titleOf).join(', ')}</p>}
      {loop_id && <LoopLine task={task} row={around.loops.get(loop_id)} bars={bars} />}
      <p class="card-menu">
        <Button kind="quiet" label={`More about ${title}`} run={() => openMenu(task)}>
          ⋯
        </Button>
      </p>
      {first && (
        <p class="card-action">
          <Button run={first.run}>{first.words}</Button>
        </p>
      )}
    </article>
  )
}

function LoopLine({ task, row, bars }: { task: Listed; row: Row | undefined; bars: readonly Bar[] | undefined }) {
  return (
    <>
      <BadgeView badge={row ? badgeOf(row) : plainBadge(task)} />
      <Strip
        bars={bars}
        iteration={row?.iteration ?? 0}
        limit={row && !isOver(task) ? row.iterationLimit : 0}
        now={row?.next.kind === 'turn'}
      />
    </>
  )
}

function plainBadge({ loop_status }: Listed): Badge {
  return { word: capital(plain(loop_status ?? 'loop')), tone: 'gray', mark: '·' }
}
