/** The tasks of a vault, each a loop: starts them, ends them, and keeps the vault's files up to date. */

import { join } from 'node:path'
import { measuredFrom } from '../drive/earlier.ts'
import { isOverdue } from '../engine/limits.ts'
import { ended, type Loop, type Spec, startLoop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { parseTaskFile } from '../formats/task-file.ts'
import { printTaskState, type TaskState } from '../formats/task-state.ts'
import { isFolder } from '../host/files.ts'
import { newLoopId } from '../host/loop-id.ts'
import type { TaskRecord, TaskRow } from '../host/store.ts'
import { openTree } from '../host/tree.ts'
import { unmatchedNotes } from '../host/unmatched.ts'
import { mustBeProvable } from '../request/provable.ts'
import { forgetNote } from './approval.ts'
import { changesSince, forgetFiles, keepFiles } from './changes.ts'
import type { VaultDesk } from './desk.ts'
import { StateFileError } from './errors.ts'
import { findTask, followMovedVault, refuseOthers } from './finding.ts'
import { type Move, moveTask } from './moving.ts'
import { findInode, isPresent, prepareFolders, readTaskFile } from './place.ts'
import { type Starting, specOf } from './spec.ts'
import {
  hasHookFile,
  prepareState,
  putAside,
  readState,
  removeHookFiles,
  stateFileOf,
  writeHookFiles,
  writeState,
} from './state-file.ts'
import { historyOf, stateOf, time } from './telling.ts'
import type { VaultTask } from './vault-task.ts'
import { vaultOf } from './vault-task.ts'
import { whereIs } from './where.ts'

/** Creates the loop of a task and its files in the vault. */
export async function startTask(desk: VaultDesk, starting: Starting): Promise<Loop> {
  const { vault, settings, store, now } = desk
  const file = readTaskFile(vault, settings, starting.file, starting.base)
  const { head, body } = parseTaskFile(file.text, file.from)
  if (!body.trim()) throw new RalphError('input-invalid', `${file.from} does not say what to do. Add a task.`)
  refuseOthers(desk, file.id)
  await followMovedVault(desk)
  prepareState(desk, file.id)
  prepareFolders(vault, [settings.doneFolder])
  const spec = await specOf(desk, starting, { file, head, body })
  mustBeProvable(spec, { whose: file.from, check: 'a line such as "verify: npm test" in its frontmatter' })
  await noteUnmatched(desk, spec, { file: file.from, own: head.protect ?? [] })
  const id = newLoopId()
  const tree =
    starting.by === 'watch' ? await (await openTree({ ...spec.work, home: desk.home, loop: id })).look() : undefined
  const measured = await measuredFrom(store, spec, tree)
  const loop = startLoop(id, measured, { at: now(), ...(tree === undefined ? {} : { tree }) })
  const task = vaultOf(loop)
  const earlier = await store.tasks.begin({ vault, id: task.id }, loop, { inode: file.inode, bornAt: file.bornAt })
  if (earlier !== undefined) throw busy(desk, task, await store.load(earlier))
  try {
    if (readState(desk, task.id) === 'damaged') setAside(desk, task.id)
    await writeHookFiles(loop, desk.home, starting.session)
    keepFiles(desk.home, id, task)
    await publish(desk, task.id)
    forgetNote(vault, task.file)
  } catch (cause) {
    const order = { kind: 'cancel' } as const
    await moveTask(desk, { loop: id }, (move) => move({ kind: 'told', at: now(), by: 'ralph', order }))
    await store.tasks.forget({ vault, id: task.id, loop: id })
    forgetFiles(desk.home, id)
    await noteTrouble(desk, async () => removeHookFiles(task))
    throw cause
  }
  return loop
}

/** Notes about a task's own globs name its file; the rest is the same for all tasks. */
async function noteUnmatched(
  { note }: VaultDesk,
  { work, protect = [] }: Spec,
  { file, own }: { file: string; own: readonly string[] },
): Promise<void> {
  for (const text of await unmatchedNotes(work.dir, own, `${file}: protect`)) note(text)
  const others = protect.filter((glob) => !own.includes(glob))
  for (const text of await unmatchedNotes(work.dir, others)) note(text)
}

function busy({ settings }: VaultDesk, { id, from }: VaultTask, loop: Loop): RalphError {
  const other = vaultOf(loop).from
  return new RalphError(
    'task-state',
    other === from
      ? `Task ${id} is already in progress: see ${stateFileOf({ settings }, id)}.`
      : `A task ${id} is already in progress, for ${other}. Names must be unique: rename ${from}, or wait until the other is done.`,
  )
}

/** Ends a task that timed out while its caller did nothing. */
export async function endOverdue(desk: VaultDesk, row: TaskRow): Promise<void> {
  const { store, now } = desk
  const loop = await store.load(row.loop)
  // The clock of a watcher's task stops while nobody watches.
  if (vaultOf(loop).by === 'watch' || !isOverdue(loop, now()) || (await store.isDriven(row.loop))) return
  const task = vaultOf(loop)
  // What was done in time is just not reported yet. An unavailable vault says nothing.
  if (!isPresent(task.path, task.done) || whereIs(task) === 'done') return
  await moveTask(desk, row, async (move, current) => {
    if (isOverdue(current, now())) await move({ kind: 'woke', at: now() })
  })
  // Its end is still to be reported: by the Stop hook, if a session works on it.
  await noteTrouble(desk, () => publish(desk, row.id, 'telling'))
}

/** Its loop, ended if its file no longer exists. `move`: for a caller that already holds the loop. */
export async function endMissing(desk: VaultDesk, id: string, move?: Move): Promise<Loop> {
  const row = await findTask(desk, id)
  const loop = await desk.store.load(row.loop)
  if (!isGone(loop)) return loop
  if (move) return endIfGone(desk, row, { move, loop })
  return moveTask(desk, row, (move, current) => endIfGone(desk, row, { move, loop: current }))
}

/** Nobody can approve a missing file. */
export async function endIfGone(
  desk: VaultDesk,
  { record }: Pick<TaskRow, 'record'>,
  { move, loop }: { move: Move; loop: Loop },
): Promise<Loop> {
  if (!isGone(loop)) return loop
  const task = vaultOf(loop)
  const by = `ralph, since ${renamed(desk, task, record) ?? `${task.file} is no longer in the vault`}`
  return move({ kind: 'told', at: desk.now(), by, order: { kind: 'cancel' } })
}

function isGone(loop: Loop): boolean {
  return loop.next.kind === 'wait' && loop.next.why === 'person' && isMissing(vaultOf(loop))
}

/** An unavailable vault says nothing. */
export function isMissing(task: VaultTask): boolean {
  return isPresent(task.path, task.done) && isFolder(join(task.path, task.state)) && whereIs(task) === 'gone'
}

function renamed({ vault }: VaultDesk, { file }: VaultTask, { inode, bornAt = 0 }: TaskRecord): string | undefined {
  const now = inode === undefined ? undefined : findInode(vault, inode, bornAt)
  return now === undefined ? undefined : `${file} was renamed to ${now}`
}

/** What is left to do about an ended task: move its file, notify a session, or nothing. */
export type Left = 'file' | 'telling' | 'nothing'

/** Updates the vault's files to match the loop of a task. */
export async function publish(desk: VaultDesk, id: string, left: Left = 'nothing'): Promise<TaskState> {
  for (;;) {
    const { row, loop, state } = await readTask(desk, id)
    // Where it was started, whatever the settings say now.
    const there = { ...desk, settings: { ...desk.settings, stateDir: vaultOf(loop).state } }
    try {
      if (readState(there, id) === 'damaged') setAside(there, id)
      await writeState(there, state)
    } finally {
      // Last, so that a process killed before leaves a task that still needs cleanup.
      if (ended(loop) && left !== 'file') await close(desk, row, { loop, left })
    }
    if (await isCurrent(desk, row)) return state
  }
}

/** A consistent snapshot of a task. */
export async function readTask(desk: VaultDesk, id: string): Promise<{ row: TaskRow; loop: Loop; state: TaskState }> {
  for (;;) {
    const row = await findTask(desk, id)
    const loop = await desk.store.load(row.loop)
    const state = stateOf(loop, row, await historyOf(desk, loop))
    if (await isCurrent(desk, row)) return { row, loop, state }
  }
}

/** Another process may have stored something newer. */
async function isCurrent({ store, vault }: VaultDesk, { id, loop, events, record }: TaskRow): Promise<boolean> {
  const now = await store.tasks.load(vault, id)
  return now?.loop === loop && now.events === events && sameProgress(now.record, record)
}

function sameProgress(one: TaskRecord, other: TaskRecord): boolean {
  return JSON.stringify(one.progress) === JSON.stringify(other.progress)
}

/** Removes what the hook needed; keeps what is measured at the end. */
async function close(
  { home, store, vault }: VaultDesk,
  row: TaskRow,
  { loop, left }: { loop: Loop; left: Left },
): Promise<void> {
  const task = vaultOf(loop)
  // First: killed after `fill`, ralph would leave a task that counts as cleaned up. A restarted task owns them now.
  if (left === 'nothing' && (await store.tasks.load(vault, row.id))?.loop === loop.id) removeHookFiles(task)
  if (row.record.files !== undefined) return
  const alone = (await store.overlapping(loop.id, vault, loop.tally.startedAt)) === 0
  const files = alone ? changesSince(home, loop.id, task) : null
  // If several processes see the end, the first measures, then removes its measurement.
  await store.tasks.fill(row, { files })
  forgetFiles(home, loop.id)
}

/**
 * Rewrites a state file that is missing, damaged, or older than the database because a process died. One with a later
 * start belongs to another ralph and takes precedence.
 */
export async function repairState(desk: VaultDesk, state: TaskState, left: Left): Promise<TaskState> {
  const { task_id: id } = state
  const found = readState(desk, id)
  if (found === 'damaged') setAside(desk, id)
  if (typeof found === 'object') {
    if (found.started_at > state.started_at && !(await isOurs(desk, found))) return { ...found, task_id: id }
    if (printTaskState(found) === printTaskState(state)) return state
  }
  await noteTrouble(desk, () => publish(desk, id, left))
  return state
}

/** Whether this home started it; a clock that was set back makes an earlier task look later. */
export async function isOurs({ store, vault }: VaultDesk, { started_at }: TaskState): Promise<boolean> {
  const { rows: loops } = await store.list({ dir: vault, limit: 1_000_000 })
  return loops.some(({ startedAt }) => time(startedAt) === started_at)
}

/** A process killed while starting a task did not write the Stop hook's files. */
export async function repairHook(desk: VaultDesk, loop: Loop): Promise<void> {
  if (!ended(loop) && !hasHookFile(vaultOf(loop)))
    await noteTrouble(desk, () => writeHookFiles(loop, desk.home, undefined))
}

/** The database already has it, so a file that cannot be written is reported, not thrown. */
export async function noteTrouble(desk: VaultDesk, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (cause) {
    const isFileTrouble = cause instanceof StateFileError || (cause instanceof Error && 'syscall' in cause)
    if (!isFileTrouble) throw cause
    desk.note(cause.message)
  }
}

function setAside(desk: VaultDesk, id: string): void {
  const aside = putAside(desk, id, desk.now())
  if (aside !== undefined)
    desk.note(`${stateFileOf(desk, id)} was damaged. It is kept as ${aside} and was rebuilt from the database.`)
}
