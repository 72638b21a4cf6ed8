/** `ralph status NAME`: how a project stands, for people, for programs, and as a picture of its graph. */
import { join } from 'node:path'
import { readyTasks } from '../../engine/graph.ts'
import { plan } from '../../engine/schedule.ts'
import { printGraph } from '../../formats/mermaid.ts'
import { graphTask, parseTasks, type Task } from '../../formats/tasks.ts'
import { type Project, readFace } from '../../project/folder.ts'
import { isHeld } from '../../project/open.ts'
import { type ProjectRecord, planned, readLists, storedRecord } from '../../project/record.ts'
import { spendingOf } from '../../project/results.ts'
import type { Context } from './context.ts'
import { bar } from './project-view.ts'
import { clock, count, money, paint, short, table } from './text.ts'

const MOST_ROWS = 50

/** `all`: every task, however many there are. */
export async function projectStatus(
  context: Context,
  project: Project,
  how: { json: boolean; graph: boolean; all: boolean },
): Promise<string> {
  const { out } = context
  const text = readFace(project, 'tasks.json')
  if (text === undefined)
    return `project ${project.name} has no tasks yet. Make them: ralph interview ${project.name}\n`
  const { tasks } = parseTasks(text, join(project.folder, 'tasks.json'))
  if (how.graph) return printGraph(tasks)
  const record = await storedRecord(project, context.store())
  const { obstacles, entries } = readLists(project)
  const open = obstacles.filter(({ resolved }) => !resolved)
  const held = isHeld(project)
  const spent = await spendingOf({ loops: record?.loops ?? [] }, context.store())
  const done = tasks.filter(({ status }) => status === 'completed').length
  if (how.json) return `${JSON.stringify(projectJson(project, { tasks, held, record, open: open.length, ...spent }))}\n`
  const shown = how.all ? tasks : [...tasks].sort(byInterest).slice(0, MOST_ROWS)
  return [
    `${bar(out, tasks)}  ${project.name} · ${done}/${count(tasks.length, 'task')}${held ? ' · worked on right now' : ''}`,
    [
      count(entries.length, 'iteration'),
      ...(record && record.workedMs > 0 ? [clock(record.workedMs)] : []),
      ...(spent.costUsd > 0 ? [money(spent.costUsd)] : []),
    ].join(' · '),
    '',
    table(rowsOf(shown, tasks, record), out.columns)
      .trimEnd()
      .replace(/^.*/, (head) => paint(out, 'dim', head)),
    ...(shown.length < tasks.length ? [`and ${tasks.length - shown.length} more; --all shows them`] : []),
    ...(open.length > 0 ? ['', 'Open obstacles:'] : []),
    ...open.slice(-10).map(({ id, task_id, message }) => `  ${id} (${task_id}) ${short(message, out.columns - 16)}`),
    '',
    nextStep(project, tasks, { held, open: record?.open.map(({ task }) => task) ?? [] }),
    '',
  ].join('\n')
}

function nextStep(
  { name, folder }: Project,
  tasks: readonly Task[],
  { held, open }: { held: boolean; open: string[] },
): string {
  if (held) return `Watch it: ralph status ${name} --watch`
  if (tasks.length === 0) return `There are no tasks. Make them: ralph interview ${name}`
  const going = { working: new Set<string>(), begun: new Set(open), asking: new Map<string, string>(), slots: 1 }
  const next = plan(tasks.map(planned), going)
  if (next.kind !== 'stop') return `Go on: ralph execute ${name}`
  return `${next.sentence} The whole story: ${join(folder, 'results.md')}`
}

/** What is under way or stuck comes first, what is completed last. */
function byInterest(a: Task, b: Task): number {
  const rank = { in_progress: 0, blocked: 1, pending: 2, completed: 3 }
  return rank[a.status] - rank[b.status]
}

function rowsOf(shown: readonly Task[], all: readonly Task[], record: ProjectRecord | undefined): string[][] {
  const completed = new Set(all.filter(({ status }) => status === 'completed').map(({ id }) => id))
  const ready = new Set(readyTasks(all.map(graphTask)).map(({ id }) => id))
  return [
    ['task', 'state', 'attempts', 'loop', 'title'],
    ...shown.map((task) => {
      const waits = task.dependencies.filter((id) => !completed.has(id))
      const state =
        task.status !== 'pending'
          ? task.status.replace('_', ' ')
          : ready.has(task.id)
            ? 'ready'
            : `waits for ${short(waits.join(', '), 24)}`
      const loop = record?.open.find((open) => open.task === task.id)?.loop ?? ''
      return [task.id, state, `${task.attempts}/${task.max_attempts}`, loop, short(task.title, 60)]
    }),
  ]
}

type Standing = {
  tasks: readonly Task[]
  held: boolean
  record: ProjectRecord | undefined
  open: number
  costUsd: number
  tokens: number
}

function projectJson({ name, folder }: Project, { tasks, held, record, open, costUsd, tokens }: Standing): object {
  return {
    type: 'project',
    project: name,
    folder,
    alive: held,
    completed: tasks.filter(({ status }) => status === 'completed').length,
    total: tasks.length,
    iterations: record?.iteration ?? 0,
    open_obstacles: open,
    cost_usd: costUsd,
    tokens,
    loops: record?.loops ?? [],
    tasks,
  }
}
