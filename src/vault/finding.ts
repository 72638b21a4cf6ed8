/** Finds a task by its id, even one that only its state file knows. */
import { join, posix } from 'node:path'
import { visit } from '../drive/visit.ts'
import { type Order, startLoop, turnOf } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { parseTaskFile } from '../formats/task-file.ts'
import { iterationsOver, type TaskState } from '../formats/task-state.ts'
import { newLoopId } from '../host/loop-id.ts'
import type { TaskRow } from '../host/store.ts'
import type { VaultDesk } from './desk.ts'
import { StateCorruptedError, TaskNotFoundError } from './errors.ts'
import { isFinal } from './lifecycle.ts'
import { moveTask } from './moving.ts'
import { isPresent, isTaskId, readText } from './place.ts'
import { NEVER, reportedTurn, specOf } from './spec.ts'
import { otherKeeper, readState, stateFileOf, stateFilesIn } from './state-file.ts'
import { time } from './telling.ts'
import { placeOf, vaultOf } from './vault-task.ts'
import { askFor, findFile } from './where.ts'

/** The row of a task. One that only its state file knows is added to the database. */
export async function findTask(desk: VaultDesk, id: string): Promise<TaskRow> {
  refuseOthers(desk, id)
  const row = isTaskId(id) ? await desk.store.tasks.load(desk.vault, id) : undefined
  if (row) return row
  const state = isTaskId(id) ? readState(desk, id) : undefined
  if (state === undefined)
    throw new TaskNotFoundError(id, `Task not found: ${id}. \`ralph task list\` lists those in ${desk.vault}.`)
  if (state === 'damaged')
    throw new StateCorruptedError(
      id,
      `${stateFileOf(desk, id)} is damaged, and the task is not in the database. Delete that file, then start the task again.`,
    )
  if (await follow(desk, { ...state, task_id: id })) return findTask(desk, id)
  await adopt(desk, { ...state, task_id: id })
  desk.note(`Task ${id} was known only from its state file; it is in the database again.`)
  return findTask(desk, id)
}

/** An unknown vault with tasks may have been moved here. */
export async function followMovedVault(desk: VaultDesk): Promise<void> {
  if ((await desk.store.tasks.list(desk.vault)).length > 0) return
  for (const id of stateFilesIn(desk)) {
    const state = readState(desk, id)
    if (typeof state === 'object' && (await follow(desk, { ...state, task_id: id }))) return
  }
}

/** A moved vault has left nothing behind, and its state file has the same start time. */
async function follow(desk: VaultDesk, { task_id, started_at }: TaskState): Promise<boolean> {
  const { store, vault, note } = desk
  for (const { id, loop, vault: before } of await store.tasks.list()) {
    if (id !== task_id || before === vault) continue
    const known = await store.load(loop)
    if (time(known.tally.startedAt) !== started_at || isPresent(before, vaultOf(known).done)) continue
    for (const row of await store.tasks.list(before))
      if (await store.isDriven(row.loop))
        throw new RalphError(
          'loop-held',
          `The vault was moved here from ${before}, but ${row.id} is still being worked on there. Stop that first.`,
        )
    await moveLoops(desk, before)
    await store.tasks.move(before, vault)
    note(`The vault was moved here from ${before}, along with its tasks.`)
    return true
  }
  return false
}

/** Updates every loop of the vault before its tasks, so that a killed process starts over. */
async function moveLoops({ store, vault, now }: VaultDesk, before: string): Promise<void> {
  for (const { id } of (await store.list({ owner: 'vault', dir: before, limit: 1_000_000 })).rows)
    await visit(id, {
      store,
      now,
      held(by) {
        throw new RalphError('loop-held', `Loop ${id} of the moved vault is being run by ${by}. Stop that first.`)
      },
      // Moving the folder is not progress.
      work: (held) =>
        held.move({ kind: 'moved', at: held.lease.movedAt, to: placeOf({ ...vaultOf(held.loop), path: vault }) }),
    })
}

/** Two homes that both keep count would contradict each other. */
export function refuseOthers(desk: VaultDesk, id: string): void {
  const other = isTaskId(id) ? otherKeeper(desk, id) : undefined
  if (other)
    throw new RalphError(
      'loop-held',
      `Task ${id} belongs to another ralph, whose RALPH_HOME is ${other.home}. Use that RALPH_HOME, or wait until the task has ended.`,
    )
}

/** Turns what another home, another program or an older version left into a loop. */
async function adopt(desk: VaultDesk, state: TaskState): Promise<void> {
  const { vault, settings, store } = desk
  const from = pathIn(vault, state.task_file)
  const file = from.split('/').at(-1) ?? from
  const at = Date.parse(state.started_at)
  const minutes = Math.max(0.01, (Date.parse(state.timeout_at) - at) / 60_000)
  const asked = {
    file: { id: state.task_id, file, from, text: '', inode: '', bornAt: 0, others: [] },
    ...(isFinal(state.status) ? NOTHING_ASKED : textOf(desk, file, from)),
  }
  const limits = { iterations: Math.max(1, state.max_iterations), minutes }
  const end = FINAL_ORDERS[state.status]
  // No limit may end it before its real ending is recorded.
  const { iterations: maxIterations, minutes: timeoutMinutes } = end ? { iterations: NEVER, minutes: NEVER } : limits
  const spec = await specOf(desk, { file: from, by: 'caller', maxIterations, timeoutMinutes }, asked)
  const begun = startLoop(newLoopId(), spec, { at })
  const over = iterationsOver(state)
  const history = state.iterations_history.slice(-over || state.iterations_history.length)
  // The engine itself reports the last iteration and the wait for a person.
  const isByTurn = state.status === 'max_iterations_reached' || state.status === 'waiting_approval'
  const unknown = { timestamp: state.last_updated, action: '', result: 'unknown', duration_seconds: 0 }
  const known = history.length === 0 && isByTurn ? [unknown] : history
  const iteration = Math.max(over, state.status === 'max_iterations_reached' ? limits.iterations : 0)
  const missing = Math.max(0, iteration - known.length)
  const isNumbered = history.every(({ iteration: n }) => n <= iteration)
  const tally = { ...begun.tally, iteration: missing }
  const { steps_total: total, steps_completed: completed, current_step: step } = state.progress
  const hasProgress = total > 0 || step !== ''
  await store.create(begun)
  await moveTask(desk, { loop: begun.id }, async (move) => {
    if (missing > 0) await move({ kind: 'adopted', at, loop: { spec, tally, next: turnOf(spec, tally, at) } })
    for (const [index, { timestamp, duration_seconds: seconds, action, result, ...number }] of known.entries()) {
      const asks = state.status === 'waiting_approval' && index === known.length - 1
      await move({
        kind: 'turned',
        at: Date.parse(timestamp) + seconds * 1_000,
        turn: {
          ...reportedTurn({ action, result, seconds, ...(isNumbered ? number : {}) }),
          ...(asks ? { ask: askFor({ file }, 'pending') } : {}),
        },
      })
    }
    const by = settings.stateDir
    if (!end) return
    await move({ kind: 'told', at, by, order: { kind: 'limits', limits } })
    await move({ kind: 'told', at: Date.parse(state.last_updated), by, order: end })
  })
  // Only now, so that nobody sees part of it. Another process may have been faster.
  const key = { vault, id: state.task_id }
  const record = hasProgress ? { progress: { total, completed, step, at } } : {}
  if ((await store.tasks.begin(key, begun, record)) !== undefined)
    await moveTask(desk, { loop: begun.id }, (move) =>
      move({ kind: 'told', at, by: 'ralph', order: { kind: 'cancel' } }),
    )
}

/** What its file asks for, if readable now. */
function textOf(
  { vault, settings }: VaultDesk,
  file: string,
  from: string,
): Pick<ReturnType<typeof parseTaskFile>, 'head' | 'body'> {
  const place = findFile({ path: vault, file, from, done: settings.doneFolder })
  try {
    if (place !== undefined) return parseTaskFile(readText(join(vault, place)), place)
  } catch (cause) {
    if (!(cause instanceof RalphError)) throw cause
  }
  return NOTHING_ASKED
}

const NOTHING_ASKED = { head: { priority: 1 }, body: '' }

const FINAL_ORDERS: Readonly<Partial<Record<TaskState['status'], Order>>> = {
  completed: { kind: 'done' },
  timeout: { kind: 'out-of-time' },
  failed: { kind: 'cancel' },
}

/** A moved vault has a different path from the recorded one. */
export function pathIn(vault: string, path: string): string {
  const plain = posix.normalize(path)
  if (plain.startsWith(`${vault}/`)) return plain.slice(vault.length + 1)
  const parts = plain.split('/').filter((part) => part !== '' && part !== '..')
  return parts.slice(-2).join('/')
}
