/** What every store of loops has to do. SQLite runs this suite, and so does whatever else keeps loops. */
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Fact, type Loop, type Order, startLoop } from '../engine/loop.ts'
import { step } from '../engine/step.ts'
import {
  at,
  cancel,
  checked,
  checks,
  claims,
  crashes,
  type Happening,
  idles,
  isLimited,
  lost,
  MINUTE,
  pause,
  resume,
  START,
  say,
  specOf,
  turn,
  uses,
  wantsPerson,
  woke,
  works,
} from '../engine/stories.test-support.ts'
import type { Held, Lease, Store } from './store.ts'

/** A place that is empty at first; each connection to it is a store of its own. */
export type StorePlace = { connect(): Promise<Store> }

export function storeContract(name: string, open: () => Promise<StorePlace>): void {
  let place: StorePlace
  let store: Store
  let connections: Store[] = []

  beforeEach(async () => {
    place = await open()
    connections = []
    store = await connect()
  })

  afterEach(async () => {
    for (const connection of connections) await connection.close()
  })

  async function connect(): Promise<Store> {
    const connection = await place.connect()
    connections.push(connection)
    return connection
  }

  describe(`${name} keeps loops`, () => {
    test('as they were made', async () => {
      const loop = loopOf('a1', { prompt: PROMPT_OF_ALL_KINDS })
      await store.create(loop)
      expect(await store.load('a1')).toEqual(loop)
    })

    test('whatever the size of their prompt', async () => {
      const loop = loopOf('a1', { prompt: 'long 🦉\n'.repeat(150_000) })
      await store.create(loop)
      expect(await store.load('a1')).toEqual(loop)
      expect((await store.list())[0]?.prompt.length).toBeLessThan(1_000)
    })

    test('once each', async () => {
      await store.create(loopOf('a1', { prompt: 'first' }))
      await expect(store.create(loopOf('a1', { prompt: 'second' }))).rejects.toThrow()
      expect((await store.load('a1')).spec.prompt).toBe('first')
      expect(await store.list()).toHaveLength(1)
    })

    test.each<[what: string, ask: () => Promise<unknown>]>([
      ['loaded', () => store.load('nobody')],
      ['found', () => store.find('nobody')],
      ['leased', () => store.lease('nobody')],
      ['told', () => store.tell('nobody', 'Ada', { kind: 'cancel' })],
    ])('and says so when an unknown one is %s', async (_, ask) => {
      await store.create(loopOf('a1'))
      await expect(ask()).rejects.toMatchObject({ code: 'loop-unknown', message: expect.stringContaining('nobody') })
    })
  })

  describe(`${name} finds a loop`, () => {
    beforeEach(async () => {
      for (const id of ['abc1', 'abc12', 'abd9', 'x_y%z']) await store.create(loopOf(id))
    })

    test.each([
      ['abd9', 'abd9'],
      ['abd', 'abd9'],
      ['x', 'x_y%z'],
      ['abc1', 'abc1'],
      ['abc12', 'abc12'],
    ])('by %s', async (given, id) => {
      expect(await store.find(given)).toBe(id)
    })

    test('but not by a beginning of several, which it names', async () => {
      await expect(store.find('abc')).rejects.toMatchObject({
        code: 'loop-unknown',
        message: expect.stringMatching(/abc1.*abc12|abc12.*abc1/),
      })
    })

    test.each(['', 'zzz', 'bc1', 'ABC1', '%', '_', 'a%', 'abc1 ', "'"])('but not by "%s"', async (given) => {
      await expect(store.find(given)).rejects.toMatchObject({ code: 'loop-unknown' })
    })
  })

  describe(`${name} lists loops`, () => {
    test('newest first, as many as are asked for', async () => {
      for (const minute of [2, 0, 3, 1]) await store.create(loopOf(`m${minute}`, {}, minute))
      expect(idsOf(await store.list())).toEqual(['m3', 'm2', 'm1', 'm0'])
      expect(idsOf(await store.list({ limit: 2 }))).toEqual(['m3', 'm2'])
    })

    test('the later made first where the time is the same', async () => {
      for (const id of ['b', 'c', 'a']) await store.create(loopOf(id))
      expect(idsOf(await store.list())).toEqual(['a', 'c', 'b'])
    })

    test('of one folder alone', async () => {
      await store.create(loopOf('here', { work: { ...WORK, dir: '/here' } }))
      await store.create(loopOf('below', { work: { ...WORK, dir: '/here/below' } }))
      expect(idsOf(await store.list({ dir: '/here' }))).toEqual(['here'])
      expect(await store.list({ dir: '/elsewhere' })).toEqual([])
    })

    test('with what has become of them', async () => {
      await story(
        'a1',
        { checks: ['npm test'] },
        uses({ tokens: 120, costUsd: 0.25 }),
        at(3, claims('clear')),
        at(4, checks('fail')),
      )
      expect(await store.list()).toEqual([
        {
          id: 'a1',
          dir: WORK.dir,
          agent: WORK.agent,
          prompt: 'Make the parser faster.',
          status: 'running',
          next: (await store.load('a1')).next,
          iteration: 2,
          iterationLimit: 10,
          falseClaims: 1,
          tokens: 120,
          costUsd: 0.25,
          startedAt: START,
          updatedAt: START + 4 * MINUTE,
        },
      ])
    })
  })

  describe(`the lease of ${name}`, () => {
    beforeEach(() => store.create(loopOf('a1')))

    test('has a higher epoch every time', async () => {
      const epochs: number[] = []
      for (let round = 0; round < 3; round++) {
        const lease = granted(await store.lease('a1'))
        epochs.push(lease.epoch)
        await lease.release()
      }
      expect(epochs).toEqual([1, 2, 3])
    })

    test('names its loop', async () => {
      expect(granted(await store.lease('a1')).loop).toBe('a1')
    })

    test('is refused while somebody holds it, and says who', async () => {
      granted(await store.lease('a1'))
      const other = await connect()
      for (const asked of [await store.lease('a1'), await other.lease('a1')])
        expect(asked).toEqual({ heldBy: expect.stringMatching(/\S/) })
    })

    test('that is refused does not take the right from the one who holds it', async () => {
      const lease = granted(await store.lease('a1'))
      await (await connect()).lease('a1')
      const { loop, fact } = move(await store.load('a1'), works)
      await store.save(lease, loop, fact)
      expect((await store.load('a1')).tally.iteration).toBe(1)
    })

    test('is free again once it is released, also for others', async () => {
      const other = await connect()
      await granted(await store.lease('a1')).release()
      expect(granted(await other.lease('a1')).epoch).toBe(2)
    })

    test('of another loop is another lease', async () => {
      await store.create(loopOf('a2'))
      granted(await store.lease('a1'))
      expect(granted(await store.lease('a2')).epoch).toBe(1)
    })

    test('goes to exactly one of many that ask at once', async () => {
      const stores = await Promise.all(Array.from({ length: 5 }, connect))
      const answers = await Promise.all(stores.map((each) => each.lease('a1')))
      expect(answers.filter((answer) => 'epoch' in answer)).toHaveLength(1)
    })

    test('tells whether the loop is driven', async () => {
      const other = await connect()
      expect([await store.isDriven('a1'), await other.isDriven('a1')]).toEqual([false, false])
      const lease = granted(await store.lease('a1'))
      expect([await store.isDriven('a1'), await other.isDriven('a1')]).toEqual([true, true])
      await lease.release()
      expect([await store.isDriven('a1'), await other.isDriven('a1')]).toEqual([false, false])
    })

    test('is not disturbed by many who ask whether the loop is driven', async () => {
      const other = await connect()
      for (let round = 0; round < 5; round++) {
        const [answer] = await Promise.all([store.lease('a1'), other.isDriven('a1'), other.isDriven('a1')])
        await granted(answer).release()
      }
    })
  })

  describe(`what ${name} saves`, () => {
    test('is loaded again, by others too', async () => {
      const loop = await story('a1', { checks: ['npm test'] }, works, claims('clear'), checks('fail', 3))
      expect(await store.load('a1')).toEqual(loop)
      expect(await (await connect()).load('a1')).toEqual(loop)
    })

    test('has one event for each fact, numbered from 1', async () => {
      await story('a1', {}, works, at(1, idles), at(2, pause))
      const events = await store.events(0, 'a1')
      expect(events.map(({ loop, n, at: time }) => [loop, n, (time - START) / MINUTE])).toEqual([
        ['a1', 1, 0],
        ['a1', 2, 1],
        ['a1', 3, 2],
      ])
      expect(events.map(({ fact }) => fact.kind)).toEqual(['turned', 'turned', 'told'])
      expect(events.at(-1)?.next).toEqual({ kind: 'wait', why: 'paused' })
    })

    test('is refused when the loop has been taken over, and leaves nothing behind', async () => {
      await store.create(loopOf('a1'))
      await store.tell('a1', 'Ada', { kind: 'say', words: 'faster' })
      const old = granted(await store.lease('a1'))
      await old.release()
      const other = await connect()
      const lease = granted(await other.lease('a1'))
      const before = await everything('a1')
      const told = await store.told('a1')
      for (const happening of [works, told ?? lost]) {
        const { loop, fact } = move(await store.load('a1'), happening)
        await expect(store.save(old, loop, fact)).rejects.toMatchObject({ name: 'RalphError', code: 'lease-lost' })
      }
      expect(await everything('a1')).toEqual(before)
      const { loop, fact } = move(await other.load('a1'), works)
      await other.save(lease, loop, fact)
      expect((await store.events(0, 'a1')).map(({ n }) => n)).toEqual([1])
    })

    test('is written whole or not at all', async () => {
      const loop = await story('a1', {}, works, say('go on'))
      await store.tell('a1', 'Ada', { kind: 'say', words: 'stay' })
      const before = await everything('a1')
      const lease = granted(await store.lease('a1'))
      const second = move(loop, works)
      await store.save(lease, second.loop, second.fact)
      // A driver that counts backwards would write iteration 2 again.
      await store.save(lease, loop, woke)
      const inBetween = await everything('a1')
      await expect(store.save(lease, second.loop, second.fact)).rejects.toThrow()
      expect(await everything('a1')).toEqual(inBetween)
      expect(before.events).toHaveLength(2)
    })

    test('is what was saved, whatever happened', async () => {
      let run = 0
      await fc.assert(
        fc.asyncProperty(fc.array(fc.constantFrom(...ANYTHING), { maxLength: 25 }), async (happenings) => {
          const id = `run-${++run}`
          const loop = await story(id, { checks: ['npm test'] }, ...happenings)
          expect(await store.load(id)).toEqual(loop)
          const events = await store.events(0, id)
          expect(events.map(({ n }) => n)).toEqual(happenings.map((_, index) => index + 1))
          expect(events.at(-1)?.next ?? loop.next).toEqual(loop.next)
          expect((await store.iterations(id)).map(({ n }) => n)).toEqual(upTo(loop.tally.iteration))
        }),
        { numRuns: 25 },
      )
    })
  })

  describe(`the iterations of ${name}`, () => {
    test('are the turns that count, once each', async () => {
      await story('a1', {}, works, isLimited, woke, crashes(), works, lost, works)
      const iterations = await store.iterations('a1')
      expect(iterations.map(({ n, attempts }) => [n, attempts])).toEqual([
        [1, 1],
        [2, 3],
        [3, 2],
      ])
    })

    test('know what the turn was like', async () => {
      await story(
        'a1',
        {},
        at(2, turn({ words: 'Step\0 one 🦉', claim: { kind: 'weak' }, tokens: 7, costUsd: 0.5, tree: 'tree 1' })),
        at(5, turn({ end: 'context-full', words: 'full', tokens: 3, tree: 'tree 1' })),
        at(6, turn({ words: 'blind' })),
      )
      expect(await store.iterations('a1')).toEqual([
        {
          n: 1,
          attempts: 1,
          startedAt: START,
          endedAt: START + 2 * MINUTE,
          agent: WORK.agent,
          end: 'ok',
          claim: 'weak',
          changed: true,
          tokens: 7,
          costUsd: 0.5,
          words: 'Step\0 one 🦉',
          verdicts: [],
        },
        {
          n: 2,
          attempts: 1,
          startedAt: START + 2 * MINUTE,
          endedAt: START + 5 * MINUTE,
          agent: WORK.agent,
          end: 'context-full',
          claim: 'none',
          changed: false,
          tokens: 3,
          costUsd: undefined,
          words: 'full',
          verdicts: [],
        },
        expect.objectContaining({ n: 3, changed: undefined, words: 'blind' }),
      ])
    })

    test('have their checks, in order, with their words', async () => {
      const spec = { checks: ['npm test', 'npm run lint'] }
      const verdicts = [
        { check: 'npm test', result: 'fail', failures: 2, tail: '2 failed\0 🦉' },
        { check: 'npm run lint', result: 'pass', tail: '' },
      ] as const
      await story('a1', spec, works, claims('clear'), checked([...verdicts]), works)
      expect((await store.iterations('a1')).map((iteration) => iteration.verdicts)).toEqual([[], verdicts, []])
    })

    test('have the last checks when they were run again', async () => {
      const stages = [{ name: 'TESTS', check: 'npm test' }, { name: 'DOCS' }]
      await story('a1', { stages, until: true }, claims('clear', 'TESTS'), checks('pass'), checks('fail', 1, 'flaky'))
      const [first] = await store.iterations('a1')
      expect(first?.verdicts).toEqual([{ check: 'npm test', result: 'fail', failures: 1, tail: 'flaky' }])
    })

    test('of one loop are not those of another', async () => {
      await story('a1', {}, works)
      await story('a2', {}, works, works)
      expect(await store.iterations('a1')).toHaveLength(1)
      expect(await store.iterations('a2')).toHaveLength(2)
    })
  })

  describe(`the orders of ${name}`, () => {
    beforeEach(() => store.create(loopOf('a1')))

    test('are taken in the order they came, each until it is saved', async () => {
      for (const words of ['one', 'two']) await store.tell('a1', 'Ada', { kind: 'say', words })
      expect([await wordsTold(), await wordsTold()]).toEqual(['one', 'one'])
      await take()
      expect(await wordsTold()).toBe('two')
      await take()
      expect(await store.told('a1')).toBeUndefined()
    })

    test('keep who gave them and what they say', async () => {
      for (const order of ORDERS) {
        await store.tell('a1', "Ada O'Hara", order)
        expect(await take()).toMatchObject({ kind: 'told', by: "Ada O'Hara", order, at: expect.any(Number) })
      }
    })

    test('let a cancel go first', async () => {
      await store.tell('a1', 'Ada', { kind: 'say', words: 'one' })
      await store.tell('a1', 'Ada', { kind: 'pause' })
      await store.tell('a1', 'Bob', { kind: 'cancel' })
      expect(await take()).toMatchObject({ by: 'Bob', order: { kind: 'cancel' } })
      expect(await store.told('a1')).toMatchObject({ order: { kind: 'say' } })
    })

    test('are seen by whoever drives, wherever they were given', async () => {
      await (await connect()).tell('a1', 'Ada', { kind: 'pause' })
      expect(await store.told('a1')).toMatchObject({ order: { kind: 'pause' } })
    })

    test('of one loop are not those of another', async () => {
      await store.create(loopOf('a2'))
      await store.tell('a2', 'Ada', { kind: 'cancel' })
      expect(await store.told('a1')).toBeUndefined()
    })

    test('stay when another fact is saved', async () => {
      await store.tell('a1', 'Ada', { kind: 'pause' })
      await saves('a1', works)
      expect(await store.told('a1')).toMatchObject({ order: { kind: 'pause' } })
    })

    async function wordsTold(): Promise<string | undefined> {
      const fact = await store.told('a1')
      return fact?.kind === 'told' && fact.order.kind === 'say' ? fact.order.words : undefined
    }

    async function take(): Promise<Fact | undefined> {
      const fact = await store.told('a1')
      if (fact) await saves('a1', fact)
      return fact
    }
  })

  describe(`the events of ${name}`, () => {
    test('are read on from where a reader stopped', async () => {
      await story('a1', {}, works, works)
      const [, second] = await store.events(0)
      await story('a2', {}, works)
      await saves('a1', works)
      const later = await store.events(second?.seq ?? 0)
      expect(later.map(({ loop, n }) => [loop, n])).toEqual([
        ['a2', 1],
        ['a1', 3],
      ])
      expect(await store.events(later.at(-1)?.seq ?? 0)).toEqual([])
    })

    test('have numbers that only rise, over all loops and connections', async () => {
      const other = await connect()
      await story('a1', {}, works)
      await storyIn(other, 'a2', {}, works, works)
      await saves('a1', works)
      const numbers = (await other.events(0)).map(({ seq }) => seq)
      expect(numbers).toHaveLength(4)
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
    })

    test('can be those of one loop', async () => {
      await story('a1', {}, works, works)
      await story('a2', {}, works)
      expect((await store.events(0, 'a2')).map(({ loop }) => loop)).toEqual(['a2'])
      expect(await store.events(0, 'a3')).toEqual([])
    })

    test('are the facts as they were', async () => {
      const fact = checked([{ check: 'npm test', result: 'fail', tail: PROMPT_OF_ALL_KINDS }], ['a test is gone'])
      await story('a1', { checks: ['npm test'] }, claims('clear'), fact)
      expect((await store.events(0, 'a1')).at(-1)?.fact).toEqual(fact)
    })
  })

  describe(`the sums of ${name}`, () => {
    test('of nothing are nothing', async () => {
      expect(await store.totals()).toEqual({
        loops: 0,
        byStatus: {},
        byReason: {},
        verified: 0,
        claimed: 0,
        falseClaims: 0,
        iterations: 0,
        meanIterationsToDone: undefined,
        tokens: 0,
        costUsd: 0,
        byAgent: [],
      })
      expect(await store.history()).toEqual([])
    })

    test('count every loop once', async () => {
      const other = { ...WORK, agent: 'command:./agent' }
      const checkedSpec = { checks: ['npm test'] }
      await story('verified', checkedSpec, works, claims('clear'), checks('fail'), claims('clear'), checks('pass'))
      await story('claimed', { work: other }, uses({ tokens: 10, costUsd: 0.5 }), claims('clear'))
      await story('cancelled', { work: other }, works, cancel)
      await story('halted', {}, ...Array(3).fill(idles))
      await story('asking', {}, wantsPerson())
      await store.create(loopOf('new'))
      expect(await store.totals()).toEqual({
        loops: 6,
        byStatus: { completed: 2, cancelled: 1, halted: 1, 'needs-input': 1, running: 1 },
        byReason: { cancelled: 1, 'no-progress': 1 },
        verified: 1,
        claimed: 1,
        falseClaims: 1,
        iterations: 3 + 2 + 1 + 3 + 1,
        meanIterationsToDone: 2.5,
        tokens: 10,
        costUsd: 0.5,
        byAgent: [
          { agent: WORK.agent, loops: 4, completed: 1, iterations: 3 + 3 + 1, costUsd: 0 },
          { agent: other.agent, loops: 2, completed: 1, iterations: 2 + 1, costUsd: 0.5 },
        ],
      })
    })

    test('remember how many iterations a task took, newest first, of completed loops alone', async () => {
      await story('short', {}, works, at(1, claims('clear')))
      await story('long', {}, works, works, works, at(2, claims('clear')))
      await story('cancelled', {}, works, at(3, cancel))
      expect(await store.history()).toEqual([4, 2])
    })
  })

  describe(`a listener of ${name}`, () => {
    test('hears of what another connection does, and nothing once it has stopped', async () => {
      await store.create(loopOf('a1'))
      const other = await connect()
      let heard = 0
      const stop = store.onChange(() => heard++)
      for (const change of [
        () => other.tell('a1', 'Ada', { kind: 'pause' }),
        () => storyIn(other, 'a2', {}, works).then(() => {}),
      ]) {
        const before = heard
        await change()
        await expect.poll(() => heard, { timeout: 5_000 }).toBeGreaterThan(before)
      }
      stop()
      const after = heard
      await other.tell('a1', 'Ada', { kind: 'resume' })
      await new Promise((done) => setImmediate(done))
      expect(heard).toBe(after)
    })

    test('finds the change when it is called', async () => {
      await store.create(loopOf('a1'))
      const found = new Promise<unknown>((done, failed) => {
        const stop = store.onChange(() => {
          store.told('a1').then((fact) => {
            if (!fact) return
            stop()
            done(fact)
          }, failed)
        })
      })
      await (await connect()).tell('a1', 'Ada', { kind: 'cancel' })
      expect(await found).toMatchObject({ order: { kind: 'cancel' } })
    })
  })

  /** Makes a loop and saves what happens to it. */
  function story(id: string, spec: Parameters<typeof specOf>[0], ...happenings: Happening[]): Promise<Loop> {
    return storyIn(store, id, spec, ...happenings)
  }

  async function storyIn(
    where: Store,
    id: string,
    spec: Parameters<typeof specOf>[0],
    ...happenings: Happening[]
  ): Promise<Loop> {
    await where.create(loopOf(id, spec))
    return savesIn(where, id, ...happenings)
  }

  function saves(id: string, ...happenings: Happening[]): Promise<Loop> {
    return savesIn(store, id, ...happenings)
  }

  async function savesIn(where: Store, id: string, ...happenings: Happening[]): Promise<Loop> {
    const lease = granted(await where.lease(id))
    let loop = await where.load(id)
    for (const happening of happenings) {
      const moved = move(loop, happening)
      loop = moved.loop
      await where.save(lease, loop, moved.fact)
    }
    await lease.release()
    return loop
  }

  async function everything(id: string) {
    return {
      loop: await store.load(id),
      row: (await store.list()).find((row) => row.id === id),
      events: await store.events(0, id),
      iterations: await store.iterations(id),
      told: { ...(await store.told(id)), at: 0 },
    }
  }
}

const PROMPT_OF_ALL_KINDS = `---\nname: "x"\n---\n'quotes' "too" \\ $(touch x) \`id\` 🦉 \u2028 \u0000 \r\n\ttab; DROP TABLE loop; --`

const WORK = specOf().work

const ORDERS: Order[] = [
  { kind: 'cancel' },
  { kind: 'pause' },
  { kind: 'resume' },
  { kind: 'say', words: PROMPT_OF_ALL_KINDS },
  { kind: 'limits', limits: { iterations: 3, costUsd: 1.5 } },
]

const ANYTHING: Happening[] = [
  ...[works, idles, claims('clear'), claims('weak'), crashes(), isLimited, wantsPerson()],
  ...[checks('pass'), checks('fail', 2), woke, lost, pause, resume, say('hello')],
]

function loopOf(id: string, spec: Parameters<typeof specOf>[0] = {}, minute = 0): Loop {
  return startLoop(id, specOf(spec), { at: START + minute * MINUTE, tree: 'tree 0' })
}

function move(loop: Loop, happening: Happening): { loop: Loop; fact: Fact } {
  const fact = typeof happening === 'function' ? happening(loop) : happening
  return { loop: step(loop, fact), fact }
}

function granted(answer: Lease | Held): Lease {
  if ('heldBy' in answer) throw new Error(`The lease is held by ${answer.heldBy}.`)
  return answer
}

function idsOf(rows: readonly { id: string }[]): string[] {
  return rows.map(({ id }) => id)
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1)
}
