/** Opens a project for work: its files are readable, and its repository can take commits. */
import { basename, dirname, join } from 'node:path'
import { RalphError } from '../error.ts'
import { parseTasks, type Task, type TaskList } from '../formats/tasks.ts'
import { repairCheckout, repairedWords } from '../host/arrival.ts'
import { mustHaveIdentity, readHead, repositoryAt, uncommitted } from '../host/branch.ts'
import { underWay as whatIsUnderWay } from '../host/checkpoint.ts'
import { excludeFromGit } from '../host/exclude.ts'
import { brokenName } from '../host/files.ts'
import { reap } from '../host/process-tree.ts'
import type { Store } from '../host/store.ts'
import { ARTEFACTS, type FaceName, type Project, readFace, removeFace, writeFace } from './folder.ts'
import { forgetPast, isAtWork, leftNotes, storedRecord } from './past.ts'
import { isOwn, iterationsOf, type Open, type ProjectRecord, readLists, readTasksOf } from './record.ts'

export type Opened = { record: ProjectRecord; notes: string[] }

/**
 * Adopts what the user changed since the last time, but not a file that ralph was killed before writing. While a turn is
 * running, changes are its agent's: then the record stands, and they are judged with that turn.
 */
export async function loadRecord(project: Project, store: Store, now: () => number): Promise<Opened> {
  const old = await storedRecord(project, store)
  if (old?.open.some(isAtWork)) return { record: old, notes: [] }
  const text = readFace(project, 'tasks.json')
  if (text === undefined && old?.open.length)
    return { record: old, notes: ['tasks.json was missing; ralph restored it.'] }
  const own = (name: FaceName) => old !== undefined && isOwn(old, name, readFace(project, name) ?? '')
  const tasks = adopted(
    old && own('tasks.json') ? old.tasks : parseTasks(readTasksOf(project), join(project.folder, 'tasks.json')),
    project,
  )
  const { notes, ...lists } = listsOf(project, old, now)
  const left = old ? [] : await forgetPast(project, { store, now })
  const { open, gone } = await underWay(old, tasks, store)
  const repo = await repositoryAt(project.dir)
  const head = repo ? await readHead(repo) : {}
  const start = old ? old.start : head.commit
  return {
    notes: [...notes, ...left, ...leftNotes(gone)],
    record: {
      spec: readFace(project, 'spec.md') ?? old?.spec ?? '',
      tasks,
      ...lists,
      ...(old && own('state.json') ? { entries: old.entries } : {}),
      ...(old && own('obstacles.json') ? { obstacles: old.obstacles } : {}),
      ...(old?.printed ? { printed: old.printed } : {}),
      ...(old?.noted ? { noted: old.noted } : {}),
      iteration: iterationsOf(old, lists.entries),
      open,
      loops: old?.loops ?? [],
      trees: old?.trees ?? {},
      proofs: old?.proofs ?? {},
      ...(old?.grounds ? { grounds: old.grounds } : {}),
      workedMs: old?.workedMs ?? 0,
      ...(start === undefined ? {} : { start }),
    },
  }
}

/** The open tasks that are still in the list, with the attempts that the user set, and those that are not. */
async function underWay(
  old: ProjectRecord | undefined,
  { tasks }: TaskList,
  store: Store,
): Promise<{ open: Open[]; gone: Open[] }> {
  const attempts = new Map(tasks.map((task) => [task.id, task.attempts]))
  const before = new Map(old?.tasks.tasks.map((task) => [task.id, task.attempts]))
  const [there, gone] = [true, false].map((is) => (old?.open ?? []).filter(({ task }) => attempts.has(task) === is))
  const counted = (there ?? []).map(async (open) => {
    const now = attempts.get(open.task) ?? 0
    if (now === before.get(open.task)) return open
    const loop = await store.load(open.loop).catch(() => undefined) // it was killed before its loop was made
    return { ...open, before: now - (loop?.tally.iteration ?? 0) }
  })
  return { open: await Promise.all(counted), gone: gone ?? [] }
}

function adopted(list: TaskList, { name }: Project): TaskList {
  if (list.tasks.length === 0)
    throw new RalphError(
      'tasks-invalid',
      `tasks.json of ${name} has no tasks. Add some, or create them with \`ralph interview ${name}\`.`,
    )
  const idle = (task: Task): Task => (task.status === 'in_progress' ? { ...task, status: 'pending' } : task)
  return { ...list, project_name: list.project_name || name, tasks: list.tasks.map(idle) }
}

/** An unreadable list is set aside and rebuilt from ralph's record. */
function listsOf(project: Project, old: ProjectRecord | undefined, now: () => number) {
  const { entries, obstacles, problems } = readLists(project)
  const broken = new Map(problems.map(({ file, problem }) => [file, problem]))
  const notes = [...broken].map(([file, problem]) => {
    const kept = brokenName(file, now())
    writeFace(project, kept, readFace(project, file) ?? '')
    removeFace(project, file)
    return `${file} was broken: ${problem} It is kept as ${kept}, and ralph made it again ${old ? 'from its own record' : 'empty'}.`
  })
  return {
    notes,
    entries: broken.has('state.json') ? (old?.entries ?? []) : entries,
    obstacles: broken.has('obstacles.json') ? (old?.obstacles ?? []) : obstacles,
  }
}

/** Ends what a killed ralph left running, and cleans up what it left in the checkout. Returns notes for the user. */
export async function repairLeftovers({ dir }: Project, { open }: ProjectRecord, home: string): Promise<string[]> {
  for (const { loop, merging, worktree } of open)
    for (const id of [loop, merging?.loop, worktree && basename(worktree.path)]) if (id) await reap(id)
  const repo = await repositoryAt(dir)
  const repaired = repo && (await repairCheckout({ home, repo }))
  return repaired ? [repairedWords(repaired)] : []
}

/** The branch for the work, and notes for the user. Parallel work needs a clean one. Project files stay out of it. */
export async function checkRepository(
  { dir, folder }: Project,
  slots: number,
): Promise<{ branch?: string; notes: string[] }> {
  const repo = await repositoryAt(dir)
  if (!repo) {
    if (slots > 1)
      throw new RalphError(
        'usage',
        `--parallel needs a git repository, but ${dir} is not in one. Create one with: git init`,
      )
    return { notes: ['This is not a git repository: nothing is committed, and nothing can be rolled back.'] }
  }
  await mustHaveIdentity(repo)
  const half = whatIsUnderWay(repo)
  if (half !== undefined)
    throw new RalphError('usage', `A ${half} is in progress in ${repo.top}. Finish or abort it first.`)
  const exclusion = await excludeFromGit(dir, ARTEFACTS)
  const { commit, branch } = await readHead(repo)
  const changed = commit === undefined ? [] : await uncommitted(repo, dirname(folder))
  if (slots > 1 && commit === undefined)
    throw new RalphError('usage', `--parallel starts from a commit, but ${repo.top} has none yet. Make a first commit.`)
  if (slots > 1 && branch === undefined)
    throw new RalphError(
      'usage',
      `--parallel merges into your branch, but HEAD of ${repo.top} is detached. Create a branch: git switch -c NAME`,
    )
  if (slots > 1 && exclusion === 'tracked')
    throw new RalphError(
      'usage',
      `--parallel gives every task its own copy of ${ARTEFACTS}, but git tracks files in it. Untrack them with \`git rm -r --cached ${ARTEFACTS}\` and commit, or omit --parallel.`,
    )
  if (slots > 1 && changed.length > 0)
    throw new RalphError(
      'usage',
      `--parallel merges into your branch, but ${changed.slice(0, 5).join(', ')}${changed.length > 5 ? ` and ${changed.length - 5} more` : ''} ${changed.length === 1 ? 'has' : 'have'} uncommitted changes. Commit or stash them.`,
    )
  return {
    ...(branch === undefined ? {} : { branch }),
    notes: [
      ...(branch === undefined
        ? ['HEAD is detached: the commits will belong to no branch. `git switch -c NAME` creates one.']
        : []),
      ...(changed.length > 0
        ? [
            `${changed.length} of your files ${changed.length === 1 ? 'has' : 'have'} uncommitted changes; a task that changes one of them commits it.`,
          ]
        : []),
    ],
  }
}
