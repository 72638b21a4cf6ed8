import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Loop, startLoop } from '../engine/loop.ts'
import { step } from '../engine/step.ts'
import {
  at,
  cancel,
  checks,
  claims,
  crashes,
  type Happening,
  idles,
  isLimited,
  loopAfter,
  lost,
  MINUTE,
  pause,
  resume,
  START,
  say,
  setLimits,
  specOf,
  uses,
  wantsPerson,
  woke,
  works,
} from '../engine/stories.test-support.ts'
import { printTaskState } from '../formats/task-state.ts'
import { eventually, source, startScript, temporaryFolder } from '../host/place.test-support.ts'
import { type LocalStore, openStore } from '../host/sqlite.ts'
import { remakeTask } from '../vault/remake.ts'
import { placeOf, type VaultTask, vaultOf } from '../vault/vault-task.ts'
import { rebuild } from './rebuild.ts'

let home: string

beforeEach(() => {
  home = temporaryFolder()
})

type Given = { id: string; spec?: Parameters<typeof specOf>[0]; minute?: number; story: Happening[] }

async function tell(store: LocalStore, { id, spec = {}, minute = 0, story }: Given): Promise<void> {
  await store.create(startLoop(id, specOf(spec), { at: START + minute * MINUTE, tree: 'tree 0' }))
  await addToStory(store, id, story)
}

async function addToStory(store: LocalStore, id: string, story: readonly Happening[]): Promise<void> {
  let loop: Loop = await store.load(id)
  const lease = await store.lease(id)
  if ('heldBy' in lease) throw new Error(lease.heldBy)
  for (const happening of story) {
    const fact = typeof happening === 'function' ? happening(loop) : happening
    loop = step(loop, fact)
    await store.save(lease, loop, fact)
  }
  await lease.release()
}

async function withStore<Result>(work: (store: LocalStore) => Promise<Result>): Promise<Result> {
  const store = openStore(home, () => START)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Everything in a store, except the numbers that only record the order of writes. */
async function everything(store: LocalStore) {
  const { rows } = await store.list({ limit: 1_000 })
  const loops = await Promise.all(
    rows.map(async ({ id }) => ({
      loop: await store.load(id),
      events: (await store.events(0, id)).map(({ seq: _, ...event }) => event),
      iterations: await store.iterations(id),
      story: store.transcripts.story(id),
    })),
  )
  const strips = await store.strips(
    rows.map(({ id }) => id),
    60,
  )
  const [numbers, sums, history] = [await store.numbers(), await store.sums(), await store.history()]
  return { rows, loops, strips, numbers, sums, history }
}

const CHECKED = { checks: ['npm test'] }

const STORIES: Given[] = [
  {
    id: 'done',
    spec: CHECKED,
    minute: 5,
    story: [checks('fail', 3), works, claims('clear'), checks('fail', 2), works, claims('clear'), checks('pass')],
  },
  { id: 'halted', minute: 4, story: [idles, idles, idles] },
  { id: 'cancelled', minute: 3, story: [works, say('hello 🦉 \u2028'), cancel] },
  { id: 'waiting', minute: 2, story: [uses({ tokens: 9, costUsd: 0.5 }), isLimited, at(3, woke), lost, crashes()] },
  {
    id: 'staged',
    spec: { stages: [{ name: 'TESTS', check: 'npm test' }, { name: 'DOCS' }] },
    minute: 1,
    story: [checks('fail'), claims('clear', 'TESTS'), checks('pass'), setLimits({ iterations: 3 }), pause],
  },
  { id: 'new', story: [] },
]

describe('a rebuilt database', () => {
  beforeEach(() =>
    withStore(async (store) => {
      for (const given of STORIES) await tell(store, given)
    }),
  )

  const database = () => join(home, 'ralph.db')

  test.each<[how: string, damage: () => void]>([
    ['was removed', () => removeAll()],
    ['is a letter to my aunt', () => removeAll('Dear aunt, '.repeat(1_000))],
    ['is empty', () => removeAll('')],
    ['is damaged inside', () => writeFileSync(database(), readFileSync(database()).fill(0x5a, 5_000))],
    ['is intact', () => {}],
  ])('contains everything the old one did when that %s', async (_, damage) => {
    const before = await withStore(everything)
    damage()
    const { loops, facts } = await rebuild(home, () => START)
    expect({ loops, facts }).toEqual({ loops: STORIES.length, facts: STORIES.flatMap(({ story }) => story).length })
    expect(await withStore(everything)).toEqual(before)
  })

  test('keeps the old one aside, byte for byte', async () => {
    removeAll('Dear aunt')
    const { aside } = await rebuild(home, () => START)
    expect(aside).toBe(`${database()}.broken-2026-01-05T09-00-00-000Z`)
    expect(readFileSync(aside ?? '', 'utf8')).toBe('Dear aunt')
  })

  test('says that there was none', async () => {
    removeAll()
    expect((await rebuild(home, () => START)).aside).toBeUndefined()
  })

  test('knows what the user has seen', async () => {
    await withStore((store) => store.seen.mark('halted', 2))
    const before = await withStore((store) => store.needing(0))
    await rebuild(home, () => START)
    expect(await withStore((store) => store.needing(0))).toEqual(before)
    expect(before).toContainEqual(expect.objectContaining({ loop: 'halted', n: 3, seen: 2 }))
  })

  test('can be used, and rebuilt again', async () => {
    removeAll('Dear aunt')
    await rebuild(home, () => START)
    await withStore(async (store) => {
      const lease = await store.lease('waiting')
      if ('heldBy' in lease) throw new Error(lease.heldBy)
      expect(lease.epoch).toBeGreaterThan(1)
      const loop = loopAfter(await store.load('waiting'), resume)
      await store.save(lease, loop, { ...resume })
      await lease.release()
    })
    const before = await withStore(everything)
    rmSync(database())
    await rebuild(home, () => START + 1)
    expect(await withStore(everything)).toEqual(before)
  })

  test('writes nothing to the transcripts it is built from', async () => {
    const stories = () => STORIES.map(({ id }) => readFileSync(join(home, 'transcripts', id, 'loop.jsonl'), 'utf8'))
    const before = stories()
    await rebuild(home, () => START)
    expect(stories()).toEqual(before)
  })

  test('has the facts up to where a transcript is cut off', async () => {
    const file = join(home, 'transcripts', 'done', 'loop.jsonl')
    writeFileSync(file, readFileSync(file, 'utf8').slice(0, -30))
    removeAll()
    await rebuild(home, () => START)
    const events = await withStore((store) => store.events(0, 'done'))
    expect(events.map(({ n }) => n)).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('has the fact that a killed ralph saved but had not yet written to the transcript', async () => {
    const file = join(home, 'transcripts', 'done', 'loop.jsonl')
    const before = await withStore(everything)
    writeFileSync(file, readFileSync(file, 'utf8').slice(0, -30))
    await rebuild(home, () => START)
    expect(await withStore(everything)).toEqual(before)
  })

  test('ignores files that are no transcript, and does not count them', async () => {
    writeFileSync(join(home, 'transcripts', 'new', 'loop.jsonl'), 'nonsense\n')
    appendFileSync(join(home, 'transcripts', 'notes.txt'), 'mine')
    for (const suffix of ['', '-wal', '-shm']) rmSync(join(home, `ralph.db${suffix}`), { force: true })
    expect(await rebuild(home, () => START)).toMatchObject({ loops: STORIES.length - 1, lost: [{ loop: 'new' }] })
    expect((await withStore((store) => store.list())).rows.map(({ id }) => id)).not.toContain('new')
  })

  test('is refused while a loop is running, and nothing is touched', async () => {
    const driver = startScript(
      `const { openStore } = await import(${source('host/sqlite.ts')})
       await openStore(process.env.HOME_OF_RALPH, Date.now).lease('waiting')
       console.log('driving')
       setInterval(() => {}, 1_000)`,
      { HOME_OF_RALPH: home },
    )
    await eventually(() => driver.lines().length)
    const before = await withStore(everything)
    await expect(rebuild(home, () => START)).rejects.toMatchObject({
      code: 'loop-held',
      message: expect.stringContaining('waiting'),
    })
    expect(readdirSync(home).filter((name) => name.includes('broken'))).toEqual([])
    expect(await withStore(everything)).toEqual(before)
    process.kill(driver.pid, 'SIGKILL')
    await driver.ended
    expect((await rebuild(home, () => START)).loops).toBe(STORIES.length)
  })

  function removeAll(instead?: string): void {
    for (const suffix of ['', '-wal', '-shm']) rmSync(database() + suffix, { force: true })
    if (instead !== undefined) writeFileSync(database(), instead)
  }
})

test('whatever happened, rebuilding gives the same database', async () => {
  const happenings: Happening[] = [
    ...[works, idles, claims('clear'), claims('weak'), crashes(), isLimited, wantsPerson(), uses({ costUsd: 0.1 })],
    ...[checks('pass'), checks('fail', 2), woke, lost, pause, resume, say('hello'), setLimits({ iterations: 5 })],
  ]
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.constantFrom(...happenings), { maxLength: 20 }), { maxLength: 4 }),
      async (stories) => {
        home = temporaryFolder()
        const before = await withStore(async (store) => {
          for (const [minute, happened] of stories.entries()) {
            const story = [checks('fail', 3), ...happened] // no turn comes before the first checks
            await tell(store, { id: `loop-${minute}`, spec: CHECKED, minute, story })
          }
          return everything(store)
        })
        for (const suffix of ['', '-wal', '-shm']) rmSync(join(home, `ralph.db${suffix}`), { force: true })
        await rebuild(home, () => START)
        expect(await withStore(everything)).toEqual(before)
      },
    ),
    { numRuns: 10 },
  )
})

test('a story of an older version, which started with a turn, is replayed to its end', async () => {
  const pass = { check: 'npm test', result: 'pass', tail: '' }
  const turned = { end: 'ok', claim: { kind: 'clear' }, words: 'Done.', tree: 'b', ranTests: false, tokens: 1 }
  const lines = [
    { begin: { id: 'old', spec: specOf(CHECKED), at: START, tree: 'a' } },
    { n: 1, fact: { kind: 'turned', at: START, turn: turned } },
    { n: 2, fact: { kind: 'checked', at: START, verdicts: [pass], findings: ['a test is gone'] } },
  ]
  mkdirSync(join(home, 'transcripts', 'old'), { recursive: true })
  writeFileSync(
    join(home, 'transcripts', 'old', 'loop.jsonl'),
    lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  )
  await rebuild(home, () => START)
  const { tally, next } = await withStore((store) => store.load('old'))
  expect(next).toMatchObject({ kind: 'complete', proof: 'kept' })
  expect(tally.findings).toEqual([{ kind: 'noted', path: '', words: 'a test is gone' }])
})

test('a home without transcripts gets an empty database', async () => {
  expect(await rebuild(home, () => START)).toEqual({ loops: 0, facts: 0, aside: undefined, lost: [] })
  expect(existsSync(join(home, 'ralph.db'))).toBe(true)
  expect((await withStore((store) => store.list())).rows).toEqual([])
})

describe('a damaged transcript', () => {
  const file = () => join(home, 'transcripts', 'a1', 'loop.jsonl')
  const change = (line: number, how: (text: string) => string) => {
    const lines = readFileSync(file(), 'utf8').split('\n')
    lines[line] = how(lines[line] ?? '')
    writeFileSync(file(), lines.join('\n'))
  }
  const forget = () => rmSync(join(home, 'ralph.db'))

  beforeEach(() =>
    withStore(async (store) => {
      await tell(store, { id: 'a1', story: [works, works, say('Go.'), works] })
      await tell(store, { id: 'b2', minute: 1, story: [works] })
    }),
  )

  test.each<[string, (text: string) => string]>([
    ['with a line that is not JSON', (text) => text.slice(0, -3)],
    ['with a fact of an unknown kind', (text) => text.replace('"turned"', '"turmed"')],
    ['with an incomplete fact', (text) => text.replace('"claim"', '"claym"')],
  ])('%s gives the loop as it was before', async (_, how) => {
    forget()
    change(2, how)
    const { lost, loops } = await rebuild(home, () => START)
    expect({ lost, loops }).toEqual({ loops: 2, lost: [{ loop: 'a1', facts: 1, of: 4 }] })
    expect((await withStore((store) => store.load('a1'))).tally.iteration).toBe(1)
  })

  test('is completed from a readable database', async () => {
    const before = await withStore(everything)
    change(2, (text) => text.slice(0, -3))
    expect((await rebuild(home, () => START)).lost).toEqual([])
    expect(await withStore(everything)).toEqual(before)
  })

  test('from its first line on is no loss if the database is readable', async () => {
    const { rows: before } = await withStore(everything)
    change(0, (text) => text.slice(1))
    expect((await rebuild(home, () => START)).lost).toEqual([])
    const { rows, loops } = await withStore(everything)
    expect(rows).toEqual(before)
    expect(loops.find(({ loop }) => loop.id === 'a1')).toMatchObject({
      events: { length: 4 },
      iterations: { length: 3 },
    })
  })

  test('from its first line on keeps no other loop from being rebuilt', async () => {
    forget()
    change(0, (text) => text.replace('"checks"', '"cheks"'))
    const { lost, loops } = await rebuild(home, () => START)
    expect({ lost, loops }).toEqual({ loops: 1, lost: [{ loop: 'a1' }] })
  })

  test('restores no order that is not valid', async () => {
    forget()
    change(3, (text) => text.replace(/"order":\{[^}]*\}/, '"order":{"kind":"edit","checks":["true"]}'))
    expect((await rebuild(home, () => START)).lost).toEqual([])
    const { spec, tally } = await withStore((store) => store.load('a1'))
    expect({ checks: spec.checks, iterations: tally.iteration }).toEqual({ checks: [], iterations: 3 })
  })

  test('restores no spec with unknown fields', async () => {
    forget()
    change(3, (text) => {
      const asked = { kind: 'asked', at: START, spec: { ...specOf({ checks: ['true'] }), sealed: false } }
      return JSON.stringify({ ...JSON.parse(text), fact: asked })
    })
    expect((await rebuild(home, () => START)).lost).toEqual([{ loop: 'a1', facts: 2, of: 4 }])
  })
})

function withId(loop: Loop, id: string): Loop {
  const { work } = loop.spec
  return { ...loop, spec: { ...loop.spec, work: { ...work, ...placeOf({ ...vaultOf(loop), id }) } } }
}

test('a task of a vault has its newest loop again, and its progress', async () => {
  const vault = temporaryFolder()
  const task: VaultTask = {
    kind: 'vault',
    path: vault,
    id: 'a',
    file: 'a.md',
    from: 'Needs_Action/a.md',
    by: 'caller',
    done: 'Done',
    state: 'Ralph_State',
  }
  const spec = specOf({ checks: [] })
  const started = (id: string, minute: number): Loop =>
    startLoop(id, { ...spec, work: { ...spec.work, ...placeOf(task) } }, { at: START + minute * MINUTE })
  // By name, the newer one comes first.
  await withStore(async (store) => {
    const older = started('zz', 0)
    expect(await store.tasks.begin({ vault, id: 'a' }, older, {})).toBeUndefined()
    const lease = await store.lease('zz')
    if ('heldBy' in lease) throw new Error(lease.heldBy)
    await store.save(lease, step(older, cancel), cancel)
    await lease.release()
    expect(await store.tasks.begin({ vault, id: 'a' }, started('aa', 5), {})).toBeUndefined()
    expect(await store.tasks.begin({ vault, id: 'b' }, withId(started('over', 1), 'b'), {})).toBeUndefined()
    const other = await store.lease('over')
    if ('heldBy' in other) throw new Error(other.heldBy)
    await store.save(other, step(await store.load('over'), cancel), cancel)
    await other.release()
  })
  mkdirSync(join(vault, 'Ralph_State'))
  const progress = { steps_total: 4, steps_completed: 1, current_step: 'Begin', percentage: 25 }
  writeFileSync(
    join(vault, 'Ralph_State', 'a.json'),
    printTaskState({
      task_id: 'a',
      task_file: `${vault}/Needs_Action/a.md`,
      status: 'in_progress',
      iteration: 0,
      progress,
      max_iterations: 10,
      iterations_history: [],
      timeout_at: '2026-01-05T09:35:00Z',
      started_at: '2026-01-05T09:05:00Z',
      last_updated: '2026-01-05T09:06:00Z',
    }),
  )
  rmSync(join(home, 'ralph.db'))
  await rebuild(home, () => START, remakeTask)
  const [over, row, ...more] = await withStore(async (store) => await store.tasks.list(vault))
  expect(more).toEqual([])
  // Its end was handled long ago.
  expect(over).toMatchObject({ id: 'b', record: { files: null } })
  expect(row).toMatchObject({ vault, id: 'a', loop: 'aa' })
  expect(row?.record).toEqual({ progress: { total: 4, completed: 1, step: 'Begin', at: START + 6 * MINUTE } })
})

test('a forgotten task stays forgotten, unless the old database is lost', async () => {
  const task = { kind: 'vault', path: home, id: 'a', file: 'a.md', from: 'Needs_Action/a.md' } as const
  const spec = specOf({ checks: [] })
  const work = { ...spec.work, ...placeOf({ ...task, by: 'caller', done: 'Done', state: 'Ralph_State' }) }
  await withStore(async (store) => {
    await store.tasks.begin({ vault: home, id: 'a' }, startLoop('aa', { ...spec, work }, { at: START }), {})
    await store.tasks.forget({ vault: home, id: 'a', loop: 'aa' })
  })
  const tasks = () => withStore((store) => store.tasks.list())
  await rebuild(home, () => START, remakeTask)
  expect(await tasks()).toEqual([])
  rmSync(join(home, 'ralph.db'))
  await rebuild(home, () => START + 1, remakeTask)
  expect(await tasks()).toMatchObject([{ id: 'a', loop: 'aa' }])
})

test('a loop started from the queue keeps what a restored database does not know', async () => {
  const { id: _, ...begun } = startLoop('queued', specOf(CHECKED), { at: START, tree: 'tree 0' })
  const story: Happening[] = [{ kind: 'adopted', at: START, loop: begun }, checks('fail', 3), works]
  await withStore((store) => tell(store, { id: 'queued', spec: CHECKED, story }))
  copyFileSync(join(home, 'ralph.db'), join(home, 'backup'))
  await withStore((store) => addToStory(store, 'queued', [claims('clear'), checks('fail', 1), works]))
  const before = await withStore(everything)
  expect(before.loops[0]?.iterations).toHaveLength(3)
  copyFileSync(join(home, 'backup'), join(home, 'ralph.db'))
  await rebuild(home, () => START)
  expect(await withStore(everything)).toEqual(before)
})
