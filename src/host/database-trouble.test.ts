/** What other programs do to the database while a loop runs: lock it, remove it. */
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { rebuild } from '../drive/rebuild.ts'
import { startLoop } from '../engine/loop.ts'
import { step } from '../engine/step.ts'
import { START, specOf, works } from '../engine/stories.test-support.ts'
import { eventually, source, startScript, temporaryFolder } from './place.test-support.ts'
import { type LocalStore, openStore } from './sqlite.ts'
import type { Lease } from './store.ts'
import { onNotice } from './waiting.ts'

const opened: LocalStore[] = []

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
})

type Home = { home: string; path: string; store: LocalStore; lease: Lease }

/** A home with a loop that this process drives. */
async function makeHome(): Promise<Home> {
  const home = temporaryFolder()
  const store = open(home)
  await store.create(startLoop('a', specOf({}, { iterations: 0 }), { at: START, tree: 'tree 0' }))
  const lease = await store.lease('a')
  if ('heldBy' in lease) throw new Error(lease.heldBy)
  return { home, path: join(home, 'ralph.db'), store, lease }
}

function open(home: string, patienceMs = 60_000): LocalStore {
  const store = openStore(home, Date.now, { patienceMs })
  opened.push(store)
  return store
}

async function save({ store, lease }: Pick<Home, 'store' | 'lease'>): Promise<void> {
  const loop = await store.load(lease.loop)
  const fact = typeof works === 'function' ? works(loop) : works
  await store.save(lease, step(loop, fact), fact)
}

function listen(heard: (text: string) => void = () => {}): string[] {
  const notices: string[] = []
  onTestFinished(
    onNotice((text) => {
      notices.push(text)
      heard(text)
    }),
  )
  return notices
}

describe('a database that another program locks', () => {
  test('is waited for, which is reported once and blocks nobody else', async () => {
    const place = await makeHome()
    const other = new DatabaseSync(place.path)
    other.exec('BEGIN IMMEDIATE')
    const notices = listen(() => other.close())
    let longest = 0
    let last = performance.now()
    const beat = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 10)
    await Promise.all([save(place), place.store.tell('a', 'you', { kind: 'pause' })])
    clearInterval(beat)
    expect(notices).toEqual(['The database is locked by another program. Waiting for it.'])
    expect(longest).toBeLessThan(1_000)
    expect(await place.store.events(0, 'a')).toHaveLength(1)
    expect(place.store.transcripts.story('a')?.facts).toHaveLength(1)
    expect(await place.store.ordered('pause')).toEqual(['a'])
  })

  test('is not waited for forever', async () => {
    const { home, path } = await makeHome()
    const other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')
    const message = `${path} is locked by another program. Stop that program, then try again.`
    const told = open(home, 50).tell('a', 'you', { kind: 'pause' })
    await expect(told).rejects.toMatchObject({ code: 'database-locked', message })
    other.close()
  })
})

describe('a database that is removed while it is open', () => {
  test.each([
    ['alone', ['ralph.db']],
    ['with its log', ['ralph.db', 'ralph.db-wal']],
    ['with all its files', ['ralph.db', 'ralph.db-wal', 'ralph.db-shm']],
  ])('%s is restored completely by the next save', async (_, names) => {
    const place = await makeHome()
    await place.store.projects.save('/shop', { tasks: 3 })
    await save(place)
    for (const name of names) rmSync(join(place.home, name))
    const notices = listen()
    await save(place)
    await save(place)
    expect(notices).toEqual([expect.stringMatching(/ralph\.db was removed by another program\. ralph restored it/)])
    const other = open(place.home)
    expect((await other.events(0, 'a')).map(({ n }) => n)).toEqual([1, 2, 3])
    expect((await other.load('a')).tally.iteration).toBe(3)
    expect(await other.projects.load('/shop')).toEqual({ tasks: 3 })
    expect(await other.selfCheck()).toBeUndefined()
    expect(readdirSync(place.home).filter((name) => /tmp/.test(name))).toEqual([])
  })

  test('is restored soon if somebody listens to it', async () => {
    const { store, path } = await makeHome()
    onTestFinished(store.onChange(() => {}))
    rmSync(path)
    await eventually(() => readdirSync(join(path, '..')).includes('ralph.db'))
  })

  test('loses nothing that others save in the meantime', async () => {
    const { home, path } = await makeHome()
    const code = (id: string) => `
      const { openStore } = await import(${source('host/sqlite.ts')})
      const { step } = await import(${source('engine/step.ts')})
      const { startLoop } = await import(${source('engine/loop.ts')})
      const { specOf, works, START } = await import(${source('engine/stories.test-support.ts')})
      const store = openStore(${JSON.stringify(home)}, Date.now)
      await store.create(startLoop('${id}', specOf({}, { iterations: 0 }), { at: START, tree: 'tree 0' }))
      const lease = await store.lease('${id}')
      for (let n = 0; n < 200; n++) {
        const loop = await store.load('${id}')
        const fact = works(loop)
        await store.save(lease, step(loop, fact), fact)
        if (n === 20) console.log('going')
      }
      await store.close()`
    const savers = ['b', 'c', 'd'].map((id) => startScript(code(id)))
    await eventually(() => savers.every((saver) => saver.lines().includes('going')))
    rmSync(path)
    for (const { ended } of savers) expect(await ended).toMatchObject({ code: 0, err: '' })
    const other = open(home)
    for (const id of ['b', 'c', 'd']) {
      expect((await other.load(id)).tally.iteration).toBe(200)
      expect((await other.events(0, id)).map(({ n }) => n)).toEqual(Array.from({ length: 200 }, (_, at) => at + 1))
    }
  })

  test('and replaced by a copy continues with that copy', async () => {
    const place = await makeHome()
    await save(place)
    const copy = join(place.home, 'copy')
    new DatabaseSync(place.path).prepare('VACUUM INTO ?').run(copy)
    for (const rest of ['-wal', '-shm']) rmSync(place.path + rest)
    renameSync(copy, place.path)
    await save(place)
    expect((await open(place.home).events(0, 'a')).map(({ n }) => n)).toEqual([1, 2])
  })
})

describe('a lost database', () => {
  test.each([
    ['missing', (path: string) => rmSync(path)],
    ['empty', (path: string) => writeFileSync(path, '')],
  ])('whose file is %s is not mistaken for a new one if there are transcripts', async (_, lose) => {
    const place = await makeHome()
    await save(place)
    await place.lease.release()
    await place.store.close()
    opened.splice(0)
    for (const rest of ['-wal', '-shm']) rmSync(place.path + rest, { force: true })
    lose(place.path)
    const missing = {
      code: 'database-missing',
      message: expect.stringMatching(/transcripts of a loop.*ralph doctor --rebuild/),
    }
    expect(() => openStore(place.home, Date.now)).toThrow(expect.objectContaining(missing))
    expect(await rebuild(place.home, Date.now)).toMatchObject({ loops: 1, facts: 1 })
    expect(await open(place.home).events(0, 'a')).toHaveLength(1)
  })
})
