/** The actions on an agent in a pane: each calls one operation and reports the outcome. */
import { refreshAll } from '../data/query.ts'
import { call, once } from '../data/source.ts'
import { Ask, Confirm } from '../parts/ask.tsx'
import type { ButtonKind } from '../parts/common.tsx'
import { closeModal, showModal } from '../parts/modal.tsx'
import { toast } from '../parts/toast.tsx'
import { count } from '../words.ts'
import type { Pane } from './pane-card.tsx'

type Action = { words: string; kind?: ButtonKind; run: () => unknown }

/** The most likely action comes first. */
export function actionsOf(pane: Pane, config: string): Action[] {
  const { name: agent, state, loop } = pane
  const left = async (name: 'see_agent' | 'retry_agent') => {
    const { running } = await call(name, { config, agent }, once())
    if (!running) toast({ text: 'It takes effect once a dispatcher is running.' })
    refreshAll()
  }
  const canResume = loop?.open && ['WAITING', 'NEEDS YOU', 'STUCK'].includes(state)
  return [
    ...(state === 'STALLED' ? [{ words: 'Send it again', run: () => left('retry_agent') }] : []),
    ...(loop && !loop.open && (state === 'DONE' || state === 'STUCK')
      ? [{ words: 'Mark as seen', run: () => left('see_agent') }]
      : []),
    ...(canResume ? [{ words: 'Resume', run: () => resume(loop.id) }] : []),
    { words: 'Give a task …', ...(state === 'READY' ? { kind: 'primary' } : {}), run: () => giveTask(pane, config) },
    { words: 'Remove …', kind: 'quiet', run: () => remove(agent, config) },
  ]
}

async function resume(loop: string): Promise<void> {
  await call('resume', { loop }, once())
  toast({ text: 'Resumed.' })
  refreshAll()
}

function giveTask({ name: agent, queue, loop }: Pane, config: string): void {
  const isBusy = queue.length > 0 || loop?.open
  showModal(
    <Ask
      title={`A task for ${agent}`}
      label="What should it do?"
      hint={isBusy ? 'It waits in the queue until the tasks before it are finished.' : 'It starts immediately.'}
      send="Give task"
      close={closeModal}
      run={async (prompt) => {
        const { ahead, running } = await call('give_task', { config, agent, prompt }, once())
        const when = ahead > 0 ? `It starts after ${count(ahead, 'task')}.` : 'Started.'
        toast({ text: running ? when : 'It starts once a dispatcher is running.' })
        refreshAll()
      }}
    />,
  )
}

export async function dropTask({ name: agent }: Pane, config: string, task: number): Promise<void> {
  const { prompt } = await call('drop_task', { config, agent, task }, once())
  toast({
    text: 'Dropped.',
    action: {
      words: 'Undo',
      run: async () => {
        await call('give_task', { config, agent, prompt }, once())
        refreshAll()
      },
    },
  })
  refreshAll()
}

function remove(agent: string, config: string): void {
  showModal(
    <Confirm
      title={`Remove ${agent}?`}
      text="The agent is stopped and its pane closed. An agent listed in the config comes back when the dispatcher restarts."
      yes="Remove it"
      danger
      close={closeModal}
      run={async () => {
        await call('remove_agent', { config, agent }, once())
        refreshAll()
      }}
    />,
  )
}
