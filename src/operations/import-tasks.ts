/** Creates a project from a task file that another tool or a person wrote. */
import { basename, join, resolve } from 'node:path'
import { RalphError } from '../error.ts'
import { importSpec, importTasks as readTasks } from '../formats/import-tasks.ts'
import { printObstacles } from '../formats/obstacles.ts'
import { printProgress } from '../formats/progress.ts'
import { printTasks } from '../formats/tasks.ts'
import { readText } from '../host/config.ts'
import { type FaceName, projectAt, readFace, writeFace } from '../project/folder.ts'
import { withoutPast } from '../project/lock.ts'
import type { Operation } from './operation.ts'
import { workFolder } from './start-loop.ts'

/** `path`: of its task list. */
export type ImportedTasks = { dir: string; path: string; tasks: number; completed: number }

export const importTasks: Operation<{ file: string; project: string; dir?: string }, ImportedTasks> = {
  name: 'import_tasks',
  effect: 'write',
  summary: 'Creates a project from prd.json, tasks.json, or Markdown with checkboxes.',
  async run(context, { file, project: name, dir: folder }) {
    const dir = workFolder(context, folder)
    const project = projectAt(dir, name)
    const path = join(project.folder, 'tasks.json')
    if (readFace(project, 'tasks.json') !== undefined)
      throw new RalphError('usage', `${path} already exists. Choose another project name, or move that file.`)
    const text = readText(resolve(context.cwd, file), 'task')
    const from = { file: basename(file), project: name }
    const list = readTasks(text, from)
    await withoutPast(project, context)
    // The tasks are written last: a project without them can be imported again.
    const faces: [FaceName, string][] = [
      ['spec.md', importSpec(text, from)],
      ['state.json', printProgress([])],
      ['obstacles.json', printObstacles([])],
      ['tasks.json', printTasks(list)],
    ]
    for (const [face, content] of faces) if (readFace(project, face) === undefined) writeFace(project, face, content)
    const completed = list.tasks.filter(({ status }) => status === 'completed').length
    return { dir, path, tasks: list.tasks.length, completed }
  },
}
