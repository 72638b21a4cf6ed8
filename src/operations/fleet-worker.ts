/** A worker of the fleet: takes released tasks that it can run, one per slot, until it is drained. */
import { setTimeout as sleep } from 'node:timers/promises'
import { pickiestFirst, serves } from '../fleet/needs.ts'
import type { FleetJob, QueueNeeds } from '../host/fleet-store.ts'
import { openCarrier } from './fleet-carry.ts'
import { type Desk, fleetStore, sentenceOf } from './fleet-desk.ts'
import { mergeTask } from './fleet-merge.ts'
import { openScheduler } from './fleet-scheduler.ts'
import { visitTask } from './fleet-visit.ts'
import { oneByOne } from './one-by-one.ts'
import type { Beats, Context } from './operation.ts'

/** `drain`: takes no more tasks, finishes the current turns, and exits. `stop`: ends them at once and hands them back. */
export type Working = {
  id: string
  host: string
  version: string
  agents: ReadonlyMap<string, string>
  labels: readonly string[]
  concurrency: number
  drain: AbortSignal
  stop: AbortSignal
  say: Desk['say']
  /** Passes heartbeats of loops to their jobs. */
  beats: Beats
  /** It is registered, and about to take tasks. */
  ready?: () => void
}

const BEAT_MS = 5_000
const SWEEP_MS = 10 * 60_000

export async function workForFleet(context: Context, working: Working): Promise<void> {
  const store = fleetStore(context)
  const { fleet } = store
  const seats = openSeats(working.concurrency)
  const [desk, presence] = openDesk(context, working, seats)
  const { leaving: drain, announce } = presence
  const { most_deaths: mostDeaths } = await fleet.settings.load()
  const carrier = openCarrier(desk)
  const visiting = { desk, carrier, stop: working.stop, rest: drain, mostDeaths }
  const open = openQueues(desk)
  const tell = (cause: unknown) => working.say(sentenceOf(cause))

  async function look(): Promise<void> {
    while (!drain.aborted && seats.free() > 0) {
      const jobs = await nextJobs(desk, open, seats.free())
      if (jobs.length === 0) return pauseBetween(presence.workers())
      for (const job of jobs) {
        const work = job.merge ? mergeTask(visiting, job) : visitTask(visiting, job)
        void seats.take(job, work.catch(tell)).then(looks.wake)
      }
    }
  }

  const looks = oneByOne(look, tell)
  await announce()
  working.ready?.()
  await carrier.sweep()
  const scheduler = openScheduler(store, { id: working.id, say: working.say, now: context.now })
  const unwatch = store.onChange(looks.wake)
  const beat = setInterval(() => void announce().then(looks.wake, tell), BEAT_MS)
  // Removes the remains of paused tasks, and of tasks that others have by now.
  const sweep = setInterval(() => void carrier.sweep().catch(tell), SWEEP_MS)
  looks.wake()
  try {
    await aborted(drain)
    await announce()
    await looks.rest()
    await seats.empty()
    await carrier.sweep()
  } finally {
    for (const timer of [beat, sweep]) clearInterval(timer)
    unwatch()
    await scheduler.stop()
    await fleet.workers.leave(working.id)
  }
}

/** Announces it to the others. `leaving`: it takes no more tasks. `workers`: how many there are. */
type Presence = { announce(): Promise<void>; leaving: AbortSignal; workers(): number }

function openDesk(context: Context, working: Working, seats: Seats): [Desk, Presence] {
  const store = fleetStore(context)
  const { id, host, version, labels, concurrency, say, beats } = working
  const jobs = new Map<string, FleetJob>()
  const agents = new Map(working.agents)
  const asked = new AbortController()
  const leaving = AbortSignal.any([working.drain, working.stop, asked.signal])
  let isProgress = false
  let workers = 1
  const progress = () => {
    isProgress = true
  }
  beats.onBeat = async (loop) => {
    const job = jobs.get(loop)
    if (job) await store.fleet.queue.touch(job)
  }
  async function announce(): Promise<void> {
    const about = { id, host, version, pid: process.pid, labels: [...labels], concurrency, running: seats.taken() }
    const here = { ...about, agents: Object.fromEntries(agents), draining: leaving.aborted }
    const announced = await store.fleet.workers.announce(here, isProgress)
    isProgress = false
    workers = announced.workers
    context.follow?.(announced.now)
    if (!announced.drain || leaving.aborted) return
    say('Draining: this worker takes no more tasks.')
    asked.abort()
  }
  return [
    { context, store, agents, jobs, queues: {}, id, labels, say, progress },
    { announce, leaving, workers: () => workers },
  ]
}

/** The queues that this worker can serve with accounts that are not paused, refreshed from time to time. */
function openQueues({ store, agents, labels, queues }: Desk): () => Promise<QueueNeeds[]> {
  const ask = async () => {
    const paused = new Set((await store.fleet.accounts.list()).map(({ name }) => name))
    const free = [...agents].filter(([, account]) => !paused.has(account)).map(([name]) => name)
    const own = (await store.fleet.queue.queues()).filter((queue) => serves({ agents: free, labels }, queue))
    return own.sort(pickiestFirst)
  }
  return () => {
    queues.known ??= ask().finally(() => setTimeout(() => (queues.known = undefined), KNOWN_MS).unref())
    return queues.known
  }
}

const KNOWN_MS = 250

async function nextJobs({ store }: Desk, open: () => Promise<QueueNeeds[]>, most: number): Promise<FleetJob[]> {
  const jobs: FleetJob[] = []
  for (const { name } of await open()) {
    if (jobs.length === most) break
    jobs.push(...(await store.fleet.queue.fetch(name, most - jobs.length)))
  }
  return jobs
}

/** Every change wakes all workers: the more there are, the longer each waits before it polls again. */
async function pauseBetween(workers: number): Promise<void> {
  await sleep(Math.min(2_000, 10 + workers * 2) * (0.5 + Math.random()))
}

type Seats = {
  free(): number
  taken(): number
  take(job: FleetJob, work: Promise<unknown>): Promise<void>
  empty(): Promise<unknown>
}

function openSeats(concurrency: number): Seats {
  const active = new Map<FleetJob, Promise<void>>()
  return {
    free: () => concurrency - active.size,
    taken: () => active.size,
    take(job, work) {
      const done = work.then(() => void active.delete(job))
      active.set(job, done)
      return done
    },
    empty: () => Promise.all(active.values()),
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((done) => signal.addEventListener('abort', () => done(), { once: true }))
}
