/** The outcome of one agent turn, gathered from Pi's messages while it runs. */
import { amount, list, objectOf, type Stop, words } from './answer.ts'
import type { Message } from './host.ts'

export type TurnRecord = {
  saw(message: Message): void
  /** The outcome as seen here; Pi's own report takes precedence over the last message. */
  stop(outcome?: Stop['outcome']): Stop
  /** So far. */
  costUsd(): number
}

export function openTurnRecord(): TurnRecord {
  let last: Message | undefined
  let said = ''
  let tokens = 0
  let costUsd = 0
  const ran: string[] = []
  return {
    costUsd: () => costUsd,
    saw(message) {
      if (message.role !== 'assistant') return
      last = message
      said = textOf(message.content) || said
      const { input, output, cacheRead, cacheWrite, cost } = objectOf(message.usage)
      tokens += amount(input) + amount(output) + amount(cacheRead) + amount(cacheWrite)
      costUsd += amount(objectOf(cost).total)
      for (const { type, name, arguments: given } of list(message.content))
        if (type === 'toolCall' && (name === 'bash' || name === 'powershell'))
          ran.push(words(objectOf(given).command) ?? '')
    },
    stop(outcome = outcomeOf(last)) {
      const why = outcome === 'error' ? (last?.errorMessage ?? 'Pi ended the turn without an answer.') : undefined
      return {
        last_assistant_message: said,
        outcome,
        tokens,
        cost_usd: costUsd,
        ran,
        ...(why === undefined ? {} : { error_message: why }),
      }
    },
  }
}

/** A tool call that the user stopped arrives as an error whose text says so. */
function outcomeOf(last: Message | undefined): Stop['outcome'] {
  if (last?.stopReason === 'aborted') return 'aborted'
  if (last?.stopReason === 'error') return /\baborted\b/i.test(last.errorMessage ?? '') ? 'aborted' : 'error'
  return last ? 'completed' : 'error'
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return list(content)
    .flatMap(({ type, text }) => (type === 'text' ? (words(text) ?? []) : []))
    .join('\n')
}
