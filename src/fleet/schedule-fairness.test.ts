import fc from 'fast-check'
import { expect, test } from 'vitest'
import { busy, fleet, task, worker } from './fleet.test-support.ts'
import type { Busy, Picture, Waiting } from './picture.ts'
import { schedule } from './schedule.ts'

/** Simulates a fleet: between passes, some running tasks end at random. */
function work(tasks: readonly Waiting[], picture: Partial<Picture>, chance: () => number, each?: (pass: Pass) => void) {
  const turns = new Map<string, number>()
  const order: string[] = []
  let waiting = [...tasks]
  let under: Busy[] = []
  for (let now = 1; waiting.length > 0 && now < 10 * tasks.length; now++) {
    const unfinished = new Set([...waiting, ...under].map(({ id }) => id))
    const ready = waiting.map((one) => ({ ...one, dependsOn: one.dependsOn.filter((id) => unfinished.has(id)) }))
    const here = fleet({ ...picture, now, waiting: ready, busy: under, releasedAt: (name) => turns.get(name) })
    const { release } = schedule(here)
    const chosen = waiting.filter(({ id }) => release.includes(id))
    for (const { submitter } of chosen) turns.set(submitter, now)
    waiting = waiting.filter(({ id }) => !release.includes(id))
    under = [...under, ...chosen.map((one) => busy(one, 'running', 'w'))]
    order.push(...release)
    each?.({ released: chosen, waiting, under })
    const [first] = under
    under = under.filter(({ id }) => id !== first?.id && chance() > 0.3) // at least one task always ends
  }
  return order
}

type Pass = { released: Waiting[]; waiting: Waiting[]; under: Busy[] }

const anyChance = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 50, maxLength: 50 }).map((list) => {
  let at = 0
  return () => list[at++ % list.length] ?? 0
})
const anySubmitter = fc.constantFrom('ann', 'bob', 'cid', 'dan')

test('submitters with the same demand get shares that differ by at most one', () => {
  const names = fc.uniqueArray(anySubmitter, { minLength: 1 })
  fc.assert(
    fc.property(names, fc.integer({ min: 1, max: 20 }), fc.nat({ max: 60 }), (submitters, each, slots) => {
      const waiting = submitters.flatMap((submitter) =>
        Array.from({ length: each }, (_, index) => task(`${submitter}${index}`, { submitter, priority: index % 3 })),
      )
      const { release } = schedule(fleet({ waiting, workers: [worker('w', { concurrency: slots })] }))
      const shares = submitters.map((submitter) => release.filter((id) => id.startsWith(submitter)).length)
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1)
      expect(release.length).toBe(Math.min(slots, waiting.length))
    }),
  )
})

test('no submitter is ever two tasks ahead of one that is still waiting', () => {
  const tasks = fc.array(fc.record({ submitter: anySubmitter, priority: fc.nat({ max: 3 }) }), { maxLength: 40 })
  fc.assert(
    fc.property(tasks, fc.integer({ min: 1, max: 6 }), anyChance, (list, concurrency, chance) => {
      const waiting = list.map((more, index) => task(`t${index}`, { ...more, createdAt: index }))
      work(waiting, { workers: [worker('w', { concurrency })] }, chance, ({ released, waiting: left, under }) => {
        const share = (name: string) => under.filter(({ submitter }) => submitter === name).length
        for (const { submitter } of released)
          for (const other of left) expect(share(submitter)).toBeLessThanOrEqual(share(other.submitter) + 1)
      })
    }),
  )
})

test('three tasks get through behind ten thousand earlier ones, even with a single slot', () => {
  const crowd = Array.from({ length: 10_000 }, (_, index) => task(`crowd${index}`, { priority: 9, createdAt: index }))
  const few = ['a', 'b', 'c'].map((id) => task(id, { submitter: 'bob', createdAt: 20_000 }))
  const turns = new Map([['ann', 20_001]])
  let waiting = [...crowd, ...few]
  const order: string[] = []
  for (let now = 30_000; now < 30_008; now++) {
    const workers = [worker('w')]
    const [id = ''] = schedule(fleet({ now, waiting, workers, releasedAt: (name) => turns.get(name) })).release
    turns.set(waiting.find((one) => one.id === id)?.submitter ?? '', now)
    waiting = waiting.filter((one) => one.id !== id)
    order.push(id)
  }
  expect(order).toEqual(['a', 'crowd0', 'b', 'crowd1', 'c', 'crowd2', 'crowd3', 'crowd4'])
})

test('every task runs eventually', () => {
  const tasks = fc.array(
    fc.record({
      submitter: anySubmitter,
      priority: fc.nat({ max: 3 }),
      touches: fc.subarray(['src/**', 'src/a', 'docs/**', '*.md'], { maxLength: 2 }),
      branch: fc.constantFrom('x', 'y', 'z'),
      before: fc.array(fc.nat(), { maxLength: 2 }),
    }),
    { maxLength: 30 },
  )
  fc.assert(
    fc.property(tasks, fc.integer({ min: 1, max: 4 }), anyChance, (list, concurrency, chance) => {
      const waiting = list.map(({ before, ...more }, index) =>
        task(`t${index}`, { ...more, dependsOn: index === 0 ? [] : before.map((one) => `t${one % index}`) }),
      )
      const order = work(waiting, { workers: [worker('w', { concurrency })] }, chance)
      expect([...order].sort()).toEqual(waiting.map(({ id }) => id).sort())
    }),
  )
})
