/** ralph's answer to what the user typed, in each host's own format. Empty output lets the prompt pass. */
import type { Answer } from '../../session/answer.ts'
import { type CommandName, type Dialect, HOSTS } from '../../session/hosts.ts'
import type { From } from './payload.ts'
import type { Typed } from './prompt.ts'
import { neutral, noted, print, printStop, type Reply, textOf } from './reply.ts'

export function printTyped(answer: Answer, from: From, typed: Typed): Reply {
  if (from.shim) return print(neutral(answer))
  if (from.during === 'stop') return printStop(answer, from)
  const { speaks } = HOSTS[from.host]
  const text = textOf(answer)
  // A command that needs no agent is answered without one.
  if (typed.kind === 'command' && answer.prompt === undefined && !(from.amid && KEEPS_WORKING.has(typed.command)))
    return text ? refusal(speaks, text) : {}
  const message = text ? { systemMessage: text } : {}
  if (speaks === 'droid') return said(text, answer.prompt)
  if (typed.kind === 'command' && answer.prompt === undefined)
    return print({ hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: TAKEN }, ...message })
  if (answer.prompt === undefined) return print(speaks === 'cursor' ? {} : message)
  switch (speaks) {
    case 'cursor':
      return {}
    case 'copilot':
      return print({ additionalContext: answer.prompt })
    case 'claude':
    case 'plain':
    case 'gemini':
    case 'shim': {
      const hookEventName = speaks === 'gemini' ? 'BeforeAgent' : 'UserPromptSubmit'
      return print({ hookSpecificOutput: { hookEventName, additionalContext: answer.prompt }, ...message })
    }
  }
}

/** Commands that let the agent keep working. */
const KEEPS_WORKING: ReadonlySet<CommandName> = new Set(['loop', 'status', 'help', 'resume', 'steer'])
const TAKEN = 'ralph has handled this message. Continue what you were doing.'

/** Droid also passes a hook's output to its agent, and shows the start of it. */
function said(text: string, prompt: string | undefined): Reply {
  const out = prompt === undefined ? text : noted(text, prompt)
  return out ? { out } : {}
}

function refusal(speaks: Dialect, text: string): Reply {
  switch (speaks) {
    case 'cursor':
      return print({ continue: false, user_message: text })
    case 'copilot':
      return print({ handled: true, responseContent: text })
    case 'droid':
      return { error: text }
    case 'claude':
    case 'plain':
    case 'gemini':
    case 'shim':
      return print({ decision: 'block', reason: text })
  }
}
