/** What a session's own record tells of the turn under way: whether it ended in the middle, without a hook being called. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import { tailOf } from '../host/tail.ts'
import { type Env, HOSTS, type HostName } from './hosts.ts'

type Json = Readonly<Record<string, unknown>>

const TAIL = 1 << 18

/** Where a host keeps the record of a session, if it does not tell that to a hook of prompts. */
export function recordOf(host: HostName, session: string, env: Env): string | undefined {
  if (host !== 'copilot') return undefined
  const home = env.COPILOT_HOME || join(env.HOME || homedir(), '.copilot')
  return join(home, 'session-state', session, 'events.jsonl')
}

/** After Esc, or an error of the model's service. False where the host writes no record that ralph can read. */
export function stoppedShort(host: HostName, path: string | undefined): boolean {
  if (!path) return false
  const lines = tailOf(path, TAIL).split('\n').flatMap(parseLine)
  if (host === 'codex') return endsShort(lines)
  return HOSTS[host].speaks === 'claude' && isCutOff(lines)
}

/** Codex closes every turn with a line of its own. */
function endsShort(lines: readonly Json[]): boolean {
  const last = lines
    .map(({ payload }) => objectOf(payload))
    .findLast(({ type }) => type === 'task_started' || type === 'task_complete' || type === 'turn_aborted')
  return last?.type === 'turn_aborted' || (last?.type === 'task_complete' && last.error != null)
}

/** Claude writes the interruption as words of the person, and the error as words of the agent. */
function isCutOff(lines: readonly Json[]): boolean {
  const last = lines.findLast((line) => {
    const { role } = objectOf(line.message)
    return (role === 'user' || role === 'assistant') && line.isMeta !== true && !isCommand(textOf(line))
  })
  if (!last) return false
  return last.isApiErrorMessage === true || textOf(last).startsWith('[Request interrupted by user')
}

/** What a person has typed since is no answer of the agent's. */
function isCommand(text: string): boolean {
  return /^\s*(\/ralph[:-]|<(command-|local-command-))/.test(text)
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
    return [] // the first line of the tail is cut
  }
}
