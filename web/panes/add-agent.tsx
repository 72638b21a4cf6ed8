/** The dialog that adds an agent while the dispatcher runs. */
import { refreshAll } from '../data/query.ts'
import { call, once } from '../data/source.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { showModal } from '../parts/modal.tsx'
import { toast } from '../parts/toast.tsx'

export function addAgent(config: string): void {
  showModal(
    <FormDialog
      title="Add an agent"
      send="Add"
      run={async ({ text, isOn }) => {
        const [agent, dir] = [text('agent'), text('dir')]
        const checks = text('checks')
          ?.split('\n')
          .flatMap((line) => line.trim() || [])
        await call(
          'add_agent',
          {
            config,
            name: text('name') ?? '',
            ...(agent ? { agent } : {}),
            ...(dir ? { dir } : {}),
            ...(checks ? { checks } : {}),
            ...(isOn('worktree') ? { worktree: true } : {}),
            ...(isOn('bypass') ? { permissions: 'bypass' } : {}),
          },
          once(),
        )
        toast({ text: 'The dispatcher opens its pane.' })
        refreshAll()
      }}
    >
      <label>
        Name
        <input name="name" required maxLength={31} placeholder="api" spellcheck={false} />
      </label>
      <label>
        Agent
        <input name="agent" placeholder="auto, claude, codex …" spellcheck={false} />
      </label>
      <label>
        Folder
        <input name="dir" class="mono" placeholder="the folder of the config file" spellcheck={false} />
      </label>
      <label>
        Checks that prove its work, one per line
        <textarea name="checks" class="mono" rows={2} placeholder="npm test" spellcheck={false} />
      </label>
      <label class="check">
        <input type="checkbox" name="worktree" /> A worktree of its own for each task
      </label>
      <label class="check">
        <input type="checkbox" name="bypass" /> Works without asking for permissions
      </label>
      <p class="muted">It stays until you remove it, even if the dispatcher restarts.</p>
    </FormDialog>,
  )
}
