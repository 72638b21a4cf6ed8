/** Turns the task files that `ralph import` reads into a task list; the format is detected from the content. */
import { RalphError } from '../error.ts'
import { readBoxes } from './import-boxes.ts'
import { readPrd } from './import-prd.ts'
import { isObject, quote, readJson } from './json-file.ts'
import { DEFAULT_ATTEMPTS, isTaskId, parseTasks, printTasks, type TaskList, type TaskStatus } from './tasks.ts'

/** A task of another tool. `key` identifies it there; `id` is its preferred id here. */
export type Foreign = {
  key: string
  id: string | undefined
  title: string
  description: string
  status: TaskStatus
  /** Keys of the tasks that must come first. */
  dependsOn: string[]
}

/** What the file says about the work as a whole. */
export type Brief = { title: string; text: string }

/** `file` is named in messages; `project` becomes the name of the list. */
export type Import = { file: string; project: string }

/** The result is always a valid tasks.json. */
export function importTasks(text: string, { file, project }: Import): TaskList {
  const found = recognize(text, file)
  const list = 'list' in found ? found.list : { project_name: project, version: 1, tasks: toTasks(found.tasks) }
  if (list.tasks.length === 0) throw new RalphError('input-invalid', `${file} contains no tasks. ${EXPECTED}`)
  return parseTasks(printTasks({ ...list, project_name: project }), file)
}

/** The spec.md that goes with them, as far as the file describes it. */
export function importSpec(text: string, { file, project }: Import): string {
  const found = recognize(text, file)
  const { title, text: words } = 'brief' in found ? found.brief : { title: '', text: '' }
  return `# ${title || project}\n${words && `\n${words}\n`}`
}

type Recognized = { list: TaskList } | { tasks: Foreign[]; brief: Brief }

const EXPECTED =
  'Expected a prd.json (an object with a list of "userStories"), a tasks.json (with a list of "tasks") or Markdown with checkboxes (- [ ] a task).'

function recognize(raw: string, file: string): Recognized {
  const text = raw.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
  if (text.trim() === '') throw new RalphError('input-invalid', `${file} is empty. ${EXPECTED}`)
  const json = readJson(text)
  if ('value' in json) return recognizeJson(json.value, text, file)
  if (/^\s*\{/.test(text) || /\.json$/i.test(file))
    throw new RalphError('input-invalid', `${file}: ${json.problem} Fix it, then import it again.`)
  return readBoxes(text)
}

function recognizeJson(value: unknown, text: string, file: string): Recognized {
  if (isObject(value) && Array.isArray(value.userStories)) {
    const prd = readPrd(value, value.userStories)
    if ('tasks' in prd) return prd
    const [first = '', ...more] = prd.problems
    const rest = more.length > 0 ? ` And ${more.length} more: ${more.slice(0, 5).join(' ')}` : ''
    throw new RalphError('tasks-invalid', `${file}: ${first}${rest}`)
  }
  if (isObject(value) && Array.isArray(value.tasks)) return { list: parseTasks(text, file) }
  throw new RalphError('input-invalid', `${file} contains ${quote(value)}. ${EXPECTED}`)
}

function toTasks(found: readonly Foreign[]): TaskList['tasks'] {
  const ids = giveIds(found)
  return found.map(({ key, title, description, status, dependsOn }) => ({
    id: ids.get(key) ?? key,
    title,
    description,
    status,
    // An unknown key stays as it is, so that the error names it.
    dependencies: [...new Set(dependsOn)].map((other) => ids.get(other) ?? other),
    attempts: 0,
    max_attempts: DEFAULT_ATTEMPTS,
    blocked: status === 'blocked',
  }))
}

/** A task keeps its id if possible; the others become T1, T2 … */
function giveIds(found: readonly Foreign[]): Map<string, string> {
  const taken = new Set(found.map(({ id }) => id))
  let last = 0
  const free = () => {
    do last++
    while (taken.has(`T${last}`))
    return `T${last}`
  }
  return new Map(found.map(({ key, id }) => [key, isTaskId(id) ? id : free()]))
}
