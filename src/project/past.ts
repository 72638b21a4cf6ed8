/** The past of a project: what ralph knows from the last time, unless its files were recreated since. */
import { visit } from '../drive/visit.ts'
import { ended } from '../engine/loop.ts'
import type { Store } from '../host/store.ts'
import { type Project, readFace } from './folder.ts'
import { isOwn, type Open, type ProjectRecord } from './record.ts'

/** Written by ralph itself, in one transaction. */
export async function storedRecord(project: Project, store: Store): Promise<ProjectRecord | undefined> {
  const record = (await store.projects.load(project.folder)) as ProjectRecord | undefined
  return record && !isMadeAgain(record, project) ? record : undefined
}

/** The loops of its tasks, oldest first. */
export async function loopsOf(project: Project, store: Store): Promise<string[]> {
  return (await storedRecord(project, store))?.loops ?? []
}

/** Whether a turn in the user's checkout may still be running: then changes to the project files are its agent's. */
export function isAtWork({ turn, worktree }: Open): boolean {
  return turn !== undefined && !turn.edits && !worktree
}

/** Files recreated in the same place are a new project without a past: ralph itself always writes every list. */
function isMadeAgain({ open = [], entries = [], printed }: Partial<ProjectRecord>, project: Project): boolean {
  if (readFace(project, 'state.json') !== undefined) return false
  if (open.length === 0) return entries.length > 0
  const tasks = readFace(project, 'tasks.json')
  if (tasks === undefined && open.some(isAtWork)) return false // an agent may have removed them
  return (
    readFace(project, 'obstacles.json') === undefined &&
    !isOwn({ ...(printed ? { printed } : {}) }, 'tasks.json', tasks ?? '')
  )
}

/** A new project starts here. The loops of the previous one end; their work stays where it is. */
export async function forgetPast(
  { folder }: Pick<Project, 'folder'>,
  { store, now }: { store: Store; now: () => number },
): Promise<string[]> {
  const record = (await store.projects.load(folder)) as Partial<ProjectRecord> | undefined
  if (!record) return []
  const open = record.open ?? []
  for (const id of open.flatMap(({ loop, merging }) => (merging ? [loop, merging.loop] : [loop])))
    await endLoop(id, { store, now })
  await store.projects.forget(folder)
  return leftNotes(open)
}

/** Where the work of abandoned tasks is. */
export function leftNotes(open: readonly Open[]): string[] {
  return open.flatMap(({ task, worktree }) =>
    worktree
      ? [
          `${task} is no longer in tasks.json. The agent's work stays on the branch ${worktree.branch}, in ${worktree.path}.`,
        ]
      : [],
  )
}

async function endLoop(id: string, { store, now }: { store: Store; now: () => number }): Promise<void> {
  if (!(await store.load(id).catch(() => undefined))) return // ralph was killed before it created the loop, or the loop has been pruned
  await visit(id, {
    store,
    now,
    held: () => {},
    async work(held) {
      if (!ended(held.loop)) await held.move({ kind: 'told', at: held.now(), by: 'ralph', order: { kind: 'cancel' } })
    },
  })
}
