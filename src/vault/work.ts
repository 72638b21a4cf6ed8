/** Drives the loop of one vault task, with an agent that ralph starts, as far as it goes. */
import { join } from 'node:path'
import { openBench } from '../drive/bench.ts'
import type { Hands } from '../drive/drive.ts'
import { runHands, type TaskTurn, type Workbench } from '../drive/hands.ts'
import { takeUp } from '../drive/take-turn.ts'
import { type Visit, visit } from '../drive/visit.ts'
import type { Fact, Loop } from '../engine/loop.ts'
import type { VaultStatus } from '../formats/task-state.ts'
import type { Lease } from '../host/store.ts'
import type { VaultDesk } from './desk.ts'
import { movedBefore, movedByHand } from './moved.ts'
import { restFacts } from './moving.ts'
import { openSteps } from './steps.ts'
import { noteTrouble, publish } from './tasks.ts'
import { type VaultTask, vaultOf } from './vault-task.ts'
import { findFile, judgeByPlace } from './where.ts'

/** What a watcher reports. */
export type WatchEvent =
  /** `again`: it was started before. */
  | { kind: 'started'; loop: Loop; again: boolean }
  | { kind: 'saw'; loop: Loop; fact: Fact }
  | { kind: 'waiting' | 'paused'; loop: Loop }
  /** `place` is where its file is now, relative to the vault. */
  | { kind: 'ended'; loop: Loop; status: VaultStatus; place: string | undefined }
  | { kind: 'refused'; id: string; file: string; why: string; place: string }
  | { kind: 'note'; id?: string; text: string }
  /** There is nothing to do now. */
  | { kind: 'idle' }

export type Site = {
  desk: VaultDesk
  /** `rest`: the current iteration is the last for now. `stop`: the agent is killed at once. */
  rest: AbortSignal
  stop: AbortSignal
  self: Workbench['self']
  tell: (event: WatchEvent) => void
}

/** `kept`: what an earlier visit kept. `again`: it was started before. */
export type Carrying = { loop: string; kept?: Lease; again: boolean }

/** Drives it until it ends, waits for a person, is paused, or ralph should stop. A paused one stays held. */
export async function driveVaultTask(site: Site, { loop: id, kept, again }: Carrying): Promise<Driven> {
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

/** `held`: someone else is moving it now. */
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
    task: taskTurn(task),
  })
  const stateFile = openStateFile(desk, task, loop.id)
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

/** The environment of an agent: in each turn, where the file is by then. The file is its claim. */
export function taskTurn(task: VaultTask): TaskTurn {
  const { id, path, from } = task
  return {
    get env() {
      return { RALPH_TASK_ID: id, RALPH_TASK_FILE: join(path, findFile(task) ?? from), RALPH_VAULT: path }
    },
    judge: (_, turn) => judgeByPlace(task, turn),
  }
}

type StateFile = { renew(): void; written(): Promise<void> }

/** Writes the state file alongside the work, one write at a time, with the steps from the task file. */
function openStateFile(desk: VaultDesk, task: VaultTask, loop: string): StateFile {
  const noteSteps = openSteps(desk, task, loop)
  let last = Promise.resolve()
  return {
    renew() {
      last = last.then(noteSteps).then(() => noteTrouble(desk, () => publish(desk, task.id, 'file')))
      last.catch(() => {}) // rethrown where it is awaited
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
