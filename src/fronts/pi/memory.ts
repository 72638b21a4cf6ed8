/** What the model sees of the session: never what was shown only to the user, and in a fresh turn nothing from earlier turns. */
import { objectOf } from './answer.ts'
import type { Message } from './host.ts'

export const CUSTOM_TYPE = 'ralph-loop'

export function isTurn(message: Message): boolean {
  return message.customType === CUSTOM_TYPE && objectOf(message.details).kind === 'turn'
}

/** The messages of a request, or undefined when they need no change. */
export function remember(messages: readonly Message[], fresh: boolean): readonly Message[] | undefined {
  const from = fresh ? messages.findLastIndex(isTurn) : 0
  const kept = messages.filter((message, index) => message.role === 'system' || (index >= from && !isReport(message)))
  return kept.length === messages.length ? undefined : kept
}

/**
 * When the first run of a session is one of ours, Pi before 1.2 gives its model the tools but not the system prompt.
 * Returns the messages with it, or undefined when it is already there.
 */
export function leadWithSystem(messages: readonly Message[], prompt: () => string): readonly Message[] | undefined {
  const system = messages.filter(({ role }) => role === 'system')
  if (system.some(({ content, sections }) => content || sections)) return undefined
  const [first, ...rest] = messages
  const content = prompt()
  if (first?.role === 'system') return [{ ...first, content }, ...rest]
  return [{ role: 'system', content, timestamp: Date.now() }, ...messages]
}

function isReport(message: Message): boolean {
  return message.customType === CUSTOM_TYPE && objectOf(message.details).kind === 'report'
}
