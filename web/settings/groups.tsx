/** The groups of the board: a name, and the folder their tasks work in. */
import { refreshAll, useQuery } from '../data/query.ts'
import { call, type OutputOf, once } from '../data/source.ts'
import { Button, Problem } from '../parts/common.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { showModal } from '../parts/modal.tsx'
import { Section } from './section.tsx'

type Group = OutputOf<'list_groups'>['groups'][number]

export function Groups() {
  const { value, error, refresh } = useQuery('list_groups', {}, ({ type }) => type === 'task-change')
  const groups = value?.groups ?? []
  return (
    <Section
      title="Groups"
      words="Board tasks that belong together. A task without its own folder works in the folder of its group."
    >
      {error && <Problem error={error} retry={refresh} />}
      {value && groups.length === 0 && <p class="muted">No groups yet.</p>}
      {groups.length > 0 && (
        <ul class="group-list">
          {groups.map((group) => (
            <li key={group.project_id}>
              <strong>{group.name}</strong>
              <span class="mono muted path">{group.repo ?? 'no folder'}</span>
              <Button kind="quiet" label={`Edit ${group.name}`} run={() => edit(group)}>
                Edit
              </Button>
            </li>
          ))}
        </ul>
      )}
      <Button run={() => edit({ project_id: '', name: '', repo: null }, groups)}>Add a group</Button>
    </Section>
  )
}

/** A group without an id is new; its id is derived from its name, and is unique. */
function edit({ project_id, name, repo }: Group, others: readonly Group[] = []): void {
  showModal(
    <FormDialog
      title={project_id ? `Edit ${name}` : 'Add a group'}
      send={project_id ? 'Save' : 'Add'}
      run={async ({ text }) => {
        const given = text('name') ?? ''
        await call(
          'set_group',
          { project_id: project_id || idOf(given, others), name: given, repo: text('repo') ?? null },
          once(),
        )
        refreshAll()
      }}
    >
      <label>
        Name
        <input name="name" required maxLength={200} defaultValue={name} />
      </label>
      <label>
        Folder (optional)
        <input name="repo" class="mono" defaultValue={repo ?? ''} placeholder="/home/me/code/shop" spellcheck={false} />
      </label>
    </FormDialog>,
  )
}

function idOf(name: string, others: readonly Group[]): string {
  const plain =
    name
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, '-')
      .replace(/^-|-$/g, '') || 'group'
  const isTaken = (id: string) => others.some(({ project_id }) => project_id === id)
  let [id, n] = [plain, 2]
  while (isTaken(id)) id = `${plain}-${n++}`
  return id
}
