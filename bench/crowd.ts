/** Other processes on the machine, which ralph has nothing to do with. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { leaveNothing } from './leftovers.ts'

// Longer than the bench takes; a bench that is killed leaves them no longer than this.
const SECONDS = 600

/** Starts so many that sleep, does the work, and ends each by its own id. */
export async function* amidProcesses<Item>(many: number, work: () => AsyncGenerator<Item>): AsyncGenerator<Item> {
  // Not children of the bench: Node asks each of its children whether it has ended whenever one of them does.
  const parent = spawn('/bin/sh', ['-c', START, 'sh', String(many)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(parent, 'exit')
  const sleepers = (await text(parent.stdout)).trim().split('\n').map(Number)
  const end = leaveNothing(() => {
    for (const sleeper of sleepers) process.kill(sleeper, 'SIGKILL')
  })
  try {
    yield* work()
  } finally {
    end()
    await ended
  }
}

// It ends its output when all have been started, and itself when all have ended.
const START = `
left=$1
while [ $left -gt 0 ]; do sleep ${SECONDS} >/dev/null & echo $!; left=$((left - 1)); done
exec >/dev/null
wait`
