/** A dispatcher with ten agents in tmux: what it costs while they are idle, and how soon the next prompt follows a stop. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { socketOf } from '../src/host/tmux.ts'
import { inTemporaryFolder, leaveNothing } from './leftovers.ts'
import { RALPH } from './ralph.ts'
import type { Row } from './row.ts'

const AGENTS = 10
const IDLE_MS = 20_000
const ITERATIONS = 60

export async function* dispatch(): AsyncGenerator<Row> {
  if (spawnSync('tmux', ['-V']).status !== 0) return console.log('skipped: dispatch: tmux is not installed')
  const { cpu, memory } = await inTemporaryFolder((folder) => withCrew(folder, AGENTS, idle))
  yield one('dispatch: ten idle agents, CPU share of one core', cpu, { unit: '%', budget: 1 })
  yield one('dispatch: ten idle agents, memory', memory, { unit: 'MB', budget: 100 })
  const waits = (await inTemporaryFolder((folder) => withCrew(folder, 1, answered))).sort((a, b) => a - b)
  const at = (share: number) => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? 0
  yield {
    what: 'dispatch: from a stop to the next prompt, p95',
    measured: { median: at(0.5), calm: at(0) },
    unit: 'ms',
    figure: { value: at(0.95), unit: 'ms' },
    budget: 300,
  }
}

function one(what: string, value: number, { unit, budget }: { unit: '%' | 'MB'; budget: number }): Row {
  return { what, measured: { median: value, calm: value }, unit, figure: { value, unit }, budget }
}

type Crew = { pid: number; home: string; say(...words: string[]): string }

async function withCrew<Result>(
  folder: string,
  agents: number,
  work: (crew: Crew) => Promise<Result>,
): Promise<Result> {
  const home = join(folder, 'home')
  const script = join(folder, 'script.json')
  writeFileSync(script, JSON.stringify({ turns: [[{ text: 'Nothing changed.' }]] }))
  const names = Array.from({ length: agents }, (_, n) => `a${n + 1}`)
  for (const name of names) mkdirSync(join(folder, name))
  const rows = names.map((name) => `  - name: ${name}\n    folder: ${name}\n    agent: scripted:script.json\n`)
  const limits = `ralph:\n  max_iterations: ${ITERATIONS}\n  circuit_breaker:\n    no_progress_limit: ${ITERATIONS + 1}\n`
  writeFileSync(join(folder, 'config.yaml'), `${limits}agents:\n${rows.join('')}`)
  const ours = Object.entries(process.env).filter(([name]) => !name.startsWith('RALPH_'))
  const env = { ...Object.fromEntries(ours), RALPH_HOME: home, TMUX_TMPDIR: folder }
  const child: ChildProcess = spawn(process.execPath, [RALPH, 'dispatch', '--json'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const end = leaveNothing(() => {
    child.kill('SIGKILL')
    spawnSync('tmux', ['-L', socketOf(home), 'kill-server'], { env })
  })
  const say = (...words: string[]) =>
    spawnSync(process.execPath, [RALPH, 'dispatch', ...words], { cwd: folder, env, encoding: 'utf8' }).stdout
  try {
    const up = () =>
      say('status', '--json')
        .split('\n')
        .filter((line) => line.includes('"words":""')).length
    while (up() < agents) await sleep(200)
    return await work({ pid: child.pid ?? 0, home, say })
  } finally {
    end()
  }
}

async function idle({ pid }: Crew): Promise<{ cpu: number; memory: number }> {
  await sleep(3_000) // starting up is not idling
  const before = cpuMs(pid)
  await sleep(IDLE_MS)
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const memory = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024
  return { cpu: ((cpuMs(pid) - before) / IDLE_MS) * 100, memory }
}

/** Includes the programs it started. A tick is 10 ms. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0)
}

async function answered({ home, say }: Crew): Promise<number[]> {
  say('1:', 'There is nothing to do.')
  const [pane = ''] = readdirSync(join(home, 'panes'))
  const prompts = () =>
    readFileSync(join(home, 'panes', pane, 'prompts.jsonl'), 'utf8')
      .trim()
      .split('\n')
  for (;;) {
    await sleep(500)
    const lines = await Promise.resolve()
      .then(prompts)
      .catch(() => [])
    // The first one waited for the task.
    if (lines.length >= ITERATIONS)
      return lines.slice(1).map((line) => (JSON.parse(line) as { afterMs: number }).afterMs)
  }
}
