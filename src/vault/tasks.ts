/** The tasks of a vault, each a loop: started, brought to their ends, and kept true in the vault's files. */
import { deadline } from '../engine/limits.ts'
import { ended, type Loop, startLoop, type VaultTask } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { parseTaskFile } from '../formats/task-file.ts'
import { printTaskState, type TaskState } from '../formats/task-state.ts'
import { newLoopId } from '../host/loop-id.ts'
import type { TaskRecord, TaskRow } from '../host/sqlite.ts'
import { openTree } from '../host/tree.ts'
import { whereIs } from '../host/vault.ts'
import { changesSince, forgetFiles, keepFiles } from './changes.ts'
import type { VaultDesk } from './desk.ts'
import { StateFileError } from './errors.ts'
import { findTask } from './finding.ts'
import { type Move, moveTask } from './moving.ts'
import { findInode, prepareFolders, readTaskFile } from './place.ts'
import { type Starting, specOf, vaultOf } from './spec.ts'
import { putAside, readState, removeHookFiles, stateFileOf, writeHookFiles, writeState } from './state-file.ts'
import { historyOf, stateOf } from './telling.ts'

/** Makes the loop of a task, and its files in the vault. */
export async function startTask(desk: VaultDesk, starting: Starting): Promise<Loop> {
  const { vault, settings, store, now } = desk
  const file = readTaskFile(vault, settings, starting.file, starting.base)
  const { head, body } = parseTaskFile(file.text, file.from)
  prepareFolders(vault, [settings.doneFolder, settings.stateDir])
  const spec = specOf(desk, starting, { file, head, body })
  const id = newLoopId()
  const tree =
    starting.by === 'watch' ? await (await openTree({ ...spec.work, home: desk.home, loop: id })).look() : undefined
  const loop = startLoop(id, spec, { at: now(), ...(tree === undefined ? {} : { tree }) })
  const task = vaultOf(loop)
  const earlier = store.beginTask(loop, { inode: file.inode })
  if (earlier !== undefined) throw busy(desk, task, await store.load(earlier))
  try {
    if (readState(desk, task.id) === 'damaged') setAside(desk, task.id)
    await writeHookFiles(loop, task, starting.session)
    keepFiles(desk.home, id, task)
    await publish(desk, task.id)
  } catch (cause) {
    const order = { kind: 'cancel' } as const
    await moveTask(desk, { loop: id }, (move) => move({ kind: 'told', at: now(), by: 'ralph', order }))
    store.forgetTask(vault, task.id, id)
    forgetFiles(desk.home, id)
    await noteTrouble(desk, async () => removeHookFiles(task))
    throw cause
  }
  return loop
}

function busy({ settings }: VaultDesk, { id, from }: VaultTask, loop: Loop): RalphError {
  const other = vaultOf(loop).from
  return new RalphError(
    'task-state',
    other === from
      ? `Task ${id} is being worked on already: see ${stateFileOf({ settings }, id)}.`
      : `A task ${id} is being worked on already, for ${other}. Names must differ: rename ${from}, or wait until the other is done.`,
  )
}

/** A task whose time is over while nobody drives it is ended. */
export async function endOverdue(desk: VaultDesk, row: TaskRow): Promise<void> {
  const { store, now } = desk
  const loop = await store.load(row.loop)
  const { minutes } = loop.spec.limits
  const resting = ended(loop) || loop.next.kind === 'wait' || minutes === undefined
  if (resting || now() < deadline(minutes, loop.tally) || (await store.isDriven(row.loop))) return
  if (whereIs(vaultOf(loop)) === 'done') return // what is done in time is only not told yet
  await moveTask(desk, row, async (move, current) => {
    const turns = current.next.kind === 'turn' && now() >= deadline(minutes, current.tally)
    if (turns) await move({ kind: 'told', at: now(), by: 'the clock', order: { kind: 'out-of-time' } })
  })
  await noteTrouble(desk, () => publish(desk, row.id))
}

/** After the loop of a task has moved: one whose file is gone is given up, and the vault's files are brought into line. */
export async function settleTask(desk: VaultDesk, id: string): Promise<TaskState> {
  const row = await findTask(desk, id)
  if (isGone(await desk.store.load(row.loop)))
    await moveTask(desk, row, (move, loop) => giveUpGone(desk, row, { move, loop }))
  return publish(desk, id)
}

/** Nobody can approve what is not there. */
export async function giveUpGone(
  desk: VaultDesk,
  { record }: Pick<TaskRow, 'record'>,
  { move, loop }: { move: Move; loop: Loop },
): Promise<Loop> {
  if (!isGone(loop)) return loop
  const task = vaultOf(loop)
  const by = `ralph, since ${renamed(desk, task, record) ?? `${task.file} is in no folder of the vault any more`}`
  return move({ kind: 'told', at: desk.now(), by, order: { kind: 'cancel' } })
}

function isGone(loop: Loop): boolean {
  return loop.next.kind === 'wait' && loop.next.why === 'person' && whereIs(vaultOf(loop)) === 'gone'
}

function renamed({ vault }: VaultDesk, { file }: VaultTask, { inode }: TaskRecord): string | undefined {
  const now = inode === undefined ? undefined : findInode(vault, inode)
  return now === undefined ? undefined : `${file} was renamed to ${now}`
}

/** Brings the vault's files into line with the loop of a task. */
export async function publish(desk: VaultDesk, id: string): Promise<TaskState> {
  for (;;) {
    const { row, loop, state } = await readTask(desk, id)
    try {
      await writeState(desk, state)
    } finally {
      // Afterwards, so that who is killed before leaves a task whose end is still to be seen to.
      if (ended(loop)) close(desk, row, loop)
    }
    if (isCurrent(desk, row)) return state
  }
}

/** How a task stands at one moment. */
export async function readTask(desk: VaultDesk, id: string): Promise<{ row: TaskRow; loop: Loop; state: TaskState }> {
  for (;;) {
    const row = await findTask(desk, id)
    const loop = await desk.store.load(row.loop)
    const state = stateOf(loop, row, await historyOf(desk, loop))
    if (isCurrent(desk, row)) return { row, loop, state }
  }
}

/** Another process may have been quicker with something newer. */
function isCurrent({ store, vault }: VaultDesk, { id, loop, events, record }: TaskRow): boolean {
  const now = store.loadTask(vault, id)
  return now?.loop === loop && now.events === events && sameProgress(now.record, record)
}

function sameProgress(one: TaskRecord, other: TaskRecord): boolean {
  return JSON.stringify(one.progress) === JSON.stringify(other.progress)
}

/** What is measured at the end is kept; what the hook needs is not needed any more. */
function close({ home, store, vault }: VaultDesk, { id, record }: TaskRow, loop: Loop): void {
  const task = vaultOf(loop)
  removeHookFiles(task)
  if (record.files !== undefined) return
  const alone = store.overlapping(loop.id, vault, loop.tally.startedAt) === 0
  const files = alone ? changesSince(home, loop.id, task) : null
  // Of several processes that see the end, the first has measured: it then clears its measure away.
  store.changeTask(vault, id, (before) => (before.files === undefined ? { ...before, files } : before))
  forgetFiles(home, loop.id)
}

/** Makes a state file anew that is missing, damaged, or older than the database since a process died. */
export async function mendState(desk: VaultDesk, state: TaskState): Promise<void> {
  const { task_id: id } = state
  const found = readState(desk, id)
  if (found === 'damaged') setAside(desk, id)
  const isCurrent = found !== undefined && found !== 'damaged' && printTaskState(found) === printTaskState(state)
  if (!isCurrent) await noteTrouble(desk, () => publish(desk, id))
}

/** The database has it by then, so a file that cannot be written is told, not thrown. */
export async function noteTrouble(desk: VaultDesk, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (cause) {
    if (!(cause instanceof StateFileError)) throw cause
    desk.note(cause.message)
  }
}

function setAside(desk: VaultDesk, id: string): void {
  const aside = putAside(desk, id, desk.now())
  if (aside !== undefined)
    desk.note(`${stateFileOf(desk, id)} was damaged. It is ${aside} now, and was made anew from the database.`)
}
