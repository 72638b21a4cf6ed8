/** The output of `ralph task`: the API response for programs, a few lines for people. */
import { taskCommand } from '../../formats/task-command.ts'
import type { TaskProgress, TaskState, VaultStatus } from '../../formats/task-state.ts'
import { timeOfDay } from '../../operations/standing.ts'
import type {
  BentAnswers,
  CompletedTask,
  CountedIteration,
  ListedTasks,
  StartedTask,
  StoppedTask,
} from '../../operations/vault-tasks.ts'
import type { Context } from './context.ts'
import { ago, clock, count, paint, type Style, short, table } from './text.ts'

/** `json`: printed one object per line. */
export type Answer = { json: readonly object[]; text: string; code?: number }

export function started(task: StartedTask): Answer {
  const until = timeOfDay(Date.parse(task.timeout_at))
  return {
    json: [task],
    text: `Started ${task.task_id}; it times out at ${until}.\n  State file: ${task.state_file}\n`,
  }
}

export function counted(iteration: CountedIteration, bent?: BentAnswers): Answer {
  const { task_id, iteration: n, max_iterations, status } = iteration
  return { json: [iteration], text: `Counted iteration ${n} of ${max_iterations}. ${after(task_id, status, bent)}\n` }
}

function after(id: string, status: VaultStatus, bent: BentAnswers | undefined): string {
  switch (status) {
    case 'initializing':
    case 'in_progress':
      return 'The task continues.'
    case 'completed':
      return 'Its file is in the done folder: the task is completed.'
    case 'waiting_approval':
      return `It is waiting for you: ${bent ? `${bent.approve}, ${bent.instead}` : taskCommand('approve', id)}, or ${taskCommand('reject', id)}.`
    case 'max_iterations_reached':
      return 'That was the last one. The task needs your attention.'
    case 'timeout':
      return 'The task ran out of time.'
    case 'failed':
      return `The task failed. To see why: ${taskCommand('state', id)}.`
  }
}

export function progressed(answer: { task_id: string; progress: TaskProgress }): Answer {
  return { json: [answer], text: `${answer.task_id}: ${progressWords(answer.progress)}\n` }
}

function progressWords({ steps_total, steps_completed, current_step, percentage }: TaskProgress): string {
  const filled = Math.round(percentage / 10)
  const bar = `${'█'.repeat(filled)}${'░'.repeat(10 - filled)}`
  const step = current_step ? ` · ${short(current_step, 80)}` : ''
  return `${bar} ${percentage}% · ${steps_completed} of ${count(steps_total, 'step')}${step}`
}

export function completed(task: CompletedTask): Answer {
  const { iterations, total_duration_seconds, files_created, files_modified } = task.metrics
  const files =
    files_created === null || files_modified === null
      ? ''
      : `; ${count(files_created, 'file')} created, ${files_modified} changed`
  const after = `after ${count(iterations, 'iteration')} and ${clock(total_duration_seconds * 1_000)}`
  const reason = task.exit_reason === 'completed' ? '' : ` (${short(task.exit_reason, 80)})`
  return { json: [task], text: `Completed ${task.task_id}${reason} ${after}${files}.\n` }
}

export function stopped(task: StoppedTask): Answer {
  return { json: [task], text: `${task.task_id}: ${task.message}\n` }
}

const MARKS: Readonly<Record<VaultStatus, readonly [mark: string, style: Style]>> = {
  initializing: ['·', 'dim'],
  in_progress: ['…', 'cyan'],
  waiting_approval: ['?', 'yellow'],
  completed: ['✓', 'green'],
  failed: ['✗', 'red'],
  timeout: ['✗', 'red'],
  max_iterations_reached: ['✗', 'red'],
}

const LAST = 10

/** `why`: why a task does not continue by itself. */
export function shown(
  state: TaskState,
  { out, now }: Context,
  { why, bent, vault }: { why?: string; bent?: BentAnswers; vault?: string } = {},
): Answer {
  const { task_id, status, progress, iterations_history: history } = state
  const [mark, style] = MARKS[status]
  const open = status === 'initializing' || status === 'in_progress'
  const rows = [
    ['file', state.task_file],
    [status === 'in_progress' ? 'iteration' : 'iterations', `${state.iteration} of ${state.max_iterations}`],
    ...(progress.steps_total > 0 || progress.current_step ? [['progress', progressWords(progress)]] : []),
    ...(why ? [['why', short(why, 200)]] : []),
    ['started', timeOfDay(Date.parse(state.started_at))],
    ['updated', ago(now() - Date.parse(state.last_updated))],
    ...(open ? [['times out', timeOfDay(Date.parse(state.timeout_at))]] : []),
    ...(status === 'waiting_approval'
      ? [
          ...(bent
            ? [
                ['allow', bent.approve],
                ['or instead', bent.instead],
              ]
            : [['approve', taskCommand('approve', task_id, vault)]]),
          ['or reject', taskCommand('reject', task_id, vault)],
        ]
      : []),
  ]
  const last = history.slice(-LAST)
  const lines = last.map(({ iteration, result, duration_seconds, action }) => [
    String(iteration),
    clock(duration_seconds * 1_000),
    short(result, 20),
    short(action, 100),
  ])
  const earlier = history.length - last.length
  return {
    json: [state],
    text: [
      `${paint(out, style, mark)} ${task_id} · ${inWords(status)}\n`,
      indented(table(rows, out.columns - 2)),
      ...(lines.length > 0 ? ['\n', ...(earlier > 0 ? [`  … ${count(earlier, 'earlier iteration')}\n`] : [])] : []),
      indented(table(lines, out.columns - 2)),
    ].join(''),
  }
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ')
}

function inWords(status: VaultStatus): string {
  return status.replaceAll('_', ' ')
}

/** `vault`: the vault given on the command line, which the suggested commands must repeat. */
export function listed({ tasks: states, bent }: ListedTasks, { out, now }: Context, vault: string | undefined): Answer {
  const approve = (id: string) =>
    bent.find(({ task_id }) => task_id === id)?.approve ?? taskCommand('approve', id, vault)
  const rows = states.map(({ task_id, status, iteration, max_iterations, last_updated }) => [
    MARKS[status][0],
    task_id,
    inWords(status),
    `${iteration}/${max_iterations}`,
    ago(now() - Date.parse(last_updated)),
    status === 'waiting_approval' ? approve(task_id) : '',
  ])
  const text = states.length === 0 ? 'No tasks found. Start one: ralph task start FILE\n' : table(rows, out.columns)
  return { json: states, text }
}
