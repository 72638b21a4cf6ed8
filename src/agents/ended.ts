/** How a client ended, when it did not end as it should. */
import type { Exit, Outcome } from './agent.ts'

export type Ending = { kind: Outcome['kind']; message: string }

const STOPPED = {
  silent: 'it printed nothing for too long and was ended',
  deadline: 'it was ended at the time limit',
  told: 'it was stopped',
} as const

/** Ended by ralph itself, whatever it managed to print before. */
export function stoppedEnding({ stopped }: Exit): Ending | undefined {
  return stopped && { kind: 'killed', message: STOPPED[stopped] }
}

/** Ended before it said how its turn came out. `last` is the last thing it said about that. */
export function brokenOff({ signal, code }: Exit, last?: string): Ending {
  const ended = signal ? `it was ended by ${signal}` : `it ended with exit code ${code} and without a result`
  return { kind: signal ? 'killed' : 'crash', message: [ended, last].filter(Boolean).join(': ') }
}
