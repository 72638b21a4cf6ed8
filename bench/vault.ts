/** The task API on a vault: what checking for the end of a task costs, how large its state file gets, and whether iterations slow down. */
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RalphWiggum } from '../src/vault/ralph-wiggum.ts'
import { inTemporaryFolder } from './leftovers.ts'
import type { Row } from './row.ts'
import { spread, timeEach } from './spread.ts'

const ROUNDS = 8
const EARLY = 10
const LATE = 1_000
const WINDOW = 20
const LOOKS = 200

export async function* vault(): AsyncGenerator<Row> {
  const early: number[][] = []
  const late: number[][] = []
  const looks: number[][] = []
  let size = 0
  await inTemporaryFolder(async (folder) => {
    const long = await beginTask(folder)
    await long.advance(LATE)
    size = statSync(long.stateFile).size / 1_000
    for (let round = 0; round < ROUNDS; round++) {
      early.push(await inTemporaryFolder(beginning))
      late.push(await long.advance(WINDOW))
      looks.push(await timeEach(LOOKS, () => long.look()))
    }
    await long.close()
  })
  const look = spread(looks)
  yield {
    what: 'vault: checkTaskComplete in this process',
    measured: look,
    unit: 'ms',
    figure: { value: look.calm, unit: 'ms' },
    budget: 1,
  }
  yield {
    what: 'vault: state file after 1,000 iterations',
    measured: { median: size, calm: size },
    unit: 'KB',
    figure: { value: size, unit: 'KB' },
    budget: 50,
  }
  const [first, last] = [spread(early), spread(late)]
  yield {
    what: 'vault: incrementIteration 1,000',
    measured: last,
    unit: 'ms',
    yardstick: { what: 'incrementIteration 10', measured: first },
    figure: { value: last.calm / first.calm, unit: '×' },
  }
}

async function beginning(folder: string): Promise<number[]> {
  const task = await beginTask(folder)
  await task.advance(EARLY)
  const times = await task.advance(WINDOW)
  await task.close()
  return times
}

type Task = {
  stateFile: string
  /** Counts this many iterations and returns how long each took, in milliseconds. */
  advance(iterations: number): Promise<number[]>
  look(): Promise<boolean>
  close(): Promise<void>
}

async function beginTask(folder: string): Promise<Task> {
  const [path, home] = [join(folder, 'vault'), join(folder, 'home')]
  mkdirSync(join(path, 'Needs_Action'), { recursive: true })
  writeFileSync(join(path, 'Needs_Action', 'task.md'), 'There is nothing to do.\n')
  const ralph = new RalphWiggum({ vaultPath: path, home, env: {} })
  const limits = { max_iterations: 1_000_000, timeout_minutes: 525_600 }
  const { task_id, state_file } = await ralph.startTask({ task_file: 'Needs_Action/task.md', ...limits })
  const report = { task_id, action: ACTION, result: 'success', duration_seconds: 60 }
  return {
    stateFile: join(path, state_file),
    advance: (iterations) => timeEach(iterations, () => ralph.incrementIteration(report)),
    look: () => ralph.checkTaskComplete(task_id),
    close: () => ralph.close(),
  }
}

const ACTION = 'The agent says what it did in a sentence of this length.'
