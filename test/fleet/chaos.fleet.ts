/**
 * Four workers and two hundred tasks while workers are killed and suspended, Postgres crashes and remotes vanish: every
 * task is completed exactly once. `RALPH_CHAOS_SEED=7` draws other troubles, `RALPH_CHAOS_TASKS=1000` makes it longer.
 */
import { existsSync, renameSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { submissionOf } from '../../src/fleet/submit.ts'
import type { FleetTask } from '../../src/formats/fleet-task.ts'
import { readLive } from '../../src/fronts/server/live-client.ts'
import { epochsIn, type FleetScene, gitIn, leftIn, openScene, type Started, until } from './scene.ts'

const TASKS = Number(process.env.RALPH_CHAOS_TASKS ?? 200)
const SEED = Number(process.env.RALPH_CHAOS_SEED ?? 1)
const WORKERS = 4
const REMOTES = 8
const TROUBLES = 24
const MINUTE = 60_000

let scene: FleetScene

// Each attempt has its own fleet.
beforeEach(async () => {
  scene = await openScene()
}, 2 * MINUTE)

afterEach(() => scene?.end(), 2 * MINUTE)

test(
  `${TASKS} tasks survive ${TROUBLES} troubles`,
  async () => {
    const remotes = Array.from({ length: REMOTES }, (_, n) => scene.remote(`repo-${n}`))
    const tasks = await submit(remotes)
    const board = await openBoard()
    const workers = new Map(Array.from({ length: WORKERS }, (_, n) => [`worker-${n}`, startWorker(`worker-${n}`)]))
    await until(
      async () => (await scene.store.fleet.workers.list()).length === WORKERS,
      MINUTE,
      'the workers to come up',
    )
    const troubled = makeTrouble(workers, remotes)
    await troubled
    const over = await until(allEnded, 15 * MINUTE, 'the end of all tasks')
    expect(
      over.filter(({ state }) => state !== 'done').map(({ id, state, sentence }) => ({ id, state, sentence })),
    ).toEqual([])

    for (const { child } of workers.values()) child.kill('SIGTERM')
    await Promise.all([...workers.values()].map(({ ended }) => ended))
    await expectOnceEach(over)
    expectOnBranches(over)
    expectFenced(remotes)
    expect([...workers.values()].flatMap(({ home }) => leftIn(home))).toEqual([])
    await expectReadOnce(board)
    expect(tasks).toHaveLength(over.length)
  },
  25 * MINUTE,
)

/** A graph: of every ten tasks, two depend on one task before them, and one on two. */
async function submit(remotes: readonly string[]): Promise<FleetTask[]> {
  const agent = scene.program(
    'agent.sh',
    `cat > /dev/null
sleep 0.$((RALPH_ITERATION % 5 + 1))
echo "$RALPH_ITERATION $RALPH_ATTEMPT" >> "log-$RALPH_TASK_ID.txt"
[ "$RALPH_ITERATION" -lt 2 ] && exit 0
echo done > "done-$RALPH_TASK_ID.txt"
echo "<promise>COMPLETE</promise>"`,
  )
  const all = await Promise.all(
    Array.from({ length: TASKS }, (_, n) => {
      const id = `t${n}`
      const before = n % 10 === 3 ? [n - 3] : n % 10 === 6 ? [n - 4] : n % 10 === 9 ? [n - 9, n - 8] : []
      return submissionOf(
        {
          ...{ id, prompt: `Task ${n}.`, agent: `command:${agent}`, submitter: `person-${n % 3}`, priority: n % 4 },
          ...{ repo: remotes[n % remotes.length] ?? '', base: 'main', checks: [`test -f done-${id}.txt`] },
          depends_on: before.map((other) => `t${other}`),
        },
        Date.now(),
      )
    }),
  )
  await scene.store.fleet.submit(all)
  return all.map(({ task }) => task)
}

function startWorker(name: string): Started {
  return scene.start(name, ['worker', '--database', scene.url, '--concurrency', '3', '--agents', 'command'])
}

type Board = { seen: Map<string, number[]>; server: Started; stop(): Promise<void> }

/** A page that stays open, in short: every message of the live stream, with its loop and number. */
async function openBoard(): Promise<Board> {
  const server = scene.start('server', ['serve', '--database', scene.url, '--port', '0', '--json'])
  const { url, token } = await until(
    async () =>
      JSON.parse(
        server
          .out()
          .split('\n')
          .find((line) => line.includes('serve-start')) ?? 'false',
      ),
    MINUTE,
    'the server to come up',
  )
  const seen = new Map<string, number[]>()
  const stop = new AbortController()
  const reading = (async () => {
    for await (const item of readLive({ url, token, topics: ['loops'], signal: stop.signal }))
      if (item.kind === 'message' && item.message.type === 'loop-event') {
        const { loop, data } = item.message
        seen.set(loop, [...(seen.get(loop) ?? []), data.n])
      }
  })()
  return {
    seen,
    server,
    async stop() {
      stop.abort()
      await reading
    },
  }
}

/** One after the other, drawn from the seed. Postgres crashes twice, and a remote vanishes twice. */
async function makeTrouble(workers: Map<string, Started>, remotes: readonly string[]): Promise<void> {
  const draw = chance(SEED)
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(draw() * items.length)] as Item
  const sleepers: Promise<unknown>[] = []
  for (let n = 0; n < TROUBLES; n++) {
    await sleep(1_000 + draw() * 3_000)
    const name = pick([...workers.keys()])
    const { child } = workers.get(name) as Started
    if (n === 6 || n === 15) {
      await scene.postgres.stop('SIGQUIT')
      await sleep(2_000)
      await scene.postgres.start()
    } else if (n === 9 || n === 18) {
      const remote = pick(remotes)
      renameSync(remote, `${remote}.away`)
      sleepers.push(sleep(8_000).then(() => renameSync(`${remote}.away`, remote)))
    } else if (draw() < 0.5) {
      child.kill('SIGKILL')
      await workers.get(name)?.ended
      workers.set(name, startWorker(name))
    } else if (child.kill('SIGSTOP')) {
      // Longer than its heartbeat may be missing, so that it comes back as a zombie.
      sleepers.push(sleep(14_000 + draw() * 6_000).then(() => child.kill('SIGCONT')))
    }
  }
  await Promise.all(sleepers)
  expect(remotes.every((remote) => existsSync(remote))).toBe(true)
}

async function allEnded(): Promise<FleetTask[] | false> {
  const { tasks } = await scene.store.fleet.list({ limit: TASKS + 1 })
  return tasks.every(({ state }) => ['done', 'failed', 'cancelled'].includes(state)) && tasks
}

/** One loop per task, completed by one event, and replayed from its events. */
async function expectOnceEach(tasks: readonly FleetTask[]): Promise<void> {
  for (const { id, loop_id } of tasks) {
    const events = await scene.store.events(0, loop_id)
    const completed = events.filter(({ next }) => next.kind === 'complete')
    expect([id, completed.length, events.map(({ n }) => n)]).toEqual([id, 1, events.map((_, at) => at + 1)])
    const loop = await scene.store.load(loop_id)
    expect([id, loop.next.kind, loop.tally.iteration]).toEqual([id, 'complete', 2])
  }
}

/**
 * The branch is what was recorded last, and holds the work of every iteration. A worker that died between its push and
 * its save leaves an extra commit: the next one has built on it.
 */
function expectOnBranches(tasks: readonly FleetTask[]): void {
  for (const { id, repo, branch, pushed, attempts } of tasks) {
    const at = repo ?? ''
    expect([id, gitIn(at, 'rev-parse', branch)]).toEqual([id, pushed])
    const commits = Number(gitIn(at, 'rev-list', '--count', `main..${branch}`))
    expect([id, commits >= 2 && commits <= 1 + attempts]).toEqual([id, true])
    expect([id, gitIn(at, 'show', `${branch}:done-${id}.txt`)]).toEqual([id, 'done'])
  }
}

/** Once a worker with a newer lease has pushed, no older one has. */
function expectFenced(remotes: readonly string[]): void {
  const all = remotes.flatMap((remote) => [...epochsIn(remote)])
  expect(all.length).toBeGreaterThanOrEqual(TASKS)
  for (const [loop, epochs] of all) expect([loop, epochs]).toEqual([loop, epochs.toSorted((a, b) => a - b)])
  // There was something to fence off.
  expect(all.some(([, epochs]) => new Set(epochs).size > 1)).toBe(true)
}

async function expectReadOnce({ seen, stop }: Board): Promise<void> {
  const all = new Map<string, number>()
  for (let after = 0; ; ) {
    const events = await scene.store.events(after)
    for (const { loop, n } of events) all.set(loop, Math.max(n, all.get(loop) ?? 0))
    const last = events.at(-1)
    if (!last) break
    after = last.seq
  }
  const count = () => [...seen.values()].reduce((sum, numbers) => sum + numbers.length, 0)
  const expected = [...all.values()].reduce((sum, n) => sum + n, 0)
  await until(async () => count() >= expected, MINUTE, `the board to read ${expected} events`)
  await stop()
  for (const [loop, last] of all)
    expect([loop, seen.get(loop)]).toEqual([loop, Array.from({ length: last }, (_, n) => n + 1)])
}

/** Mulberry32. */
function chance(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
