/** Interprets an error passed on by a host. */
import type { Outcome } from '../../agents/agent.ts'
import { kindOfMessage, wordsOfError } from '../../agents/api-error.ts'
import { readReset } from '../../agents/reset.ts'

/** The kind of an agent error, when the agent can continue, and the message for the user. */
export function meaningOf(message: string, at: number): Pick<Outcome, 'kind' | 'message' | 'resetsAt'> {
  const kind = kindOfMessage(message)
  const resetsAt = kind === 'rate-limit' ? readReset(message.replace('~', ''), at) : undefined
  return { kind, message: wordsOfError(message), ...(resetsAt === undefined ? {} : { resetsAt }) }
}
