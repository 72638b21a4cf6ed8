/** Other processes on the machine, which ralph has nothing to do with. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { leaveNothing } from './leftovers.ts'

/** Longer than the bench takes; a bench that is killed leaves them no longer than this. */
const SECONDS = '600'

/** Starts so many that sleep, does the work, and ends each by its own id. */
export async function* amidProcesses<Item>(many: number, work: () => AsyncGenerator<Item>): AsyncGenerator<Item> {
  const sleepers: ChildProcess[] = []
  const end = leaveNothing(() => {
    for (const sleeper of sleepers) sleeper.kill('SIGKILL')
  })
  try {
    for (let started = 0; started < many; started++) {
      const sleeper = spawn('sleep', [SECONDS], { stdio: 'ignore' })
      sleepers.push(sleeper)
      await once(sleeper, 'spawn')
    }
    yield* work()
  } finally {
    const asleep = sleepers.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
    const gone = asleep.map((sleeper) => once(sleeper, 'exit'))
    end()
    await Promise.all(gone)
  }
}
