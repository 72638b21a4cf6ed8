/** `ralph board`: tasks that people and programs keep in ralph's own database. */
import { nearest } from '../../formats/nearest.ts'
import { isLocked } from '../../host/lock.ts'
import { SERVER_LOCK } from '../../host/server-file.ts'
import { createTask } from '../../operations/create-task.ts'
import { getTask, getTaskPrompt, type ListedTask } from '../../operations/get-task.ts'
import { listGroups, setGroup } from '../../operations/groups.ts'
import { listTasks } from '../../operations/list-tasks.ts'
import { start as startLoop } from '../../operations/start-loop.ts'
import { deleteTask, updateTask } from '../../operations/update-task.ts'
import { given } from '../../request/given.ts'
import { type Args, type CommandSpec, parseArgs, usage } from './args.ts'
import { changesOf, fieldsOf, statusIn } from './board-fields.ts'
import { groupLines, taskLines, taskStory } from './board-view.ts'
import { type BoardVerb, boardVerbs } from './board-words.ts'
import type { Command, Context } from './context.ts'
import { driveHere } from './drive-here.ts'
import { jsonLine } from './text.ts'

const spec: CommandSpec = {
  name: 'board',
  words: '[VERB] …',
  summary: 'Manages the board: tasks with a status, priority and dependencies, each run by a loop.',
  about: `Verbs:
${Object.values(boardVerbs)
  .map(({ name, summary }) => `  ${name.slice('board '.length).padEnd(6)}  ${summary}`)
  .join('\n')}

Without a verb, it lists the tasks. While \`ralph serve\` is running, started tasks go into its queue; otherwise they run here.
TASK is a task id. \`ralph board VERB --help\` lists the options of a verb.`,
  options: boardVerbs.list.options,
  examples: [
    ['ralph board new "Fix the login" --repo ./shop --verify "npm test"', 'add a task'],
    ['ralph board start k3f9x2ab', 'start it'],
  ],
}

export const board: Command = {
  spec,
  verbs: boardVerbs,
  async run(argv, context) {
    const [verb, rest] = verbIn(argv)
    return VERBS[verb](parseArgs(boardVerbs[verb], rest, WORDLESS.has(verb) ? 0 : 1), context)
  },
}

const WORDLESS: ReadonlySet<BoardVerb> = new Set(['list', 'groups'])

/** Without a verb: list. */
function verbIn(argv: readonly string[]): [BoardVerb, readonly string[]] {
  const [word, ...rest] = argv
  if (word === undefined || word.startsWith('-')) return ['list', argv]
  const names = Object.keys(boardVerbs) as BoardVerb[] // Object.keys loses the type
  const found = names.find((name) => name === word)
  if (found) return [found, rest]
  const close = nearest(word, names)
  throw usage(spec, `Unknown verb: "${word}".${close ? ` Did you mean "ralph board ${close}"?` : ''}`)
}

async function allTasks(context: Context, filter: Parameters<typeof listTasks.run>[1]): Promise<ListedTask[]> {
  const { tasks, next } = await listTasks.run(context, { ...filter, limit: 500 })
  return next === undefined ? tasks : [...tasks, ...(await allTasks(context, { ...filter, after: next }))]
}

const VERBS: Readonly<Record<BoardVerb, (args: Args, context: Context) => Promise<number>>> = {
  async list(args, context) {
    const statuses = args.many('status').flatMap((text) => statusIn(args, text) ?? [])
    const tasks = await allTasks(context, {
      archived: args.flag('archived'),
      ...given({
        status: statuses.length > 0 ? statuses : undefined,
        project_id: args.text('project'),
        text: args.text('text'),
      }),
    })
    const isFiltered =
      args.many('status').length > 0 || args.flag('archived') || args.flag('project') || args.flag('text')
    return print(args, context, { tasks }, () =>
      tasks.length === 0 && isFiltered ? 'No tasks match.\n' : taskLines(tasks, context.out),
    )
  },

  async new(args, context) {
    const title = wordOf(args, 'TITLE')
    const task = await createTask.run(context, { ...fieldsOf(args, context), title })
    if (!args.flag('start')) return print(args, context, task, () => `Added task ${task.id}: ${task.title}\n`)
    return startHere(args, context, task.id)
  },

  async show(args, context) {
    const task = await getTask.run(context, { task_id: wordOf(args, 'TASK') })
    return print(args, context, task, () => taskStory(task, context.out))
  },

  async set(args, context) {
    const task_id = wordOf(args, 'TASK')
    const { limits } = await getTask.run(context, { task_id })
    const [fields, changes] = [fieldsOf(args, context, limits), changesOf(args)]
    const twice = Object.keys(changes).find((field) => field in fields)
    if (twice !== undefined) throw usage(args.spec, `${twice} cannot be both set and cleared.`)
    const patch = { ...fields, ...changes }
    if (Object.keys(patch).length === 0) throw usage(args.spec, 'Nothing to change: give at least one option.')
    const task = await updateTask.run(context, { ...patch, task_id })
    return print(args, context, task, () => `Changed task ${task.id}.\n`)
  },

  start: (args, context) => startHere(args, context, wordOf(args, 'TASK')),

  async prompt(args, context) {
    const { prompt } = await getTaskPrompt.run(context, { task_id: wordOf(args, 'TASK') })
    context.out.write(`${prompt}\n`)
    return 0
  },

  async delete(args, context) {
    const deleted = await deleteTask.run(context, { task_id: wordOf(args, 'TASK') })
    return print(args, context, deleted, () => `Deleted task ${deleted.task_id}.\n`)
  },

  async groups(args, context) {
    const { groups } = await listGroups.run(context, {})
    return print(args, context, { groups }, () => groupLines(groups))
  },

  async group(args, context) {
    const asked = given({ name: args.text('name'), repo: args.text('repo') })
    const group = await setGroup.run(context, { project_id: wordOf(args, 'ID'), ...asked })
    return print(args, context, group, () => groupLines([group]))
  },
}

/** A running server takes it from the queue. */
async function startHere(args: Args, context: Context, task_id: string): Promise<number> {
  const isServed = isLocked(context.home, SERVER_LOCK)
  const asking = isServed ? { ...context, workers: { take: () => {}, look: () => {} } } : context
  const { loop, why } = await startLoop.run(asking, { task_id })
  if (!isServed)
    return driveHere(context, loop, { json: args.flag('json'), notify: args.flag('notify'), ...given({ why }) })
  return print(
    args,
    context,
    { loop, queued: true },
    () => `Queued loop ${loop}. Follow it: ralph show ${loop} --follow\n`,
  )
}

function wordOf(args: Args, what: string): string {
  const [word] = args.words
  if (word?.trim()) return word
  throw usage(args.spec, `Missing ${what}: ralph ${args.spec.name} ${what}.`)
}

function print(args: Args, { out }: Context, value: unknown, words: () => string): number {
  out.write(args.flag('json') ? jsonLine(value) : words())
  return 0
}
