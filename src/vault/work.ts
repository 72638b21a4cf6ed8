/** Work on one task of a vault by an agent that ralph starts: its loop, driven as far as it goes. */
import { join } from 'node:path'
import { openBench } from '../drive/bench.ts'
import type { Hands } from '../drive/drive.ts'
import { runHands, type TaskTurn, type Workbench } from '../drive/hands.ts'
import { takeUp } from '../drive/take-turn.ts'
import { type Visit, visit } from '../drive/visit.ts'
import { ended, type Fact, type Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import type { VaultStatus } from '../formats/task-state.ts'
import type { Lease } from '../host/store.ts'
import { isRejected, sendAway } from './approval.ts'
import type { VaultDesk } from './desk.ts'
import { statusOfTask } from './lifecycle.ts'
import { type Move, restFacts } from './moving.ts'
import { FAILED } from './place.ts'
import { toldTurn } from './spec.ts'
import { endMissing, type Left, noteTrouble, publish } from './tasks.ts'
import { type VaultTask, vaultOf } from './vault-task.ts'
import { findFile, isAboutFile, judgeTurn, whereIs } from './where.ts'

/** What is told while a vault is watched. */
export type WatchEvent =
  /** `again`: it was begun before. */
  | { kind: 'started'; loop: Loop; again: boolean }
  | { kind: 'saw'; loop: Loop; fact: Fact }
  | { kind: 'waiting' | 'paused'; loop: Loop }
  /** `place` is where its file is now, from the vault on. */
  | { kind: 'ended'; loop: Loop; status: VaultStatus; place: string | undefined }
  | { kind: 'refused'; id: string; file: string; why: string; place: string }
  | { kind: 'note'; id?: string; text: string }
  /** Nothing is to be done now. */
  | { kind: 'idle' }

export type Site = {
  desk: VaultDesk
  /** `rest`: the iteration under way is the last for now. `stop`: the agent is ended at once. */
  rest: AbortSignal
  stop: AbortSignal
  self: Workbench['self']
  tell: (event: WatchEvent) => void
}

/** `kept`: what an earlier visit has kept. `again`: it was begun before. */
export type Carrying = { loop: string; kept?: Lease; again: boolean }

/** Drives it until it is over, waits for a person, is paused, or ralph is to stop. A paused one stays held. */
export async function driveTask(site: Site, { loop: id, kept, again }: Carrying): Promise<Driven> {
  const { store, now } = site.desk
  let keeps = false
  return visit<Driven>(id, {
    store,
    now,
    ...(kept ? { take: async () => kept } : {}),
    held: () => 'held',
    takeUp: takeUp({ store, now, self: site.self }),
    since: (loop, lease, at) => (again && !kept ? restFacts(loop, lease, at) : []),
    async work(held) {
      const loop = await carry(site, held, again)
      const isPaused = loop.next.kind === 'wait' && loop.next.why === 'paused'
      keeps = isPaused && !site.rest.aborted && !site.stop.aborted
      return { loop, ...(keeps ? { kept: held.lease } : {}) }
    },
    keeps: () => keeps,
  })
}

/** `held`: somebody else moves it now. */
export type Driven = 'held' | { loop: Loop; kept?: Lease }

async function carry(site: Site, held: Visit, again: boolean): Promise<Loop> {
  const { desk, stop, rest, self, tell } = site
  const { store, env, home } = desk
  const { loop } = held
  const task = vaultOf(loop)
  let started = false
  const bench = await openBench(held, {
    home,
    store,
    env,
    stop,
    rest,
    self,
    show(event, current) {
      if (event.kind === 'note') return tell({ kind: 'note', id: task.id, text: event.text })
      if (event.kind === 'agent' || started) return
      started = true
      tell({ kind: 'started', loop: current, again })
    },
    task: turnOf(task),
  })
  const stateFile = openStateFile(desk, task)
  const saw = (moved: Loop, fact: Fact) => {
    tell({ kind: 'saw', loop: moved, fact })
    stateFile.renew()
  }
  try {
    return await held.drive(handsOf(bench, { task, stateFile, saw }))
  } finally {
    await stateFile.written()
  }
}

/** What an agent finds in its environment about its task: in each turn, where the file lies by then. The file is its claim. */
export function turnOf(task: VaultTask): TaskTurn {
  const { id, path, from } = task
  return {
    get env() {
      return { RALPH_TASK_ID: id, RALPH_TASK_FILE: join(path, findFile(task) ?? from), RALPH_VAULT: path }
    },
    judge: (_, turn) => judgeTurn(task, turn),
  }
}

type StateFile = { renew(): void; written(): Promise<void> }

/** The state file, written beside the work and one after the other. */
function openStateFile(desk: VaultDesk, { id }: VaultTask): StateFile {
  let last = Promise.resolve()
  return {
    renew() {
      last = last.then(() => noteTrouble(desk, () => publish(desk, id, 'file')))
      last.catch(() => {}) // it is thrown where it is waited for
    },
    written: () => last,
  }
}

type Watched = { task: VaultTask; stateFile: StateFile; saw: (loop: Loop, fact: Fact) => void }

function handsOf(bench: Workbench, { task, stateFile, saw }: Watched): Hands {
  const { store, now, rest } = bench
  const hands = runHands(bench, saw)
  let begun = false
  return {
    ...hands,
    async turn(loop, next) {
      if (rest?.aborted) return undefined
      const moved = movedBefore(loop, now())
      if (moved) return moved
      if (!begun) {
        begun = true
        await store.tasks.change({ vault: task.path, id: task.id, loop: loop.id }, { begun: true })
        stateFile.renew()
        await stateFile.written()
      }
      return hands.turn(loop, next)
    },
    async wait(loop, next) {
      if (next.why === 'person') return movedByHand(loop, now())
      return next.why === 'paused' ? undefined : hands.wait(loop, next)
    },
  }
}

/** A turn that was lost, or a person meanwhile, has moved the file: no agent is set to work on it. */
export function movedBefore(loop: Loop, at: number): Fact | undefined {
  const task = vaultOf(loop)
  const where = whereIs(task)
  if (where === 'open') return findFile(task) === `${FAILED}/${task.file}` ? movedByHand(loop, at) : undefined
  // With checks that have refused it, the file may stay there while the work goes on.
  if (where === 'done')
    return loop.tally.claim.kind === 'clear' ? undefined : { kind: 'told', at, by: 'ralph', order: { kind: 'done' } }
  const told = { action: 'The file was moved before the turn began.', result: where, seconds: 0 }
  return { kind: 'turned', at, turn: judgeTurn(task, toldTurn(told)) }
}

/** What a person says about a task that waits for them, by moving its file. */
export function movedByHand(loop: Loop, at: number): Fact | undefined {
  const task = vaultOf(loop)
  const told = { kind: 'told', at, by: 'you' } as const
  // One that could not be found may have been on a disk that is back now.
  const asked = isAboutFile(loop)
  switch (findFile(task)) {
    case `${task.done}/${task.file}`:
      return { ...told, order: { kind: 'done' } }
    case task.from:
      return asked ? { ...told, order: { kind: 'say', words: 'Approved. Go on.' } } : undefined
    case `${FAILED}/${task.file}`:
      return { ...told, by: `whoever moved it to ${FAILED}`, order: { kind: 'cancel' } }
    default:
      return undefined
  }
}

/** After the work, with nobody holding the loop: the vault's files are brought into line, and what has failed is put away. */
export async function finishTask({ desk, tell }: Site, id: string): Promise<VaultStatus | undefined> {
  const row = await desk.store.tasks.load(desk.vault, id)
  if (!row) return undefined
  const { loop, place, left } = await seeTo(desk, id)
  const status = statusOfTask(loop, row.record)
  if (status === 'waiting_approval') tell({ kind: 'waiting', loop })
  if (ended(loop) && left === 'nothing') {
    desk.histories.delete(loop.id)
    if (vaultOf(loop).by === 'watch') tell({ kind: 'ended', loop, status, place })
  }
  return status
}

/** The file of what has failed here, or was rejected, is put away first: until that has worked, the end does not count as seen to. */
export async function seeTo(
  desk: VaultDesk,
  id: string,
  move?: Move,
): Promise<{ loop: Loop; place: string | undefined; left: Left }> {
  const loop = await endMissing(desk, id, move)
  const isOurs = ended(loop) && (vaultOf(loop).by === 'watch' || isRejected(loop))
  const { place, left } = isOurs ? await placeAfter(desk, loop) : { place: undefined, left: 'nothing' as const }
  await noteTrouble(desk, () => publish(desk, id, left))
  return { loop, place, left }
}

/** Where the file of a task is that is over: one that has failed is put away, once. */
async function placeAfter(
  { store, now, note }: VaultDesk,
  loop: Loop,
): Promise<{ place: string | undefined; left: Left }> {
  const task = vaultOf(loop)
  try {
    if (loop.next.kind === 'complete') return { place: findFile(task), left: 'nothing' }
    const row = await store.tasks.load(task.path, task.id)
    const isNewest = row?.loop === loop.id
    if (isNewest && row.record.away !== undefined) return { place: row.record.away ?? undefined, left: 'nothing' }
    const place = sendAway(task, loop, now())
    if (isNewest) await store.tasks.change(row, { away: place ?? null })
    return { place, left: 'nothing' }
  } catch (cause) {
    if (!(cause instanceof RalphError)) throw cause
    note(cause.message)
    return { place: findFile(task), left: 'file' }
  }
}
