/** Other processes on the machine that have nothing to do with ralph. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { leaveNothing } from './leftovers.ts'

// Longer than the bench takes; after a kill of the bench they last no longer than this.
const SECONDS = 600

/** Starts this many sleeping processes, does the work, and ends each by its own id. */
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

// It closes its output when all have been started, and exits when all have ended.
const START = `
left=$1
while [ $left -gt 0 ]; do sleep ${SECONDS} >/dev/null & echo $!; left=$((left - 1)); done
exec >/dev/null
wait`
