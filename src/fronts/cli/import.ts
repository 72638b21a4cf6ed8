/** `ralph import`: begins a project with the tasks of a file that another tool or a person wrote. */

import { realpathSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { RalphError } from '../../error.ts'
import { importSpec, importTasks } from '../../formats/import-tasks.ts'
import { printObstacles } from '../../formats/obstacles.ts'
import { printProgress } from '../../formats/progress.ts'
import { printTasks } from '../../formats/tasks.ts'
import { readText } from '../../host/config.ts'
import { type FaceName, projectAt, readFace, writeFace } from '../../project/folder.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import { type Command, workFolder } from './context.ts'
import { count } from './text.ts'

const spec: CommandSpec = {
  name: 'import',
  words: 'FILE PROJECT [options]',
  summary: 'Begins a project with the tasks of a prd.json, a tasks.json, or Markdown with check boxes.',
  about: `What FILE is, is told by what is in it. The tasks go to .artefacts/PROJECT/tasks.json, which must not be there yet;
spec.md, state.json and obstacles.json are made if they are missing.`,
  options: { dir: { value: 'D', help: 'the folder the project is worked on in' } },
  examples: [
    ['ralph import prd.json shop', 'user stories: passes, priority and dependsOn are kept'],
    ['ralph import fix_plan.md shop', 'every check box is a task; ticked ones are completed'],
  ],
}

export const importFile: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 2)
    const [file, name] = args.words
    if (file === undefined || name === undefined) throw usage(spec, 'Name the file and the project to make of it.')
    const dir = workFolder(context, args.text('dir'))
    const project = projectAt(dir, name)
    if (readFace(project, 'tasks.json') !== undefined)
      throw new RalphError(
        'usage',
        `${join(project.folder, 'tasks.json')} is already there. Choose another name for the project, or move it away.`,
      )
    const text = readText(resolve(context.cwd, file), 'task')
    const from = { file: basename(file), project: name }
    const list = importTasks(text, from)
    // The tasks come last: a project without them can be imported again.
    const faces: [FaceName, string][] = [
      ['spec.md', importSpec(text, from)],
      ['state.json', printProgress([])],
      ['obstacles.json', printObstacles([])],
      ['tasks.json', printTasks(list)],
    ]
    for (const [face, content] of faces) if (readFace(project, face) === undefined) writeFace(project, face, content)
    const completed = list.tasks.filter(({ status }) => status === 'completed').length
    const path = relative(dir, join(project.folder, 'tasks.json'))
    const there = dir === realpathSync(context.cwd) ? '' : ` --dir ${printWord(dir)}`
    context.out.write(
      `${path}: ${count(list.tasks.length, 'task')}, ${completed} completed.\nNext: ralph execute ${name}${there}\n`,
    )
    return 0
  },
}

/** A word as a shell takes it. */
function printWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
