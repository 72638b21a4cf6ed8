/** The actions on a board task, and the menu that lists them. */
import { useEffect, useRef } from 'preact/hooks'
import { isOver as isEnded } from '../../src/engine/loop.ts'
import { BOARD_STATUSES, type BoardStatus } from '../../src/formats/board-task.ts'
import { refreshAll } from '../data/query.ts'
import { go } from '../data/route.ts'
import { call, type OutputOf, once } from '../data/source.ts'
import { type Action, accept } from '../parts/actions.tsx'
import { Confirm } from '../parts/ask.tsx'
import { Button } from '../parts/common.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { closeModal, showModal } from '../parts/modal.tsx'
import { attempt, toast } from '../parts/toast.tsx'
import { editTask } from '../screens/task-dialog.tsx'
import { startTask } from '../task/store.ts'
import { capital, plain } from '../words.ts'

export type Listed = OutputOf<'list_tasks'>['tasks'][number]

export function statusWords(status: BoardStatus): string {
  return status === 'todo' ? 'To do' : capital(plain(status))
}

/** No loop is working on it. */
export function isOver({ loop_status }: Pick<Listed, 'loop_status'>): boolean {
  return loop_status === null || isEnded(loop_status)
}

/** The most likely action comes first. The server refuses what cannot be done, and says why. */
export function taskActions(task: Listed): Action[] {
  const { status, loop_id: loop, archived } = task
  const isStartable = isOver(task) && !archived && status !== 'done' && status !== 'in-review'
  return [
    ...(status === 'in-review' && loop ? [{ name: 'accept', words: 'Accept …', run: () => accept(loop) }] : []),
    ...(isStartable
      ? [{ name: 'start', words: loop ? 'Start again' : 'Start', keys: 's', run: () => start(task) }]
      : []),
    ...(loop ? [{ name: 'loop', words: 'Open loop', run: () => go(`/loops/${loop}`) }] : []),
    { name: 'edit', words: 'Edit …', keys: 'e', run: () => editTask(task) },
    {
      name: 'archive',
      words: archived ? 'Unarchive' : 'Archive',
      keys: 'a',
      run: () => change(task, { archived: !archived }, archived ? 'Back on the board.' : 'Archived.'),
    },
    { name: 'delete', words: 'Delete …', danger: true, run: () => remove(task) },
  ]
}

async function start({ id }: Listed): Promise<void> {
  await startTask(id)
  refreshAll()
}

async function change({ id, version }: Listed, fields: { archived?: boolean; status?: BoardStatus }, done: string) {
  await call('update_task', { task_id: id, ...fields }, { ...once(), version })
  toast({ text: done })
  refreshAll()
}

export function move(task: Listed, status: BoardStatus): Promise<void> {
  return change(task, { status }, `Moved to ${statusWords(status)}.`)
}

export function remove({ id, title, version }: Listed, then?: () => void): void {
  showModal(
    <Confirm
      title="Delete this task?"
      text={`“${title}” is deleted permanently. Its loops and their history are kept.`}
      yes="Delete"
      danger
      close={closeModal}
      run={async () => {
        await call('delete_task', { task_id: id }, { ...once(), version })
        toast({ text: 'Deleted.' })
        then?.()
        refreshAll()
      }}
    />,
  )
}

export function openMenu(task: Listed): void {
  showModal(<Menu task={task} />)
}

function Menu({ task }: { task: Listed }) {
  const then = (run: () => unknown) => async () => {
    closeModal()
    await attempt(run)
  }
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.querySelector('button')?.focus(), [])
  return (
    <Dialog title={task.title} close={closeModal}>
      <div class="task-menu" ref={box}>
        {taskActions(task).map(({ name, words, danger, run }) => (
          <Button key={name} kind={danger ? 'danger' : 'plain'} run={then(run)}>
            {words}
          </Button>
        ))}
        <h3>Move to</h3>
        {BOARD_STATUSES.map((status) => (
          <Button key={status} disabled={status === task.status} run={then(() => move(task, status))}>
            {statusWords(status)}
          </Button>
        ))}
      </div>
    </Dialog>
  )
}
