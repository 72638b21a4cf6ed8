/** The server: how soon it answers after its start, and how fast it is with ten thousand loops. */
import { once } from 'node:events'
import { inTemporaryFolder } from './leftovers.ts'
import { fillWithLoops } from './many-loops.ts'
import type { Row } from './row.ts'
import { addressOf, type Server, startServer, withServer } from './server.ts'
import { timeEach } from './spread.ts'

const STARTS = 8
const LOOPS = 10_000
const ITERATIONS = 10
const CALLS = 100

export async function* serve(): AsyncGenerator<Row> {
  const starts = await inTemporaryFolder((home) => timeEach(STARTS, () => firstAnswer(home)))
  yield row('serve: from its start to its first answer', starts, { budget: 500, at: 0.5 })
  yield* await inTemporaryFolder(async (home) => {
    await fillWithLoops({ home }, LOOPS, ITERATIONS)
    return withServer(home, [], askAll)
  })
}

/** A new process, up to an answer that needs the database. */
async function firstAnswer(home: string): Promise<void> {
  const child = startServer(home)
  const { url, token } = await addressOf(child)
  const answer = await fetch(new URL('/api/loops?limit=10', url), { headers: { authorization: `Bearer ${token}` } })
  if (!answer.ok) throw new Error(`The first request was answered with ${answer.status}.`)
  await answer.text()
  child.kill('SIGKILL')
  await once(child, 'exit')
}

const QUESTIONS: readonly { what: string; path: (n: number) => string; budget: number }[] = [
  { what: 'list of loops', path: () => '/api/loops', budget: 50 },
  { what: 'list of paused loops', path: () => '/api/loops?status=paused&limit=100', budget: 50 },
  { what: 'search for a word that no loop has', path: () => '/api/loops?text=absent&limit=100', budget: 50 },
  { what: 'one loop', path: (n) => `/api/loops/m${pad(n % 20, 2)}${pad(1 + n, 4)}`, budget: 50 },
  { what: 'its iterations', path: (n) => `/api/loops/m${pad(n % 20, 2)}${pad(1 + n, 4)}/iterations`, budget: 50 },
  { what: 'the strips of sixty', path: () => `/api/strips?loops=${sixty()}`, budget: 20 },
  { what: 'overview', path: () => '/api/overview', budget: 20 },
  { what: 'needs', path: () => '/api/needs', budget: 50 },
  { what: 'analytics', path: () => '/api/analytics', budget: 300 },
  { what: 'analytics with a filter that matches all', path: () => '/api/analytics?since=0', budget: 300 },
]

async function askAll({ ask, memoryMb }: Server): Promise<Row[]> {
  const rows: Row[] = []
  for (const { what, path, budget } of QUESTIONS) {
    await ask(path(0))
    let call = 0
    const times = await timeEach(CALLS, () => ask(path(call++)))
    rows.push(row(`serve: 10,000 loops, ${what}, p95`, times, { budget, at: 0.95 }))
  }
  rows.push({ what: 'serve: memory after that', measured: { median: memoryMb(), calm: memoryMb() }, unit: 'MB' })
  return rows
}

function sixty(): string {
  return Array.from({ length: 60 }, (_, n) => `m${pad(n % 20, 2)}${pad(1 + n, 4)}`).join()
}

function pad(n: number, digits: number): string {
  return String(n).padStart(digits, '0')
}

function row(what: string, times: readonly number[], { budget, at }: { budget: number; at: number }): Row {
  const sorted = [...times].sort((a, b) => a - b)
  const share = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
  const measured = { median: share(0.5), calm: share(0) }
  return { what, measured, unit: 'ms', figure: { value: share(at), unit: 'ms' }, budget }
}
