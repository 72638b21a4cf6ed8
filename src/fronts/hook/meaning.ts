/** What an error means that a host passes on. */
import type { Outcome } from '../../agents/agent.ts'
import { kindOfMessage } from '../../agents/api-error.ts'
import { readReset } from '../../agents/reset.ts'

/** What an error of the agent means, and when it can go on. */
export function meaningOf(message: string, at: number): Pick<Outcome, 'kind' | 'resetsAt'> {
  const kind = kindOfMessage(message)
  const resetsAt = kind === 'rate-limit' ? readReset(message.replace('~', ''), at) : undefined
  return { kind, ...(resetsAt === undefined ? {} : { resetsAt }) }
}
