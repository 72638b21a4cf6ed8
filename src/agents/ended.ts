/** How a client ended, if it did not end well. */
import type { Exit, Outcome } from './agent.ts'

export type Ending = { kind: Outcome['kind']; message: string }

const STOPPED = {
  silent: 'it was stopped after printing nothing for too long',
  deadline: 'it was stopped at the time limit',
  told: 'it was stopped',
} as const

/** Stopped by ralph itself, whatever it printed before. */
export function stoppedByRalph({ stopped }: Exit): Ending | undefined {
  return stopped && { kind: 'killed', message: STOPPED[stopped] }
}

/** Exited before it reported the outcome of its turn. `last`: the last thing it said about that. */
export function exitedEarly({ signal, code }: Exit, last?: string): Ending {
  const ended = signal ? `it was killed by ${signal}` : `it exited with code ${code} without a result`
  return { kind: signal ? 'killed' : 'crash', message: [ended, last].filter(Boolean).join(': ') }
}
