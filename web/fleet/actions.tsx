/** The actions on a task or a worker: each calls one operation and reports the outcome. */
import { go } from '../data/route.ts'
import { call, once } from '../data/source.ts'
import type { Action } from '../parts/actions.tsx'
import { Ask, Confirm } from '../parts/ask.tsx'
import { closeModal, showModal } from '../parts/modal.tsx'
import { toast } from '../parts/toast.tsx'
import { isOver, type Task, type Worker } from './states.ts'
import { lookNow } from './use-fleet.ts'

type Actionable = Pick<Task, 'id' | 'state' | 'title' | 'loop_id'>

export function actionsOf(task: Actionable): (Action & { keys: string })[] {
  const { state } = task
  if (state === 'done') return []
  if (isOver(state)) return [{ name: 'retry', words: 'Retry …', keys: 't', run: () => retry(task) }]
  return [{ name: 'cancel', words: 'Cancel …', keys: 'x', danger: true, run: () => cancel(task) }]
}

function retry({ id, title }: Actionable): void {
  showModal(
    <Ask
      title="Retry this task"
      label="What should it do differently? (optional)"
      hint={`A new loop works on “${title}”, starting from what was pushed so far.`}
      send="Retry"
      optional
      close={closeModal}
      run={async (words) => {
        const { loop } = await call('retry_fleet_task', { task: id, ...(words ? { words } : {}) }, once())
        toast({ text: 'Waiting for a worker.', action: { words: 'Open its loop', run: () => go(`/loops/${loop}`) } })
        lookNow()
      }}
    />,
  )
}

function cancel({ loop_id, title }: Actionable): void {
  showModal(
    <Confirm
      title="Cancel this task?"
      text={`“${title}” ends now. Commits pushed to its branch stay. Tasks that depend on it keep waiting.`}
      yes="Cancel the task"
      danger
      close={closeModal}
      run={async () => {
        await call('cancel', { loop: loop_id })
        toast({ text: 'Cancelled.' })
        lookNow()
      }}
    />,
  )
}

export function drain({ id, host, running }: Worker): void {
  const unfinished = running > 0 ? ' Running turns finish first; other workers continue its tasks.' : ''
  showModal(
    <Confirm
      title={`Drain ${host}?`}
      text={`Worker ${id} takes no more tasks and exits.${unfinished}`}
      yes="Drain"
      danger
      close={closeModal}
      run={async () => {
        await call('drain_worker', { worker: id }, once())
        toast({ text: `${host} takes no more tasks.` })
        lookNow()
      }}
    />,
  )
}
