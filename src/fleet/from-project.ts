/** Turns the tasks of a project into fleet tasks: the same graph, with ids that are unique in the fleet. */
import { criticalPath } from '../engine/graph.ts'
import { RalphError } from '../error.ts'
import { graphTask, type Task } from '../formats/tasks.ts'
import { given } from '../request/given.ts'
import type { Submitting } from './submit.ts'

/** Settings shared by all of them. `checks` run in addition to those of each task. */
export type ForAll = Omit<Submitting, 'id' | 'title' | 'prompt' | 'project' | 'depends_on' | 'touches'>

/** `copy`: how often the project has been submitted, counting this time. Completed tasks are left out; the start of the longest chain comes first. */
export function fromProject(
  name: string,
  tasks: readonly Task[],
  { forAll, copy }: { forAll: ForAll; copy: number },
): Submitting[] {
  const open = tasks.filter(({ status }) => status !== 'completed')
  const blocked = open.find((task) => task.blocked)
  if (blocked)
    throw new RalphError(
      'tasks-invalid',
      `tasks.json: task ${blocked.id} is blocked, so it cannot be submitted. Set its status to "pending", or remove it.`,
    )
  const end = copy === 1 ? '' : `-${copy}`
  const ids = new Map(open.map(({ id }) => [id, `${plain(name)}-${plain(id)}${end}`]))
  if (new Set(ids.values()).size < open.length) throw clashing(open)
  const lengths = criticalPath(open.map(graphTask))
  const first = [...open].sort((a, b) => (lengths.get(b.id) ?? 0) - (lengths.get(a.id) ?? 0))
  return first.map((task) => submittingOf(task, { project: `${name}${end}`, ids, forAll }))
}

type Naming = { project: string; ids: ReadonlyMap<string, string>; forAll: ForAll }

function submittingOf(task: Task, { project, ids, forAll }: Naming): Submitting {
  const { title, description, verify = [], require, protect = [], may_change = [], touches } = task
  const checks = [...new Set([...(forAll.checks ?? []), ...verify])]
  const limits = { iterations: task.max_attempts, ...forAll.limits }
  const globs = {
    protect: [...(forAll.protect ?? []), ...protect],
    mayChange: [...(forAll.mayChange ?? []), ...may_change],
  }
  return {
    ...forAll,
    ...globs,
    ...given({ id: ids.get(task.id), require: require ?? forAll.require, touches }),
    title,
    prompt: description.trim() === '' ? title : `${title}\n\n${description}`,
    project,
    checks,
    limits,
    depends_on: task.dependencies.flatMap((other) => ids.get(other) ?? []),
  }
}

/** Safe as part of a branch name. */
function plain(text: string): string {
  return text
    .replace(/[^\w.-]/g, '-')
    .replace(/\.\.+/g, '.')
    .replace(/(\.|\.lock)$/, '')
}

function clashing(tasks: readonly Task[]): RalphError {
  const seen = new Map<string, string>()
  const [one = '', other = ''] = tasks.flatMap(({ id }) => {
    const before = seen.get(plain(id))
    seen.set(plain(id), id)
    return before === undefined ? [] : [before, id]
  })
  return new RalphError(
    'tasks-invalid',
    `tasks.json: the ids "${one}" and "${other}" differ only in characters that branch names cannot contain. Rename one of them.`,
  )
}
