/** What ralph itself knows about a project. The project files are printed from it, and restored from it when broken. */
import { createHash } from 'node:crypto'
import type { Finding, Grade, Loop, Turn, Verdict, Worktree } from '../engine/loop.ts'
import type { PlannedTask } from '../engine/schedule.ts'
import { RalphError } from '../error.ts'
import { type Obstacle, printObstacles, readObstacles } from '../formats/obstacles.ts'
import { type Entry, printProgress, readProgress } from '../formats/progress.ts'
import type { TaskProof } from '../formats/results.ts'
import { graphTask, printTasks, type Task, type TaskList } from '../formats/tasks.ts'
import type { Store } from '../host/store.ts'
import type { Edits } from './edits.ts'
import { clearWay, type FaceName, type Project, readFace, writeFace } from './folder.ts'

export type ProjectRecord = {
  spec: string
  tasks: TaskList
  entries: Entry[]
  obstacles: Obstacle[]
  /** Unresolved obstacles that ralph noted itself: a failing check, or an agent that did not get to work. */
  noted?: Noted[]
  /** Each file as last printed, and the version before: anything else was written by a person. */
  printed?: Partial<Record<FaceName, [now: string, before: string]>>
  /** The turns taken so far, whatever their outcome: the number of the last one. */
  iteration: number
  /** Tasks that were started and not finished, even by a ralph that no longer runs. */
  open: Open[]
  /** Every loop so far, for the total cost. */
  loops: string[]
  /** The state of the user's files before the first loop of a task: every difference since is its work. */
  trees: Record<string, string>
  /** The proof of a completed task. */
  proofs: Record<string, Grade>
  /** What the grade depends on. Absent: an older ralph wrote this. */
  grounds?: Record<string, { sentence: string; findings: Finding[] }>
  /** The commit everything started from. Absent: there was none. */
  start?: string
  workedMs: number
}

/** `id`: of its obstacle. `check`, `tail`: which one fails, and how its output ends. */
export type Noted = { id: string; task: string; iteration: number; check?: string; tail?: string }

/** A turn that is running or not yet recorded: its number in the loop and the project, and its starting state. */
export type OpenTurn = {
  n: number
  /** Which attempt at that iteration of the loop. Absent: an older ralph started it. */
  attempt?: number
  iteration: number
  tree?: string
  /** What the agent left in the project files, which have been restored since. Absent: it may still be working. */
  edits?: Edits
  /** How it ended if the agent did not get to work. */
  trouble?: Pick<Turn, 'end' | 'words'>
  /** The last verdict of each check. */
  verdicts?: Verdict[]
}

/** A task in progress. */
export type Open = {
  task: string
  loop: string
  /** The attempts before this loop. */
  before: number
  /** The branch and commit it started from. Absent: no git, or a detached HEAD. */
  branch?: string
  base?: string
  /** Its own worktree; `dir` is the folder in it that corresponds to the project's. */
  worktree?: Worktree & { dir: string }
  turn?: OpenTurn
  /** The last turn with a sound state: a later turn that rewrites history is reset to it. Absent: the start. */
  sound?: number
  /** Its loop halted; the next one starts where it left off. */
  halted?: true
  /** What ralph fixed during that turn. */
  notes: string[]
  /** How many entries there were when it started: later ones show what others did meanwhile. */
  entries: number
  /** Everything is committed and is being checked together with the tip of the branch. */
  trial?: { committed: string; onto: string }
  /** The loop that resolves a conflict, and the conflicting files. */
  merging?: { loop: string; files: string[] }
  /** About to become the tip of the branch, which is at `onto`. */
  merge?: { commit: string; onto: string }
}

export type Keeper = {
  readonly record: ProjectRecord
  /** One transaction, then rewrites the changed files. Serialized: each edits what the previous one left. */
  change(edit: (record: ProjectRecord) => ProjectRecord): Promise<void>
  changeOpen(task: string, edit: (open: Open) => Open): Promise<void>
  /** The same for its current turn, if any. */
  changeTurn(task: string, edit: (turn: OpenTurn) => OpenTurn): Promise<void>
  /** Rewrites the files, whatever is there now. `into`: to another folder, for that folder's agent. */
  restore(into?: Pick<Project, 'folder'>): Promise<void>
}

export function openKeeper(project: Project, store: Store, first: ProjectRecord): Keeper {
  let record = first
  let written: Partial<Record<FaceName, string>> = {}
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = (work: () => void | Promise<void>): Promise<void> => {
    const mine = last.then(work)
    last = mine.catch(() => {}) // reported to the caller
    return mine
  }
  const applyEdit = async (edit: (record: ProjectRecord) => ProjectRecord) => {
    const edited = edit(record)
    const texts = faces(edited)
    const printed = Object.fromEntries(
      texts.map(([name, text]) => [name, [markOf(text), record.printed?.[name]?.[0] ?? '']]),
    )
    const next = { ...edited, printed }
    await store.projects.save(project.folder, next)
    record = next
    for (const [name, text] of texts) if (written[name] !== text) writeFace(project, name, text)
    written = Object.fromEntries(texts)
  }
  const change = (edit: (record: ProjectRecord) => ProjectRecord) => inTurn(() => applyEdit(edit))
  const changeOpen: Keeper['changeOpen'] = (task, edit) =>
    change((now) => ({ ...now, open: now.open.map((open) => (open.task === task ? edit(open) : open)) }))
  return {
    get record() {
      return record
    },
    change,
    changeOpen,
    changeTurn: (task, edit) => changeOpen(task, (open) => (open.turn ? { ...open, turn: edit(open.turn) } : open)),
    restore: (into = project) =>
      inTurn(() => {
        clearWay(into)
        for (const [name, text] of faces(record)) if (readFace(into, name) !== text) writeFace(into, name, text)
        if (into === project) written = Object.fromEntries(faces(record))
      }),
  }
}

/** Whether a text is one of the last two that ralph printed: it may have been killed before writing the file. */
export function isOwn({ printed }: Pick<ProjectRecord, 'printed'>, name: FaceName, text: string): boolean {
  return printed?.[name]?.includes(markOf(text)) === true
}

function markOf(text: string): string {
  return createHash('sha1').update(text).digest('hex')
}

function faces({ spec, tasks, entries, obstacles }: ProjectRecord): [FaceName, string][] {
  return [
    ['spec.md', spec],
    ['tasks.json', once(tasks, printTasks)],
    ['state.json', once(entries, printProgress)],
    ['obstacles.json', once(obstacles, printObstacles)],
  ]
}

const texts = new WeakMap<object, string>()

/** Most changes do not affect the lists, and a list may have thousands of tasks. */
function once<Value extends object>(value: Value, print: (value: Value) => string): string {
  const text = texts.get(value) ?? print(value)
  texts.set(value, text)
  return text
}

/** How many turns were taken. Without ralph's own record, the entries show it. */
export function iterationsOf(record: Pick<ProjectRecord, 'iteration'> | undefined, entries: readonly Entry[]): number {
  return Math.max(record?.iteration ?? 0, ...entries.map(({ iteration }) => iteration))
}

export function planned(task: Task): PlannedTask {
  return Object.assign(graphTask(task), { attempts: task.attempts, maxAttempts: task.max_attempts })
}

export function taskOf({ tasks }: ProjectRecord, id: string): Task {
  const task = tasks.tasks.find((candidate) => candidate.id === id)
  if (!task) throw new Error(`no task ${id}`)
  return task
}

export function openOf({ open }: ProjectRecord, task: string): Open {
  const found = open.find((candidate) => candidate.task === task)
  if (!found) throw new Error(`${task} is not in progress`)
  return found
}

export function replaceOpen(record: ProjectRecord, open: Open): ProjectRecord {
  return { ...record, open: record.open.map((other) => (other.task === open.task ? open : other)) }
}

export function withTask(record: ProjectRecord, id: string, change: Partial<Task>): ProjectRecord {
  const tasks = record.tasks.tasks.map((task) => (task.id === id ? { ...task, ...change } : task))
  return { ...record, tasks: { ...record.tasks, tasks } }
}

/** A completed task has the grade of its loop; if the loop did not complete, someone marked it so. */
export function withProof(record: ProjectRecord, task: string, loop: Loop | undefined): ProjectRecord {
  const { [task]: _, ...grounds } = record.grounds ?? {}
  if (loop?.next.kind !== 'complete')
    return { ...record, proofs: { ...record.proofs, [task]: record.proofs[task] ?? 'claimed' } }
  const { proof, sentence } = loop.next
  return {
    ...record,
    proofs: { ...record.proofs, [task]: proof },
    grounds: { ...grounds, [task]: { sentence, findings: loop.tally.findings } },
  }
}

/** The proof of each completed task. What was not proven here counts as claimed, whoever marked it completed. */
export function proofsOf(
  tasks: readonly Task[],
  { proofs = {}, grounds = {} }: Partial<Pick<ProjectRecord, 'proofs' | 'grounds'>> = {},
): TaskProof[] {
  return tasks
    .filter(({ status }) => status === 'completed')
    .map(({ id }) => ({
      task_id: id,
      proof: proofs[id] ?? 'claimed',
      proof_sentence: grounds[id]?.sentence ?? null,
      findings: grounds[id]?.findings ?? [],
    }))
}

/** The text of tasks.json, which must exist. */
export function readTasksOf(project: Project): string {
  const text = readFace(project, 'tasks.json')
  if (text !== undefined) return text
  throw new RalphError(
    'tasks-invalid',
    `The project ${project.name} has no tasks.json yet. Create one with \`ralph interview ${project.name}\` or \`ralph import FILE ${project.name}\`.`,
  )
}

/** The lists in the files; missing ones are empty, unreadable ones are reported. */
export function readLists(project: Project): {
  entries: Entry[]
  obstacles: Obstacle[]
  problems: { file: FaceName; problem: string }[]
} {
  const progress = readProgress(readFace(project, 'state.json') ?? '[]')
  const found = readObstacles(readFace(project, 'obstacles.json') ?? '{"obstacles": []}')
  return {
    entries: 'entries' in progress ? progress.entries : [],
    obstacles: 'obstacles' in found ? found.obstacles : [],
    problems: [
      ...('problems' in progress ? [{ file: 'state.json' as const, problem: progress.problems[0] ?? '' }] : []),
      ...('problems' in found ? [{ file: 'obstacles.json' as const, problem: found.problems[0] ?? '' }] : []),
    ],
  }
}
