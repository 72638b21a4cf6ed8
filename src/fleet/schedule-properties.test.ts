import fc from 'fast-check'
import { expect, test } from 'vitest'
import { globsOverlap } from '../formats/globs-overlap.ts'
import { busy, fleet, NOW, task, worker } from './fleet.test-support.ts'
import { type Needs, serves } from './needs.ts'
import type { Busy, LiveWorker, Picture, Waiting } from './picture.ts'
import { schedule } from './schedule.ts'

const AGENTS = ['claude', 'codex', 'pi']
const ACCOUNTS = ['team', 'own', 'free']
const GLOBS = ['src/**', 'src/a/*', 'src/a/b.ts', 'src/c', '*.md', 'docs/a.md', 'lib/**']
const anyNeeds: fc.Arbitrary<Needs> = fc.record({
  agents: fc.subarray(AGENTS, { maxLength: 2 }),
  labels: fc.subarray(['gpu', 'arm'], { maxLength: 1 }),
})
const anyTask = fc
  .record({
    submitter: fc.constantFrom('ann', 'bob', 'cid'),
    repo: fc.constantFrom('one', 'two'),
    base: fc.constantFrom('main', 'next'),
    branch: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, fc.constantFrom('x', 'y')),
    priority: fc.integer({ min: 0, max: 2 }),
    needs: anyNeeds,
    touches: fc.subarray(GLOBS, { maxLength: 1 }),
    dependsOn: fc.oneof({ weight: 5, arbitrary: fc.constant([]) }, fc.constant(['later'])),
    createdAt: fc.integer({ min: 0, max: 5 }),
    dueAt: fc.option(fc.constantFrom(NOW - 1, NOW, NOW + 1), { nil: undefined }),
    reserveUsd: fc.integer({ min: 0, max: 4 }),
  })
  .map(({ branch, dueAt, ...more }) => ({
    ...more,
    ...(branch === undefined ? {} : { branch }),
    ...(dueAt === undefined ? {} : { dueAt }),
  }))
const anyWorker = fc.record({
  agents: fc.subarray(AGENTS),
  labels: fc.subarray(['gpu', 'arm']),
  accounts: fc.dictionary(fc.constantFrom(...AGENTS), fc.constantFrom(...ACCOUNTS)),
  concurrency: fc.integer({ min: 0, max: 6 }),
  draining: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.constant(true)),
})

const anyBusy = fc.record({
  more: anyTask,
  state: fc.constantFrom<Busy['state']>('released', 'running', 'resting', 'merging'),
  on: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }),
})

const anyFleet: fc.Arbitrary<Picture> = fc
  .record({
    tasks: fc.array(anyTask, { maxLength: 25 }),
    busy: fc.array(anyBusy, { maxLength: 8 }),
    workers: fc.array(anyWorker, { maxLength: 5 }),
    paused: fc.subarray(ACCOUNTS),
    left: fc.dictionary(fc.constantFrom('ann', 'bob'), fc.integer({ min: 0, max: 12 })),
    turns: fc.dictionary(fc.constantFrom('ann', 'bob'), fc.integer({ min: 0, max: NOW })),
  })
  .map(({ tasks, busy: under, workers, paused, left, turns }) =>
    fleet({
      waiting: tasks.map((more, index) => task(`t${index}`, more)),
      busy: under.map(({ more, state, on }, index) =>
        busy(task(`u${index}`, more), state, on === undefined ? undefined : `w${on}`),
      ),
      workers: workers.map((more, index) => worker(`w${index}`, more)),
      pausedUntil: new Map(paused.map((account) => [account, NOW + 1])),
      leftUsd: (submitter) => left[submitter],
      releasedAt: (submitter) => turns[submitter],
    }),
  )

function releasedOf(picture: Picture): Waiting[] {
  const chosen = new Set(schedule(picture).release)
  return picture.waiting.filter(({ id }) => chosen.has(id))
}

test('every task is either released or held', () => {
  fc.assert(
    fc.property(anyFleet, (picture) => {
      const { release, held } = schedule(picture)
      expect([...release, ...held.keys()].sort()).toEqual(picture.waiting.map(({ id }) => id).sort())
    }),
  )
})

test('no task is released before its dependencies, its time, and a worker that can run it', () => {
  fc.assert(
    fc.property(anyFleet, (picture) => {
      for (const { dependsOn, dueAt = 0, needs } of releasedOf(picture)) {
        expect(dependsOn).toEqual([])
        expect(dueAt).toBeLessThanOrEqual(picture.now)
        expect(picture.workers.some((one) => canRun(one, needs, picture))).toBe(true)
      }
    }),
  )
})

test('no two running tasks share a branch or overlapping files', () => {
  fc.assert(
    fc.property(anyFleet, (picture) => {
      const released = releasedOf(picture)
      for (const mine of released)
        for (const other of [...picture.busy, ...released]) {
          if (other.id === mine.id || other.repo !== mine.repo) continue
          expect(other.branch).not.toBe(mine.branch)
          if (other.base === mine.base)
            expect(mine.touches.some((glob) => other.touches.some((theirs) => globsOverlap(glob, theirs)))).toBe(false)
        }
    }),
  )
})

test('no budget is exceeded', () => {
  fc.assert(
    fc.property(anyFleet, (picture) => {
      const released = releasedOf(picture)
      for (const submitter of new Set(released.map((one) => one.submitter))) {
        const own = released.filter((one) => one.submitter === submitter)
        const reserved = own.reduce((sum, { reserveUsd }) => sum + reserveUsd, 0)
        expect(reserved).toBeLessThanOrEqual(picture.leftUsd(submitter) ?? Number.POSITIVE_INFINITY)
      }
    }),
  )
})

test('the stated reason for holding a task is true', () => {
  fc.assert(
    fc.property(anyFleet, (picture) => {
      const released = releasedOf(picture)
      const under = [...picture.busy, ...released]
      for (const [id, held] of schedule(picture).held) {
        const mine = picture.waiting.find((one) => one.id === id) ?? task('none')
        const other = under.find((one) => 'by' in held && one.id === held.by)
        if (held.kind === 'dependencies') expect(mine.dependsOn).toEqual(held.on)
        if (held.kind === 'not-due') expect(held.until).toBeGreaterThan(picture.now)
        if (held.kind === 'branch-taken') expect(other).toMatchObject({ repo: mine.repo, branch: mine.branch })
        if (held.kind === 'files-taken') {
          expect(other).toMatchObject({ repo: mine.repo, base: mine.base })
          expect(other?.touches).toContain(held.theirs)
          expect(globsOverlap(held.glob, held.theirs)).toBe(true)
        }
        if (held.kind === 'over-budget') expect(held.leftUsd <= 0 || mine.reserveUsd > held.leftUsd).toBe(true)
        if (held.kind === 'no-worker' || held.kind === 'account-paused')
          expect(picture.workers.some((one) => canRun(one, mine.needs, picture))).toBe(false)
      }
    }),
  )
})

test('exactly as many tasks are released as an optimal assignment could place', () => {
  fc.assert(
    fc.property(anyFleet, (picture) => {
      const { held } = schedule(picture)
      const released = releasedOf(picture).map(({ needs }) => needs)
      const before = slotless(picture)
      const all = withSlot([...before, ...released], picture)
      expect(all - withSlot(before, picture)).toBe(released.length)
      for (const { id, needs } of picture.waiting)
        if (held.get(id)?.kind === 'no-slot') expect(withSlot([...before, ...released, needs], picture)).toBe(all)
    }),
    { numRuns: 300 },
  )
})

test('no more tasks are queued without a slot than the read-ahead allows', () => {
  fc.assert(
    fc.property(anyFleet, fc.nat({ max: 4 }), (picture, readAhead) => {
      const released = releasedOf({ ...picture, readAhead }).map(({ needs }) => needs)
      const all = [...slotless(picture), ...released]
      const left = all.length - withSlot(all, picture)
      const before = slotless(picture).length - withSlot(slotless(picture), picture)
      expect(left).toBeLessThanOrEqual(before + readAhead)
      expect(released.length).toBeGreaterThanOrEqual(releasedOf(picture).length > 0 ? 1 : 0)
    }),
  )
})

test('the result does not depend on the order of the input', () => {
  const shuffled = anyFleet.chain((picture) =>
    fc
      .tuple(
        fc.shuffledSubarray([...picture.waiting], { minLength: picture.waiting.length }),
        fc.shuffledSubarray([...picture.busy], { minLength: picture.busy.length }),
        fc.shuffledSubarray([...picture.workers], { minLength: picture.workers.length }),
      )
      .map(([waiting, under, workers]) => ({
        picture,
        other: { ...picture, waiting: waiting.map(turned), busy: under.map(turned), workers },
      })),
  )
  fc.assert(
    fc.property(shuffled, ({ picture, other }) => {
      const [one, two] = [schedule(picture), schedule(other)]
      expect(two.release).toEqual(one.release)
      expect(Object.fromEntries(two.held)).toEqual(Object.fromEntries(one.held))
    }),
  )
})

function turned<Task extends { needs: Needs }>(task: Task): Task {
  return { ...task, needs: { agents: [...task.needs.agents].reverse(), labels: task.needs.labels } }
}

function canRun({ agents, accounts, labels, draining, concurrency }: LiveWorker, needs: Needs, picture: Picture) {
  const usable = agents.filter((agent) => (picture.pausedUntil.get(accounts[agent] ?? '') ?? 0) <= picture.now)
  return !draining && concurrency > 0 && serves({ agents: usable, labels }, needs)
}

function slotless({ busy: under, workers }: Picture): Needs[] {
  const isAlive = (id = '') => workers.some((one) => one.id === id)
  return under
    .filter(({ state, worker: id }) => state === 'released' || (state === 'running' && !isAlive(id)))
    .map(({ needs }) => needs)
}

/** How many of these fit: textbook bipartite matching. */
function withSlot(tasks: readonly Needs[], picture: Picture): number {
  const slots = picture.workers.flatMap((one) => {
    const running = picture.busy.filter(({ state, worker: id }) => state === 'running' && id === one.id).length
    return Array.from({ length: Math.max(0, one.concurrency - running) }, () => one)
  })
  const holders = new Map<number, number>()
  const settle = (mine: number, tried: Set<number>): boolean =>
    slots.some((slot, place) => {
      const needs = tasks[mine]
      if (tried.has(place) || !needs || !canRun(slot, needs, picture)) return false
      tried.add(place)
      const holder = holders.get(place)
      if (holder !== undefined && !settle(holder, tried)) return false
      holders.set(place, mine)
      return true
    })
  return tasks.filter((_, mine) => settle(mine, new Set())).length
}
