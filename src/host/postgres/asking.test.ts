import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { test as base, describe, expect, onTestFinished } from 'vitest'
import packageJson from '../../../package.json' with { type: 'json' }
import { untilItWorks } from '../waiting.ts'
import { isUnreachable, openAsking, type PgAsking } from './asking.ts'
import { migrate } from './migrate.ts'
import { dropDatabase, inPostgres, postgresMissing, testDatabase } from './postgres.test-support.ts'
import { MAJOR, MIGRATIONS } from './tables.ts'

const missing = await postgresMissing()
const test = base.skipIf(missing)
if (missing) base.skip(`Postgres cannot be started here: ${missing}`, () => {})

async function open(url?: string): Promise<PgAsking & { url: string }> {
  const place = url ?? (await testDatabase({ empty: true }))
  const asking = openAsking({ url: place })
  onTestFinished(async () => {
    await asking.close()
    if (!url) await dropDatabase(place)
  })
  return { ...asking, url: place }
}

const NUMBERS = 'CREATE SCHEMA ralph; CREATE TABLE ralph.number (n INTEGER PRIMARY KEY, words TEXT)'

describe('querying Postgres', () => {
  test('writes and reads values', async () => {
    const asking = await open()
    await asking.run(NUMBERS)
    await asking.insert('number', { n: 1, words: 'a\0b \ufdd0 \ud83d' })
    expect(await asking.one('SELECT * FROM number WHERE n = $1', 1)).toEqual({ n: 1, words: 'a\0b \ufdd0 \ufffd' })
    expect(await asking.one('SELECT count(*) AS n, sum(n) AS sum FROM number')).toEqual({ n: 1, sum: 1 })
    expect(await asking.one('SELECT * FROM number WHERE n = 2')).toBeUndefined()
  })

  test('writes a transaction completely or not at all', async () => {
    const asking = await open()
    await asking.run(NUMBERS)
    const failing = asking.transaction(async ({ insert, transaction }) => {
      await insert('number', { n: 1 })
      await transaction((inner) => inner.insert('number', { n: 2 }))
      throw new Error('Not now.')
    })
    await expect(failing).rejects.toThrow('Not now.')
    expect(await asking.all('SELECT * FROM number')).toEqual([])
    expect(await asking.transaction(async ({ insert }) => insert('number', { n: 3 }).then(() => 'written'))).toBe(
      'written',
    )
    expect(await asking.all('SELECT n FROM number')).toEqual([{ n: 3 }])
  })

  test('lets two colliding writers both finish', async () => {
    const asking = await open()
    await asking.run(`${NUMBERS}; INSERT INTO ralph.number VALUES (1, ''), (2, '')`)
    let tries = 0
    let met = () => {}
    const both = new Promise<void>((done) => {
      met = done
    })
    const add = (first: number, second: number) =>
      asking.transaction(async ({ run }) => {
        await run(`UPDATE number SET words = words || 'x' WHERE n = $1`, first)
        if (++tries === 2) met()
        await both
        await run(`UPDATE number SET words = words || 'x' WHERE n = $1`, second)
      })
    await Promise.all([add(1, 2), add(2, 1)])
    expect(await asking.all('SELECT words FROM number')).toEqual([{ words: 'xx' }, { words: 'xx' }])
    expect(tries).toBe(3)
  })

  test.each([
    ['there is no such database', (url: URL) => Object.assign(url, { pathname: '/nobody' }), 'database-refused'],
    ['the server does not respond', (url: URL) => Object.assign(url, { port: '1' }), 'database-unreachable'],
    [
      'there is no such host',
      (url: URL) => Object.assign(url, { hostname: 'nowhere.invalid' }),
      'database-unreachable',
    ],
  ] as const)('says that %s', async (words, change, code) => {
    const url = new URL(await testDatabase({ empty: true }))
    url.password = 'hidden'
    change(url)
    const asking = openAsking({ url: url.href })
    onTestFinished(() => asking.close())
    const failed = asking.one('SELECT 1').catch((cause) => cause)
    expect(await failed).toMatchObject({ code, message: expect.stringContaining(words) })
    expect((await failed).message).not.toContain('hidden')
  })

  test.each(['', 'localhost', 'mysql://a@b/c'])('refuses "%s", which is not the URL of a Postgres', (url) => {
    expect(() => openAsking({ url })).toThrow(expect.objectContaining({ code: 'usage' }))
  })

  test.each([
    ['written', 'the answer to its commit', 1],
    ['begun', 'its commit', 2],
  ] as const)('%s once if %s is lost on the way', async (_, lost, begun) => {
    const asking = await open()
    await asking.run(NUMBERS)
    const { url } = asking
    const through = await cuttingProxy(url, lost)
    const cut = await open(through.url)
    let begins = 0
    const write = () =>
      cut.transaction(({ insert }) => {
        begins++
        return insert('number', { n: 1 })
      })
    await untilItWorks(write, { why: (cause) => (isUnreachable(cause) ? 'It is cut.' : undefined) })
    expect(await asking.all('SELECT n FROM number')).toEqual([{ n: 1 }])
    expect([begins, through.cuts()]).toEqual([begun, 1])
  })
})

describe('the tables in Postgres', () => {
  test('are created once by all who come at the same time', async () => {
    const { url, all } = await open()
    await Promise.all(Array.from({ length: 5 }, () => migrate({ url })))
    expect(await all('SELECT tables, major FROM version')).toEqual([{ tables: MIGRATIONS.length, major: MAJOR }])
  })

  test('are in the requested schema', async () => {
    const { url, all } = await open()
    await migrate({ url, schema: 'other' })
    expect(await all(`SELECT DISTINCT schemaname FROM pg_tables WHERE tablename = 'loop'`)).toEqual([
      { schemaname: 'other' },
    ])
  })

  test.each([
    ['the next major version', `major = ${MAJOR + 1}`, 'database-newer', /same major version/],
    ['the major version before', `major = ${MAJOR - 1}`, 'database-older', /same major version/],
  ] as const)('are left alone if they belong to %s', async (_, set, code, words) => {
    const { url, run } = await open()
    await migrate({ url })
    await run(`UPDATE version SET ${set}`)
    await expect(migrate({ url })).rejects.toMatchObject({ code, message: expect.stringMatching(words) })
  })

  test('of a newer ralph with the same major version also serve an older one', async () => {
    const { url, run, all } = await open()
    await migrate({ url })
    await run('UPDATE version SET tables = 999')
    await migrate({ url })
    expect(await all('SELECT tables FROM version')).toEqual([{ tables: 999 }])
  })

  test('are opened by a user who may not create any', async () => {
    const { url, run } = await open()
    await migrate({ url })
    const name = `reader_${process.pid}`
    await run(`CREATE ROLE ${name} LOGIN`)
    await run(`GRANT USAGE ON SCHEMA ralph TO ${name}; GRANT SELECT ON ALL TABLES IN SCHEMA ralph TO ${name}`)
    const theirs = url.replace('//ralph@', `//${name}@`)
    await migrate({ url: theirs })
    const asking = openAsking({ url: theirs })
    await expect(asking.run('DELETE FROM loop')).rejects.toMatchObject({ code: 'database-refused' })
    await asking.close()
    await run(`DROP OWNED BY ${name}; DROP ROLE ${name}`)
  })

  test('are refused in a database that cannot store every text', async () => {
    const { url, run: _ } = await open()
    const plain = `${url}_ascii`
    const name = new URL(plain).pathname.slice(1)
    await inPostgres(url, `CREATE DATABASE ${name} ENCODING 'SQL_ASCII' TEMPLATE template0`)
    onTestFinished(() => dropDatabase(plain))
    await expect(migrate({ url: plain })).rejects.toMatchObject({ code: 'database-refused' })
  })

  test('know the major version of the package', () => {
    expect(packageJson.version.split('.')[0]).toBe(String(MAJOR))
  })
})

type Proxy = { url: string; cuts(): number }

/** A connection to Postgres that breaks once, at a commit. */
async function cuttingProxy(url: string, lost: 'its commit' | 'the answer to its commit'): Promise<Proxy> {
  const { hostname, port } = new URL(url)
  let cuts = 0
  const server = createServer((socket) => {
    const behind = connect(Number(port), hostname)
    const end = () => {
      socket.destroy()
      behind.destroy()
    }
    for (const one of [socket, behind]) one.on('error', end).on('close', end)
    let isCommitting = false
    socket.on('data', (bytes) => {
      if (cuts === 0 && bytes.includes('COMMIT')) {
        isCommitting = true
        cuts++
        if (lost === 'its commit') return end()
      }
      behind.write(bytes)
    })
    behind.on('data', (bytes) => (isCommitting ? end() : socket.write(bytes)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const through = new URL(url)
  through.port = String((server.address() as AddressInfo).port) // it listens
  return { url: through.href, cuts: () => cuts }
}
