/** What a person can do to an agent in a pane: each calls one operation and says what came of it. */
import { refreshAll } from '../data/query.ts'
import { call, once } from '../data/source.ts'
import { Ask, Confirm } from '../parts/ask.tsx'
import type { ButtonKind } from '../parts/common.tsx'
import { closeModal, showModal } from '../parts/modal.tsx'
import { toast } from '../parts/toast.tsx'
import { count } from '../words.ts'
import type { Pane } from './pane-card.tsx'

type Action = { words: string; kind?: ButtonKind; run: () => unknown }

/** The first one is what one most likely wants. */
export function actionsOf(pane: Pane, config: string): Action[] {
  const { name: agent, state, loop } = pane
  const left = async (name: 'see_agent' | 'retry_agent') => {
    const { running } = await call(name, { config, agent }, once())
    if (!running) toast({ text: 'It happens when a dispatcher is started.' })
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
  toast({ text: 'It goes on.' })
  refreshAll()
}

function giveTask({ name: agent, queue, loop }: Pane, config: string): void {
  const isBusy = queue.length > 0 || loop?.open
  showModal(
    <Ask
      title={`A task for ${agent}`}
      label="What should it do?"
      hint={isBusy ? 'It waits in the queue until the tasks before it are over.' : 'It begins at once.'}
      send="Give it"
      close={closeModal}
      run={async (prompt) => {
        const { ahead, running } = await call('give_task', { config, agent, prompt }, once())
        const when = ahead > 0 ? `It begins after ${count(ahead, 'task')}.` : 'It begins now.'
        toast({ text: running ? when : 'It begins when a dispatcher is started.' })
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
      text="It ends, and its pane is closed. One that the config names comes back with the next start of the dispatcher."
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
