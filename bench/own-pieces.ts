/** The parts of ralph's own time, one by one in this process, to help find a regression. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { step } from '../src/engine/step.ts'
import { runProgram } from '../src/host/process.ts'
import { countForks, findMarked, listProcesses } from '../src/host/process-tree.ts'
import { openTree } from '../src/host/tree.ts'
import { openLoop, work } from './instant-loop.ts'
import { inTemporaryFolder } from './leftovers.ts'
import type { Row } from './row.ts'
import { spread, timeEach } from './spread.ts'

const ROUNDS = 6
const CALLS = 50
const LOOKS = 10
const FILES = 100

export async function* piecesOfOwnTime(): AsyncGenerator<Row> {
  yield* piece('step and save', () => inTemporaryFolder(stepAndSave))
  yield* piece(`a look at ${FILES} files`, () => inTemporaryFolder(lookAtFiles))
  yield* piecesAmidProcesses()
}

/** The parts that other processes can slow down. */
export async function* piecesAmidProcesses(): AsyncGenerator<Row> {
  yield* piece('start a program and wait for it', () => inTemporaryFolder(runTrue))
  yield* piece('list all processes', () => timeEach(CALLS, listProcesses))
  yield* piece('find what a program left, few started since', () => lookFor(0, countForks()))
  yield* piece('find what a program left, 1,000 started since', () => lookFor(1_000, countForks()))
  yield* piece('find what a program left, unknown how many started since', () => lookFor(0, 0))
}

async function* piece(what: string, round: () => Promise<number[]>): AsyncGenerator<Row> {
  const rounds: number[][] = []
  for (let taken = 0; taken < ROUNDS; taken++) rounds.push(await round())
  yield { what, measured: spread(rounds), unit: 'ms' }
}

async function stepAndSave(home: string): Promise<number[]> {
  const { store, lease, loop } = await openLoop(home, CALLS + 1)
  let now = loop
  const times = await timeEach(CALLS, async () => {
    const fact = work()
    now = step(now, fact)
    await store.save(lease, now, fact)
  })
  await lease.release()
  await store.close()
  return times
}

async function lookAtFiles(folder: string): Promise<number[]> {
  const [dir, home] = [join(folder, 'work'), join(folder, 'home')]
  mkdirSync(dir)
  mkdirSync(home)
  writeFiles(dir)
  const { look } = await openTree({ dir, home, loop: 'bench' })
  return timeEach(CALLS, look)
}

/** A small project without git. */
export function writeFiles(dir: string): void {
  for (let file = 0; file < FILES; file++) writeFileSync(join(dir, `${file}.txt`), 'A file of the project.\n')
}

function runTrue(dir: string): Promise<number[]> {
  return timeEach(CALLS, () => runProgram({ argv: ['true'], dir, env: process.env, stdin: '', graceMs: 1_000 }))
}

/** As if a program had been started `ago` processes ago, and left nothing. */
function lookFor(ago: number, forks: number): Promise<number[]> {
  const group = Math.max(1, spawnSync('true').pid - ago)
  return timeEach(LOOKS, () => findMarked({ group, forks, marker: 'RALPH_PROCESS=none' }))
}
