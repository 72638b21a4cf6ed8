/** Reads a session's own transcript to see whether the current turn was cut off without a hook call. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import { tailOf } from '../host/tail.ts'
import { type Env, HOSTS, type HostName } from './hosts.ts'

type Json = Readonly<Record<string, unknown>>

const TAIL = 1 << 18

/** Where a host keeps a session's transcript, if its prompt hook does not say. */
export function recordOf(host: HostName, session: string, env: Env): string | undefined {
  if (host !== 'copilot') return undefined
  const home = env.COPILOT_HOME || join(env.HOME || homedir(), '.copilot')
  return join(home, 'session-state', session, 'events.jsonl')
}

/** True after Esc or an API error. False if the host writes no transcript that ralph can read. */
export function stoppedShort(host: HostName, path: string | undefined): boolean {
  if (!path) return false
  const lines = tailOf(path, TAIL).split('\n').flatMap(parseLine)
  switch (host) {
    case 'codex':
      return endsShort(lines)
    case 'copilot':
      return isAborted(lines)
    case 'droid':
      return isUnfinished(lines)
    case 'qwen':
      return isGivenUp(lines)
    default:
      return HOSTS[host].speaks === 'claude' && isCutOff(lines)
  }
}

/** Copilot writes a line for each way a turn can be cut off; when it continues, another turn starts after it. */
function isAborted(lines: readonly Json[]): boolean {
  const ends = ['abort', 'session.error', 'session.shutdown']
  const last = lines.findLast(({ type }) => type === 'assistant.turn_start' || ends.includes(String(type)))
  return ends.includes(String(last?.type))
}

/** Droid closes each prompt with a line that says how it ended. Messages visible to one side only are not part of a turn. */
function isUnfinished(lines: readonly Json[]): boolean {
  const last = lines.findLast((line) => {
    const isSaid = line.type === 'message' && objectOf(line.message).visibility === undefined
    return line.type === 'agent_turn_outcome' || (isSaid && !isCommand(textOf(line)))
  })
  return last?.type === 'agent_turn_outcome' && last.reason !== 'completed'
}

/**
 * Qwen records a partial answer without the metadata of a whole one, and a tool that was cancelled.
 * It reports errors on every try, so only an error that is not retried is final.
 */
function isGivenUp(lines: readonly Json[]): boolean {
  const events = lines.filter((line) => line.type !== 'system' || eventOf(line) !== undefined)
  const last = events.findLastIndex((line) => line.type !== 'system' || eventOf(line) === 'qwen-code.api_error')
  const line = events[last]
  if (!line) return false
  if (line.type === 'system') return isFinal(objectOf(objectOf(line.systemPayload).uiEvent).status_code)
  if (line.type === 'tool_result') return objectOf(line.toolCallResult).status === 'cancelled'
  const isWhole = line.usageMetadata !== undefined || eventOf(events[last - 1] ?? {}) === 'qwen-code.api_response'
  return line.type === 'assistant' && !isWhole
}

function eventOf({ systemPayload }: Json): unknown {
  return objectOf(objectOf(systemPayload).uiEvent)['event.name']
}

function isFinal(status: unknown): boolean {
  return typeof status === 'number' && status >= 400 && status < 500 && ![401, 408, 409, 429].includes(status)
}

/** Codex closes every turn with a line for that. */
function endsShort(lines: readonly Json[]): boolean {
  const last = lines
    .map(({ payload }) => objectOf(payload))
    .findLast(({ type }) => type === 'task_started' || type === 'task_complete' || type === 'turn_aborted')
  return last?.type === 'turn_aborted' || (last?.type === 'task_complete' && last.error != null)
}

/** Claude records an interruption as a user message and an error as an agent message. */
function isCutOff(lines: readonly Json[]): boolean {
  const last = lines.findLast((line) => {
    const { role } = objectOf(line.message)
    return (role === 'user' || role === 'assistant') && line.isMeta !== true && !isCommand(textOf(line))
  })
  if (!last) return false
  return last.isApiErrorMessage === true || textOf(last).startsWith('[Request interrupted by user')
}

/** A command typed since is not an answer of the agent. A command that needs the agent starts another turn. */
function isCommand(text: string): boolean {
  return (
    /^\s*(\/?ralph[:-]|<(command-|local-command-))/.test(text) && !/^[\s\S]{0,99}\bralph[:-](resume|loop)\b/.test(text)
  )
}

function textOf({ message }: Json): string {
  const { content } = objectOf(message)
  if (typeof content === 'string') return content
  const [first] = Array.isArray(content) ? content.map(objectOf) : []
  return typeof first?.text === 'string' ? first.text : ''
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}

function parseLine(line: string): Json[] {
  try {
    return line ? [objectOf(JSON.parse(line))] : []
  } catch {
    return [] // the first line of the tail is incomplete
  }
}
