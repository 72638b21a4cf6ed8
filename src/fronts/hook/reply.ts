/** ralph's answer to a turn that ended, in each host's own form. Nothing at all lets the stop pass. */
import { iterationLimit } from '../../engine/limits.ts'
import { statusOf } from '../../engine/loop.ts'
import { harmless } from '../../formats/harmless.ts'
import type { Answer } from '../../session/answer.ts'
import { HOSTS } from '../../session/hosts.ts'
import type { From } from './payload.ts'

/** `error`: the words for a host that shows them only then. */
export type Reply = { out?: string; error?: string }

export function printStop(answer: Answer, { host, shim, feedback }: From): Reply {
  if (shim) return print(neutral(answer))
  const { speaks, mostBytes = 0 } = HOSTS[host]
  const systemMessage = textOf(answer)
  const told = systemMessage ? { systemMessage } : {}
  if (speaks === 'droid') return inWords(systemMessage, answer.prompt)
  if (answer.prompt === undefined) return print(speaks === 'cursor' ? {} : told)
  if (speaks === 'cursor') return print({ followup_message: answer.prompt })
  if (feedback && Buffer.byteLength(answer.prompt) <= mostBytes)
    return print({ hookSpecificOutput: { hookEventName: 'Stop', additionalContext: answer.prompt }, ...told })
  const clear =
    speaks === 'gemini' && answer.fresh
      ? { hookSpecificOutput: { hookEventName: 'AfterAgent', clearContext: true } }
      : {}
  return print({ decision: 'block', reason: answer.prompt, ...told, ...clear })
}

/** Droid shows all that a hook prints as it is, and nothing else that is meant for a person. So the agent is told that, too. */
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

/** A host prints them as they are. */
function shown({ show }: Answer): Answer['show'] {
  return show.map((note) => (/^[\n -~]*$/.test(note.text) ? note : { ...note, text: harmless(note.text) }))
}

/** For the shims of hosts that have no hook programs. */
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
