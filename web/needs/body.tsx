/** The actions for a loop that needs a person, by what it needs. */
import { useState } from 'preact/hooks'
import type { VaultTask } from '../../src/vault/vault-task.ts'
import { refreshAll, useQuery } from '../data/query.ts'
import { call, type OutputOf, once } from '../data/source.ts'
import { accept, fork, retry } from '../parts/actions.tsx'
import { Confirm } from '../parts/ask.tsx'
import { Button, Link } from '../parts/common.tsx'
import { closeModal, showModal } from '../parts/modal.tsx'
import { toast } from '../parts/toast.tsx'
import { capital } from '../words.ts'
import { AnswerBox } from './answer.tsx'

export type Need = OutputOf<'list_needs'>['needs'][number]

/** `focus`: there is a keyboard, so the cursor goes into the text box. `dismiss`: closes the row. */
export function NeedBody({ need, focus, dismiss }: { need: Need; focus: boolean; dismiss: () => void }) {
  return (
    <div class="need-body">
      {!need.question && <p>{capital(need.sentence)}</p>}
      <Ways need={need} focus={focus} dismiss={dismiss} />
    </div>
  )
}

function Ways({ need, focus, dismiss }: { need: Need; focus: boolean; dismiss: () => void }) {
  const { loop, iteration, kind, owner } = need
  const open = (
    <Link to={`/loops/${loop}`} class="button">
      Open loop
    </Link>
  )
  switch (kind) {
    case 'question':
    case 'permission':
    case 'allow':
      return (
        <AnswerBox asked={need} focus={focus}>
          {open}
        </AnswerBox>
      )
    case 'approval':
      return <Approval need={need} />
    case 'conflict':
    case 'stuck':
      return (
        <p class="answer-actions">
          <Button kind="primary" run={() => retry(loop)}>
            Retry
          </Button>
          {owner !== 'fleet' && <Button run={() => fork(loop, iteration)}>Fork …</Button>}
          {open}
          <Button run={dismiss}>Dismiss</Button>
        </p>
      )
    case 'review':
      return (
        <p class="answer-actions">
          <Button kind="primary" run={() => accept(loop)}>
            Accept …
          </Button>
          {open}
        </p>
      )
    case 'unattended':
      return (
        <p class="answer-actions">
          <Button kind="primary" run={() => resume(loop)}>
            Resume
          </Button>
          {open}
        </p>
      )
  }
}

async function resume(loop: string): Promise<void> {
  const { heard } = await call('resume', { loop }, once())
  done(heard === 'nobody' ? `No process is running it. Run: ralph resume ${loop}` : 'Resumed.')
}

/** A vault task that waits for a person to look at its file. */
function Approval({ need }: { need: Need }) {
  const [note, setNote] = useState('')
  const found = useQuery('get_loop', { loop: need.loop, brief: true }).value
  const owner = found?.loop.spec.work.owner
  if (owner?.kind !== 'vault') return <p>{found?.standing.hint}</p>
  const { path: vault, id: task } = owner as VaultTask // the owner of that kind
  const words = note.trim()
  const approve = async () => {
    await call('approve_vault_task', { vault, task, ...(words ? { note: words } : {}) }, once())
    done('Approved. The task continues.')
  }
  const reject = async () => {
    await call('reject_vault_task', { vault, task, ...(words ? { reason: words } : {}) }, once())
    done('Rejected. The task has failed.')
  }
  return (
    <div class="answer">
      {need.question && <p class="question">{need.question}</p>}
      <label>
        A note, or why not (optional)
        <textarea rows={2} value={note} onInput={({ currentTarget }) => setNote(currentTarget.value)} />
      </label>
      <p class="answer-actions">
        <Button kind="primary" run={approve}>
          Approve
        </Button>
        <Button kind="danger" run={() => askToReject(need.title, reject)}>
          Reject …
        </Button>
        <Link to={`/loops/${need.loop}`} class="button">
          Open loop
        </Link>
      </p>
    </div>
  )
}

function done(text: string): void {
  toast({ text })
  refreshAll()
}

function askToReject(title: string, run: () => Promise<void>): void {
  showModal(
    <Confirm
      title="Reject this task?"
      text={`“${title}” ends as failed.`}
      yes="Reject"
      danger
      close={closeModal}
      run={run}
    />,
  )
}
