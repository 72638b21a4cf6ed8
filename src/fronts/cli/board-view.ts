/** The text output of `ralph board`. */
import { count } from '../../engine/limits.ts'
import type { BoardGroup } from '../../formats/board-task.ts'
import type { FoundTask, ListedTask } from '../../operations/get-task.ts'
import { type Output, paint, type Style, short, table } from './text.ts'

const COLOURS: Readonly<Record<ListedTask['status'], Style>> = {
  todo: 'dim',
  'in-progress': 'cyan',
  'in-review': 'yellow',
  done: 'green',
  cancelled: 'dim',
}

export function taskLines(tasks: readonly ListedTask[], out: Output): string {
  if (tasks.length === 0) return 'No tasks yet. Add one: ralph board new "What to do" --verify "npm test"\n'
  const rows = tasks.map((task) => [
    task.id,
    paint(out, COLOURS[task.status], task.status),
    String(task.priority || ''),
    loopWords(task),
    short(task.title, 60),
  ])
  return table([['task', 'status', 'priority', 'loop', 'title'], ...rows], out.columns)
}

function loopWords({ loop_status: status, waits_for: waits }: ListedTask): string {
  if (status === null) return ''
  return status === 'queued' && waits.length > 0 ? `queued, waiting for ${waits.join(', ')}` : status
}

export function taskStory(task: FoundTask, out: Output): string {
  const facts: [name: string, value: string][] = [
    ['status', paint(out, COLOURS[task.status], `${task.status}${task.archived ? ' (archived)' : ''}`)],
    ['group', task.project_id ?? ''],
    ['type', task.type ?? ''],
    ['labels', task.labels.join(', ')],
    ['agent', task.agent],
    ['loops', task.use_ralph_wiggum ? limitWords(task) : 'no, runs once'],
    ['promise', task.use_ralph_wiggum ? task.ralph_completion_promise : ''],
    ['stages', task.stages.map(({ name, check }) => (check ? `${name}=${check}` : name)).join(', ')],
    ['checks', task.checks.join(', ')],
    [
      'limits',
      Object.entries(task.limits)
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
    ],
    ['depends on', task.depends_on.join(', ')],
    ['waiting for', task.waits_for.join(', ')],
    ['priority', task.priority === 0 ? '' : String(task.priority)],
    ['folder', `${task.repo ?? ''}${task.worktree ? ' (own worktree)' : ''}`.trim()],
    ['loop', task.loop_id ? `${task.loop_id} ${task.standing?.sentence ?? ''}` : ''],
  ]
  const shown = facts.filter(([, value]) => value !== '')
  return [
    `${paint(out, 'bold', task.title)} (${task.id})`,
    ...(task.description ? ['', task.description, ''] : []),
    ...shown.map(([name, value]) => `  ${name.padEnd(10)}  ${value}`),
    ...(task.standing ? [task.standing.hint] : [`Start it: ralph board start ${task.id}`]),
    '',
  ].join('\n')
}

function limitWords({ ralph_max_iterations: most }: FoundTask): string {
  return most === 0 ? 'without an iteration limit' : `up to ${count(most, 'iteration')}`
}

export function groupLines(groups: readonly BoardGroup[]): string {
  if (groups.length === 0) return 'No groups yet. Create one: ralph board group shop --repo ./shop\n'
  return groups.map(({ project_id, name, repo }) => `${project_id}  ${name}${repo ? `  ${repo}` : ''}\n`).join('')
}
