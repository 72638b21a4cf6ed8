/** Tasks of a vault that this home's database lacks or has outdated: what their state files say. */
import type { Briefing, Spent } from '../formats/briefing.ts'
import { printCommandLine } from '../formats/command-line.ts'
import { taskCommand } from '../formats/task-command.ts'
import { iterationsOver, type TaskState } from '../formats/task-state.ts'
import type { VaultDesk } from './desk.ts'
import { pathIn } from './finding.ts'
import { isFinal } from './lifecycle.ts'
import { FAILED } from './place.ts'
import { readNote } from './refused.ts'
import { otherKeeper, readState, stateFilesIn } from './state-file.ts'
import { isOurs } from './tasks.ts'
import { time } from './telling.ts'
import type { VaultTask } from './vault-task.ts'
import { askFor, findFile, whereIs } from './where.ts'

/** `home`: of the only ralph that may move it. */
export type OtherTask = { state: TaskState; task: VaultTask; movedAt: number; home?: string }

/** Looking at them does not take them over. */
export async function tasksOfOthers(desk: VaultDesk): Promise<OtherTask[]> {
  const found: OtherTask[] = []
  for (const id of stateFilesIn(desk)) {
    const state = readState(desk, id)
    const keeper = otherKeeper(desk, id)
    if (typeof state !== 'object' || !(keeper || (await isUnknown(desk, id, state)))) continue
    found.push({
      state: { ...state, task_id: id },
      task: taskOf(desk, id, state),
      movedAt: Date.parse(state.last_updated),
      ...(keeper ? { home: keeper.home } : {}),
    })
  }
  return found
}

/** Whether this home never had it, or another has started it since. */
async function isUnknown(desk: VaultDesk, id: string, state: TaskState): Promise<boolean> {
  const row = await desk.store.tasks.load(desk.vault, id)
  if (!row) return true
  const { tally } = await desk.store.load(row.loop)
  return state.started_at > time(tally.startedAt) && !(await isOurs(desk, state))
}

function taskOf({ vault, settings }: VaultDesk, id: string, { task_file }: TaskState): VaultTask {
  const from = pathIn(vault, task_file)
  return {
    kind: 'vault',
    path: vault,
    id,
    from,
    file: from.split('/').at(-1) ?? from,
    by: 'caller',
    done: settings.doneFolder,
    state: settings.stateDir,
  }
}

/** Its file does not say what it used, but when it started and last moved. */
export function spentElsewhere({ state, movedAt }: OtherTask, since: number): Spent {
  const startedAt = Date.parse(state.started_at)
  const isWhole = startedAt >= since
  const recent = state.iterations_history.filter(({ timestamp }) => Date.parse(timestamp) >= since)
  return {
    iterations: isWhole ? iterationsOver(state) : recent.length,
    working_seconds: Math.max(0, movedAt - Math.max(startedAt, since)) / 1_000,
    tokens: null,
    cost_usd: null,
  }
}

export function completedElsewhere(other: OtherTask): Briefing['completed'][number] {
  const { task_id, last_updated, iteration: iterations } = other.state
  const { working_seconds } = spentElsewhere(other, 0)
  return {
    task_id,
    loop_id: null,
    completed_at: last_updated,
    iterations,
    working_seconds,
    proof: null,
    proof_sentence: null,
    findings: [],
    cost_usd: null,
  }
}

export function isStuckElsewhere({ state: { status } }: OtherTask): boolean {
  return isFinal(status) && status !== 'completed'
}

/** Why, and where its file is, relative to the vault. */
export function stopElsewhere({ task }: OtherTask): { why: string; file: string | null } {
  const file = findFile(task) ?? null
  const note = file === `${FAILED}/${task.file}` ? readNote(task.path, task.file) : undefined
  return { why: note?.why || 'Another ralph worked on it.', file }
}

export function waitingElsewhere({ state, task, home }: OtherTask): Briefing['waiting'] {
  const { task_id, status, last_updated: since } = state
  if (status !== 'waiting_approval') return []
  const there = home === undefined ? '' : `RALPH_HOME=${printCommandLine([home])} `
  const isPending = whereIs(task) === 'pending'
  const question = isPending
    ? askFor(task, 'pending').words
    : 'It has a question that only the ralph process working on it knows.'
  return [
    {
      task_id,
      loop_id: null,
      question,
      since,
      approve: `${there}${taskCommand('approve', task_id, task.path, ...(isPending ? [] : ['--note', '…']))}`,
      reject: `${there}${taskCommand('reject', task_id, task.path)}`,
    },
  ]
}

export function underwayElsewhere({ state }: OtherTask): Briefing['in_progress'] {
  const { task_id, status, iteration, max_iterations, timeout_at, progress } = state
  if (isFinal(status) || status === 'waiting_approval') return []
  const { percentage, current_step, steps_total } = progress
  return [
    {
      task_id,
      loop_id: null,
      iteration,
      max_iterations,
      timeout_at,
      current_step,
      percentage: steps_total > 0 ? percentage : null,
    },
  ]
}
