/** Any agent that speaks the Agent Client Protocol on standard input and output, one JSON-RPC message per line. */
import { parseCommandLine } from '../formats/command-line.ts'
import { nothingReported, type Reported, ranIn, takeUpdate, tokensIn } from './acp-update.ts'
import type { Agent, Exit, Outcome, Parser, Pushed, Request } from './agent.ts'
import { kindOfStatus, kindOfWords } from './api-error.ts'
import { exitedEarly, stoppedByRalph } from './ended.ts'
import { amount, type Json, objectOf, pushTo, text } from './json-line.ts'
import { MCP_NAME, partsOf } from './mcp-config.ts'
import { readReset } from './reset.ts'

export const acp: Agent = {
  name: 'acp',
  targetExample: '--agent acp:"gemini --acp"',
  settings: ['permissions', 'context', 'mcp'],
  reports: [],
  graceMs: 3_000,
  command: ({ target, extraArgs }) => ({
    argv: [...parseCommandLine(target), ...extraArgs],
    env: {},
    stdin: call(ASK.initialize, 'initialize', {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: 'ralph', version: '1' },
    }),
    dialogue: true,
  }),
  parser: (request) => conversation(request),
  texts: 'growing',
  underWay: JSON.stringify({ jsonrpc: '2.0', id: 2, result: {} }), // its session exists
}

/** The ids of our three requests. */
const ASK = { initialize: 1, session: 2, prompt: 3 } as const

type Seen = {
  session: string
  prompted: boolean
  /** Its old session was refused, so a new one was requested. */
  isSecond: boolean
  reported: Reported
  denied: string[]
  result?: Json
  error?: Json
  stderr: string[]
}

function conversation(request: Request): Parser {
  const seen: Seen = {
    session: '',
    prompted: false,
    isSecond: false,
    reported: nothingReported(),
    denied: [],
    stderr: [],
  }
  return {
    push: pushTo(seen, (message) => take(message, seen, request)),
    end: (exit) => sumUp(seen, exit, request),
  }
}

function take(message: Json, seen: Seen, request: Request): Pushed {
  if (message.method === 'session/update') return { events: seen.prompted ? takeUpdate(message, seen.reported) : [] }
  if (message.method === 'session/request_permission') return answerPermission(message, seen, request)
  if (typeof message.method === 'string')
    return { events: [], ...(message.id === undefined ? {} : { write: refuse(message) }) }
  if (message.error !== undefined) return takeError(message, seen, request)
  const result = objectOf(message.result)
  switch (message.id) {
    case ASK.initialize:
      return { events: [], write: openSession(result, request) }
    case ASK.session:
      return begin(text(result.sessionId) ?? request.resume?.id ?? '', seen, request)
    case ASK.prompt:
      seen.result = result
      return { events: [], done: true }
    default:
      return { events: [] }
  }
}

/** An agent that cannot resume a session starts a new one; the prompt contains all it needs. */
function openSession({ agentCapabilities }: Json, request: Request): string {
  const { resume } = request
  const place = placeOf(request)
  return resume && objectOf(agentCapabilities).loadSession === true
    ? call(ASK.session, 'session/load', { sessionId: resume.id, ...place })
    : call(ASK.session, 'session/new', place)
}

function placeOf({ dir, mcp }: Request): object {
  if (!mcp) return { cwd: dir, mcpServers: [] }
  const { env, ...server } = partsOf(mcp)
  const variables = Object.entries(env).map(([name, value]) => ({ name, value }))
  return { cwd: dir, mcpServers: [{ name: MCP_NAME, ...server, env: variables }] }
}

// Anything before this replays the old session.
function begin(session: string, seen: Seen, { prompt }: Request): Pushed {
  seen.session = session
  seen.prompted = true
  return {
    events: [{ kind: 'session', id: session }],
    write: call(ASK.prompt, 'session/prompt', { sessionId: session, prompt: [{ type: 'text', text: prompt }] }),
  }
}

function takeError(message: Json, seen: Seen, request: Request): Pushed {
  // A missing session is no reason to give up, the first time.
  if (message.id === ASK.session && request.resume && !seen.isSecond) {
    seen.isSecond = true
    return { events: [], write: call(ASK.session, 'session/new', placeOf(request)) }
  }
  seen.error = objectOf(message.error)
  return { events: [], done: true }
}

function answerPermission(message: Json, seen: Seen, { permissions }: Request): Pushed {
  const { options, toolCall } = objectOf(message.params)
  const wanted = permissions === 'bypass' ? /^allow/ : /^reject/
  const offered = Array.isArray(options) ? options.map(objectOf) : []
  const option = offered.find(({ kind }) => wanted.test(String(kind)))
  const title = text(objectOf(toolCall).title) ?? 'a tool'
  if (permissions === 'ask') seen.denied.push(title)
  const outcome = option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' }
  return {
    events: permissions === 'ask' ? [{ kind: 'warning', message: `denied: ${title}` }] : [],
    write: `${JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { outcome } })}\n`,
  }
}

function sumUp(seen: Seen, exit: Exit, { at, resume }: Request): Outcome {
  const { reported, result } = seen
  const { costUsd } = reported
  const used = tokensIn(result, reported)
  const base = {
    finalText: reported.words,
    ...used,
    denied: seen.denied,
    ran: ranIn(reported),
    ...(seen.session ? { session: { id: seen.session, costUsd: costUsd ?? 0 } } : {}),
    // It counts from the start of the session.
    ...(costUsd === undefined
      ? {}
      : { costUsd: Math.max(0, costUsd - (resume?.id === seen.session ? resume.costUsd : 0)) }),
  }
  const stopped = stoppedByRalph(exit)
  if (stopped) return { ...base, ...stopped }
  if (seen.error) return { ...base, ...errorEnding(seen.error, at) }
  if (!result) return { ...base, ...exitedEarly(exit, seen.stderr.at(-1)) }
  const reason = String(result.stopReason)
  const failed = reason === 'end_turn' && used.tokens === 0 ? errorInWords(reported, at) : undefined
  if (failed) return { ...base, finalText: '', ...failed }
  const kind = (Object.hasOwn(REASONS, reason) && REASONS[reason]) || 'unknown'
  if (kind === 'ok') return { ...base, kind, finalText: reason === 'end_turn' ? reported.words : '' }
  return { ...base, kind, message: `it stopped: ${reason}` }
}

/** Copilot reports an error of its model's service as words of the agent, and ends the turn as if all were well. */
function errorInWords({ last }: Reported, at: number): Pick<Outcome, 'kind' | 'message' | 'resetsAt'> | undefined {
  const [, message] = /^Error: ([^\n]+)/.exec(last) ?? []
  const kind = message === undefined ? undefined : kindOfWords(message)
  return message !== undefined && kind ? { kind, message, ...resetIn(kind, message, at) } : undefined
}

function resetIn(kind: Outcome['kind'], message: string, at: number): { resetsAt?: number } {
  const resetsAt = kind === 'rate-limit' ? readReset(message, at) : undefined
  return resetsAt === undefined ? {} : { resetsAt }
}

const REASONS: Readonly<Record<string, Outcome['kind']>> = {
  end_turn: 'ok',
  max_turn_requests: 'ok', // it worked, and stopped at its own limit
  max_tokens: 'unknown',
  refusal: 'refused',
  cancelled: 'killed',
}

/** Four forms occur: the status as the code, text in `message`, in `data.message`, or in `data.details`. */
function errorEnding(error: Json, at: number): Pick<Outcome, 'kind' | 'message' | 'resetsAt'> {
  const data = objectOf(error.data)
  const message = [text(error.message), text(data.message), text(data.details)].filter(Boolean).join(': ')
  const kind =
    kindOfStatus(amount(error.code)) ?? kindOfWords(`${message} ${JSON.stringify(error.data ?? '')}`) ?? 'unknown'
  return { kind, message, ...resetIn(kind, message, at) }
}

function call(id: number, method: string, params: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
}

function refuse({ id, method }: Json): string {
  const error = { code: -32_601, message: `ralph does not support ${method}` }
  return `${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`
}
