/** Everything about one task, shown above the list. */
import type { ComponentChildren } from 'preact'
import { anyLoop, useQuery } from '../data/query.ts'
import { go, withQuery } from '../data/route.ts'
import { BadgeView, Button, Link, Loading, Problem, Sentence } from '../parts/common.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { count, money, timeOf } from '../words.ts'
import { actionsOf } from './actions.tsx'
import { noteOf, stateBadge, type Task } from './states.ts'

export function TaskDetails({ id }: { id: string }) {
  const { value, error, refresh } = useQuery('get_fleet_task', { task: id }, anyLoop)
  const close = () => go(withQuery({ task: undefined }), { replace: true })
  return (
    <Dialog title={value?.title ?? `Task ${id}`} close={close}>
      <div class="ask">
        {error && !value && <Problem error={error} retry={refresh} />}
        {!value && !error && <Loading lines={4} />}
        {value && <Details task={value} close={close} />}
      </div>
    </Dialog>
  )
}

function Details({ task, close }: { task: Task; close: () => void }) {
  return (
    <>
      <p class="title-line">
        <BadgeView badge={stateBadge(task.state)} />
        <span>
          <Sentence text={noteOf(task)} />
        </span>
      </p>
      <dl class="pairs fleet-facts">
        {factsOf(task).map(([name, value]) => (
          <Fact key={name} name={name} value={value} />
        ))}
      </dl>
      <footer>
        {actionsOf(task).map(({ words, danger, run }) => (
          <Button
            key={words}
            kind={danger ? 'danger' : 'plain'}
            run={() => {
              close()
              run()
            }}
          >
            {words}
          </Button>
        ))}
        <Link to={`/loops/${task.loop_id}`} class="button primary">
          Open its loop
        </Link>
      </footer>
    </>
  )
}

function Fact({ name, value }: { name: string; value: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  )
}

/** Only the rows with a value. */
function factsOf(task: Task): (readonly [name: string, value: ComponentChildren])[] {
  const cost = [
    money(task.spent_usd),
    ...(task.limit_usd === null ? [] : [`of ${money(task.limit_usd)}`]),
    ...(task.reserved_usd > task.spent_usd ? [`(${money(task.reserved_usd - task.spent_usd)} more reserved)`] : []),
  ].join(' ')
  const facts: (readonly [name: string, value: ComponentChildren | null])[] = [
    ['Task', <code key="id">{task.id}</code>],
    ['Submitter', task.submitter],
    ['Project', task.project],
    ['Priority', task.priority],
    ['Repository', task.repo ?? 'none'],
    ['Branch', task.repo && `${task.branch} from ${task.base}`],
    ['Pushed', task.pushed && <code key="pushed">{task.pushed.slice(0, 10)}</code>],
    ['Agents', task.agents.join(', ')],
    ['Labels', task.labels.join(', ')],
    ['Files', task.touches.join(', ')],
    ['Depends on', task.depends_on.length > 0 && <Others ids={task.depends_on} />],
    ['Worker', task.worker],
    ['Taken', task.attempts > 1 && `${task.attempts} times`],
    ['Sent back', task.sent_back > 0 && `${count(task.sent_back, 'time')}: it could not be merged`],
    ['Cost', cost],
    ['Continues', task.due_at !== null && timeOf(task.due_at)],
    ['Submitted', timeOf(task.created_at)],
    ['Changed', timeOf(task.updated_at)],
  ]
  return facts.filter(([, value]) => value !== null && value !== false && value !== '')
}

function Others({ ids }: { ids: readonly string[] }) {
  return (
    <>
      {ids.map((id) => (
        <Link key={id} to={withQuery({ task: id })} class="other">
          {id}
        </Link>
      ))}
    </>
  )
}
