/** `ralph import`: begins a project with the tasks of a file that another tool or a person wrote. */
import { realpathSync } from 'node:fs'
import { relative } from 'node:path'
import { importTasks } from '../../operations/import-tasks.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command } from './context.ts'
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
    const folder = args.text('dir')
    const asked = { file, project: name, ...(folder === undefined ? {} : { dir: folder }) }
    const { dir, path, tasks, completed } = await importTasks.run(context, asked)
    const there = dir === realpathSync(context.cwd) ? '' : ` --dir ${printWord(dir)}`
    context.out.write(
      `${relative(dir, path)}: ${count(tasks, 'task')}, ${completed} completed.\nNext: ralph execute ${name}${there}\n`,
    )
    return 0
  },
}

/** A word as a shell takes it. */
function printWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
