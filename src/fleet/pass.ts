/** Translates between the database and the scheduler: its view of the fleet, and the decisions it makes. */
import { agents, parseAgent } from '../agents/index.ts'
import type { FleetTask, FleetWorker } from '../formats/fleet-task.ts'
import type { FleetView, Release } from '../host/fleet-store.ts'
import { type Needs, queueName } from './needs.ts'
import type { Busy, Held, LiveWorker, Picture, Waiting } from './picture.ts'
import { schedule } from './schedule.ts'

/** Set aside for a task without its own cost limit. */
const RESERVE_USD = 1

/** `recent`: how many were released in the last two seconds. */
export function passOver(view: FleetView, recent = 0): { releases: Release[]; held: ReadonlyMap<string, Held> } {
  const { release, held } = schedule(pictureOf(view, recent))
  const tasks = new Map(view.ready.map((task) => [task.id, task]))
  const releases = release.flatMap((id) => {
    const task = tasks.get(id)
    return task ? [{ task: id, queue: queueFor(needsOf(task)), reserveUsd: reserveOf(view, task) }] : []
  })
  // Any worker with the labels can run the checks of a merge.
  const merges = view.merges.map(({ id, labels }) => ({
    task: id,
    queue: queueFor({ agents: [], labels }),
    reserveUsd: 0,
    merge: true as const,
  }))
  return { releases: [...merges, ...releases], held }
}

function queueFor(needs: Needs): Release['queue'] {
  return { name: queueName(needs), ...needs }
}

/** Agents that a worker finds on its machine. Any other program is used only by tasks that name it. */
const DETECTED_AGENTS = Object.values(agents).flatMap(({ name, probe }) => (probe ? [name] : []))

/** `auto` is whichever agent a worker has found. What follows a colon does not matter for scheduling. */
export function needsOf({ agents: named, labels }: Pick<FleetTask, 'agents' | 'labels'>): Needs {
  const names = named.flatMap((text) => (text === 'auto' ? DETECTED_AGENTS : [parseAgent(text).agent.name]))
  return { agents: [...new Set(names)], labels }
}

function pictureOf(view: FleetView, recent = 0): Picture {
  const slots = view.workers.reduce((sum, { concurrency }) => sum + concurrency, 0)
  return {
    now: view.now,
    waiting: view.ready.map((task) => toWaiting(view, task)),
    busy: view.busy.map(toBusy),
    workers: view.workers.map(toSeats),
    pausedUntil: new Map(view.accounts.map(({ name, paused_until }) => [name, paused_until])),
    leftUsd: (submitter) => view.left.get(submitter),
    releasedAt: (submitter) => view.releasedAt.get(submitter),
    readAhead: Math.max(1, recent, Math.min(64, Math.ceil(slots / 8))),
  }
}

/** Only submitters with a budget need a reservation. */
function reserveOf({ left }: FleetView, { submitter, limit_usd }: FleetTask): number {
  return left.has(submitter) ? (limit_usd ?? RESERVE_USD) : 0
}

function toWaiting(view: FleetView, task: FleetTask): Waiting {
  return {
    ...placeOf(task),
    id: task.id,
    submitter: task.submitter,
    priority: task.priority,
    needs: needsOf(task),
    touches: task.touches,
    dependsOn: [], // tasks with open dependencies are not ready
    createdAt: task.created_at,
    reserveUsd: reserveOf(view, task),
  }
}

function toBusy(task: FleetTask): Busy {
  return {
    ...placeOf(task),
    id: task.id,
    submitter: task.submitter,
    needs: needsOf(task),
    touches: task.touches,
    state: task.state as Busy['state'], // the store returns no other states here
    ...(task.worker === null ? {} : { worker: task.worker }),
  }
}

/** A task without a repository works in its own folder, so it shares nothing. */
function placeOf({ id, repo, base, branch }: FleetTask): Pick<Waiting, 'repo' | 'base' | 'branch'> {
  return { repo: repo ?? `none:${id}`, base: base ?? '', branch }
}

function toSeats({ id, agents, labels, concurrency, draining }: FleetWorker): LiveWorker {
  return { id, agents: Object.keys(agents), labels, accounts: agents, concurrency, draining }
}
