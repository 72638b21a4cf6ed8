import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { type Fact, type Finding, type Loop, startLoop } from '../engine/loop.ts'
import { step } from '../engine/step.ts'
import { at, type Happening, MINUTE, START, say, specOf, works } from '../engine/stories.test-support.ts'
import { openCurrent, plainly, TABLES } from './database.ts'
import { refuseNetworkFolder } from './files.ts'
import { NEEDING } from './overview-queries.ts'
import { canMount, eventually, smallDisk, source, startScript, temporaryFolder } from './place.test-support.ts'
import { toNewColumns } from './rows.ts'
import { MIGRATIONS } from './schema.ts'
import { type LocalStore, openStore } from './sqlite.ts'
import type { Lease } from './store.ts'
import { storeContract } from './store-contract/contract.ts'
import { beginIn, taskLoop } from './store-contract/task-records.ts'
import { openTranscripts } from './transcript.ts'

storeContract({
  name: 'SQLite',
  async open() {
    const home = temporaryFolder()
    return {
      connect: async () => openStore(home, Date.now),
      elsewhere: `(await import(${source('host/sqlite.ts')})).openStore(${JSON.stringify(home)}, Date.now)`,
      free: async (loop) => rmSync(join(home, 'locks', `${loop}.db`)),
    }
  },
})

const opened: LocalStore[] = []

afterEach(async () => {
  vi.useRealTimers()
  for (const store of opened.splice(0)) await store.close()
})

function open(home: string): LocalStore {
  const store = openStore(home, Date.now)
  opened.push(store)
  return store
}

function loopOf(id: string, prompt = 'Make the parser faster.'): Loop {
  return startLoop(id, specOf({ prompt }, { iterations: 0 }), { at: START, tree: 'tree 0' })
}

async function leased(store: LocalStore, id: string): Promise<Lease> {
  const lease = await store.lease(id)
  if ('heldBy' in lease) throw new Error(`The lease is held by ${lease.heldBy}.`)
  return lease
}

async function save(store: LocalStore, lease: Lease, happening: Happening): Promise<void> {
  const loop = await store.load(lease.loop)
  const fact = typeof happening === 'function' ? happening(loop) : happening
  await store.save(lease, step(loop, fact), fact)
}

/** A home with one loop to which three things happened. */
async function homeWithStory(home: string = temporaryFolder()): Promise<string> {
  const store = openStore(home, Date.now)
  await store.create(loopOf('a1'))
  const lease = await leased(store, 'a1')
  for (const happening of [works, say('faster'), works]) await save(store, lease, happening)
  await lease.release()
  await store.close()
  return home
}

describe('a new home', () => {
  test('is private to its owner', () => {
    const home = join(temporaryFolder(), 'deep', 'home')
    open(home)
    for (const folder of ['', 'locks', 'transcripts']) expect(statSync(join(home, folder)).mode & 0o777).toBe(0o700)
  })

  test('has a database that readers and a writer can use at once', async () => {
    const home = temporaryFolder()
    open(home)
    expect(ask(home, 'PRAGMA journal_mode')).toEqual({ journal_mode: 'wal' })
    expect(await open(home).selfCheck()).toBeUndefined()
  })
})

describe('the tables', () => {
  test('are as many as the version says that is opened without a look', () => {
    expect(TABLES).toBe(MIGRATIONS.length)
  })

  test('are opened as they are if they are up to date', () => {
    const path = join(temporaryFolder(), 'ralph.db')
    expect(openCurrent(path)).toBeUndefined()
    const old = new DatabaseSync(path)
    old.exec(`PRAGMA user_version = ${TABLES - 1}`)
    expect(openCurrent(path)).toBeUndefined()
    old.exec(`PRAGMA user_version = ${TABLES}`)
    old.close()
    const current = openCurrent(path)
    expect(current?.isOpen).toBe(true)
    current?.close()
  })

  test.each([...MIGRATIONS.keys(), MIGRATIONS.length])('of version %i are migrated', async (version) => {
    const home = temporaryFolder()
    const old = new DatabaseSync(join(home, 'ralph.db'))
    for (const migration of MIGRATIONS.slice(0, version)) if (migration !== 'adopt') old.exec(migration)
    old.exec(`PRAGMA user_version = ${version}`)
    old.close()
    const store = open(home)
    expect(ask(home, 'PRAGMA user_version')).toEqual({ user_version: MIGRATIONS.length })
    await store.create(loopOf('a1'))
    expect(await store.load('a1')).toEqual(loopOf('a1'))
  })

  test('say whose a loop is, even for one that was created before they did', async () => {
    const home = temporaryFolder()
    const old = new DatabaseSync(join(home, 'ralph.db'))
    for (const migration of MIGRATIONS.slice(0, 4)) old.exec(migration)
    const owned = {
      mine: {},
      project: { project: { name: 'p', folder: '/d/.artefacts/p' } },
      vault: { vault: { path: '/v', id: 'a' } },
    }
    for (const [id, work] of Object.entries(owned))
      old
        .prepare(
          `INSERT INTO loop VALUES (?, '/d', 'a', 'p', ?, ?, '{"kind":"wait"}', 'paused', NULL, NULL, 0, 0, 0, 0, 0, 0, '', 0, 1, 1)`,
        )
        .run(id, JSON.stringify({ work: { dir: '/d', ...work } }), JSON.stringify(loopOf(id).tally))
    old.exec('PRAGMA user_version = 4')
    old.close()
    const { rows } = await open(home).list()
    expect(rows.map(({ id, owner }) => [id, owner])).toEqual([
      ['vault', 'vault'],
      ['project', 'project'],
      ['mine', 'person'],
    ])
  })

  test('know which iterations weakened a proof, including those from before they did', async () => {
    const home = await homeWithStory()
    const [found, added] = ['tests-deleted', 'tests-added'].map((kind) => [
      { kind, path: 'a.test.ts', words: 'noticed' },
    ])
    const store = openStore(home, Date.now)
    const lease = await leased(store, 'a1')
    for (const [minute, findings = []] of [[1], [2, found], [3, added]] as [number, Finding[]?][]) {
      await save(store, lease, at(minute, works))
      const verdicts = [{ check: 'npm test', result: 'pass' as const, tail: '' }]
      const { tally, ...loop } = await store.load('a1')
      const fact: Fact = { kind: 'checked', at: START + minute * MINUTE + 1, verdicts, findings }
      await store.save(lease, { ...loop, tally: { ...tally, findings } }, fact)
    }
    await lease.release()
    const [now] = await store.strips(['a1'], 9)
    expect(now?.bars.map(({ weakened }) => weakened)).toEqual([undefined, undefined, undefined, true, undefined])
    await store.close()
    execute(
      home,
      `DROP TABLE seen; DROP INDEX iteration_by_end; DROP INDEX board_task_by_shelf; DROP INDEX loop_halted;
       DROP INDEX loop_by_parent; DROP INDEX loop_of_project; ALTER TABLE iteration DROP COLUMN weakened; PRAGMA user_version = 13`,
    )
    expect(await open(home).strips(['a1'], 9)).toEqual([now])
  })

  test('find loops by status, owner and folder without scanning all of them', () => {
    const home = temporaryFolder()
    open(home)
    for (const column of ['status', 'owner', 'dir'])
      expect(
        ask(home, `EXPLAIN QUERY PLAN SELECT * FROM loop WHERE ${column} = 'x' ORDER BY started_at DESC, rowid DESC`),
      ).toMatchObject({ detail: `SEARCH loop USING INDEX loop_by_${column} (${column}=?)` })
  })

  test('find who needs a person without scanning every loop for each halted one', () => {
    const home = temporaryFolder()
    open(home)
    const database = new DatabaseSync(join(home, 'ralph.db'))
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${NEEDING}`).all(0)
    database.close()
    const looked = plan.map(({ detail }) => String(detail))
    expect(looked.filter((detail) => /SCAN (loop|later|stuck)\b/.test(detail))).toEqual([])
    for (const index of ['loop_halted', 'loop_by_parent', 'loop_of_project'])
      expect(looked.filter((detail) => detail.startsWith('SEARCH') && detail.includes(`INDEX ${index} `))).toHaveLength(
        1,
      )
  })

  test('are the same whoever opens them first', async () => {
    const home = temporaryFolder()
    const code = `const { openStore } = await import(${source('host/sqlite.ts')})
      await openStore(process.env.HOME_OF_RALPH, Date.now).close()`
    const children = Array.from({ length: 4 }, () => startScript(code, { HOME_OF_RALPH: home }))
    for (const { ended } of children) expect(await ended).toMatchObject({ code: 0, err: '' })
    expect((await open(home).list()).rows).toEqual([])
  })

  test('of a newer ralph are refused, and left as they are', async () => {
    const home = await homeWithStory()
    execute(home, 'PRAGMA user_version = 999')
    const before = readFileSync(join(home, 'ralph.db'))
    expect(() => openStore(home, Date.now)).toThrow(
      expect.objectContaining({ code: 'database-newer', message: expect.stringMatching(/999.*Update ralph/) }),
    )
    expect(readFileSync(join(home, 'ralph.db')).equals(before)).toBe(true)
    execute(home, `PRAGMA user_version = ${MIGRATIONS.length}`)
    expect(await open(home).load('a1')).toMatchObject({ id: 'a1' })
  })
})

describe('a damaged database', () => {
  test.each<[how: string, damage: (path: string) => void]>([
    ['as a whole', (path) => writeFileSync(path, 'this is no database, but a letter to my aunt. '.repeat(100))],
    [
      'at its start',
      (path) => writeFileSync(path, Buffer.concat([Buffer.alloc(100), readFileSync(path).subarray(100)])),
    ],
    ['within', (path) => writeFileSync(path, readFileSync(path).fill(0x5a, 5_000))],
    ['by being cut off', (path) => truncateSync(path, 5_000)],
  ])('%s is reported, with the way out', async (_, damage) => {
    const home = await homeWithStory()
    damage(join(home, 'ralph.db'))
    const use = async () => {
      const store = open(home)
      await store.list()
      await store.events(0)
      await store.iterations('a1')
    }
    await expect(use()).rejects.toMatchObject({
      code: 'database-broken',
      message: expect.stringContaining('ralph doctor --rebuild'),
    })
  })

  test('in an unread place is found by a full scan', async () => {
    const home = await homeWithStory()
    const path = join(home, 'ralph.db')
    const database = new DatabaseSync(path)
    const index = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'loop_by_owner'").get()
    database.close()
    const [end, bytes] = [Number(index?.rootpage) * 4_096, readFileSync(path)]
    writeFileSync(path, bytes.fill(0x5a, end - 4_096, end))
    expect(await open(home).selfCheck()).toMatch(/\S/)
  })

  test('by being empty is a new one', async () => {
    const home = temporaryFolder()
    writeFileSync(join(home, 'ralph.db'), '')
    expect((await open(home).list()).rows).toEqual([])
  })
})

describe('a home that cannot be used', () => {
  test('because another program keeps its database locked is refused', async () => {
    const path = join(await homeWithStory(), 'ralph.db')
    const [other, own] = [new DatabaseSync(path), new DatabaseSync(path, { timeout: 0 })]
    other.exec('BEGIN IMMEDIATE')
    expect(() => plainly(path, () => own.exec('BEGIN IMMEDIATE'))).toThrow(
      expect.objectContaining({
        code: 'database-locked',
        message: `${path} is locked by another program. Stop that program, then try again.`,
      }),
    )
    for (const database of [other, own]) database.close()
  })

  test.each<[what: string, path: string]>([
    ['itself', ''],
    ['the locks', 'locks'],
    ['the transcripts', 'transcripts'],
  ])('because a file is in the way of %s is refused', (_, path) => {
    const home = join(temporaryFolder(), 'home')
    if (path) mkdirSync(home)
    writeFileSync(join(home, path), '')
    expect(() => openStore(home, Date.now)).toThrow(
      expect.objectContaining({ code: 'home-unusable', message: expect.stringContaining('a file is in the way') }),
    )
  })

  test('because a file is in the way above it is refused', () => {
    const file = join(temporaryFolder(), 'file')
    writeFileSync(file, '')
    expect(() => openStore(join(file, 'home'), Date.now)).toThrow(expect.objectContaining({ code: 'home-unusable' }))
  })

  test('because a folder is in the way of the database is refused', () => {
    const home = temporaryFolder()
    mkdirSync(join(home, 'ralph.db'))
    expect(() => openStore(home, Date.now)).toThrow(expect.objectContaining({ code: 'home-unusable' }))
  })

  test('because a folder is in the way of a lock is refused', async () => {
    const store = open(temporaryFolder())
    await store.create(loopOf('a1'))
    mkdirSync(join(store.transcripts.turnFile('a1', 1), '..', '..', '..', 'locks', 'a1.db'))
    await expect(store.lease('a1')).rejects.toMatchObject({ code: 'home-unusable' })
    await expect(store.isDriven('a1')).rejects.toMatchObject({ code: 'home-unusable' })
  })

  test.skipIf(!canMount)('because its disk is read-only is refused (needs mount)', async () => {
    const disk = smallDisk('size=8m')
    await homeWithStory(join(disk.path, 'home'))
    disk.remount('ro')
    for (const home of ['home', 'new-home'])
      expect(() => openStore(join(disk.path, home), Date.now)).toThrow(
        expect.objectContaining({ code: 'home-unusable', message: expect.stringContaining('writ') }),
      )
  })

  const network = readMounts().find(({ type }) => /^(nfs4?|cifs|smb3|9p|ceph|afs|lustre)$/.test(type))

  test.skipIf(!network)('because it is on a network file system is refused (needs one that is mounted)', () => {
    expect(() => refuseNetworkFolder(network?.path ?? '')).toThrow(expect.objectContaining({ code: 'home-unusable' }))
  })

  test('is fine on a local disk', () => {
    expect(() => refuseNetworkFolder(temporaryFolder())).not.toThrow()
  })
})

describe.skipIf(!canMount)('a full disk (needs mount)', () => {
  test('refuses a new home, which can be used once there is room', async () => {
    const { path } = smallDisk('size=256k')
    writeFileSync(join(path, 'ballast'), Buffer.alloc(240 * 1024))
    expect(() => openStore(join(path, 'home'), Date.now)).toThrow(expect.objectContaining({ code: 'disk-full' }))
    rmSync(join(path, 'ballast'))
    expect((await open(join(path, 'home')).list()).rows).toEqual([])
  })

  test('has no half-created loop', async () => {
    const { path } = smallDisk('size=2m')
    const store = open(path)
    const made: string[] = []
    const fill = async () => {
      for (let number = 1; ; number++) {
        await store.create(loopOf(`loop-${number}`, 'x'.repeat(100_000)))
        made.push(`loop-${number}`)
      }
    }
    await expect(fill()).rejects.toMatchObject({ code: 'disk-full', message: expect.stringContaining('ralph resume') })
    expect(made.length).toBeGreaterThan(2)
    for (const id of made) expect(await store.load(id)).toEqual(loopOf(id, 'x'.repeat(100_000)))
    expect(await store.selfCheck()).toBeUndefined()
  })

  test('has no half-saved fact, and loses none', async () => {
    const { path } = smallDisk('size=2m,mode=700')
    writeFileSync(join(path, 'ballast'), Buffer.alloc(500 * 1024))
    const store = openStore(path, Date.now)
    await store.create(loopOf('a1'))
    const lease = await leased(store, 'a1')
    let saved = 0
    const fill = async () => {
      for (;;) {
        await save(store, lease, say('x'.repeat(3_000)))
        saved++
      }
    }
    await expect(fill()).rejects.toMatchObject({ code: 'disk-full' })
    await consistent(store, 'a1')
    await lease.release()
    await store.close()

    rmSync(join(path, 'ballast'))
    const later = open(path)
    const again = await leased(later, 'a1')
    await save(later, again, works)
    await consistent(later, 'a1')
    const events = await later.events(0, 'a1')
    expect(events.length).toBeGreaterThan(saved)
    expect(later.transcripts.story('a1')?.facts).toEqual(events.map(({ fact }) => fact))
  })

  async function consistent(store: LocalStore, id: string): Promise<void> {
    const events = await store.events(0, id)
    expect(events.map(({ n }) => n)).toEqual(events.map((_, index) => index + 1))
    let loop = loopOf(id)
    for (const { fact } of events) loop = step(loop, fact)
    expect(await store.load(id)).toEqual(loop)
    expect(await store.iterations(id)).toHaveLength(loop.tally.iteration)
  }
})

describe('other processes', () => {
  const HELPERS = `const { openStore } = await import(${source('host/sqlite.ts')})
    const { step } = await import(${source('engine/step.ts')})
    const { startLoop } = await import(${source('engine/loop.ts')})
    const { specOf, works, START } = await import(${source('engine/stories.test-support.ts')})
    const store = openStore(process.env.HOME_OF_RALPH, Date.now)
    const makeLoop = (id: string) => store.create(startLoop(id, specOf({}, { iterations: 0 }), { at: START, tree: 'tree 0' }))
    const save = async (lease: object) => {
      const loop = await store.load(lease.loop)
      const fact = works(loop)
      await store.save(lease, step(loop, fact), fact)
    }
    const naps = (ms: number) => new Promise((done) => setTimeout(done, ms))\n`

  function start(home: string, code: string) {
    return startScript(HELPERS + code, { HOME_OF_RALPH: home })
  }

  test('open a new home at the same time, and none of them finds it locked', async () => {
    const folder = temporaryFolder()
    const code = `const { openStore } = await import(${source('host/sqlite.ts')})
      const openAll = async (begin) => {
        for (let n = 0; n < 30; n++) {
          await new Promise((done) => setTimeout(done, Math.max(0, begin + n * 50 - Date.now())))
          await openStore(process.env.FOLDER + '/home-' + n, Date.now).close()
        }
        process.exit()
      }
      process.stdin.once('data', (begin) => openAll(Number(begin)))
      console.log('ready')`
    const openers = [1, 2].map(() => startScript(code, { FOLDER: folder }))
    await eventually(() => openers.every((opener) => opener.lines().includes('ready')))
    const begin = String(Date.now() + 100)
    for (const opener of openers) opener.write(begin)
    for (const opener of openers) expect(await opener.ended).toMatchObject({ code: 0, err: '' })
  })

  test('open a new home that another one is creating, and wait for it', async () => {
    const home = temporaryFolder()
    const other = new DatabaseSync(join(home, 'ralph.db'))
    other.exec('BEGIN IMMEDIATE')
    const code = `const { openStore } = await import(${source('host/sqlite.ts')})
      await openStore(process.env.HOME_OF_RALPH, Date.now).close()`
    const opener = startScript(code, { HOME_OF_RALPH: home })
    await eventually(() => hasOpen(opener.pid, join(home, 'ralph.db')))
    // How long it is locked is the case itself, and nothing shows that somebody waits. One that does not wait ends
    // here.
    await Promise.race([opener.ended, sleep(200)])
    other.close()
    expect(await opener.ended).toMatchObject({ code: 0, err: '' })
  })

  /** Linux shows which files a process has open. */
  function hasOpen(pid: number, path: string): boolean {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`) === path
      } catch {
        return false // it has been closed
      }
    })
  }

  test('that hold a lease lose it the moment they are killed', async () => {
    const store = open(temporaryFolder())
    await store.create(loopOf('a1'))
    const home = homeOf(store)
    const holder = start(home, `await store.lease('a1'); console.log('leased'); setInterval(() => {}, 1_000)`)
    await eventually(() => holder.lines().includes('leased'))
    expect(await store.lease('a1')).toEqual({ heldBy: expect.stringContaining(`process ${holder.pid} `) })
    expect(await store.isDriven('a1')).toBe(true)

    process.kill(holder.pid, 'SIGKILL')
    await holder.ended
    expect(await store.isDriven('a1')).toBe(false)
    expect((await leased(store, 'a1')).epoch).toBe(2)
  })

  test('that were stopped and continue later find that the loop was taken over', async () => {
    const store = open(temporaryFolder())
    await store.create(loopOf('a1'))
    const zombie = start(
      homeOf(store),
      `const lease = await store.lease('a1')
       await lease.release() // what the kernel does for a process on a machine that went to sleep
       console.log('away')
       process.stdin.once('data', () => save(lease).then(() => console.log('saved'), ({ code }) => console.log(code)).then(() => process.exit()))`,
    )
    await eventually(() => zombie.lines().includes('away'))
    const lease = await leased(store, 'a1')
    await save(store, lease, works)
    zombie.write('wake up\n')
    await zombie.ended
    expect(zombie.lines()).toEqual(['away', 'lease-lost'])
    expect(await store.events(0, 'a1')).toHaveLength(1)
  })

  test('save their own loops at the same time, and nothing is lost or mixed up', async () => {
    const store = open(temporaryFolder())
    const numbers = [1, 2, 3, 4]
    const savers = numbers.map((number) =>
      start(
        homeOf(store),
        `await makeLoop('loop-${number}')
         const lease = await store.lease('loop-${number}')
         for (let n = 0; n < 100; n++) await save(lease)
         await store.close()`,
      ),
    )
    for (const { ended } of savers) expect(await ended).toMatchObject({ code: 0, err: '' })
    for (const number of numbers) {
      const events = await store.events(0, `loop-${number}`)
      expect(events.map(({ n }) => n)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1))
      expect((await store.load(`loop-${number}`)).tally.iteration).toBe(100)
      expect(store.transcripts.story(`loop-${number}`)?.facts).toHaveLength(100)
    }
    const seqs = (await store.events(0)).map(({ seq }) => seq)
    expect(seqs).toEqual(Array.from({ length: 400 }, (_, index) => index + 1))
  })

  test('take turns at one loop, and every turn counts once', async () => {
    const store = open(temporaryFolder())
    await store.create(loopOf('a1'))
    const drivers = [1, 2, 3].map(() =>
      start(
        homeOf(store),
        `for (let saved = 0; saved < 20; ) {
           const lease = await store.lease('a1')
           if ('heldBy' in lease) { await naps(1); continue }
           await save(lease)
           saved++
           await lease.release()
         }
         await store.close()`,
      ),
    )
    for (const { ended } of drivers) expect(await ended).toMatchObject({ code: 0, err: '' })
    const events = await store.events(0, 'a1')
    expect(events.map(({ n }) => n)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1))
    expect((await store.load('a1')).tally.iteration).toBe(60)
    expect(await store.iterations('a1')).toHaveLength(60)
    expect(store.transcripts.story('a1')?.facts).toEqual(events.map(({ fact }) => fact))
  })

  test('that only look whether a loop is driven never keep it from being leased', async () => {
    const store = open(temporaryFolder())
    await store.create(loopOf('a1'))
    await (await leased(store, 'a1')).release()
    const watchers = [1, 2].map(() =>
      start(homeOf(store), `console.log('looking'); for (;;) { await store.isDriven('a1'); await naps(0) }`),
    )
    for (const watcher of watchers) await eventually(() => watcher.lines().length)
    for (let round = 0; round < 300; round++) {
      const lease = await leased(store, 'a1')
      expect(await store.isDriven('a1')).toBe(true)
      await lease.release()
      expect(await store.isDriven('a1')).toBe(false)
    }
    for (const watcher of watchers) {
      process.kill(watcher.pid, 'SIGKILL')
      expect((await watcher.ended).err).toBe('')
    }
  })

  test('that look at one loop while nobody drives it do not mistake each other for its driver', async () => {
    const store = open(temporaryFolder())
    await store.create(loopOf('a1'))
    await (await leased(store, 'a1')).release()
    const looking = [1, 2, 3].map(() =>
      start(
        homeOf(store),
        `for (let look = 0; look < 1_000; look++) if (await store.isDriven('a1')) console.log('driven')`,
      ),
    )
    for (const { ended } of looking) expect(await ended).toMatchObject({ code: 0, out: '', err: '' })
  })

  test('that take long to look at a loop keep nobody from leasing it', async () => {
    const store = open(temporaryFolder())
    await store.create(loopOf('a1'))
    await (await leased(store, 'a1')).release()
    const look = new DatabaseSync(join(homeOf(store), 'locks', 'a1.db'))
    look.exec('BEGIN; SELECT 1 FROM sqlite_schema')
    const lease = await store.lease('a1', 0)
    expect(lease).toMatchObject({ loop: 'a1' })
    expect(await store.isDriven('a1')).toBe(true)
    expect(await store.lease('a1', 0)).toMatchObject({ heldBy: expect.stringContaining(`process ${process.pid} `) })
    look.close()
    expect(await store.isDriven('a1')).toBe(true)
  })

  test('are noticed at once by a listener, without polling', async () => {
    const store = open(temporaryFolder())
    await store.create(loopOf('a1'))
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    let heard: unknown
    const stop = store.onChange(() => {
      void store.nextOrder('a1').then((fact) => {
        heard ??= fact
      })
    })
    // Again and again: a listener that is woken by the first bytes of an order may look before the order is complete.
    const teller = start(homeOf(store), `for (;;) { await store.tell('a1', 'Ada', { kind: 'pause' }); await naps(20) }`)
    try {
      expect(await eventually(() => heard)).toMatchObject({ by: 'Ada', order: { kind: 'pause' } })
    } finally {
      stop()
    }
    process.kill(teller.pid, 'SIGKILL')
    expect((await teller.ended).err).toBe('')
  })
})

describe('tasks of vaults', () => {
  test('start the transcript of their loop, unless that has already moved', async () => {
    const store = open(temporaryFolder())
    expect(await beginIn(store.tasks, taskLoop('l1'), {})).toBeUndefined()
    expect(store.transcripts.story('l1')?.beginning).toMatchObject({ id: 'l1' })
    await store.create(taskLoop('l2', { id: 'b' }))
    const lease = await leased(store, 'l2')
    await save(store, lease, say('x'))
    expect(await beginIn(store.tasks, taskLoop('l2', { id: 'b' }), {})).toBeUndefined()
    expect(store.transcripts.story('l2')?.facts).toHaveLength(1)
  })

  test.each([...MIGRATIONS.keys()])('can be started in a database of version %i', async (version) => {
    const home = temporaryFolder()
    const old = new DatabaseSync(join(home, 'ralph.db'))
    for (const migration of MIGRATIONS.slice(0, version)) if (migration !== 'adopt') old.exec(migration)
    old.exec(`PRAGMA user_version = ${version}`)
    old.close()
    const store = open(home)
    expect(await store.tasks.list()).toEqual([])
    expect(await beginIn(store.tasks, taskLoop('l1'), {})).toBeUndefined()
    expect((await store.tasks.load('/vault', 'a'))?.loop).toBe('l1')
  })
})

describe('the transcript of a loop', () => {
  test.each<[what: string, cut: (file: string) => void]>([
    ['its last facts', (file) => cutLines(file, 2)],
    ['half of its last fact', (file) => truncateSync(file, statSync(file).size - 20)],
    ['the end of its last line', (file) => truncateSync(file, statSync(file).size - 1)],
    ['all its facts', (file) => cutLines(file, 3)],
    ['itself', (file) => rmSync(file)],
    ['its whole folder', (file) => rmSync(join(file, '..'), { recursive: true })],
    ['half of its first line', (file) => truncateSync(file, 20)],
  ])('that lost %s gets it back from the database', async (_, cut) => {
    const home = await homeWithStory()
    cut(join(home, 'transcripts', 'a1', 'loop.jsonl'))
    const store = open(home)
    const lease = await leased(store, 'a1')
    await save(store, lease, works)
    const facts = (await store.events(0, 'a1')).map(({ fact }) => fact)
    expect(facts).toHaveLength(4)
    expect(store.transcripts.story('a1')).toMatchObject({ beginning: { id: 'a1', spec: loopOf('a1').spec }, facts })
  })

  test('that somebody wrote into is still read', async () => {
    const home = await homeWithStory()
    appendFileSync(join(home, 'transcripts', 'a1', 'loop.jsonl'), 'hello\n{"n":"x"}\n[]\nnull\n')
    const store = open(home)
    await save(store, await leased(store, 'a1'), works)
    expect(store.transcripts.story('a1')?.facts).toHaveLength(4)
  })
})

test('events are read in portions, and none is skipped', async () => {
  const store = open(temporaryFolder())
  await store.create(loopOf('a1'))
  const lease = await leased(store, 'a1')
  for (let n = 0; n < 1_050; n++) await save(store, lease, works)
  const seen: number[] = []
  for (let page = await store.events(0); page.length > 0; page = await store.events(seen.at(-1) ?? 0))
    seen.push(...page.map(({ seq }) => seq))
  expect(seen).toEqual(Array.from({ length: 1_050 }, (_, index) => index + 1))
})

test('a listener falls back to polling if a folder cannot be watched', async () => {
  const home = temporaryFolder()
  const store = open(home)
  rmSync(home, { recursive: true })
  let calls = 0
  const stop = store.onChange(() => calls++)
  await eventually(() => calls > 0)
  stop()
})

function homeOf(store: LocalStore): string {
  return join(store.transcripts.turnFile('x', 1), '..', '..', '..')
}

function ask(home: string, sql: string): unknown {
  const database = new DatabaseSync(join(home, 'ralph.db'))
  const row = database.prepare(sql).get()
  database.close()
  return { ...row }
}

function execute(home: string, sql: string): void {
  const database = new DatabaseSync(join(home, 'ralph.db'))
  database.exec(sql)
  database.close()
}

function cutLines(file: string, count: number): void {
  const lines = readFileSync(file, 'utf8').split('\n')
  writeFileSync(file, `${lines.slice(0, -1 - count).join('\n')}\n`)
}

function readMounts(): { path: string; type: string }[] {
  if (!existsSync('/proc/mounts')) return []
  return readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .map(([, path = '', type = '']) => ({ path, type }))
}

describe('an older ralph that has the database open', () => {
  const OLD = { path: '/v', id: 'a', state: 'S' }

  test.each<[what: string, sql: string, json: object]>([
    ['a loop of a vault', 'UPDATE loop SET spec = ?', { work: { dir: '/d', vault: OLD } }],
    ['a loop of a project', 'UPDATE loop SET spec = ?', { work: { dir: '/d', project: { folder: '/p' } } }],
    ['words without their speaker', 'UPDATE loop SET tally = ?', { said: ['A person says: Hello.'] }],
    ['findings in words alone', 'UPDATE loop SET tally = ?', { findings: ['a test is gone'] }],
    ['a proof without its reason', 'UPDATE loop SET next = ?', { kind: 'complete', proof: 'verified' }],
  ])('cannot write %s in its own format', async (_, sql, json) => {
    const home = temporaryFolder()
    await open(home).create(loopOf('a1'))
    const old = new DatabaseSync(join(home, 'ralph.db'))
    expect(() => old.prepare(sql).run(JSON.stringify(json))).toThrow('a newer ralph has opened this database')
    old.close()
  })

  test('has left loops that are migrated, and replay starts there', async () => {
    const home = temporaryFolder()
    const made = loopOf('a1')
    openTranscripts(home).begin({ id: 'a1', spec: made.spec, at: made.tally.startedAt })
    const old = new DatabaseSync(join(home, 'ralph.db'))
    for (const migration of MIGRATIONS.slice(0, 8)) if (migration !== 'adopt') old.exec(migration)
    const columns = {
      ...toNewColumns(made),
      tally: JSON.stringify({ ...made.tally, findings: ['a test is gone'] }),
      next: '{"kind":"complete","proof":"verified"}',
    }
    const names = Object.keys(columns)
    old.prepare(`INSERT INTO loop (${names}) VALUES (${names.map(() => '?')})`).run(...Object.values(columns))
    old.exec('PRAGMA user_version = 8')
    old.close()
    const store = open(home)
    const loop = await store.load('a1')
    expect(loop).toMatchObject({
      tally: { findings: [{ kind: 'noted', words: 'a test is gone' }] },
      next: {
        kind: 'complete',
        proof: 'verified',
        older: true,
        sentence: expect.stringContaining('older version of ralph'),
      },
    })
    const { id: _, ...adopted } = loop
    expect((await store.events(0, 'a1')).at(-1)?.fact).toMatchObject({ kind: 'adopted', loop: adopted })
  })

  test('leaves no row that keeps the others from being migrated', async () => {
    const home = temporaryFolder()
    const old = new DatabaseSync(join(home, 'ralph.db'))
    for (const migration of MIGRATIONS.slice(0, 5)) old.exec(migration)
    const insert = old.prepare(
      `INSERT INTO loop VALUES (?, '/d', 'a', 'p', ?, ?, '{"kind":"turn","iteration":1,"attempt":1,"fresh":true,"feedback":[]}', 'running', NULL, NULL, 0, 0, 0, 0, 0, 0, '', 0, 1, 1, 'person')`,
    )
    insert.run('broken', JSON.stringify({ work: { dir: '/d' } }), '{')
    insert.run('whole', JSON.stringify(loopOf('whole').spec), JSON.stringify(loopOf('whole').tally))
    old.exec('PRAGMA user_version = 5')
    old.close()
    expect(await open(home).load('whole')).toMatchObject({ id: 'whole', spec: loopOf('whole').spec })
  })
})
