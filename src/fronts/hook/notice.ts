/** Turns reports of any client in a pane into mail for its dispatcher. */
import { join } from 'node:path'
import type { Outcome } from '../../agents/agent.ts'
import type { Mail } from '../../host/store.ts'
import { tailOf } from '../../host/tail.ts'
import { whyFailed, whyGivenUp } from './given-up.ts'
import { meaningOf } from './meaning.ts'
import { newPart } from './new-part.ts'
import { type From, fromPayload, type Json, parseJson, word } from './payload.ts'
import { readStop, transcriptOf } from './stop.ts'
import { errorShown, lastMessage } from './transcript.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Undefined for what does not concern a dispatcher. */
export async function readNotice(text: string, env: Env, now: () => number): Promise<Mail | undefined> {
  const report = parseJson(text)
  if (report?.event === 'ended') return ended(report)
  // A client without a session yet accepts input anyway.
  const said = report && fromPayload({ session_id: NONE, cwd: NONE, ...report }, env)
  return said && toMail(said.event, said.payload, said.from, { env, now })
}

const NONE = '-'

/** The shell around the client reports that it has exited. */
function ended({ code, closed }: Json): Mail {
  return { kind: 'ended', code: typeof code === 'number' ? code : 1, ...(closed === true ? { closed } : {}) }
}

type Here = { env: Env; now: () => number }

async function toMail(event: string, payload: Json, from: From, { env, now }: Here): Promise<Mail | undefined> {
  const session = from.session === NONE ? {} : { session: from.session }
  const turn = word(payload.turn) ?? word(payload.prompt_id) ?? word(payload.turn_id)
  const marks = { ...session, ...(turn === undefined ? {} : { turn }) }
  switch (event) {
    case 'started':
    case 'SessionStart':
    case 'sessionStart':
      return { kind: 'started', ...session }
    case 'session':
      return from.session === NONE ? undefined : { kind: 'session', session: from.session }
    case 'prompt':
    case 'UserPromptSubmit':
    case 'userPromptSubmitted':
    case 'BeforeAgent':
    case 'beforeSubmitPrompt': {
      const words = whole(submitted(payload), from)
      // Some hosts report the end of a background task as a prompt.
      return /^\s*($|<task-notification>)/.test(words) ? undefined : { kind: 'prompt', words, ...marks }
    }
    case 'stop':
    case 'Stop':
    case 'agentStop':
    case 'AfterAgent': {
      const { outcome, background } = await stopOf(from, payload, now)
      return { kind: 'stop', outcome, ...marks, ...(background ? { background } : {}) }
    }
    case 'StopFailure': {
      const message = [payload.error, payload.error_details, payload.last_assistant_message].filter(word).join(': ')
      const { outcome } = await stopOf(from, failing(payload, message), now)
      return { kind: 'stop', outcome, ...marks }
    }
    case 'PostModelRequest':
    case 'ErrorOccurred': {
      const message = await (event === 'ErrorOccurred'
        ? whyFailed(recordOf(from, env), payload.timestamp)
        : payload.status === 'failed' && whyGivenUp(transcriptOf(payload) ?? '', turn ?? ''))
      if (!message) return undefined
      const { outcome } = await stopOf(from, failing(payload, message), now)
      return { kind: 'stop', outcome, ...marks }
    }
    case 'Interrupt':
      return { kind: 'stop', outcome: 'aborted', ...marks }
    case 'asks':
    case 'PermissionRequest':
    case 'Notification':
      return asked(event, payload)
    case 'answered':
    case 'PostToolUse':
    case 'PostToolUseFailure':
    case 'PermissionDenied':
      return { kind: 'answered' }
    default:
      return undefined
  }
}

/** The prompt as typed; but for a long paste Qwen submits only a placeholder, and has the full text as the prompt. */
function submitted({ submitted_prompt: typed, prompt }: Json): string {
  const words = word(typed)
  const isMark = words !== undefined && /^\s*\[Pasted Content \d+ chars\]\s*$/.test(words)
  return (isMark ? word(prompt) : words) ?? word(prompt) ?? ''
}

function failing(payload: Json, message: string): Json {
  return { last_assistant_message: '', ...payload, outcome: 'error', error_message: message }
}

/** Where Copilot records a session. */
function recordOf({ session }: From, { COPILOT_HOME, HOME = '' }: Env): string {
  return join(COPILOT_HOME || join(HOME, '.copilot'), 'session-state', session, 'events.jsonl')
}

const PASTED = /^<pasted_content file="([^"]+)" size="[^"]*" lines="\d+" \/>$/

/** For a long paste Copilot reports only the file it saved it in. */
function whole(words: string, { host }: From): string {
  const [, file = ''] = (host === 'copilot' && PASTED.exec(words.trim())) || []
  return (file && tailOf(file.replaceAll('&amp;', '&'), 1 << 24)) || words
}

async function stopOf(from: From, payload: Json, now: () => number): Promise<Stopped> {
  const { outcome, background } = await readStop(from, payload, {
    newPart,
    lastMessage: (path) => lastMessage(path, from.host, payload),
    failed: (message) => meaningOf(message, now()),
  })
  // Droid ends a failed turn like one that the user stopped.
  const error =
    outcome === 'aborted' && from.host === 'droid' ? errorShown(transcriptOf(payload) ?? '', payload) : undefined
  if (error !== undefined) return stopOf(from, failing(payload, error), now)
  return { outcome, ...(background ? { background: true as const } : {}) }
}

type Stopped = { outcome: Outcome | 'aborted'; background?: true }

// That it has been waiting for a prompt for a while is not news.
const IDLE = new Set(['idle_prompt', 'auth_success'])

function asked(event: string, payload: Json): Mail | undefined {
  if (event === 'Notification' && IDLE.has(String(payload.notification_type))) return undefined
  return {
    kind: 'asks',
    question:
      word(payload.question) || questionOf(payload) || word(payload.message) || `Allow ${toolOf(payload) || 'it'}?`,
  }
}

/** A tool that asks the user a question needs no permission. */
function questionOf({ tool_input: input }: Json): string | undefined {
  const { questions } = (typeof input === 'object' && input ? input : {}) as Json
  const [first] = Array.isArray(questions) ? questions : []
  return word(first?.question)
}

function toolOf({ tool_name: name, tool_input: input }: Json): string {
  const { command, file_path: path } = (typeof input === 'object' && input ? input : {}) as Json
  return [name, command ?? path].filter(word).join(': ')
}
