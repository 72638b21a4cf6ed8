/** `ralph import`: takes over tasks that another tool or a person wrote down, as a project or to the board. */
import { existsSync, realpathSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { importBoard, isBoard } from '../../operations/import-board.ts'
import { importTasks } from '../../operations/import-tasks.ts'
import { type Args, type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command, Context } from './context.ts'
import { count } from './text.ts'

const spec: CommandSpec = {
  name: 'import',
  words: 'FILE [PROJECT] [options]',
  summary:
    'Imports tasks: a prd.json, a tasks.json or Markdown with check boxes as a project, a vibe-kanban database to the board.',
  about: `The format of FILE is detected from its contents. The tasks go to .artefacts/PROJECT/tasks.json, which must not be there yet;
spec.md, state.json and obstacles.json are made if they are missing.
The database of vibe-kanban is only read; "vibe-kanban" looks for it in its default location. Its tasks go to the board and keep
their ids, so importing it again adds only what is new.`,
  options: {
    dir: { value: 'D', help: 'the folder the project is worked on in' },
    'dry-run': { help: 'vibe-kanban: only show what would be imported' },
  },
  examples: [
    ['ralph import prd.json shop', 'user stories: passes, priority and dependsOn are kept'],
    ['ralph import fix_plan.md shop', 'every check box is a task; ticked ones are completed'],
    ['ralph import vibe-kanban --dry-run', 'what the board would get from vibe-kanban'],
  ],
}

export const importFile: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 2)
    const [file, name] = args.words
    if (file !== undefined && isBoard(context, file)) return boardImport(context, args, file)
    if (args.flag('dry-run')) throw usage(spec, '--dry-run is for a vibe-kanban database.')
    if (file === undefined) throw usage(spec, 'Name the file and the project to make of it.')
    if (name === undefined)
      throw usage(
        spec,
        existsSync(resolve(context.cwd, file))
          ? `${file} is not a vibe-kanban database. Name the project to make of it, too.`
          : `${file} does not exist.`,
      )
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

async function boardImport(context: Context, args: Args, file: string): Promise<number> {
  if (args.words.length > 1 || args.text('dir') !== undefined)
    throw usage(spec, 'A vibe-kanban database goes to the board: leave out the project and --dir.')
  const isDry = args.flag('dry-run')
  const found = await importBoard.run(context, { file, dry_run: isDry })
  const states = Object.entries(found.byStatus).filter(([, tasks]) => tasks > 0)
  const split = states.map(([status, tasks]) => `${tasks} ${status}`).join(', ')
  const lines = [
    `${found.file}: ${count(found.groups, 'new project')}, ${count(found.tasks, 'new task')}${split && ` (${split})`}, ${found.known} already on the board.`,
    ...found.notes,
    isDry ? 'Nothing was imported: --dry-run only looks.' : 'Next: ralph board',
  ]
  context.out.write(lines.map((line) => `${line}\n`).join(''))
  return 0
}

/** A word as a shell takes it. */
function printWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
