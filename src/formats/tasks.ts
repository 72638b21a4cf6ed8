/** tasks.json: the tasks of a project. Parsed leniently, printed exactly. */

import { type GraphTask, graphProblem } from '../engine/graph.ts'
import { type Grade, REQUIRABLE } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { commandTrouble } from './command-line.ts'
import { GLOBS_SUCH_AS, globTrouble } from './glob.ts'
import { isCount, isObject, isTexts, type Json, printJson, quote, readJson } from './json-file.ts'

export type TaskStatus = 'pending' | 'in_progress' | 'completed' | 'blocked'

/** Fields of other tools are kept. */
export type Task = {
  id: string
  title: string
  description: string
  status: TaskStatus
  /** Ids of the tasks that must be completed first. */
  dependencies: string[]
  attempts: number
  max_attempts: number
  blocked: boolean
  /** Check commands of this task. */
  verify?: string[]
  /** A claim with a weaker proof is refused. */
  require?: Grade
  /** Globs of files that count as tests, and of files that this task may change. */
  protect?: string[]
  may_change?: string[]
  /** Globs of the files it will change: in the fleet, tasks with overlapping globs do not run at the same time. */
  touches?: string[]
  /** How long it may take, in minutes: the longest chains of waiting tasks start first. */
  estimate?: number
}

export type TaskList = { project_name: string; version: number; tasks: Task[] }

const STATUSES: readonly TaskStatus[] = ['pending', 'in_progress', 'completed', 'blocked']
/** The default number of attempts. */
export const DEFAULT_ATTEMPTS = 3

/** The list in a text, or all its problems. Missing fields get the values of a new task. */
export function readTasks(text: string): { list: TaskList } | { problems: string[] } {
  const json = readJson(text)
  if ('problem' in json) return { problems: [json.problem] }
  const { value } = json
  if (!isObject(value) || !Array.isArray(value.tasks))
    return { problems: ['it must be an object with a list of "tasks".'] }
  const problems: string[] = []
  if (value.project_name !== undefined && typeof value.project_name !== 'string')
    problems.push(`project_name must be a string, got ${quote(value.project_name)}.`)
  if (value.version !== undefined && !isCount(value.version))
    problems.push(`version must be a whole number, got ${quote(value.version)}.`)
  for (const [index, task] of value.tasks.entries()) problems.push(...taskProblems(task, index + 1))
  if (problems.length > 0) return { problems }
  const tasks = (value.tasks as Json[]).map(toTask)
  const graph = graphProblem(tasks.map(graphTask))
  if (graph) return { problems: [graph] }
  const { project_name: name = '', version = 1, tasks: _, ...more } = value
  return { list: { project_name: String(name), version: Number(version), tasks, ...more } }
}

export function parseTasks(text: string, file: string): TaskList {
  const read = readTasks(text)
  if ('list' in read) return read.list
  const [first = '', ...more] = read.problems
  const rest = more.length > 0 ? ` And ${more.length} more: ${more.slice(0, 5).join(' ')}` : ''
  throw new RalphError('tasks-invalid', `${file}: ${first}${rest}`)
}

export function printTasks({ project_name, version, tasks, ...more }: TaskList): string {
  return printJson({ project_name, version, ...more, tasks: tasks.map(inOrder) })
}

/** How the engine sees a task. */
export function graphTask({ id, dependencies, status, blocked, estimate }: Task): GraphTask {
  return {
    id,
    dependsOn: dependencies,
    status: status === 'completed' ? 'completed' : blocked ? 'blocked' : 'open',
    ...(estimate === undefined ? {} : { size: estimate }),
  }
}

function taskProblems(task: unknown, place: number): string[] {
  if (!isObject(task)) return [`task ${place} must be an object, got ${quote(task)}.`]
  const wrong = FIELDS.filter(([field, fits]) => (task[field] === undefined ? REQUIRED.has(field) : !fits(task[field])))
  const name = typeof task.id === 'string' && task.id ? `task ${task.id}` : `task ${place} of the list`
  return wrong.map(([field, , expected]) => {
    const why =
      field === 'verify'
        ? [task.verify]
            .flat()
            .filter(isFilled)
            .map((text) => commandTrouble(String(text)))
        : []
    const [trouble] = why.filter((words) => words !== undefined)
    return trouble === undefined
      ? `${name}: ${field} must be ${expected}, got ${quote(task[field])}.`
      : `${name}: ${field}: ${trouble}`
  })
}

const REQUIRED = new Set(['id', 'title'])
const isText = (value: unknown) => typeof value === 'string'
const isFilled = (value: unknown) => isText(value) && String(value).trim() !== ''

const areCommands = (value: unknown) =>
  [value].flat().every((command) => isFilled(command) && commandTrouble(String(command)) === undefined)

const areGlobs = (value: unknown) =>
  [value].flat().every((glob) => typeof glob === 'string' && globTrouble(glob) === undefined)

const FIELDS: readonly (readonly [field: string, fits: (value: unknown) => boolean, expected: string])[] = [
  ['id', isTaskId, 'a short string such as "T1" (letters, digits, . _ -)'],
  ['title', isFilled, 'a string'],
  ['description', isText, 'a string'],
  ['status', (value) => STATUSES.includes(value as TaskStatus), `one of ${STATUSES.join(', ')}`],
  ['dependencies', isTexts, 'a list of ids'],
  ['attempts', isCount, 'a whole number'],
  ['max_attempts', (value) => isCount(value) && value > 0, 'a whole number above 0'],
  ['blocked', (value) => typeof value === 'boolean', 'true or false'],
  ['verify', areCommands, 'a command or a list of commands'],
  ['require', (value) => REQUIRABLE.some((grade) => grade === value), `one of ${REQUIRABLE.join(', ')}`],
  ['protect', areGlobs, `a glob or a list of globs ${GLOBS_SUCH_AS}`],
  ['may_change', areGlobs, `a glob or a list of globs ${GLOBS_SUCH_AS}`],
  ['touches', areGlobs, `a glob or a list of globs ${GLOBS_SUCH_AS}`],
  ['estimate', (value) => typeof value === 'number' && value > 0, 'a number of minutes above 0'],
]

const ID = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u

export function isTaskId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value)
}

// Every field has been checked. Either the flag or the status blocks a task; from here on they agree.
function toTask({ id, title, description, status, dependencies, attempts, max_attempts, ...rest }: Json): Task {
  const { blocked: flag, verify, protect, may_change, touches, ...more } = rest
  const blocked = status === 'blocked' || flag === true
  return {
    id: id as string,
    title: title as string,
    description: (description ?? '') as string,
    status: blocked ? 'blocked' : ((status ?? 'pending') as TaskStatus),
    dependencies: (dependencies ?? []) as string[],
    attempts: (attempts ?? 0) as number,
    max_attempts: (max_attempts ?? DEFAULT_ATTEMPTS) as number,
    blocked,
    ...(verify === undefined ? {} : { verify: listOf(verify) }),
    ...(protect === undefined ? {} : { protect: listOf(protect) }),
    ...(may_change === undefined ? {} : { may_change: listOf(may_change) }),
    ...(touches === undefined ? {} : { touches: listOf(touches) }),
    ...more,
  }
}

/** A single string stands for a list with one item. */
function listOf(value: unknown): string[] {
  return [value as string | string[]].flat()
}

function inOrder({
  id,
  title,
  description,
  status,
  dependencies,
  attempts,
  max_attempts,
  blocked,
  ...more
}: Task): Task {
  return { id, title, description, status, dependencies, attempts, max_attempts, blocked, ...more }
}
