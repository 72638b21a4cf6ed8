/** The tasks of a vault, each a loop: started, brought to their ends, and kept true in the vault's files. */

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
import { comeAlong, findTask, refuseOthers } from './finding.ts'
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

/** Makes the loop of a task, and its files in the vault. */
export async function startTask(desk: VaultDesk, starting: Starting): Promise<Loop> {
  const { vault, settings, store, now } = desk
  const file = readTaskFile(vault, settings, starting.file, starting.base)
  const { head, body } = parseTaskFile(file.text, file.from)
  if (!body.trim()) throw new RalphError('input-invalid', `${file.from} does not say what to do. Add a task.`)
  refuseOthers(desk, file.id)
  await comeAlong(desk)
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

/** What the task itself says is told with its file; the rest is the same for all of them. */
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

/** A task whose time is over while its caller does nothing is ended. */
export async function endOverdue(desk: VaultDesk, row: TaskRow): Promise<void> {
  const { store, now } = desk
  const loop = await store.load(row.loop)
  // The clock of a watcher's task rests while nobody watches.
  if (vaultOf(loop).by === 'watch' || !isOverdue(loop, now()) || (await store.isDriven(row.loop))) return
  const task = vaultOf(loop)
  // What is done in time is only not told yet. Of a vault that is away nobody knows.
  if (!isPresent(task.path, task.done) || whereIs(task) === 'done') return
  await moveTask(desk, row, async (move, current) => {
    if (isOverdue(current, now())) await move({ kind: 'woke', at: now() })
  })
  // Its end is still to be told: by the Stop hook, where a session works on it.
  await noteTrouble(desk, () => publish(desk, row.id, 'telling'))
}

/** Its loop, which is over when its file is gone. `move`: for who holds the loop already. */
export async function endMissing(desk: VaultDesk, id: string, move?: Move): Promise<Loop> {
  const row = await findTask(desk, id)
  const loop = await desk.store.load(row.loop)
  if (!isGone(loop)) return loop
  if (move) return giveUpGone(desk, row, { move, loop })
  return moveTask(desk, row, (move, current) => giveUpGone(desk, row, { move, loop: current }))
}

/** Nobody can approve what is not there. */
export async function giveUpGone(
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

/** Of a vault that is away nothing can be told. */
export function isMissing(task: VaultTask): boolean {
  return isPresent(task.path, task.done) && isFolder(join(task.path, task.state)) && whereIs(task) === 'gone'
}

function renamed({ vault }: VaultDesk, { file }: VaultTask, { inode, bornAt = 0 }: TaskRecord): string | undefined {
  const now = inode === undefined ? undefined : findInode(vault, inode, bornAt)
  return now === undefined ? undefined : `${file} was renamed to ${now}`
}

/** What is still to be done about the end of a task: its file is to be put away, a session is to be told, or nothing. */
export type Left = 'file' | 'telling' | 'nothing'

/** Brings the vault's files into line with the loop of a task. */
export async function publish(desk: VaultDesk, id: string, left: Left = 'nothing'): Promise<TaskState> {
  for (;;) {
    const { row, loop, state } = await readTask(desk, id)
    // Where it was begun, whatever the settings say by now.
    const there = { ...desk, settings: { ...desk.settings, stateDir: vaultOf(loop).state } }
    try {
      if (readState(there, id) === 'damaged') setAside(there, id)
      await writeState(there, state)
    } finally {
      // Afterwards, so that who is killed before leaves a task whose end is still to be seen to.
      if (ended(loop) && left !== 'file') await close(desk, row, { loop, left })
    }
    if (await isCurrent(desk, row)) return state
  }
}

/** How a task stands at one moment. */
export async function readTask(desk: VaultDesk, id: string): Promise<{ row: TaskRow; loop: Loop; state: TaskState }> {
  for (;;) {
    const row = await findTask(desk, id)
    const loop = await desk.store.load(row.loop)
    const state = stateOf(loop, row, await historyOf(desk, loop))
    if (await isCurrent(desk, row)) return { row, loop, state }
  }
}

/** Another process may have been quicker with something newer. */
async function isCurrent({ store, vault }: VaultDesk, { id, loop, events, record }: TaskRow): Promise<boolean> {
  const now = await store.tasks.load(vault, id)
  return now?.loop === loop && now.events === events && sameProgress(now.record, record)
}

function sameProgress(one: TaskRecord, other: TaskRecord): boolean {
  return JSON.stringify(one.progress) === JSON.stringify(other.progress)
}

/** What the hook needs is not needed any more; what is measured at the end is kept. */
async function close(
  { home, store, vault }: VaultDesk,
  row: TaskRow,
  { loop, left }: { loop: Loop; left: Left },
): Promise<void> {
  const task = vaultOf(loop)
  // First: killed after `fill`, ralph would leave a task that counts as seen to. One that was started again meanwhile owns them now.
  if (left === 'nothing' && (await store.tasks.load(vault, row.id))?.loop === loop.id) removeHookFiles(task)
  if (row.record.files !== undefined) return
  const alone = (await store.overlapping(loop.id, vault, loop.tally.startedAt)) === 0
  const files = alone ? changesSince(home, loop.id, task) : null
  // Of several processes that see the end, the first has measured: it then clears its measure away.
  await store.tasks.fill(row, { files })
  forgetFiles(home, loop.id)
}

/**
 * Makes a state file anew that is missing, damaged, or older than the database since a process died. One that tells of a
 * later start is of another ralph: it is what counts.
 */
export async function mendState(desk: VaultDesk, state: TaskState, left: Left): Promise<TaskState> {
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

/** Whether this home has begun it; a clock that was set back makes an earlier task look like a later one. */
export async function isOurs({ store, vault }: VaultDesk, { started_at }: TaskState): Promise<boolean> {
  const { rows: loops } = await store.list({ dir: vault, limit: 1_000_000 })
  return loops.some(({ startedAt }) => time(startedAt) === started_at)
}

/** One that was killed while it started a task has not told the Stop hook of it. */
export async function mendHook(desk: VaultDesk, loop: Loop): Promise<void> {
  if (!ended(loop) && !hasHookFile(vaultOf(loop)))
    await noteTrouble(desk, () => writeHookFiles(loop, desk.home, undefined))
}

/** The database has it by then, so a file that cannot be written is told, not thrown. */
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
