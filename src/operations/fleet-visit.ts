/** One job of a worker: takes a task, drives its loop as far as it goes, and records the outcome. */
import { parseAgent } from '../agents/index.ts'
import { ended, type Fact, type Loop } from '../engine/loop.ts'
import { isRalphError, RalphError } from '../error.ts'
import { settleTask } from '../fleet/settle.ts'
import { FLEET_OVER, type FleetTask } from '../formats/fleet-task.ts'
import { oneLine } from '../formats/one-line.ts'
import type { FleetJob } from '../host/fleet-store.ts'
import { holdTask } from '../host/task-traces.ts'
import { driveLoop } from './drive-loop.ts'
import type { Carrier } from './fleet-carry.ts'
import { type Desk, sentenceOf } from './fleet-desk.ts'
import { pauseAccount } from './fleet-limits.ts'
import { openPurse } from './fleet-purse.ts'
import { canRun } from './fleet-seats.ts'
import { giveOrder } from './give-order.ts'
import { standingOf } from './standing.ts'

/** `stop` ends the agent at once; after `rest` no turn starts. */
export type Visiting = { desk: Desk; carrier: Carrier; stop: AbortSignal; rest: AbortSignal; mostDeaths: number }

/** Settles the job afterwards, unless another worker has it by then. */
export async function visitTask(visiting: Visiting, job: FleetJob): Promise<void> {
  const task = await take(visiting, job)
  if (task === 'driven') return // the job returns when its heartbeat is missing again
  if (!task || (await visitAlone(visiting, job, task))) await visiting.desk.store.fleet.queue.settle(job)
}

/** False: another worker has it by now. */
async function visitAlone(visiting: Visiting, job: FleetJob, task: FleetTask): Promise<boolean> {
  const { desk, carrier } = visiting
  const { context, jobs, say } = desk
  // Keeps cleanups on this machine away from its files; an earlier visit of this worker may still be ending.
  const hold = holdTask(context.home, task.loop_id)
  if (!hold) return putAside(desk, task, new RalphError('handed-back', 'This worker has not released it yet.'))
  jobs.set(task.loop_id, job)
  say(`${task.attempts > 1 ? 'resumed' : 'started'}: ${task.title}`, task)
  try {
    await drive(visiting, task)
    return true
  } catch (cause) {
    if (!isRalphError(cause) || cause.code !== 'lease-lost') return await putAside(desk, task, cause)
    say(cause.message, task)
    await carrier.abandon(task)
    return false
  } finally {
    jobs.delete(task.loop_id)
    hold.release()
  }
}

/** Undefined: nothing to do. `driven`: its last worker is late, but not dead. */
async function take({ desk, mostDeaths }: Visiting, job: FleetJob): Promise<FleetTask | 'driven' | undefined> {
  const { fleet } = desk.store
  const task = await fleet.load(job.task)
  if (!task || FLEET_OVER.includes(task.state)) return undefined
  if (await desk.store.isDriven(task.loop_id)) return 'driven'
  if (job.tries >= mostDeaths) {
    const sentence = `${job.tries} workers in a row died while running it.`
    await giveOrder(desk.context, task.loop_id, { kind: 'cancel' }, { by: 'ralph' })
    await fleet.change(task.id, { state: 'failed', sentence })
    return undefined
  }
  // Another worker started it with an agent that is not available here.
  if (!canRun(desk, task)) {
    await fleet.change(task.id, { state: 'ready', worker: null }, { from: ['released', 'running'] })
    return undefined
  }
  const taken = { state: 'running', worker: desk.id, attempts: task.attempts + 1, sentence: null } as const
  return fleet.change(task.id, taken, { from: ['released', 'running'] })
}

async function drive({ desk, carrier, stop, rest }: Visiting, task: FleetTask): Promise<void> {
  const { context, say, progress } = desk
  const purse = openPurse(desk, task)
  const loop = await driveLoop(context, task.loop_id, {
    stop: AbortSignal.any([stop, purse.empty]),
    rest: AbortSignal.any([rest, AbortSignal.timeout(LONGEST_MS)]),
    leavesWaits: true,
    begin: () => {},
    say: (text) => say(text, task),
    show(event, shown) {
      progress()
      if (event.kind === 'agent') purse.saw(event.event, shown)
      if (event.kind === 'note') say(event.text, task)
    },
    saw(moved, fact) {
      progress()
      purse.moved(moved)
      if (fact.kind === 'turned') say(turnWords(moved, fact), task)
    },
    arrive: (arriving, lease, at) => carrier.arrive(task, arriving, { lease, at }),
    carry: async (carried, fact, lease) => {
      await refuseLoggedOut(desk, carried, fact)
      return carrier.carry(task, carried, { fact, lease })
    },
  })
  await see(desk, carrier, { task, loop })
}

/** The agent is not logged in here: hands the task to another worker, counts nothing, and stops offering that agent. */
async function refuseLoggedOut({ agents, store, id }: Desk, { spec, next }: Loop, fact: Fact): Promise<void> {
  if (fact.kind !== 'turned' || !fact.turn.loggedOut) return
  const { name } = parseAgent((next.kind === 'turn' && next.agent) || spec.work.agent).agent
  const others = (await store.fleet.workers.list()).filter((worker) => worker.id !== id && !worker.draining)
  if (!others.some((worker) => name in worker.agents)) return
  agents.delete(name)
  throw new RalphError('handed-back', `${name} is not logged in on this worker, which no longer offers it.`)
}

/** The queue considers longer jobs lost; another job continues the task. */
const LONGEST_MS = 20 * 3_600_000

/** A turn that crashed or hit a rate limit does not count. */
function turnWords({ tally }: Loop, { turn }: Extract<Fact, { kind: 'turned' }>): string {
  return turn.end === 'ok' || turn.end === 'context-full'
    ? `iteration ${tally.iteration} finished`
    : `the agent failed: ${oneLine(turn.words)}`
}

/** After the drive: removes the worktree of an ended loop, reports a rate limit to all workers, hands back what has not ended. */
async function see(desk: Desk, carrier: Carrier, { task, loop }: { task: FleetTask; loop: Loop }): Promise<void> {
  const { store, say } = desk
  if (ended(loop)) {
    await carrier.leave(task, loop)
    const settled = (await settleTask(store, loop)) ?? (await store.fleet.load(task.id))
    say(settled?.state === 'merging' ? 'complete; waiting to be merged' : settledWords(settled), task)
    return
  }
  if (loop.next.kind === 'wait') {
    say(standingOf(loop).sentence, task)
    if (loop.next.why === 'limit') await pauseAccount(desk, loop, loop.next)
    return
  }
  await store.fleet.change(task.id, { state: 'ready', worker: null }, { from: ['running'], worker: desk.id })
  say('handed back: another worker continues it', task)
}

function settledWords(task: FleetTask | undefined): string {
  return task ? `${task.state}. ${task.sentence ?? ''}`.trim() : 'over'
}

/** It could not be driven here: it is retried later or on another worker, or paused if a person must act. */
async function putAside(desk: Desk, task: FleetTask, cause: unknown): Promise<true> {
  const { store, say, context } = desk
  say(sentenceOf(cause), task)
  if (isRalphError(cause) && (cause.code === 'loop-held' || cause.code === 'handed-back')) {
    const due_at = context.now() + laterMs(task.attempts)
    // Not resting: a pending order must not wake it earlier.
    const patch = { state: 'ready', worker: null, sentence: cause.message, due_at } as const
    await store.fleet.change(task.id, patch, { from: ['running'], worker: desk.id })
    return true
  }
  if (!isRalphError(cause)) throw cause
  const loop = await store.load(task.loop_id)
  if (!ended(loop)) await giveOrder(context, loop.id, { kind: 'pause', why: cause.message }, { by: 'ralph' })
  return true
}

/** Exponential: from 2 seconds to 5 minutes. */
function laterMs(attempts: number): number {
  return Math.min(300_000, 1_000 * 2 ** Math.min(attempts, 10))
}
