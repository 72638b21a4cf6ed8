/** The fleet on its own Postgres, with workers as processes: how fast tasks are submitted and finished, compared to pg-boss alone. */
import { setTimeout as sleep } from 'node:timers/promises'
import { PgBoss } from 'pg-boss'
import { submissionOf } from '../src/fleet/submit.ts'
import { type FleetScene, openScene, type Started, until } from '../test/fleet/scene.ts'
import type { Row } from './row.ts'
import { spread } from './spread.ts'

const ENQUEUED = 10_000
const TASKS = 400
const SEATS = 4
const HEARTBEAT_S = 10
const MINUTE = 60_000

export async function* fleet(): AsyncGenerator<Row> {
  const scene = await openScene()
  try {
    yield* bossAlone(scene)
    yield* enqueue(scene)
    for (const workers of [1, 2, 4]) yield* throughput(scene, workers)
    yield* takeover(scene)
    yield* cancel(scene)
  } finally {
    await scene.end()
  }
}

/** What the queue itself can do here: jobs inserted at once, then fetched and completed one by one by four loops. */
async function* bossAlone({ url }: FleetScene): AsyncGenerator<Row> {
  const boss = new PgBoss({ connectionString: url, schema: 'boss_alone', supervise: false, schedule: false })
  await boss.start()
  await boss.createQueue('alone')
  const jobs = Array.from({ length: ENQUEUED }, (_, n) => ({ data: { n } }))
  yield rate('fleet: pg-boss alone, 10,000 jobs inserted', ENQUEUED, await timed(() => boss.insert('alone', jobs)))
  const drain = async (most: number) => {
    for (let n = 0; n < most; n++) {
      const [job] = await boss.fetch('alone')
      if (job) await boss.complete('alone', job.id)
    }
  }
  const ms = await timed(() => Promise.all(Array.from({ length: 4 }, () => drain(TASKS / 4))))
  yield rate('fleet: pg-boss alone, fetched and completed', TASKS, ms)
  await boss.stop({ graceful: false })
}

async function* enqueue(scene: FleetScene): AsyncGenerator<Row> {
  const all = await submissions(scene, ENQUEUED, { labels: ['nobody-has-this'] })
  yield rate('fleet: 10,000 tasks submitted', ENQUEUED, await timed(() => scene.store.fleet.submit(all)))
  await forget(
    scene,
    all.map(({ task }) => task.id),
  )
}

/** An agent that is done instantly, without git. From the first task taken to the last one finished. */
async function* throughput(scene: FleetScene, count: number): AsyncGenerator<Row> {
  const workers = startWorkers(scene, count)
  await until(async () => (await scene.store.fleet.workers.list()).length === count, MINUTE, 'workers come up')
  const all = await submissions(scene, TASKS)
  const ms = await timed(async () => {
    await scene.store.fleet.submit(all)
    await until(async () => ((await scene.store.fleet.counts()).done ?? 0) >= TASKS, 5 * MINUTE, 'tasks are done')
  })
  const budget = count === 4 ? { atLeast: 50 } : {}
  yield { ...rate(`fleet: tasks through ${count} worker${count === 1 ? '' : 's'}`, TASKS, ms), ...budget }
  await stop(workers)
  await forget(
    scene,
    all.map(({ task }) => task.id),
  )
}

/** From kill -9 until another worker has the task. */
async function* takeover(scene: FleetScene): AsyncGenerator<Row> {
  const workers = startWorkers(scene, 2)
  const [one] = await submissions(scene, 1, {}, 'sleep 3600')
  const { id } = one?.task ?? { id: '' }
  await scene.store.fleet.submit(one ? [one] : [])
  const before = await until(async () => atWork(scene, id), MINUTE, 'an agent is at work')
  const victim = workers.find(({ child }) => before.endsWith(`-${child.pid}`)) ?? workers[0]
  const names = new Map((await scene.store.fleet.workers.list()).map((worker) => [worker.id, worker.pid]))
  const dead = workers.find(({ child }) => child.pid === names.get(before)) ?? victim
  dead?.child.kill('SIGKILL')
  const ms = await timed(() =>
    until(
      async () => ((await scene.store.fleet.load(id))?.worker ?? before) !== before,
      2 * MINUTE,
      'it is taken over',
    ),
  )
  const measured = spread([[ms / 1_000]])
  const budget = HEARTBEAT_S + 10
  yield {
    what: 'fleet: takeover after kill -9, heartbeat 10 s',
    measured,
    unit: 's',
    figure: { value: measured.calm, unit: 's' },
    budget,
  }
  await scene.store.tell(one?.loop.id ?? '', 'bench', { kind: 'cancel' })
  await stop(workers)
}

/** From the order until the agent has ended and the task says so. */
async function* cancel(scene: FleetScene): AsyncGenerator<Row> {
  const workers = startWorkers(scene, 1)
  const [one] = await submissions(scene, 1, {}, 'sleep 3600')
  const { id } = one?.task ?? { id: '' }
  await scene.store.fleet.submit(one ? [one] : [])
  await until(async () => atWork(scene, id), MINUTE, 'an agent is at work')
  const ms = await timed(async () => {
    await scene.store.tell(one?.loop.id ?? '', 'bench', { kind: 'cancel' })
    await until(async () => (await scene.store.fleet.load(id))?.state === 'cancelled', MINUTE, 'it is cancelled')
  })
  const measured = spread([[ms / 1_000]])
  yield {
    what: 'fleet: cancel reaches a running agent',
    measured,
    unit: 's',
    figure: { value: measured.calm, unit: 's' },
    budget: 5,
  }
  await stop(workers)
}

function startWorkers(scene: FleetScene, count: number): Started[] {
  const args = ['worker', '--database', scene.url, '--concurrency', `${SEATS}`, '--agents', 'command']
  return Array.from({ length: count }, (_, n) => scene.start(`worker-${count}-${n}-${++started}`, args))
}

let started = 0

async function stop(workers: readonly Started[]): Promise<void> {
  for (const { child } of workers) child.kill('SIGTERM')
  await Promise.all(workers.map(({ ended }) => Promise.race([ended, sleep(20_000)])))
}

type Submitted = Awaited<ReturnType<typeof submissionOf>>

/** One turn each. */
function submissions(scene: FleetScene, count: number, more: object = {}, lines = ''): Promise<Submitted[]> {
  const agent = scene.program('instant.sh', `${lines}\necho '<promise>COMPLETE</promise>'`)
  const task = { prompt: 'Be done.', agent: `command:${agent}`, submitter: 'bench', once: true, ...more }
  return Promise.all(Array.from({ length: count }, () => submissionOf(task, Date.now())))
}

/** Tasks whose agent has started. */
async function atWork({ store }: FleetScene, id: string): Promise<string | undefined> {
  const task = await store.fleet.load(id)
  if (task?.state !== 'running') return undefined
  const loop = await store.load(task.loop_id)
  const begun = loop.next.kind === 'turn' && (await store.transcripts.size(loop.id, 1)) > 0
  return begun ? (task.worker ?? undefined) : undefined
}

/** So that the next row starts from nothing. */
async function forget({ store }: FleetScene, ids: readonly string[]): Promise<void> {
  const { tasks } = await store.fleet.list({ state: ['ready'], limit: ids.length })
  for (const { id } of tasks) await store.fleet.change(id, { state: 'cancelled' })
  while ((await store.fleet.prune(Date.now() + MINUTE)) > 0);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

function rate(what: string, count: number, ms: number): Row {
  const measured = spread([[count / (ms / 1_000)]])
  return { what, measured, unit: '/s', figure: { value: measured.calm, unit: '/s' } }
}
