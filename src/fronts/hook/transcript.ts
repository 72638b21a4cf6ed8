/** The agent's last message, if its hook does not get it: read from the end of the session's own transcript, whatever its size. */
import { setTimeout as nap } from 'node:timers/promises'
import { tailOf } from '../../host/tail.ts'
import { HOSTS, type HostName } from '../../session/hosts.ts'

type Json = Readonly<Record<string, unknown>>

const TAIL = 1 << 20
const PATIENCE_MS = 2_000

/** Empty if not found, undefined if the user stopped the agent. A host may still be writing while its hook runs. */
export async function lastMessage(path: string, host: HostName, payload: Json): Promise<string | undefined> {
  const { speaks } = HOSTS[host]
  if (!path) return ''
  for (let waited = 0; ; waited += 20) {
    if (speaks === 'droid' && wasStopped(linesOf(path), payload)) return undefined
    const found = speaks === 'copilot' ? copilotMessage(linesOf(path), payload) : plainMessage(linesOf(path), payload)
    if (found !== undefined || waited >= PATIENCE_MS) return found ?? ''
    await nap(20)
  }
}

/** What the user last typed, and which transcript line that is. */
export function lastPrompt(path: string): { id: string; text: string } | undefined {
  const line = linesOf(path).findLast(
    (each) => each.visibility === undefined && roleOf(each) === 'user' && textOf(each) !== '',
  )
  return line && { id: String(line.id), text: textOf(line) }
}

/** The line for this very stop closes the turn; until then the transcript is incomplete. */
function copilotMessage(lines: readonly Json[], { timestamp }: Json): string | undefined {
  const at = typeof timestamp === 'string' ? Date.parse(timestamp) : timestamp
  const stop = lines.findLastIndex(({ type, data }) => type === 'hook.start' && timeIn(data) === at)
  if (stop < 0) return undefined
  const said = lines.slice(0, stop).findLast(({ type }) => type === 'assistant.message')
  return String(objectOf(said?.data).content ?? '')
}

function timeIn(data: unknown): unknown {
  return objectOf(objectOf(data).input).timestamp
}

/** Claude's format, which Droid shares. */
function plainMessage(lines: readonly Json[], { message_id: id }: Json): string | undefined {
  // Anything before the last prompt belongs to an earlier turn.
  const prompted = lines.findLastIndex((line) => roleOf(line) === 'user' && textOf(line))
  const said = lines.slice(prompted + 1).filter((line) => roleOf(line) === 'assistant')
  const last = id === undefined ? said.findLast((line) => textOf(line)) : said.findLast((line) => line.id === id)
  return last && textOf(last)
}

/** The turn ended with a message that is not the agent's. */
function wasStopped(lines: readonly Json[], { message_id: id }: Json): boolean {
  const last = lines.findLast((line) => line.id === id)
  return last !== undefined && roleOf(last) !== 'assistant'
}

const WHOLE_CHAT = 1 << 23

/** Whether the user stopped Gemini since its last prompt. It rewrites the whole chat right after that. */
export function wasCancelled(path: string): boolean {
  const last = linesOf(path, WHOLE_CHAT).findLast(
    ({ type, content }) => type === 'user' || (type === 'info' && content === 'Request cancelled.'),
  )
  return last?.type === 'info'
}

/** What Droid shows instead of an answer: an API error. */
export function errorShown(path: string, { message_id: id }: Json): string | undefined {
  const shown = linesOf(path).findLast((line) => line.id === id && objectOf(line.message).visibility === 'user_only')
  return (shown && textOf(shown).split('\n')[0]) || undefined
}

function roleOf({ message }: Json): unknown {
  return objectOf(message).role
}

function textOf({ message }: Json): string {
  const { content } = objectOf(message)
  if (typeof content === 'string') return content
  const blocks = Array.isArray(content) ? content.map(objectOf) : []
  return blocks.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : [])).join('\n')
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}

function linesOf(path: string, most = TAIL): Json[] {
  return tailOf(path, most).split('\n').flatMap(parseLine)
}

function parseLine(line: string): Json[] {
  try {
    return line ? [objectOf(JSON.parse(line))] : []
  } catch {
    return [] // the first line of the tail is incomplete
  }
}
