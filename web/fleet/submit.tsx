/** The form for a fleet task, with the common options; `ralph submit` has the rest. */
import { go } from '../data/route.ts'
import { call, once } from '../data/source.ts'
import { type Fields, FormDialog } from '../parts/form-dialog.tsx'
import { showModal } from '../parts/modal.tsx'
import { toast } from '../parts/toast.tsx'
import { lookNow } from './use-fleet.ts'

export function submitTask(): void {
  showModal(
    <FormDialog title="Submit a task" send="Submit" run={submit}>
      <label>
        What should it do?
        <textarea name="prompt" rows={4} required autofocus />
      </label>
      <label>
        Repository
        <input name="repo" class="mono" placeholder="git@example.com:shop/api.git" spellcheck={false} />
      </label>
      <label>
        Checks that prove it, one per line
        <textarea name="checks" class="mono" rows={2} placeholder="npm test" spellcheck={false} />
      </label>
      <div class="field-row">
        <label>
          Base branch
          <input name="base" placeholder="main" spellcheck={false} />
        </label>
        <label>
          Agent
          <input name="agent" placeholder="auto, claude, codex …" spellcheck={false} />
        </label>
      </div>
      <div class="field-row">
        <label>
          Labels
          <input name="labels" placeholder="gpu, linux" spellcheck={false} />
        </label>
        <label>
          Priority
          <input name="priority" type="number" step="1" placeholder="0" />
        </label>
        <label>
          Submitter
          <input name="submitter" required defaultValue={localStorage.getItem(NAME) ?? ''} spellcheck={false} />
        </label>
      </div>
    </FormDialog>,
  )
}

/** The last submitter in this browser. */
const NAME = 'ralph-submitter'

async function submit({ text }: Fields): Promise<void> {
  const submitter = text('submitter') ?? ''
  const [repo, base, agent, priority] = [text('repo'), text('base'), text('agent'), text('priority')]
  const [checks, labels] = [parts(text('checks'), '\n'), parts(text('labels'), ',')]
  const task = {
    prompt: text('prompt') ?? '',
    submitter,
    ...(repo ? { repo } : {}),
    ...(base ? { base } : {}),
    ...(agent ? { agent } : {}),
    ...(priority ? { priority: Number(priority) } : {}),
    ...(checks.length > 0 ? { checks } : {}),
    ...(labels.length > 0 ? { labels } : {}),
  }
  const { tasks } = await call('submit_tasks', { tasks: [task] }, once())
  localStorage.setItem(NAME, submitter)
  const [submitted] = tasks
  toast({
    text: 'Submitted.',
    ...(submitted ? { action: { words: 'Open its loop', run: () => go(`/loops/${submitted.loop_id}`) } } : {}),
  })
  lookNow()
}

function parts(text: string | undefined, between: string): string[] {
  return (text ?? '').split(between).flatMap((part) => part.trim() || [])
}
