/** `ralph import`: imports tasks from other tools and files, into a project or the board. */
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
    'Imports tasks into a project from prd.json, tasks.json or a Markdown checklist, or onto the board from vibe-kanban.',
  about: `The format is detected from the content of FILE. The tasks go to .artefacts/PROJECT/tasks.json, which must not exist yet;
spec.md, state.json and obstacles.json are created if they are missing.
A vibe-kanban database is never changed; give "vibe-kanban" as FILE to use the one in its default location. Its tasks go to the
board and keep their ids, so importing it again adds only new tasks.`,
  options: {
    dir: { value: 'D', help: 'folder of the project (default: the current one)' },
    'dry-run': { help: 'show what a vibe-kanban import would add, without importing' },
  },
  examples: [
    ['ralph import prd.json shop', 'user stories: passes, priority and dependsOn are kept'],
    ['ralph import fix_plan.md shop', 'every checkbox is a task; checked ones are completed'],
    ['ralph import vibe-kanban --dry-run', 'what an import from vibe-kanban would add'],
  ],
}

export const importFile: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 2)
    const [file, name] = args.words
    if (file !== undefined && isBoard(context, file)) return boardImport(context, args, file)
    if (args.flag('dry-run')) throw usage(spec, '--dry-run only works with a vibe-kanban database.')
    if (file === undefined) throw usage(spec, 'Missing file and project name: ralph import FILE PROJECT.')
    if (name === undefined)
      throw usage(
        spec,
        existsSync(resolve(context.cwd, file))
          ? `${file} is not a vibe-kanban database, so a project name is needed: ralph import FILE PROJECT.`
          : `No such file: ${file}.`,
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
    isDry ? 'Dry run: nothing was imported.' : 'Next: ralph board',
  ]
  context.out.write(lines.map((line) => `${line}\n`).join(''))
  return 0
}

/** Quoted for a shell where needed. */
function printWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
