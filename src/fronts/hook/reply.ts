/** ralph's answer in each host's own form. Nothing at all lets a stop, or a prompt, pass. */
import { iterationLimit } from '../../engine/limits.ts'
import { statusOf } from '../../engine/loop.ts'
import type { Answer } from '../../session/answer.ts'
import type { Event } from './event.ts'

/** `error`: the words for a host that shows a prompt's refusal only then. */
export function printReply(answer: Answer, event: Event): { out?: string; error?: string } {
  if (event.shim) return { out: JSON.stringify(neutral(answer)) }
  if (event.during === 'stop') return print(stopReply(answer, event))
  if (event.host === 'droid' && isRefusal(answer, event)) return { error: textOf(answer) }
  return print(promptReply(answer, event))
}

function print(reply: object): { out?: string } {
  return Object.keys(reply).length > 0 ? { out: JSON.stringify(reply) } : {}
}

/** A command that needs no agent is answered without one. */
function isRefusal({ prompt }: Answer, { kind }: Event): boolean {
  return kind === 'command' && prompt === undefined
}

function textOf({ show }: Answer): string {
  return show.map(({ text }) => text).join('\n')
}

function stopReply(answer: Answer, { host }: Event): object {
  const systemMessage = textOf(answer)
  const told = systemMessage ? { systemMessage } : {}
  if (answer.prompt === undefined) return host === 'cursor' ? {} : told
  if (host === 'cursor') return { followup_message: answer.prompt }
  const clear =
    host === 'gemini' && answer.fresh ? { hookSpecificOutput: { hookEventName: 'AfterAgent', clearContext: true } } : {}
  return { decision: 'block', reason: answer.prompt, ...told, ...clear }
}

function promptReply(answer: Answer, event: Event): object {
  const { host } = event
  const text = textOf(answer)
  if (isRefusal(answer, event)) return refusal(host, text)
  const message = text ? { systemMessage: text } : {}
  if (answer.prompt === undefined) return host === 'cursor' ? {} : message
  switch (host) {
    case 'cursor':
      return {}
    case 'copilot':
      return { additionalContext: answer.prompt }
    default: {
      const hookEventName = host === 'gemini' ? 'BeforeAgent' : 'UserPromptSubmit'
      return { hookSpecificOutput: { hookEventName, additionalContext: answer.prompt }, ...message }
    }
  }
}

function refusal(host: Event['host'], text: string): object {
  switch (host) {
    case 'cursor':
      return { continue: false, user_message: text }
    case 'copilot':
      return { handled: true, responseContent: text }
    default:
      return { decision: 'block', reason: text }
  }
}

/** For the shims of hosts that have no hook programs. */
function neutral({ loop, prompt, fresh, waitMs, context, verdicts, show }: Answer): object {
  const base = {
    next: prompt !== undefined ? 'turn' : waitMs !== undefined ? 'wait' : 'none',
    ...(prompt === undefined ? {} : { prompt, fresh: fresh === true }),
    ...(waitMs === undefined ? {} : { wait_ms: waitMs }),
    ...(context === undefined ? {} : { context }),
    ...(verdicts === undefined ? {} : { checks: verdicts.map(({ check, result }) => ({ check, result })) }),
  }
  if (!loop) return { ...base, status: 'none', show }
  const { id, spec, tally, next } = loop
  return {
    ...base,
    loop: id,
    status: statusOf(loop),
    iteration: next.kind === 'turn' ? next.iteration : tally.iteration,
    max_iterations: iterationLimit(spec.limits, tally),
    ...(spec.promise ? { promise: spec.promise } : {}),
    ...(next.kind === 'complete' ? { proof: next.proof } : {}),
    ...(next.kind === 'halt' ? { reason: next.reason, sentence: next.sentence } : {}),
    cost_usd: tally.costUsd,
    tokens: tally.tokens,
    show,
  }
}
