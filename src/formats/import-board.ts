/** Converts the tables of a vibe-kanban database into tasks and groups of the board. */
import { BOARD_DEFAULTS, type BoardGroup, type BoardStatus, type BoardTask } from './board-task.ts'
import { cutTo, oneLine } from './one-line.ts'

/** Rows by table; tables that this version of vibe-kanban does not have are empty. */
export type BoardTables = Readonly<Record<BoardTable, readonly Row[]>>
export type BoardTable = (typeof BOARD_TABLES)[number]
export const BOARD_TABLES = ['projects', 'tasks', 'repos', 'project_repos', 'workspaces', 'task_attempts'] as const

type Row = Readonly<Record<string, unknown>>

/** `notes`: what could not be imported unchanged. */
export type ImportedBoard = { groups: BoardGroup[]; tasks: BoardTask[]; notes: string[] }

/** `at`: for rows without a creation time. */
export function importBoard(tables: BoardTables, at: number): ImportedBoard {
  const repos = new Map(tables.repos.map((row) => [idOf(row.id), textOf(row.path) ?? '']))
  const projects = tables.projects.map((row) => projectOf(row, tables.project_repos, repos))
  const groups = projects.map(({ project_id, name, folders: [repo = null] }) => ({ project_id, name, repo }))
  const known = new Set(groups.map(({ project_id }) => project_id))
  const parents = parentsOf(tables)
  const tasks = uniqueTasks(tables.tasks.map((row) => taskOf(row, { known, at })))
  const cancelled = new Set(tasks.flatMap(({ id, status }) => (status === 'cancelled' ? [id] : [])))
  const isWaitedFor = (id: string) => !cancelled.has(id) && !isOwnAncestor(id, parents)
  return {
    groups,
    tasks: tasks.map((task) => {
      const parent = parents.get(task.id)
      return parent !== undefined && isWaitedFor(parent) ? { ...task, depends_on: [parent] } : task
    }),
    notes: [
      ...projects.flatMap(({ name, folders }) =>
        folders.length > 1
          ? [
              `${name} has ${folders.length} repositories; its tasks work in ${folders[0]}. To use another, set \`repo\` on the task.`,
            ]
          : [],
      ),
      ...unknownStatuses(tables.tasks).map((status) => `Unknown status "${status}": its tasks become todo.`),
    ],
  }
}

/** Whether the task rows look like vibe-kanban's. */
export function isBoardOfTasks({ tasks }: BoardTables): boolean {
  return tasks.every((row) => ['id', 'project_id', 'title', 'status'].every((column) => Object.hasOwn(row, column)))
}

function uniqueTasks(tasks: readonly BoardTask[]): BoardTask[] {
  return [...new Map(tasks.filter(({ id }) => id !== '').map((task) => [task.id, task])).values()]
}

type Project = { project_id: string; name: string; folders: string[] }

/** Older versions keep the folder in the project itself. */
function projectOf(row: Row, links: readonly Row[], repos: ReadonlyMap<string, string>): Project {
  const project_id = idOf(row.id)
  const linked = links
    .filter((link) => idOf(link.project_id) === project_id)
    .map((link) => repos.get(idOf(link.repo_id)))
  const folders = [textOf(row.git_repo_path), ...linked].flatMap((path) => path || [])
  return { project_id, name: titleOf(row.name, 200), folders: [...new Set(folders)] }
}

/** A task created from an attempt at another one depends on it. */
function parentsOf({ tasks, workspaces, task_attempts }: BoardTables): ReadonlyMap<string, string> {
  const workedOn = new Map([...workspaces, ...task_attempts].map((row) => [idOf(row.id), idOf(row.task_id)]))
  const ids = new Set(tasks.map(({ id }) => idOf(id)))
  return new Map(
    tasks.flatMap((row): [string, string][] => {
      const parent = workedOn.get(idOf(row.parent_workspace_id ?? row.parent_task_attempt))
      return parent !== undefined && ids.has(parent) ? [[idOf(row.id), parent]] : []
    }),
  )
}

function isOwnAncestor(id: string, parents: ReadonlyMap<string, string>): boolean {
  const passed = new Set<string>()
  for (let above = parents.get(id); above !== undefined && !passed.has(above); above = parents.get(above)) {
    if (above === id) return true
    passed.add(above)
  }
  return false
}

const STATUSES: Readonly<Record<string, BoardStatus>> = {
  todo: 'todo',
  inprogress: 'in-progress',
  inreview: 'in-review',
  done: 'done',
  cancelled: 'cancelled',
}

function statusOf({ status }: Row): BoardStatus | undefined {
  const name = textOf(status) ?? ''
  return Object.hasOwn(STATUSES, name) ? STATUSES[name] : undefined
}

function unknownStatuses(tasks: readonly Row[]): string[] {
  const unknown = tasks.flatMap((row) => (statusOf(row) ? [] : cutTo(oneLine(String(row.status)), 50)))
  return [...new Set(unknown)]
}

// As create_task accepts them.
const LONGEST_TITLE = 500
const LONGEST_DESCRIPTION = 200_000
const LONGEST_PROMISE = 1_000
const MOST_ITERATIONS = 999_999_999

function taskOf(row: Row, { known, at }: { known: ReadonlySet<string>; at: number }): BoardTask {
  const project = idOf(row.project_id)
  const created = timeOf(row.created_at) ?? at
  const title = titleOf(row.title, LONGEST_TITLE)
  const words = textOf(row.description) ?? ''
  const full = textOf(row.title)?.trim() ?? ''
  const description = full === title ? words : [full, words].filter(Boolean).join('\n\n')
  return {
    ...BOARD_DEFAULTS,
    id: idOf(row.id),
    project_id: known.has(project) ? project : null,
    title,
    description: description.trim() === '' ? null : cutTo(description, LONGEST_DESCRIPTION),
    status: statusOf(row) ?? 'todo',
    ...loopFieldsOf(row),
    loop_id: null,
    created_by: 'import',
    created_at: new Date(created).toISOString(),
    updated_at: new Date(timeOf(row.updated_at) ?? created).toISOString(),
    version: 1,
  }
}

type LoopFields = Pick<BoardTask, 'use_ralph_wiggum' | 'ralph_max_iterations' | 'ralph_completion_promise'>

/** Only a fork has these. */
function loopFieldsOf(row: Row): Partial<LoopFields> {
  const { use_ralph_wiggum: loops, ralph_max_iterations: most } = row
  const promise = cutTo(oneLine(textOf(row.ralph_completion_promise) ?? ''), LONGEST_PROMISE)
  return {
    ...(loops === undefined || loops === null ? {} : { use_ralph_wiggum: Number(loops) !== 0 }),
    ...(Number.isInteger(most) && Number(most) >= 0 && Number(most) <= MOST_ITERATIONS
      ? { ralph_max_iterations: Number(most) }
      : {}),
    ...(promise === '' ? {} : { ralph_completion_promise: promise }),
  }
}

/** A UUID of sixteen bytes, with dashes. Empty: there is none. */
function idOf(value: unknown): string {
  if (!(value instanceof Uint8Array))
    return (
      textOf(value)
        ?.replaceAll(/[/\\\p{Cc}]/gu, '-')
        .replace(/^\./, '-') ?? ''
    )
  const hex = [...value].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function titleOf(value: unknown, longest: number): string {
  return cutTo(oneLine(textOf(value) ?? ''), longest) || 'Untitled'
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** SQLite's own times have no zone and are in UTC. */
function timeOf(value: unknown): number | undefined {
  const text = textOf(value)?.trim()
  if (!text) return undefined
  const time = Date.parse(/^\d{4}-\d\d-\d\d[ T][\d:.]+$/.test(text) ? `${text.replace(' ', 'T')}Z` : text)
  return Number.isNaN(time) ? undefined : time
}
