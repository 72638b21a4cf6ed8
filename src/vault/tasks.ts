/** The tasks of a vault: each is a loop. They are started, found again and moved here, and told in the task API's words. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { oneLine } from '../engine/breaker.ts'
import { deadline } from '../engine/limits.ts'
import {
  ended,
  type Fact,
  type Limits,
  type Loop,
  type Order,
  type Spec,
  startLoop,
  type Tally,
  type Turn,
  type VaultTask,
  type Work,
} from '../engine/loop.ts'
import { step } from '../engine/step.ts'
import { hasWorked } from '../engine/tally.ts'
import { RalphError } from '../error.ts'
import { parseTaskFile, type TaskHead } from '../formats/task-file.ts'
import {
  type HistoryEntry,
  parseTaskState,
  printTaskState,
  type TaskProgress,
  type TaskState,
} from '../formats/task-state.ts'
import { newLoopId } from '../host/loop-id.ts'
import type { TaskRecord, TaskRow } from '../host/sqlite.ts'
import type { Held, Lease } from '../host/store.ts'
import { openTree } from '../host/tree.ts'
import { PENDING, whereIs } from '../host/vault.ts'
import { buildVaultPrompt } from '../prompt/vault-prompt.ts'
import { checkHand, drive } from '../run.ts'
import { changesSince, forgetFiles, keepFiles } from './changes.ts'
import type { Entry, History, VaultDesk } from './desk.ts'
import { StateCorruptedError, StateFileError, TaskNotFoundError } from './errors.ts'
import { statusOfTask } from './lifecycle.ts'
import { findInode, isTaskId, prepareFolders, readTaskFile, type TaskFile } from './place.ts'
import { putAside, readState, removeHookFiles, stateFileOf, writeHookFiles, writeState } from './state-file.ts'

export type Starting = {
  /** The path of its file, and where that begins if it is not found in the vault. */
  file: string
  base?: string
  maxIterations?: number
  timeoutMinutes?: number
  by: VaultTask['by']
  /** The session of Claude Code it is started in. */
  session?: string
  /** Who works on it, where ralph itself sets an agent to work. */
  crew?: (head: TaskHead) => Crew
}

export type Crew = {
  work: Partial<Work>
  agents?: string[]
  /** Checks of every task, besides its own. */
  checks?: string[]
  limits: Pick<Limits, 'noProgress' | 'sameError' | 'costUsd'>
}

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
    await writeHookFiles(loop, task, starting.session)
    keepFiles(desk.home, id, task)
    await publish(desk, task.id)
  } catch (cause) {
    const order = { kind: 'cancel' } as const
    await moveTask(desk, { loop: id }, (move) => move({ kind: 'told', at: now(), by: 'ralph', order }))
    store.forgetTask(vault, task.id, id)
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

type Asked = { file: TaskFile; head: TaskHead; body: string }

// Whoever calls the API sees what happens itself: there only count and clock end a task.
const NEVER = 1_000_000_000

function specOf({ vault, settings }: VaultDesk, starting: Starting, { file, head, body }: Asked): Spec {
  const { by, crew, maxIterations = head.maxIterations, timeoutMinutes = head.timeoutMinutes } = starting
  const hired = crew?.(head) ?? { work: {}, limits: { noProgress: NEVER, sameError: NEVER } }
  const { work, agents, checks = [], limits } = hired
  const done = `${settings.doneFolder}/${file.file}`
  return {
    prompt: buildVaultPrompt({ body, from: file.from, done, pending: `${PENDING}/${file.file}` }),
    ...{ promise: '', signals: [], until: false, stages: [] },
    checks: [...new Set([...(head.checks ?? []), ...checks])],
    limits: {
      iterations: maxIterations ?? settings.maxIterations,
      minutes: timeoutMinutes ?? settings.timeoutMinutes,
      ...limits,
      ...(head.maxCostUsd === undefined ? {} : { costUsd: head.maxCostUsd }),
    },
    ...(agents && agents.length > 1 ? { agents } : {}),
    work: {
      ...{
        agent: CALLER,
        agentArgs: [],
        permissions: 'bypass',
        context: 'fresh',
        silenceMinutes: 10,
        checkMinutes: 10,
      },
      ...work,
      dir: vault,
      vault: {
        ...{ path: vault, id: file.id, file: file.file, from: file.from, by },
        ...{ done: settings.doneFolder, state: settings.stateDir },
      },
    },
  }
}

/** The name of the agent where ralph does not know who works. */
export const CALLER = 'caller'

/** The task of a loop that has one. */
export function vaultOf({ id, spec }: Loop): VaultTask {
  if (!spec.work.vault) throw new Error(`Loop ${id} is no task of a vault.`)
  return spec.work.vault
}

/** The row of a task. One that only its state file knows is taken into the database. */
export async function findTask(desk: VaultDesk, id: string): Promise<TaskRow> {
  const row = isTaskId(id) ? desk.store.loadTask(desk.vault, id) : undefined
  if (row) return row
  const state = isTaskId(id) ? readState(desk, id) : undefined
  if (state === undefined)
    throw new TaskNotFoundError(id, `Task not found: ${id}. \`ralph task list\` tells those of ${desk.vault}.`)
  if (state === 'damaged')
    throw new StateCorruptedError(
      id,
      `${stateFileOf(desk, id)} is damaged, and the database does not know the task. Remove that file, then start the task anew.`,
    )
  await adopt(desk, state)
  desk.note(`Task ${id} was known by its state file alone; it is in the database again.`)
  return findTask(desk, id)
}

/** Makes a loop of what another home, another program or an older version has left. */
async function adopt(desk: VaultDesk, state: TaskState): Promise<void> {
  const { vault, settings, store } = desk
  const from = pathIn(vault, state.task_file)
  const file = from.split('/').at(-1) ?? from
  const at = Date.parse(state.started_at)
  const minutes = Math.max(0.01, (Date.parse(state.timeout_at) - at) / 60_000)
  const asked = { file: { id: state.task_id, file, from, text: '', inode: '' }, head: { priority: 1 }, body: '' }
  const spec = specOf(
    desk,
    { file: from, by: 'caller', maxIterations: state.max_iterations, timeoutMinutes: minutes },
    asked,
  )
  const begun = startLoop(newLoopId(), spec, { at })
  const told = state.iterations_history.slice(-state.iteration || state.iterations_history.length)
  // The engine itself says when the last one is used.
  const spent = told.length === 0 && state.status === 'max_iterations_reached'
  const known = spent ? [{ timestamp: state.last_updated, action: '', result: 'unknown', duration_seconds: 0 }] : told
  const missing = Math.max(0, state.iteration - known.length)
  const loop = { ...begun, tally: { ...begun.tally, iteration: missing } }
  const { steps_total: total, steps_completed: completed, current_step: step } = state.progress
  const hasProgress = total > 0 || step !== ''
  if (store.beginTask(loop, hasProgress ? { progress: { total, completed, step, at } } : {}) !== undefined) return
  await moveTask(desk, store.loadTask(vault, state.task_id) as TaskRow, async (move) => {
    for (const { timestamp, action, result, duration_seconds: seconds } of known)
      await move({
        kind: 'turned',
        at: Date.parse(timestamp) + seconds * 1_000,
        turn: toldTurn({ action, result, seconds }),
      })
    const end = FINAL_ORDERS[state.status]
    if (end) await move({ kind: 'told', at: Date.parse(state.last_updated), by: settings.stateDir, order: end })
  })
}

const FINAL_ORDERS: Readonly<Partial<Record<TaskState['status'], Order>>> = {
  completed: { kind: 'done' },
  timeout: { kind: 'out-of-time' },
  failed: { kind: 'cancel' },
}

function pathIn(vault: string, path: string): string {
  return path.startsWith(`${vault}/`) ? path.slice(vault.length + 1) : path.split('/').slice(-2).join('/')
}

/** A turn that somebody tells of, instead of ralph having seen it. */
export function toldTurn(told: NonNullable<Turn['told']>): Turn {
  return { end: 'ok', claim: { kind: 'none' }, words: told.action, ranTests: false, tokens: 0, told }
}

/** Moves the loop by one fact, and as far as checks take it then. */
export type Move = (fact: Fact) => Promise<Loop>

/** The loop of a task, held alone for as long as `work` takes. Others who want it wait their turn. */
export async function moveTask<Result>(
  desk: VaultDesk,
  { loop: id }: Pick<TaskRow, 'loop'>,
  work: (move: Move, loop: Loop, lease: Lease) => Promise<Result>,
): Promise<Result> {
  const { store, env, now } = desk
  const lease = await takeLease(desk, id)
  try {
    const tree = { look: async () => undefined, seen: true, checkpoints: { none: 'nobody looks' } } as const
    const check = checkHand({ store, tree, env, now, stop: new AbortController().signal, show: () => {} })
    let loop = await drive(await store.load(id), lease, store, { check })
    const move: Move = async (fact) => {
      // A clock that was set back must not make a task younger.
      const told = { ...fact, at: Math.max(fact.at, loop.tally.startedAt) }
      const next = step(loop, told)
      await store.save(lease, next, told)
      loop = await drive(next, lease, store, { check })
      return loop
    }
    return await work(move, loop, lease)
  } finally {
    await lease.release()
  }
}

const PATIENCE_MS = 10_000

async function takeLease({ store }: VaultDesk, id: string): Promise<Lease> {
  const until = performance.now() + PATIENCE_MS
  let held: Lease | Held = await store.lease(id)
  while ('heldBy' in held && performance.now() < until) {
    await sleep(5 + Math.random() * 20)
    held = await store.lease(id)
  }
  if ('heldBy' in held)
    throw new RalphError(
      'loop-held',
      `The task is being worked on by ${held.heldBy} (loop ${id}). Only one can at a time.`,
    )
  return held
}

/** A task whose time is over while nobody drives it is ended. */
export async function endOverdue(desk: VaultDesk, row: TaskRow): Promise<void> {
  const { store, now } = desk
  const loop = await store.load(row.loop)
  const { minutes } = loop.spec.limits
  const resting = ended(loop) || loop.next.kind === 'wait' || minutes === undefined
  if (resting || now() < deadline(minutes, loop.tally) || (await store.isDriven(row.loop))) return
  await moveTask(desk, row, async (move, current) => {
    if (!ended(current)) await move({ kind: 'told', at: now(), by: 'the clock', order: { kind: 'out-of-time' } })
  })
  await tellState(desk, row.id)
}

/** The database has it by now, so a file that cannot be written is told, not thrown. */
export async function tellState(desk: VaultDesk, id: string, show: typeof publish = publish): Promise<void> {
  try {
    await show(desk, id)
  } catch (cause) {
    if (!(cause instanceof StateFileError)) throw cause
    desk.note(cause.message)
  }
}

/** After the loop of a task has moved: one whose file is gone is given up, and the vault's files are brought into line. */
export async function settleTask(desk: VaultDesk, id: string): Promise<TaskState> {
  const row = await findTask(desk, id)
  const loop = await desk.store.load(row.loop)
  const task = vaultOf(loop)
  if (loop.next.kind === 'wait' && loop.next.why === 'person' && whereIs(task) === 'gone') {
    const by = `ralph, since ${renamed(desk, task, row.record) ?? `${task.file} is in no folder of the vault any more`}`
    await moveTask(desk, row, (move) => move({ kind: 'told', at: desk.now(), by, order: { kind: 'cancel' } }))
  }
  return publish(desk, id)
}

function renamed({ vault }: VaultDesk, { file }: VaultTask, { inode }: TaskRecord): string | undefined {
  const now = inode === undefined ? undefined : findInode(vault, inode)
  return now === undefined ? undefined : `${file} was renamed to ${now}`
}

/** Brings the vault's files into line with the loop of a task. */
export async function publish(desk: VaultDesk, id: string): Promise<TaskState> {
  const { store, vault } = desk
  for (;;) {
    const row = store.loadTask(vault, id)
    if (!row) throw new TaskNotFoundError(id, `Task not found: ${id}.`)
    const loop = await store.load(row.loop)
    const state = stateOf(loop, row, await historyOf(desk, loop))
    try {
      await writeState(desk, state)
    } finally {
      // Afterwards, so that who is killed before leaves a task whose end is still to be seen to.
      if (ended(loop)) close(desk, row, loop)
    }
    // Another process may have been quicker with something newer.
    const after = store.loadTask(vault, id)
    if (after?.events === row.events && after.loop === row.loop && sameProgress(after.record, row.record)) return state
  }
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
  store.changeTask(vault, id, (before) => ({ ...before, files }))
  forgetFiles(home, loop.id)
}

/** Makes a state file anew that is missing, damaged, or older than the database, as after a crash. */
export async function mendState(desk: VaultDesk, row: TaskRow, loop: Loop): Promise<void> {
  const { id } = row
  const found = readState(desk, id)
  if (found === 'damaged') {
    const aside = putAside(desk, id, desk.now())
    desk.note(`${stateFileOf(desk, id)} was damaged. It is ${aside} now, and was made anew from the database.`)
  }
  const wanted = parseTaskState(printTaskState(stateOf(loop, row, [])))
  if (typeof found !== 'object' || !isDeepStrictEqual({ ...found, iterations_history: [] }, wanted))
    await publish(desk, id)
}

/** How a task stands, in the words of the API. */
export function stateOf(
  loop: Loop,
  { record, movedAt }: Pick<TaskRow, 'record' | 'movedAt'>,
  history: HistoryEntry[],
): TaskState {
  const { path, from, id } = vaultOf(loop)
  const { tally, spec } = loop
  return {
    task_id: id,
    task_file: `${path}/${from}`,
    status: statusOfTask(loop, record),
    iteration: tally.iteration,
    max_iterations: spec.limits.iterations,
    started_at: time(tally.startedAt),
    last_updated: time(Math.max(movedAt, record.progress?.at ?? 0)),
    timeout_at: time(deadline(spec.limits.minutes ?? 0, tally)),
    progress: progressOf(record),
    iterations_history: history,
  }
}

export function progressOf({ progress }: TaskRecord): TaskProgress {
  const { total, completed, step: current_step } = progress ?? { total: 0, completed: 0, step: '' }
  const percentage = total === 0 ? 0 : Math.round((completed / total) * 1_000) / 10
  return { steps_total: total, steps_completed: completed, current_step, percentage }
}

/** Seconds are enough. */
export function time(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`
}

/** The iterations of a task. What was read once is remembered. */
export async function historyOf(desk: VaultDesk, loop: Loop): Promise<HistoryEntry[]> {
  const { entries } = await readOn(desk, loop)
  const first = loop.tally.iteration - entries.length + 1
  return entries.map((entry, index) => ({ iteration: first + index, ...entry }))
}

/** How often its agents called their model; null when one of them did not tell. */
export async function callsOf(desk: VaultDesk, loop: Loop): Promise<number | null> {
  return (await readOn(desk, loop)).calls
}

async function readOn({ store, histories }: VaultDesk, { id, tally }: Loop): Promise<History> {
  const history = histories.get(id) ?? { seq: 0, at: tally.startedAt, entries: [], calls: 0 }
  histories.set(id, history)
  for (const { fact, at, seq } of await store.events(history.seq, id)) {
    if (seq <= history.seq) continue // another call has read it meanwhile
    if (fact.kind === 'turned') {
      const { calls } = fact.turn
      history.calls = calls === undefined || history.calls === null ? null : history.calls + calls
      if (hasWorked(fact.turn)) history.entries.push(entryOf(fact.turn, { at, since: history.at, tally }))
    }
    Object.assign(history, { seq, at })
  }
  return history
}

function entryOf(turn: Turn, { at, since, tally }: { at: number; since: number; tally: Tally }): Entry {
  const seen = { action: oneLine(turn.words), result: resultOf(turn), seconds: Math.max(0, at - since) / 1_000 }
  const { action, result, seconds } = turn.told ?? seen
  const timestamp = time(Math.max(tally.startedAt, at - seconds * 1_000))
  return { timestamp, action, result, duration_seconds: seconds }
}

function resultOf({ end }: Turn): string {
  return end === 'ok' ? 'success' : 'context_full'
}
