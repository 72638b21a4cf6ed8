/** The end of a turn, as a host reports it. */
import type { Outcome } from '../../agents/agent.ts'
import { sumOf } from '../../agents/usage.ts'
import { tailOf } from '../../host/tail.ts'
import type { Armed } from '../../session/armed.ts'
import { HOSTS } from '../../session/hosts.ts'
import { spentSince } from '../../session/spent.ts'
import type { TurnOver } from '../../session/turn-over.ts'
import type { newPart as NewPart } from './new-part.ts'
import { type From, type Json, word } from './payload.ts'

/**
 * `newPart` returns the text since the last time, for a host that repeats all of its answers. `lastMessage` finds the
 * last message if the host does not pass it, or nothing if the user stopped the agent.
 * `failed` interprets an error.
 */
type Finding = {
  heard?: Armed['heard']
  /** How far the tokens of its transcript are counted. */
  spent?: Armed['spent']
  newPart: typeof NewPart
  lastMessage: (path: string) => Promise<string | undefined>
  failed: (message: string) => Pick<Outcome, 'kind' | 'message' | 'resetsAt'>
}

export async function readStop(
  { host, session, shim }: From,
  payload: Json,
  { heard: before, spent: mark, newPart, lastMessage, failed }: Finding,
): Promise<TurnOver> {
  const { speaks } = HOSTS[host]
  const path = transcriptOf(payload) ?? ''
  const passed = word(payload.last_assistant_message) ?? word(payload.prompt_response)
  const text = passed ?? (await lastMessage(path))
  const { message, heard } =
    speaks === 'gemini' ? newPart(text ?? '', before, path) : { message: text ?? '', heard: undefined }
  // Nothing new: the user stopped it, or its own loop detector did.
  const silent = heard !== undefined && !message.trim()
  const tail = speaks === 'claude' || host === 'codex' ? tailOf(path, TAIL) : ''
  const compactedAt = typeof payload.compacted_at === 'number' ? payload.compacted_at : compactionIn(tail)
  const { usage, spent } = shim || !path ? {} : spentSince(host, mark, path)
  const outcome = silent || text === undefined ? 'aborted' : outcomeOf(payload, message, failed)
  return {
    session,
    outcome: usage && outcome !== 'aborted' ? { ...outcome, usage, tokens: sumOf(usage) } : outcome,
    background: runsOn(payload.background_tasks),
    ...(speaks === 'claude' ? waitingIn(tail) : {}),
    ...(compactedAt === undefined ? {} : { compactedAt }),
    ...(heard ? { heard } : {}),
    ...(spent ? { spent } : {}),
    ...(speaks === 'copilot' && payload.timestamp !== undefined ? { at: String(payload.timestamp) } : {}),
  }
}

export function transcriptOf(payload: Json): string | undefined {
  return word(payload.transcript_path) ?? word(payload.transcriptPath)
}

const TAIL = 1 << 18

// What the user types during a turn waits in the transcript. Only these commands cannot wait for the end of the loop.
const WAITING =
  /"operation":"enqueue"[^\n]*"content":"\/ralph:(cancel|pause|steer)\b(?![\s\S]*"operation":"(?:dequeue|remove|popAll)")/g

function waitingIn(tail: string): Pick<TurnOver, 'hasOrder' | 'hasWords'> {
  const [command, ...more] = [...tail.matchAll(WAITING)].map(([, name]) => name)
  if (command === undefined) return {}
  return [command, ...more].every((name) => name === 'steer') ? { hasWords: true } : { hasOrder: true }
}

// How Claude Code and Codex record a compaction.
const COMPACTED = /^(?=.*"(?:subtype":"compact_boundary|type":"compacted)").*?"timestamp":"([^"]+)"/gm

function compactionIn(tail: string): number | undefined {
  const [, at] = [...tail.matchAll(COMPACTED)].at(-1) ?? []
  return at === undefined ? undefined : Date.parse(at)
}

function runsOn(tasks: unknown): boolean {
  return (
    Array.isArray(tasks) && tasks.some((task: { status?: unknown } | null) => (task?.status ?? 'running') === 'running')
  )
}

function outcomeOf(payload: Json, finalText: string, failed: Finding['failed']): Outcome | 'aborted' {
  const how = payload.outcome ?? payload.status
  if (how === 'aborted' || finalText === '[no response text]') return 'aborted'
  const usage = {
    finalText,
    denied: [],
    ran: Array.isArray(payload.ran) ? payload.ran.filter((line) => typeof line === 'string') : [],
    tokens: typeof payload.tokens === 'number' ? payload.tokens : 0,
    ...(typeof payload.cost_usd === 'number' ? { costUsd: payload.cost_usd } : {}),
  }
  if (how !== 'error') return { ...usage, kind: 'ok' }
  const message = word(payload.error_message) ?? 'the agent ended with an error'
  return { ...usage, message, ...failed(message) }
}
