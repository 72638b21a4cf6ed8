import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Fact, type Loop, startLoop } from '../engine/loop.ts'
import { pause, resume, START, say, specOf, unchecked } from '../engine/stories.test-support.ts'
import { temporaryFolder } from '../host/place.test-support.ts'
import { type LocalStore, openStore } from '../host/sqlite.ts'
import type { Lease } from '../host/store.ts'
import { leasePatiently } from './patience.ts'
import { type Visit, type Visiting, visit } from './visit.ts'

let store: LocalStore
beforeEach(async () => {
  store = openStore(temporaryFolder(), () => START)
  await store.create(startLoop('a1', unchecked, { at: START, tree: 'tree 0' }))
})
afterEach(() => store.close())

function visiting<Result>(change: Pick<Visiting<Result>, 'work'> & Partial<Visiting<Result>>): Promise<Result> {
  const held = (by: string): Promise<Result> => Promise.reject(new Error(`held by ${by}`))
  return visit('a1', { store, now: () => START, held, ...change })
}

function look(held: Visit): Promise<Loop> {
  return Promise.resolve(held.loop)
}

async function facts(): Promise<string[]> {
  return (await store.events(0, 'a1')).map(({ fact }) => (fact.kind === 'told' ? fact.order.kind : fact.kind))
}

test('holds the loop exclusively, and releases it', async () => {
  await visiting({
    work: async () => expect(await visiting({ held: async (by) => by, work: async () => 'free' })).toContain('process'),
  })
  expect(await store.isDriven('a1')).toBe(false)
})

test('releases the loop when the work fails', async () => {
  await expect(visiting({ work: () => Promise.reject(new Error('no')) })).rejects.toThrow('no')
  expect(await store.isDriven('a1')).toBe(false)
})

test('every fact moves the loop and is stored', async () => {
  await visiting({
    async work(held) {
      expect((await held.move(pause)).next).toMatchObject({ kind: 'wait', why: 'paused' })
      expect(held.loop).toEqual(await store.load('a1'))
    },
  })
  expect(await facts()).toEqual(['pause'])
})

test('driving inside it moves it as well', async () => {
  await store.tell('a1', 'you', { kind: 'pause' })
  const seen: string[] = []
  const loop = await visiting({
    async work(held) {
      await held.drive({ saw: (_, fact) => seen.push(fact.kind) })
      return held.loop
    },
  })
  expect(loop.next).toMatchObject({ kind: 'wait', why: 'paused' })
  expect(seen).toEqual(['told'])
})

test('orders can be left for later', async () => {
  await store.tell('a1', 'you', { kind: 'pause' })
  await visiting({ work: (held) => held.drive({}, async () => undefined) })
  expect(await facts()).toEqual([])
})

test('its clock continues where it was if it was set back between two visits', async () => {
  await visiting({ work: (held) => held.move({ ...pause, at: START + 60_000 }) })
  let wall = START - 3_600_000
  await visiting({
    now: () => wall,
    async work(held) {
      expect(held.now()).toBe(START + 60_000)
      wall += 5_000
      expect(held.now()).toBe(START + 65_000)
    },
  })
})

test('its clock never goes back before the last fact', async () => {
  const later: Fact = { ...pause, at: START + 5_000 }
  await visiting({
    async work(held) {
      expect(held.now()).toBe(START)
      await held.move(later)
      expect(held.now()).toBe(START + 5_000)
    },
  })
  await visiting({ work: async (held) => expect(held.now()).toBe(START + 5_000) })
})

describe('a loop whose driver is dead', () => {
  const lost: Fact = { kind: 'lost', at: START, tokens: 7 }

  test('is cleaned up before anything else: processes, what has changed since, what was lost', async () => {
    await visiting({ work: look })
    const order: string[] = []
    const loop = await visiting({
      takeUp: {
        reap: async (id) => order.push(`reap ${id}`),
        async loss({ spec }) {
          order.push(`loss with ${spec.work.agent}`)
          return lost
        },
      },
      since({ spec }) {
        order.push('since')
        return [{ kind: 'asked', at: START, spec: { ...spec, work: { ...spec.work, agent: 'other' } } }]
      },
      work: look,
    })
    expect(order).toEqual(['reap a1', 'loss with scripted', 'since'])
    expect(await facts()).toEqual(['asked', 'lost'])
    expect(loop).toMatchObject({ spec: { work: { agent: 'other' } }, tally: { attempt: 2, tokens: 7 } })
  })

  test('that never had a driver needs no cleanup', async () => {
    const reap = () => Promise.reject(new Error('nobody was there'))
    await visiting({ takeUp: { reap, loss: async () => undefined }, work: look })
  })

  test('is used as it is if nothing can have been left', async () => {
    await visiting({ work: look })
    await visiting({ work: look })
    expect(await facts()).toEqual([])
  })
})

test('what follows runs while the loop is still held', async () => {
  const order: string[] = []
  await visiting({
    work: async (held) => {
      await held.move(say('hello'))
      order.push('work')
    },
    after: async ({ loop }) => {
      order.push(`after ${loop.next.kind}, driven ${await store.isDriven('a1')}`)
    },
  })
  expect(order).toEqual(['work', 'after turn, driven true'])
})

test('a loop that stays held is handed to the next visit', async () => {
  let kept: Lease | undefined
  await visiting({
    async work(held) {
      await held.move(pause)
      kept = held.lease
    },
    keeps: ({ next }) => next.kind === 'wait',
  })
  expect(await store.isDriven('a1')).toBe(true)
  const lease = kept
  if (!lease) throw new Error('nothing was kept')
  await visiting({ take: async () => lease, work: (held) => held.move(resume) })
  expect(await facts()).toEqual(['pause', 'resume'])
  expect(await store.isDriven('a1')).toBe(false)
})

describe('patience', () => {
  test('gets the loop as soon as it is released', async () => {
    const first = await store.lease('a1')
    if ('heldBy' in first) throw new Error(first.heldBy)
    const second = visiting({ take: () => leasePatiently(store, 'a1', 60_000), work: async () => 'mine' })
    await first.release()
    expect(await second).toBe('mine')
  })

  test('times out', async () => {
    const first = await store.lease('a1')
    if ('heldBy' in first) throw new Error(first.heldBy)
    const second = visiting({ take: () => leasePatiently(store, 'a1', 30), held: (by) => by, work: async () => 'mine' })
    expect(await second).toContain('process')
    await first.release()
  })
})

test('a visit that was taken over can no longer move the loop', async () => {
  await visiting({
    async work(held) {
      const stale = { ...held.lease, epoch: held.lease.epoch - 1 }
      await expect(store.save(stale, held.loop, pause)).rejects.toMatchObject({ code: 'lease-lost' })
    },
  })
  expect((await store.load('a1')).spec).toEqual(specOf())
})
