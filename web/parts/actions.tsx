/** The actions on a loop: each calls one operation and reports the outcome. */
import { isOver, type Next, type OwnerKind, type Status } from '../../src/engine/loop.ts'
import { refreshAll } from '../data/query.ts'
import { go } from '../data/route.ts'
import { call, once } from '../data/source.ts'
import { Ask, Confirm } from './ask.tsx'
import { closeModal, showModal } from './modal.tsx'
import { toast } from './toast.tsx'

export type Actionable = {
  id: string
  status: Status
  next: Next
  unattended?: boolean
  acceptable?: boolean | undefined
  owner?: OwnerKind | undefined
  title: string
}

export type Action = { name: string; words: string; keys?: string; danger?: true; run: () => unknown }

/** In order of importance: the most likely action comes first. */
export function actionsFor(loop: Actionable): Action[] {
  const { id, status, next, unattended, acceptable, owner } = loop
  const isOpen = !isOver(status)
  const isHeld = status === 'queued' && owner === 'fleet' // its scheduler decides when it starts
  const rests = status === 'paused' || status === 'queued' || status === 'waiting' || unattended
  return [
    ...(isOpen && rests && !isHeld
      ? [{ name: 'resume', words: status === 'queued' ? 'Start now' : 'Resume', keys: 'p', run: () => resume(id) }]
      : []),
    ...(isOpen && !rests && status !== 'needs-input'
      ? [{ name: 'pause', words: 'Pause', keys: 'p', run: () => pause(id) }]
      : []),
    ...(isOpen && status !== 'needs-input'
      ? [{ name: 'steer', words: 'Steer …', keys: 's', run: () => steer(id) }]
      : []),
    ...(acceptable ? [{ name: 'accept', words: 'Accept …', keys: 'a', run: () => accept(id) }] : []),
    ...(!isOpen && next.kind === 'halt' ? [{ name: 'retry', words: 'Retry', keys: 't', run: () => retry(id) }] : []),
    ...(isOpen
      ? [{ name: 'cancel', words: 'Cancel …', keys: 'x', danger: true as const, run: () => cancel(loop) }]
      : []),
  ]
}

async function pause(loop: string): Promise<void> {
  await call('pause', { loop })
  toast({ text: 'Pausing after the current step.' })
  refreshAll()
}

async function resume(loop: string): Promise<void> {
  const { heard } = await call('resume', { loop })
  toast({ text: heard === 'nobody' ? `No process is running it. Run: ralph resume ${loop}` : 'Resumed.' })
  refreshAll()
}

function steer(loop: string): void {
  showModal(
    <Ask
      title="Steer the next iteration"
      label="What should it know?"
      hint="The next iteration sees this, word for word."
      send="Send"
      close={closeModal}
      run={async (words) => {
        await call('steer', { loop, words }, once())
        toast({ text: 'The next iteration will see it.' })
        refreshAll()
      }}
    />,
  )
}

function cancel({ id, title }: Actionable): void {
  showModal(
    <Confirm
      title="Cancel this loop?"
      text={`“${title}” ends now. Its files and checkpoints are kept.`}
      yes="Cancel the loop"
      danger
      close={closeModal}
      run={async () => {
        await call('cancel', { loop: id })
        toast({ text: 'Cancelled.' })
        refreshAll()
      }}
    />,
  )
}

export async function retry(loop: string): Promise<void> {
  const started = await call('retry', { loop }, once())
  toast({ text: 'Retrying in a new loop.' })
  go(`/loops/${started.loop}`)
}

export function fork(loop: string, iteration: number): void {
  showModal(
    <Ask
      title={`Fork after iteration ${iteration}`}
      label="What should the fork do differently? (optional)"
      hint="A new loop starts from the files as they were after this iteration, in its own worktree."
      send="Fork"
      optional
      close={closeModal}
      run={async (words) => {
        const started = await call('fork', { loop, iteration, ...(words ? { words } : {}) }, once())
        go(`/loops/${started.loop}`)
      }}
    />,
  )
}

export function rollback(loop: string, iteration: number): void {
  const where = iteration === 0 ? 'before the loop began' : `after iteration ${iteration}`
  showModal(
    <Confirm
      title="Roll back?"
      text={`Restores files, branch and index to how they were ${where}. The current state is kept, so you can undo this.`}
      yes="Roll back"
      danger
      close={closeModal}
      run={async () => {
        const { notes } = await call('rollback', { loop, iteration }, once())
        toast({
          text: ['Rolled back.', ...notes].join(' '),
          action: { words: 'Undo', run: () => undo(loop) },
        })
        refreshAll()
      }}
    />,
  )
}

export async function undo(loop: string): Promise<void> {
  const { notes } = await call('undo', { loop }, once())
  toast({ text: ['Rollback undone.', ...notes].join(' ') })
  refreshAll()
}

export function accept(loop: string): void {
  const take = async (how: 'merge' | 'squash' | 'branch') => {
    const { branch, base } = await call('accept', { loop, how }, once())
    const text =
      how === 'branch' ? `The branch ${branch} is ready for a pull request.` : `Merged into ${base ?? branch}.`
    toast({ tone: 'green', text })
    refreshAll()
  }
  showModal(
    <Confirm
      title="Accept this work?"
      text="Merges it into the branch the loop started from. Squash makes it one commit; branch only leaves it ready for a pull request."
      yes="Merge"
      close={closeModal}
      run={() => take('merge')}
      more={[
        { words: 'Squash', run: () => take('squash') },
        { words: 'Branch only', run: () => take('branch') },
      ]}
    />,
  )
}
