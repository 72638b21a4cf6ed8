/** ralph's answer to the end of a turn, in each host's own format. Empty output lets the agent stop. */
import { iterationLimit } from '../../engine/limits.ts'
import { statusOf } from '../../engine/loop.ts'
import { harmless } from '../../formats/harmless.ts'
import type { Answer } from '../../session/answer.ts'
import { HOSTS } from '../../session/hosts.ts'
import type { From } from './payload.ts'

/** `error`: text for a host that shows it only on an error. */
export type Reply = { out?: string; error?: string }

export function printStop(answer: Answer, { host, shim, feedback }: From): Reply {
  if (shim) return print(neutral(answer))
  const { speaks, mostBytes = 0 } = HOSTS[host]
  const systemMessage = textOf(answer)
  const message = systemMessage ? { systemMessage } : {}
  if (speaks === 'droid') return inWords(systemMessage, answer.prompt)
  if (answer.prompt === undefined) return print(speaks === 'cursor' ? {} : message)
  if (speaks === 'cursor') return print({ followup_message: answer.prompt })
  if (feedback && Buffer.byteLength(answer.prompt) <= mostBytes)
    return print({ hookSpecificOutput: { hookEventName: 'Stop', additionalContext: answer.prompt }, ...message })
  const clear =
    speaks === 'gemini' && answer.fresh
      ? { hookSpecificOutput: { hookEventName: 'AfterAgent', clearContext: true } }
      : {}
  return print({ decision: 'block', reason: answer.prompt, ...message, ...clear })
}

/** Droid shows a hook's output as is, and nothing else meant for the user. So the agent gets the note too. */
function inWords(note: string, prompt: string | undefined): Reply {
  if (prompt === undefined) return note ? { out: note } : {}
  return print({ decision: 'block', reason: noted(note, prompt), suppressOutput: true })
}

export function noted(note: string, prompt: string): string {
  return note ? `${note}\n\n${prompt}` : prompt
}

export function print(reply: object): Reply {
  return Object.keys(reply).length > 0 ? { out: JSON.stringify(reply) } : {}
}

export function textOf(answer: Answer): string {
  return shown(answer)
    .map(({ text }) => text)
    .join('\n')
}

/** A host prints them unchanged. */
function shown({ show }: Answer): Answer['show'] {
  return show.map((note) => (/^[\n -~]*$/.test(note.text) ? note : { ...note, text: harmless(note.text) }))
}

/** For the shims of hosts without hook programs. */
export function neutral(answer: Answer): object {
  const { loop, prompt, fresh, waitMs, context, verdicts, checked, trust } = answer
  const show = shown(answer)
  const base = {
    next: prompt !== undefined ? 'turn' : waitMs !== undefined ? 'wait' : 'none',
    ...(prompt === undefined ? {} : { prompt, fresh: fresh === true }),
    ...(waitMs === undefined ? {} : { wait_ms: waitMs }),
    ...(context === undefined ? {} : { context }),
    ...(trust === undefined ? {} : { trust }),
    ...(checked === undefined ? {} : { checked }),
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
    ...(next.kind === 'complete' ? { proof: next.proof, proof_sentence: next.sentence } : {}),
    ...(next.kind === 'halt' ? { reason: next.reason, sentence: next.sentence } : {}),
    cost_usd: tally.costUsd,
    tokens: tally.tokens,
    show,
  }
}
