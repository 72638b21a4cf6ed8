/** An agent's changes to the project files in one turn: allowed ones are adopted, all others undone and reported. */
import { isDeepStrictEqual } from 'node:util'
import { type Obstacle, readObstacles } from '../formats/obstacles.ts'
import { type Entry, readProgress } from '../formats/progress.ts'
import { readTasks, type Task } from '../formats/tasks.ts'
import type { FaceName } from './folder.ts'
import type { ProjectRecord } from './record.ts'

/** The files as the agent left them; undefined: missing. */
export type Faces = Readonly<Partial<Record<FaceName, string | undefined>>>

export type Edits = {
  /** What it says about its own task. */
  says: 'completed' | 'blocked' | 'open'
  entry?: Entry
  /** New obstacles, and ids of old ones it solved. */
  obstacles: Obstacle[]
  resolved: string[]
  added: Task[]
  spec?: string
  /** What was restored, in words. */
  notes: string[]
  /** Files that can no longer be read. */
  broken: FaceName[]
}

/**
 * An agent may set `status` and `blocked` of its own task, add tasks, append one entry, append obstacles and resolve old ones.
 * `task` is its own; undefined: no turn was running, so only a person can have made changes. `shared`: it worked on the
 * project files themselves, not on a copy that is now outdated.
 */
export function readEdits(
  record: ProjectRecord,
  faces: Faces,
  { task, shared }: { task?: string; shared: boolean },
): Edits {
  const edits: Edits = { says: 'open', obstacles: [], resolved: [], added: [], notes: [], broken: [] }
  readTaskEdits(record, faces['tasks.json'], edits, { task, shared })
  readEntryEdits(record, faces['state.json'], edits, { task, shared })
  readObstacleEdits(record, faces['obstacles.json'], edits, shared)
  const spec = faces['spec.md']
  if (!spec?.trim() && record.spec.trim()) edits.notes.push('spec.md was missing or empty; ralph restored it.')
  else if (spec !== undefined && spec !== record.spec && shared) edits.spec = spec
  return edits
}

type Whose = { task?: string | undefined; shared: boolean }

function readTaskEdits(
  record: ProjectRecord,
  text: string | undefined,
  edits: Edits,
  { task: own, shared }: Whose,
): void {
  const read = text === undefined ? { problems: ['it was missing.'] } : readTasks(text)
  if ('problems' in read) {
    putBack(edits, 'tasks.json', read.problems[0], text !== undefined)
    return
  }
  const found = new Map(read.list.tasks.map((task) => [task.id, task]))
  const known = new Set(record.tasks.tasks.map(({ id }) => id))
  const wrong: string[] = []
  for (const task of record.tasks.tasks) {
    const now = found.get(task.id)
    if (task.id === own && now) {
      edits.says = now.blocked ? 'blocked' : now.status === 'completed' ? 'completed' : 'open'
      const { status, blocked, attempts } = task
      if (!isDeepStrictEqual({ ...now, status, blocked, attempts }, task)) wrong.push(`${task.id} was changed`)
    } else if (!now) wrong.push(...(shared || task.id === own ? [`${task.id} was removed`] : []))
    else if (now.status === 'completed' && task.status !== 'completed') wrong.push(`${task.id} was marked as completed`)
    else if (shared && !isDeepStrictEqual(now, task)) wrong.push(`${task.id} was changed`)
  }
  // Checks and the required proof come from people, never from a working agent.
  const fresh = read.list.tasks.filter(({ id }) => !known.has(id))
  const checked = fresh.filter((task) => PEOPLES.some((field) => task[field] !== undefined)).map(({ id }) => id)
  if (checked.length > 0)
    edits.notes.push(`tasks.json: the checks of ${cut(checked)} were dropped: only people may add checks.`)
  edits.added = fresh.map(({ verify: _, require: __, protect: ___, may_change: ____, ...task }) => ({
    ...task,
    status: task.blocked ? 'blocked' : 'pending',
    attempts: 0,
  }))
  if (wrong.length > 0) edits.notes.push(`tasks.json: ${cut(wrong)}; ralph restored it.`)
}

const PEOPLES = ['verify', 'require', 'protect', 'may_change'] as const

function readEntryEdits(record: ProjectRecord, text: string | undefined, edits: Edits, { task, shared }: Whose): void {
  const read = text === undefined ? { problems: ['it was missing.'] } : readProgress(text)
  if ('problems' in read) {
    putBack(edits, 'state.json', read.problems[0], text !== undefined)
    return
  }
  const old = record.entries.map((entry) => JSON.stringify(entry))
  const [before, now] = [new Set(old), new Set(read.entries.map((entry) => JSON.stringify(entry)))]
  const fresh = read.entries.filter((entry) => !before.has(JSON.stringify(entry)))
  const own = fresh.filter(({ task_id }) => task_id === task).at(-1)
  if (own) edits.entry = own
  if (shared && !old.every((entry) => now.has(entry)))
    edits.notes.push('state.json: older entries were changed or removed; ralph restored them.')
  const foreign = fresh.filter(({ task_id }) => task_id !== task)
  if (shared && foreign.length > 0)
    edits.notes.push(
      `state.json: entries for ${cut(foreign.map(({ task_id }) => task_id))} were added by an agent that worked on ${task ?? 'none'}; ralph dropped them.`,
    )
}

function readObstacleEdits(record: ProjectRecord, text: string | undefined, edits: Edits, shared: boolean): void {
  const read = text === undefined ? { problems: ['it was missing.'] } : readObstacles(text)
  if ('problems' in read) {
    putBack(edits, 'obstacles.json', read.problems[0], text !== undefined)
    return
  }
  const old = new Map(record.obstacles.map((obstacle) => [obstacle.id, obstacle]))
  const kept = new Set<string>()
  for (const obstacle of read.obstacles) {
    const before = old.get(obstacle.id)
    if (before?.message === obstacle.message) {
      kept.add(before.id)
      if (obstacle.resolved && !before.resolved) edits.resolved.push(before.id)
    } else edits.obstacles.push(obstacle)
  }
  const lost = [...old.keys()].filter((id) => !kept.has(id))
  if (shared && lost.length > 0)
    edits.notes.push(
      `obstacles.json: ${cut(lost)} ${lost.length === 1 ? 'was' : 'were'} changed or removed; ralph restored ${lost.length === 1 ? 'it' : 'them'}.`,
    )
}

function putBack(edits: Edits, file: FaceName, problem: string | undefined, there: boolean): void {
  edits.notes.push(`${file} was broken: ${problem} ralph restored it.`)
  if (there) edits.broken.push(file)
}

function cut(items: readonly string[]): string {
  return items.length > 5 ? `${items.slice(0, 5).join(', ')} and ${items.length - 5} more` : items.join(', ')
}

/** Adopts the edits. What was restored becomes an obstacle, so that the next agent knows. */
export function applyEdits(
  record: ProjectRecord,
  { obstacles, resolved, added, spec, notes }: Omit<Edits, 'says' | 'entry' | 'broken'>,
  { task, iteration }: { task: string; iteration: number },
): { record: ProjectRecord; ids: Map<string, string> } {
  const taken = new Set(record.obstacles.map(({ id }) => id))
  const ids = new Map<string, string>()
  const numbered = [
    ...obstacles.map((obstacle) => ({ ...obstacle, task_id: obstacle.task_id || task, iteration })),
    ...notes.map((message) => ({ id: '', task_id: task, message, resolved: true, iteration })),
  ].map((obstacle) => {
    const id = obstacle.id && !taken.has(obstacle.id) ? obstacle.id : freeId(taken)
    taken.add(id)
    if (obstacle.id) ids.set(obstacle.id, id)
    return { ...obstacle, id }
  })
  const known = new Set(record.tasks.tasks.map(({ id }) => id))
  const tasks = [...record.tasks.tasks, ...added.filter(({ id }) => !known.has(id))]
  return {
    ids,
    record: {
      ...record,
      ...(spec === undefined ? {} : { spec }),
      tasks: { ...record.tasks, tasks },
      obstacles: [
        ...record.obstacles.map((old) => (resolved.includes(old.id) ? { ...old, resolved: true } : old)),
        ...numbered,
      ],
    },
  }
}

/** A unique id for an obstacle. */
export function freeId(taken: ReadonlySet<string>): string {
  let number = taken.size + 1
  while (taken.has(`O${number}`)) number++
  return `O${number}`
}
