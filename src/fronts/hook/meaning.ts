/** What an error means that a host passes on. */
import type { Outcome } from '../../agents/agent.ts'
import { kindOfMessage, wordsOfError } from '../../agents/api-error.ts'
import { readReset } from '../../agents/reset.ts'

/** What an error of the agent means, when it can go on, and its words for a person. */
export function meaningOf(message: string, at: number): Pick<Outcome, 'kind' | 'message' | 'resetsAt'> {
  const kind = kindOfMessage(message)
  const resetsAt = kind === 'rate-limit' ? readReset(message.replace('~', ''), at) : undefined
  return { kind, message: wordsOfError(message), ...(resetsAt === undefined ? {} : { resetsAt }) }
}
