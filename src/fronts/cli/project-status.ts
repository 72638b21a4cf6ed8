/** `ralph status NAME`: the status of a project as text, as JSON, and as a diagram of its tasks. */
import { join } from 'node:path'
import { readyTasks } from '../../engine/graph.ts'
import { printGraph } from '../../formats/mermaid.ts'
import { findingLines } from '../../formats/proof-words.ts'
import type { TaskProof } from '../../formats/results.ts'
import { money } from '../../formats/spent-words.ts'
import { graphTask, type Task } from '../../formats/tasks.ts'
import { type FoundProject, getProject } from '../../operations/get-project.ts'
import type { Context } from './context.ts'
import { bar } from './project-view.ts'
import { clock, count, jsonLine, paint, short, table } from './text.ts'

const MOST_ROWS = 50

/** `all`: show every task. */
export async function projectStatus(
  context: Context,
  name: string,
  how: { json: boolean; graph: boolean; all: boolean },
): Promise<string> {
  const { out } = context
  const project = await getProject.run(context, { project: name })
  const { tasks, alive, obstacles, iterations, workedMs, costUsd } = project
  if (!tasks) return `Project ${name} has no tasks yet. Create them: ralph interview ${name}\n`
  if (how.graph) return printGraph(tasks)
  if (how.json) return jsonLine(projectJson(project, tasks))
  const shown = how.all ? tasks : [...tasks].sort(byInterest).slice(0, MOST_ROWS)
  return [
    `${bar(out, tasks)}  ${name} · ${completedOf(tasks)}/${count(tasks.length, 'task')}${alive ? ' · running' : ''}`,
    [
      count(iterations, 'iteration'),
      ...(workedMs > 0 ? [clock(workedMs)] : []),
      ...(costUsd > 0 ? [money(costUsd)] : []),
    ].join(' · '),
    '',
    table(rowsOf(shown, tasks, project), out.columns)
      .trimEnd()
      .replace(/^.*/, (head) => paint(out, 'dim', head)),
    ...(shown.length < tasks.length ? [`… and ${tasks.length - shown.length} more: use --all`] : []),
    ...(project.proofs.some(isNoteworthy) ? ['', 'Noticed:'] : []),
    ...project.proofs
      .filter(isNoteworthy)
      .slice(-10)
      .flatMap((proof) => noticed(proof, out.columns)),
    ...(obstacles.length > 0 ? ['', 'Open obstacles:'] : []),
    ...obstacles
      .slice(-10)
      .map(({ id, task_id, message }) => `  ${id} (${task_id}) ${short(message, out.columns - 16)}`),
    '',
    nextStep(project, tasks),
    '',
  ].join('\n')
}

function isNoteworthy({ findings }: TaskProof): boolean {
  return findings.length > 0
}

function noticed({ task_id, findings }: TaskProof, columns: number): string[] {
  return findingLines(findings).map((line) => `  ${task_id}  ${short(line, columns - task_id.length - 4)}`)
}

function nextStep({ name, folder, alive, stop }: FoundProject, tasks: readonly Task[]): string {
  if (alive) return `Watch it: ralph status ${name} --watch`
  if (tasks.length === 0) return `There are no tasks yet. Create them: ralph interview ${name}`
  if (stop === undefined) return `Continue: ralph execute ${name}`
  return `${stop} Details: ${join(folder, 'results.md')}`
}

function completedOf(tasks: readonly Task[]): number {
  return tasks.filter(({ status }) => status === 'completed').length
}

/** Running and blocked tasks first, completed ones last. */
function byInterest(a: Task, b: Task): number {
  const rank = { in_progress: 0, blocked: 1, pending: 2, completed: 3 }
  return rank[a.status] - rank[b.status]
}

function rowsOf(shown: readonly Task[], all: readonly Task[], { open: begun, proofs }: FoundProject): string[][] {
  const completed = new Set(all.filter(({ status }) => status === 'completed').map(({ id }) => id))
  const ready = new Set(readyTasks(all.map(graphTask)).map(({ id }) => id))
  return [
    ['task', 'state', 'attempts', 'loop', 'title'],
    ...shown.map((task) => {
      const waits = task.dependencies.filter((id) => !completed.has(id))
      const state =
        task.status !== 'pending'
          ? [
              task.status.replace('_', ' '),
              ...proofs.filter(({ task_id }) => task_id === task.id).map(({ proof }) => proof),
            ].join(', ')
          : ready.has(task.id)
            ? task.attempts < task.max_attempts
              ? 'ready'
              : 'no attempts left'
            : `waiting for ${short(waits.join(', '), 24)}`
      const loop = begun.find((open) => open.task === task.id)?.loop ?? ''
      return [task.id, state, `${task.attempts}/${task.max_attempts}`, loop, short(task.title, 60)]
    }),
  ]
}

function projectJson(
  { name, folder, alive, iterations, obstacles, costUsd, tokens, loops, proofs }: FoundProject,
  tasks: readonly Task[],
): object {
  return {
    type: 'project',
    project: name,
    folder,
    alive,
    completed: completedOf(tasks),
    total: tasks.length,
    iterations,
    open_obstacles: obstacles.length,
    cost_usd: costUsd,
    tokens,
    loops,
    tasks,
    proofs,
  }
}
