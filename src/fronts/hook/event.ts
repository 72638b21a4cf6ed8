/** What a host tells its hook, as one kind of event, whoever the host is. */
import { createHash } from 'node:crypto'
import type { Outcome } from '../../agents/agent.ts'
import { kindOfStatus, kindOfWords } from '../../agents/api-error.ts'
import type { Armed } from '../../session/armed.ts'
import { type CommandName, type HostName, isHostName } from '../../session/hosts.ts'
import type * as More from './more.ts'

export type Event = From &
  (
    | { kind: 'command'; command: CommandName; args: string }
    | { kind: 'prompt'; words: string }
    | { kind: 'stop'; outcome: Outcome | 'aborted'; background: boolean; heard?: Armed['heard'] }
    | { kind: 'woke' }
  )

type Json = Readonly<Record<string, unknown>>
type Env = Readonly<Record<string, string | undefined>>

/** Undefined for what is none of ralph's business: not JSON, another event, no session. */
export async function readEvent(
  text: string,
  env: Env,
  { armed, more }: { armed: (session: string) => Armed | undefined; more: () => typeof More },
): Promise<Event | undefined> {
  const payload = parse(text)
  if (!payload) return undefined
  const host = hostOf(payload, env)
  const session = word(payload.session_id) ?? word(payload.sessionId) ?? word(payload.conversation_id) ?? ''
  const dir = dirOf(payload, env)
  if (!session || !dir) return undefined
  const from: From = { host, shim: isHostName(payload.host), during: 'prompt', session, dir }
  switch (payload.event ?? payload.hook_event_name ?? payload.hookEventName) {
    case 'command':
      return isCommandName(payload.command)
        ? { ...from, kind: 'command', command: payload.command, args: word(payload.args) ?? '' }
        : undefined
    case 'woke':
      return { ...from, kind: 'woke' }
    case 'prompt':
    case 'UserPromptSubmit':
    case 'userPromptSubmitted':
    case 'BeforeAgent':
    case 'beforeSubmitPrompt':
      return promptEvent(from, word(payload.submitted_prompt) ?? word(payload.prompt) ?? '')
    case 'stop':
    case 'Stop':
    case 'agentStop':
    case 'AfterAgent':
      return stopEvent({ ...from, during: 'stop' }, payload, { armed: armed(session), more })
    default:
      return undefined
  }
}

function parse(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined
  } catch {
    return undefined
  }
}

function word(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function hostOf(payload: Json, env: Env): HostName {
  if (isHostName(payload.host)) return payload.host
  const event = payload.hook_event_name
  if (event === 'AfterAgent' || event === 'BeforeAgent') return 'gemini'
  if ('conversation_id' in payload) return 'cursor'
  if ('turn_id' in payload) return 'codex'
  if (env.QWEN_CODE_SESSION_ID || 'context_usage' in payload || 'submitted_prompt' in payload) return 'qwen'
  if (env.COPILOT_CLI === '1') return 'copilot'
  return env.FACTORY_PROJECT_DIR ? 'droid' : 'claude'
}

/** The project, which does not move when the agent changes its folder. */
function dirOf(payload: Json, env: Env): string | undefined {
  const [root] = Array.isArray(payload.workspace_roots) ? payload.workspace_roots : []
  const stays = 'host' in payload ? undefined : env.CLAUDE_PROJECT_DIR || env.FACTORY_PROJECT_DIR
  return stays || (word(payload.cwd) ?? word(root))
}

const COMMANDS: readonly CommandName[] = ['loop', 'cancel', 'status', 'help', 'pause', 'resume']

function isCommandName(name: unknown): name is CommandName {
  return COMMANDS.some((command) => command === name)
}

// What a person may type, and what hosts make of it before a hook sees it.
const TYPED =
  /^\s*[/$]?(?:ralph[:.-](loop|cancel|status|help|pause|resume)|(cancel)-ralph)(?:[ \t]+|(?=\n)|$)([\s\S]*)$/
const SKILL =
  /^The user explicitly invoked the "\/ralph:(\w+)" skill[\s\S]*?(?:\n\nARGUMENTS: ([\s\S]*))?\n<\/skill-context>\s*$/

/** `shim`: ralph's own shim asks, and not the host itself. `during`: what the host is at. */
type From = { host: HostName; shim: boolean; during: 'prompt' | 'stop'; session: string; dir: string }

function promptEvent(from: From, prompt: string): Event {
  const [, skill, skillArgs = ''] = SKILL.exec(prompt) ?? []
  const [, name, cancel, args = ''] = TYPED.exec(prompt.replace(/^\s*<system-notification>/, '')) ?? []
  const command = skill ?? name ?? cancel
  if (!isCommandName(command)) return { ...from, kind: 'prompt', words: prompt }
  // A host that sends the text of the command's file lets what was typed follow it.
  const [, typed] = /^\n\n\/ralph[:.-]\w+(?:[ \t]([\s\S]*))?$/.exec(args) ?? []
  const raw = skill ? skillArgs : args.startsWith('\n\n/ralph') ? (typed ?? '') : args
  return { ...from, kind: 'command', command, args: raw.trimEnd() }
}

async function stopEvent(
  from: From,
  payload: Json,
  { armed, more }: { armed: Armed | undefined; more: () => typeof More },
): Promise<Event> {
  const transcript = word(payload.transcript_path) ?? word(payload.transcriptPath)
  // Where a prompt is not told to a hook, the command is found in the session's own record.
  if (from.host === 'droid' && !armed && transcript) {
    const typed = promptEvent(from, more().lastPrompt(transcript) ?? '')
    if (typed.kind === 'command') return typed
  }
  const told = word(payload.last_assistant_message) ?? word(payload.prompt_response) ?? word(payload.text)
  const text = told ?? (armed && transcript ? await more().lastMessage(transcript, from.host, payload) : '')
  const { message, heard } = from.host === 'gemini' ? newPart(text, armed?.heard) : { message: text, heard: undefined }
  // Nothing new: a person stopped it, or its own loop detector did.
  const silent = heard !== undefined && !message.trim()
  return {
    ...from,
    kind: 'stop',
    outcome: silent ? 'aborted' : outcomeOf(payload, message),
    background: runsOn(payload.background_tasks),
    ...(heard ? { heard } : {}),
  }
}

function runsOn(tasks: unknown): boolean {
  return (
    Array.isArray(tasks) && tasks.some((task: { status?: unknown } | null) => (task?.status ?? 'running') === 'running')
  )
}

/** What was said since the last time, for a host that repeats all of its answers. */
function newPart(text: string, before: Armed['heard']): { message: string; heard: Armed['heard'] } {
  const hash = (part: string) => createHash('sha1').update(part).digest('hex')
  const repeated = before && text.length >= before.length && hash(text.slice(0, before.length)) === before.hash
  return {
    // It reads ralph's first prompt with these characters spelled out.
    message: (repeated ? text.slice(before.length) : text).replaceAll('&lt;', '<').replaceAll('&gt;', '>'),
    heard: { length: text.length, hash: hash(text) },
  }
}

function outcomeOf(payload: Json, finalText: string): Outcome | 'aborted' {
  const how = payload.outcome ?? payload.status
  if (how === 'aborted' || finalText === '[no response text]') return 'aborted'
  const usage = {
    ...{ finalText, denied: [] },
    ran: Array.isArray(payload.ran) ? payload.ran.filter((line) => typeof line === 'string') : [],
    tokens: typeof payload.tokens === 'number' ? payload.tokens : 0,
    ...(typeof payload.cost_usd === 'number' ? { costUsd: payload.cost_usd } : {}),
  }
  if (how !== 'error') return { ...usage, kind: 'ok' }
  const message = word(payload.error_message) ?? 'the agent ended with an error'
  return { ...usage, kind: errorKind(message), message }
}

function errorKind(message: string): Outcome['kind'] {
  const words = kindOfWords(message)
  if (words === 'context' || words === 'auth') return words
  const status = /^(\d{3})\b/.exec(message)
  return (status && kindOfStatus(Number(status[1]))) ?? words ?? 'unknown'
}
