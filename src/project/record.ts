/** What ralph itself knows of a project. The files of the project are printed from it, and put back from it when they were broken. */
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
  /** Those of them that ralph noted itself and that are not over: a check that fails, or an agent that did not get to work. */
  noted?: Noted[]
  /** What each file looked like when it was printed last, and before that: what lies there and is neither, a person wrote. */
  printed?: Partial<Record<FaceName, [now: string, before: string]>>
  /** The turns taken so far, whatever came of them: the number of the last one. */
  iteration: number
  /** Tasks that somebody has begun and not ended, also when that ralph is gone. */
  open: Open[]
  /** Every loop there was, for what they cost. */
  loops: string[]
  /** The state in which the first loop of a task found the person's files: what is different since then is its work. */
  trees: Record<string, string>
  /** What speaks for a completed task. */
  proofs: Record<string, Grade>
  /** What that depends on. Absent: an older ralph wrote this. */
  grounds?: Record<string, { sentence: string; findings: Finding[] }>
  /** The commit everything began at. Absent: there was none. */
  start?: string
  workedMs: number
}

/** `id`: of its obstacle. `check`, `tail`: which one fails, and how its output ends. */
export type Noted = { id: string; task: string; iteration: number; check?: string; tail?: string }

/** A turn under way, or taken and not yet entered: which of the loop, which of the project, and the state it began in. */
export type OpenTurn = {
  n: number
  /** Which try at that iteration of the loop. Absent: an older ralph began it. */
  attempt?: number
  iteration: number
  tree?: string
  /** What the agent left in the files of the project, which are as they should be since then. Absent: it may still be at work. */
  edits?: Edits
  /** How it ended where the agent did not get to work. */
  trouble?: Pick<Turn, 'end' | 'words'>
  /** What each check said about it last. */
  verdicts?: Verdict[]
}

/** A task under way. */
export type Open = {
  task: string
  loop: string
  /** The attempts before this loop. */
  before: number
  /** The branch and the commit it began at. Absent: there is no git, or HEAD is detached. */
  branch?: string
  base?: string
  /** Its own worktree; `dir` is the folder in it that stands for the project's. */
  worktree?: Worktree & { dir: string }
  turn?: OpenTurn
  /** The last turn whose state is sound: what comes after it and rewrites history goes back to it. Absent: the start. */
  sound?: number
  /** Its loop halted; the next one begins where it left off. */
  halted?: true
  /** What ralph put right during that turn. */
  notes: string[]
  /** How many entries there were when it began: later ones tell what others did meanwhile. */
  entries: number
  /** Everything is committed, and is being tried out together with the tip of the branch. */
  trial?: { committed: string; onto: string }
  /** The loop that brings both sides of a conflict together, and the files they are in conflict about. */
  merging?: { loop: string; files: string[] }
  /** About to become the tip of the branch, which stands at `onto`. */
  merge?: { commit: string; onto: string }
}

export type Keeper = {
  readonly record: ProjectRecord
  /** One transaction, then the files that look different now. One after another: each edits what the one before left. */
  change(edit: (record: ProjectRecord) => ProjectRecord): Promise<void>
  changeOpen(task: string, edit: (open: Open) => Open): Promise<void>
  /** The same for its turn, if it is at one. */
  changeTurn(task: string, edit: (turn: OpenTurn) => OpenTurn): Promise<void>
  /** Writes the files again, whatever lies there, as they are now. `into`: to another folder, for an agent of its own. */
  restore(into?: Pick<Project, 'folder'>): Promise<void>
}

export function openKeeper(project: Project, store: Store, first: ProjectRecord): Keeper {
  let record = first
  let written: Partial<Record<FaceName, string>> = {}
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = (work: () => void | Promise<void>): Promise<void> => {
    const mine = last.then(work)
    last = mine.catch(() => {}) // told to whoever asked for it
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

/** Whether a text is what ralph itself printed last, or before that: it may have been killed before it could write the file. */
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

/** Most changes leave the lists as they are, and a list may have thousands of tasks. */
function once<Value extends object>(value: Value, print: (value: Value) => string): string {
  const text = texts.get(value) ?? print(value)
  texts.set(value, text)
  return text
}

/** How many turns were taken. Where ralph's own record is not here, the entries tell. */
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

/** A task that is completed has the grade of its loop; where that did not complete, somebody said so. */
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

/** What speaks for each completed task. What nobody has proven here is claimed, whoever called it completed. */
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

/** The text of tasks.json, which must be there. */
export function readTasksOf(project: Project): string {
  const text = readFace(project, 'tasks.json')
  if (text !== undefined) return text
  throw new RalphError(
    'tasks-invalid',
    `The project ${project.name} has no tasks.json yet. Create one with \`ralph interview ${project.name}\` or \`ralph import FILE ${project.name}\`.`,
  )
}

/** The lists that the files hold; what is missing is empty, what cannot be read is told. */
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
