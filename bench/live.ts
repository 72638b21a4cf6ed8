/** 200 live readers while 50 loops with a sleeping agent produce one event per second each: how late events arrive, and what it costs. */
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { inTemporaryFolder, leaveNothing } from './leftovers.ts'
import type { Row } from './row.ts'
import { type Server, withServer } from './server.ts'

const READERS = 200
const LOOPS = 50
/** `RALPH_BENCH_MINUTES=5 npm run bench -- --only live` checks that memory stays flat for longer. */
const MINUTES = Number(process.env.RALPH_BENCH_MINUTES ?? 0.5)

type Told = { p50: number; p95: number; p99: number; events: [fewest: number, most: number] }

export async function* live(): AsyncGenerator<Row> {
  const { told, memory } = await inTemporaryFolder((folder) =>
    withServer(join(folder), ['--concurrency', String(LOOPS)], (server) => measure(folder, server)),
  )
  yield {
    what: `live: ${READERS} readers, ${LOOPS} loops, from an event to a reader, p95`,
    measured: { median: told.p50, calm: told.p50 },
    unit: 'ms',
    figure: { value: told.p95, unit: 'ms' },
    budget: 250,
  }
  const most = Math.max(...memory)
  const half = memory.length >> 1
  yield one('live: the same, peak memory of the server', most, { unit: 'MB', budget: 300 })
  const growth = Math.max(...memory.slice(half)) / Math.max(...memory.slice(0, half))
  // A process needs at least this long to grow to its usual size.
  const flat = MINUTES >= 2 ? { budget: 1.1 } : {}
  yield one('live: the same, memory in the second half vs. the first', growth, { unit: '×', ...flat })
  const seconds = told.events[0] / LOOPS
  yield one('live: seconds between two events of a loop', (MINUTES * 60) / seconds, { unit: '×' })
}

function one(what: string, value: number, { unit, budget }: { unit: 'MB' | '×'; budget?: number }): Row {
  const measured = { median: value, calm: value }
  return { what, measured, unit, ...(budget === undefined ? {} : { figure: { value, unit }, budget }) }
}

async function measure(folder: string, server: Server): Promise<{ told: Told; memory: number[] }> {
  const readers = startReaders(server)
  await readers.connected
  for (let n = 0; n < LOOPS; n++) {
    const dir = join(folder, `work-${n}`)
    mkdirSync(dir)
    const limits = { iterations: 0, noProgress: 999_999 }
    await server.ask('/api/loops', { prompt: 'There is nothing to do.', agent: 'command:sleep 1', dir, limits })
  }
  await sleep(5_000) // starting up is not measured
  readers.say('measure')
  const memory: number[] = []
  for (const end = performance.now() + MINUTES * 60_000; performance.now() < end; await sleep(500))
    memory.push(server.memoryMb())
  return { told: await readers.stop(), memory }
}

function startReaders({ url, token }: Server): {
  connected: Promise<void>
  say(word: string): void
  stop(): Promise<Told>
} {
  const program = join(import.meta.dirname, 'live-readers.ts')
  const child = spawn(process.execPath, [program, url, token, String(READERS)], { stdio: ['pipe', 'pipe', 'inherit'] })
  leaveNothing(() => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })
  let count = 0
  const connected = new Promise<void>((done) => {
    lines.on('line', (line) => line.includes('connected') && ++count === READERS && done())
  })
  const say = (word: string) => void child.stdin.write(`${word}\n`)
  return {
    connected,
    say,
    stop: () =>
      new Promise((done) => {
        lines.on('line', (line) => line.includes('p95') && done(JSON.parse(line) as Told))
        say('stop')
      }),
  }
}
