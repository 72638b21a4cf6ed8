/** Imports the tasks of a vibe-kanban database. Tasks already on the board do not change. */
import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { RalphError } from '../error.ts'
import { BOARD_STATUSES, type BoardStatus } from '../formats/board-task.ts'
import { BOARD_TABLES, isBoardOfTasks, importBoard as readBoard } from '../formats/import-board.ts'
import { isDatabase, readTables } from '../host/foreign-database.ts'
import type { Context, Operation } from './operation.ts'

/** `known`: tasks that were on the board already. */
export type BoardImport = {
  file: string
  groups: number
  tasks: number
  known: number
  byStatus: Record<BoardStatus, number>
  notes: string[]
}

/** `vibe-kanban` stands for the default location of its database. */
export const importBoard: Operation<{ file: string; dry_run?: boolean }, BoardImport> = {
  name: 'import_board',
  effect: 'write',
  summary: 'Imports projects and tasks from a vibe-kanban database, which it only reads.',
  async run(context, { file: asked, dry_run = false }) {
    const file = fileOf(context, asked)
    const tables = readTables(file, BOARD_TABLES, ['projects', 'tasks'])
    if (!tables || !isBoardOfTasks(tables))
      throw new RalphError('input-invalid', `${file} does not have the "projects" and "tasks" tables of vibe-kanban.`)
    const { groups, tasks, notes } = readBoard(tables, context.now())
    const { board } = context.store()
    const ids = new Set((await board.groups()).map(({ project_id }) => project_id))
    const newGroups = groups.filter(({ project_id }) => !ids.has(project_id))
    const found = await Promise.all(tasks.map(({ id }) => board.load(id)))
    const newTasks = tasks.filter((_, index) => found[index] === undefined)
    const gone = newGroups.flatMap(({ name, repo }) =>
      repo !== null && !existsSync(repo) ? [`${name}: folder not found: ${repo}. Set it before you start a task.`] : [],
    )
    if (!dry_run) {
      for (const group of newGroups) await board.saveGroup(group)
      for (const task of newTasks) await board.create(task)
    }
    return {
      file,
      groups: newGroups.length,
      tasks: newTasks.length,
      known: tasks.length - newTasks.length,
      byStatus: countsOf(newTasks),
      notes: [...notes, ...gone],
    }
  },
}

function countsOf(tasks: readonly { status: BoardStatus }[]): Record<BoardStatus, number> {
  const counts = BOARD_STATUSES.map((status) => [status, tasks.filter((task) => task.status === status).length])
  return Object.fromEntries(counts) as Record<BoardStatus, number>
}

const WORD = 'vibe-kanban'

/** Whether `ralph import` imports this to the board. */
export function isBoard({ cwd }: Pick<Context, 'cwd'>, file: string): boolean {
  return isDatabase(resolve(cwd, file)) || isWord(cwd, file)
}

/** An existing file of that name wins. */
function isWord(cwd: string, file: string): boolean {
  return file === WORD && !statSync(resolve(cwd, file), { throwIfNoEntry: false })?.isFile()
}

function fileOf({ cwd, env }: Context, asked: string): string {
  if (!isWord(cwd, asked)) {
    const file = resolve(cwd, asked)
    if (isDatabase(file)) return file
    throw new RalphError(
      'input-invalid',
      `${file} is not a SQLite database. Name the file db.v2.sqlite of vibe-kanban.`,
    )
  }
  const places = foldersOf(env).flatMap((folder) => ['db.v2.sqlite', 'db.sqlite'].map((name) => join(folder, name)))
  const found = places.find(isDatabase)
  if (found !== undefined) return found
  throw new RalphError(
    'input-invalid',
    `No vibe-kanban database found at ${places.join(', ')}. Give the path of the file.`,
  )
}

/** Where vibe-kanban keeps its files, on Linux and on macOS. */
function foldersOf({ HOME = '', XDG_DATA_HOME }: Context['env']): string[] {
  return [
    join(XDG_DATA_HOME || join(HOME, '.local/share'), 'vibe-kanban'),
    join(HOME, 'Library/Application Support/ai.bloop.vibe-kanban'),
  ]
}
