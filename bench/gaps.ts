/** The gaps between two runs of an agent that only writes the time: under ralph, in a bare Node loop, and in a shell loop. */
import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openTranscripts, readTurnLog } from '../src/host/transcript.ts'
import { writeFiles } from './own-pieces.ts'
import { ralphRun } from './ralph.ts'

const AGENT = ['date', '+%s%N']
const ITERATIONS = 50

/** In a small project without git. */
export async function ralphGaps(folder: string): Promise<number[]> {
  const dir = join(folder, 'work')
  mkdirSync(dir)
  writeFiles(dir)
  return ralphGapsIn(dir, join(folder, 'home'), AGENT)
}

export async function ralphGapsIn(dir: string, home: string, agent: readonly string[]): Promise<number[]> {
  const limits = ['--max-iterations', String(ITERATIONS), '--no-progress', String(ITERATIONS + 1)]
  await ralphRun(['--agent', `command:${agent.join(' ')}`, ...limits], { dir, home, timeoutMs: 60_000 })
  const [loop = ''] = readdirSync(join(home, 'transcripts'))
  let stamps = ''
  for (let iteration = 1; iteration <= ITERATIONS; iteration++)
    for await (const entry of readTurnLog(openTranscripts(home), loop, iteration))
      if ('out' in entry) stamps += entry.out
  return toGaps(stamps)
}

/** How a shell loop starts its agent: directly, or as ralph must, through a small sh that leaves a watcher next to it. */
const STARTS = { bare: '"$@"', watched: `/bin/sh -c '( : ) & exec "$@"' sh "$@"` } as const

/** Only the spawn: Node starts the agent as ralph does, reads its pipes to the end, and starts the next one. */
const NODE_LOOP = `
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { writeSync } = require('node:fs')
const [left, ...argv] = process.argv.slice(1)
void (async () => {
  for (let turn = 0; turn < Number(left); turn++) {
    const child = spawn('/bin/sh', ['-c', '( : ) </dev/null >/dev/null 2>&1 & exec "$@"', 'sh', ...argv], { stdio: ['pipe', 'pipe', 'pipe', 'pipe'], detached: true })
    child.stdout.on('data', (bytes) => writeSync(1, bytes))
    child.stdin.on('error', () => {})
    child.stdin.end('a prompt')
    await once(child, 'close')
  }
})()
`

export async function nodeGaps(dir?: string, agent: readonly string[] = AGENT): Promise<number[]> {
  const { status, stdout } = spawnSync(process.execPath, ['-e', NODE_LOOP, String(ITERATIONS), ...agent], {
    ...(dir === undefined ? {} : { cwd: dir }),
    encoding: 'utf8',
    timeout: 30_000,
  })
  if (status !== 0) throw new Error('The bare Node loop failed.')
  return toGaps(stdout)
}

export async function shellGaps(folder: string, start: keyof typeof STARTS): Promise<number[]> {
  const path = join(folder, 'stamps')
  const file = openSync(path, 'w')
  try {
    const loop = `left=${ITERATIONS}; while [ $left -gt 0 ]; do ${STARTS[start]}; left=$((left - 1)); done`
    const { status } = spawnSync('/bin/sh', ['-c', loop, 'sh', ...AGENT], {
      stdio: ['ignore', file, 'inherit'],
      timeout: 30_000,
    })
    if (status !== 0) throw new Error('The bare shell loop failed.')
  } finally {
    closeSync(file)
  }
  return toGaps(readFileSync(path, 'utf8'))
}

function toGaps(text: string): number[] {
  const stamps = text.trim().split('\n')
  if (stamps.length !== ITERATIONS || !stamps.every((stamp) => /^\d{19}$/.test(stamp)))
    throw new Error(
      `Expected ${ITERATIONS} times in nanoseconds from \`${AGENT.join(' ')}\`, got: ${text.slice(0, 80)}`,
    )
  return stamps.slice(1).map((stamp, before) => Number(BigInt(stamp) - BigInt(stamps[before] ?? 0)) / 1e6)
}
