/** Moves the work of a task between machines by git: a worktree on a local mirror, and a branch on the remote. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fact, Loop, Worktree } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import type { FleetTask } from '../formats/fleet-task.ts'
import { loadConfig } from '../host/config.ts'
import type { Fenced } from '../host/fence.ts'
import type { Trouble } from '../host/remote-call.ts'
import type { Lease } from '../host/store.ts'
import { takeFence } from '../host/take-fence.ts'
import { takeOverTask } from '../host/take-over.ts'
import type { TaskPlace } from '../host/task-names.ts'
import { finishBranch, pushIteration } from '../host/task-push.ts'
import { sweepTasks } from '../host/task-traces.ts'
import { closeTaskTree, type OpenTask, openTaskTree } from '../host/task-tree.ts'
import { given } from '../request/given.ts'
import type { Desk } from './fleet-desk.ts'
import { keepDiffs } from './fleet-diffs.ts'

export type GitCarrier = {
  begin(task: FleetTask, loop: Loop, lease: Lease): Promise<OpenTask>
  takeOver(task: FleetTask, loop: Loop, lease: Lease, at: number): Promise<Fact[]>
  /** From now on no other worker can push for it. */
  takeHold(task: FleetTask, loop: Loop, lease: Lease): Promise<void>
  push(task: FleetTask, loop: Loop, lease: Lease): Promise<void>
  leave(task: FleetTask, loop: Loop): Promise<void>
  abandon(task: FleetTask): Promise<void>
  sweep(): Promise<void>
}

/** A first clone may take long; a failing push is retried for this long. */
const ARRIVE_MS = 60 * 60_000
const PATIENCE_MS = 30 * 60_000
/** One attempt, including git's own timeout. */
const TRY_MS = 15 * 60_000
const FINISH_MS = 60_000

/** `epochs`: the lease epoch of each loop on this machine. */
type Site = { desk: Desk; epochs: Map<string, number> }

export function gitCarrier(desk: Desk): GitCarrier {
  const site = { desk, epochs: new Map<string, number>() }
  return {
    ...arrivals(site),
    ...departures(site),
    sweep: async () => void (await sweepTasks(desk.context.home, (loop) => desk.jobs.has(loop))),
  }
}

function placeOf({ desk }: Site, task: FleetTask, loop: string): TaskPlace {
  if (task.repo === null) throw new Error(`Task ${task.id} has no repository.`)
  return { home: desk.context.home, repo: task.repo, branch: task.branch, loop }
}

function arrivals(site: Site): Pick<GitCarrier, 'begin' | 'takeOver' | 'takeHold'> {
  const { home } = site.desk.context
  const arriving = (task: FleetTask, { id }: Loop, lease: Lease) => {
    site.epochs.set(id, lease.epoch)
    lease.expect?.(ARRIVE_MS)
    const pushed = task.pushed ?? undefined
    return { ...placeOf(site, task, id), epoch: lease.epoch, signal: lease.lost, ...given({ pushed }) }
  }
  return {
    async begin(task, loop, lease) {
      const at = arriving(task, loop, lease)
      const opening = { ...at, base: task.base ?? 'main', ...given({ at: task.pushed ?? undefined }) }
      const open = worked(await openTaskTree(opening), FETCH)
      const { worktree_files: copied = [], worktree_setup: setup } = loadConfig(home, open.work.dir)
      const ready = copied.length > 0 ? worked(await openTaskTree({ ...opening, copied }), FETCH) : open
      worked(await takeFence(at), PUSH)
      const worktree: Worktree = { ...ready.work.worktree, repo: at.repo, ...given({ setup }) }
      return { ...ready, work: { ...ready.work, worktree } }
    },

    async takeOver(task, loop, lease, at) {
      const { worktree } = loop.spec.work
      if (!worktree) throw new Error(`Loop ${loop.id} has no worktree.`)
      const { iteration, tree } = loop.tally
      const taking = { ...arriving(task, loop, lease), iteration, worktree, ...given({ tree }) }
      const { work } = worked(await takeOverTask(taking), FETCH)
      return [{ kind: 'moved', at, to: { ...work, worktree: { ...work.worktree, repo: taking.repo } } }]
    },

    async takeHold(task, loop, lease) {
      worked(await takeFence({ ...arriving(task, loop, lease), kept: loop.tally.iteration }), PUSH)
    },
  }
}

function departures(site: Site): Pick<GitCarrier, 'push' | 'leave' | 'abandon'> {
  const { desk, epochs } = site
  return {
    async push(task, loop, lease) {
      // The state before any work is needed wherever the loop continues.
      const iteration = loop.next.kind === 'turn' ? loop.next.iteration : 0
      const what = { task: task.id, title: task.title, iteration, epoch: lease.epoch }
      const pushed = task.pushed ?? undefined
      const pushing = { ...placeOf(site, task, loop.id), ...what, signal: lease.lost, ...given({ pushed }) }
      const result = worked(await patiently(desk, task, PATIENCE_MS, () => pushIteration(pushing), lease), PUSH)
      if (result.kind === 'kept-nothing') return
      // Recorded before the turn: a worker that takes over continues from what was pushed.
      const noted = await desk.store.fleet.change(task.id, { pushed: result.commit }, { worker: desk.id })
      if (!noted) throw takenOver(`loop ${loop.id}`)
      task.pushed = result.commit
      await keepDiffs(desk, task, {
        loop,
        lease,
        reading: { ...pushing, before: pushing.pushed, commit: result.commit },
      })
    },

    async leave(task, loop) {
      const epoch = epochs.get(loop.id)
      if (epoch !== undefined) {
        const finishing = { ...placeOf(site, task, loop.id), epoch }
        const result = await patiently(desk, task, FINISH_MS, () => finishBranch(finishing))
        if (result.kind === 'unreachable' || result.kind === 'refused')
          desk.say(`could not delete refs/ralph/${loop.id} from its repository: ${result.why}`, task)
      }
      epochs.delete(loop.id)
      await closeTaskTree(placeOf(site, task, loop.id))
    },

    abandon: (task) => closeTaskTree(placeOf(site, task, task.loop_id)),
  }
}

type Came = { kind: string }

/** Retries while the remote is down: the work of the agent must not be lost. */
async function patiently<Result extends Came>(
  { say }: Desk,
  task: FleetTask,
  patienceMs: number,
  work: () => Promise<Result | Trouble>,
  lease?: Lease,
): Promise<Result | Trouble> {
  const until = performance.now() + patienceMs
  for (let waitMs = 1_000; ; waitMs = Math.min(2 * waitMs, 30_000)) {
    lease?.expect?.(TRY_MS)
    const result = await work()
    if (result.kind !== 'unreachable' || performance.now() > until || lease?.lost.aborted) return result
    say(`its repository is unreachable, retrying: ${(result as Trouble).why}`, task)
    await sleep(waitMs, undefined, given({ signal: lease?.lost })).catch(() => {}) // the next attempt is then fenced
  }
}

const FETCH = 'Could not fetch from its repository'
const PUSH = 'Could not push to its repository'

/** Throws a sentence and a code that decide what happens to the task. */
function worked<Result extends Came>(
  result: Result | Fenced | Trouble,
  lead: string,
): Exclude<Result, Fenced | Trouble> {
  if (result.kind === 'fenced') throw takenOver()
  if (result.kind === 'unreachable')
    throw new RalphError('handed-back', `Its repository is unreachable: ${(result as Trouble).why}`)
  if (result.kind === 'refused') throw new RalphError('git-failed', `${lead}: ${(result as Trouble).why}`)
  return result as Exclude<Result, Fenced | Trouble> // no other kind is left
}

function takenOver(loop = 'this loop'): RalphError {
  return new RalphError(
    'lease-lost',
    `Another worker has taken over ${loop}; what this worker did since then is not recorded.`,
  )
}
