/** Any agent that speaks the Agent Client Protocol on its standard input and output, one JSON-RPC message a line. */
import type { Usage } from '../engine/loop.ts'
import { parseCommandLine } from '../formats/command-line.ts'
import type { Agent, AgentEvent, Exit, Outcome, Parser, Pushed, Request } from './agent.ts'
import { kindOfStatus, kindOfWords } from './api-error.ts'
import { brokenOff, stoppedEnding } from './ended.ts'
import { amount, type Json, objectOf, pushTo, text } from './json-line.ts'
import { MCP_NAME, partsOf } from './mcp-config.ts'
import { readReset } from './reset.ts'
import { sumOf } from './usage.ts'

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
  underWay: JSON.stringify({ jsonrpc: '2.0', id: 2, result: {} }), // its session is there
}

/** The ids of our three requests. */
const ASK = { initialize: 1, session: 2, prompt: 3 } as const

type Seen = {
  session: string
  prompted: boolean
  /** Its old session was refused, so a new one was asked for. */
  anew: boolean
  words: string
  ran: string[]
  denied: string[]
  costUsd?: number
  result?: Json
  error?: Json
  stderr: string[]
}

function conversation(request: Request): Parser {
  const seen: Seen = { session: '', prompted: false, anew: false, words: '', ran: [], denied: [], stderr: [] }
  return {
    push: pushTo(seen, (message) => take(message, seen, request)),
    end: (exit) => sumUp(seen, exit, request),
  }
}

function take(message: Json, seen: Seen, request: Request): Pushed {
  if (message.method === 'session/update') return { events: seen.prompted ? takeUpdate(message, seen) : [] }
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

/** An agent that cannot take up a session begins a new one; the prompt tells it all it needs. */
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

// What is told before this is an old session told again.
function begin(session: string, seen: Seen, { prompt }: Request): Pushed {
  seen.session = session
  seen.prompted = true
  return {
    events: [{ kind: 'session', id: session }],
    write: call(ASK.prompt, 'session/prompt', { sessionId: session, prompt: [{ type: 'text', text: prompt }] }),
  }
}

function takeError(message: Json, seen: Seen, request: Request): Pushed {
  // A session that is gone is no reason to give up, once.
  if (message.id === ASK.session && request.resume && !seen.anew) {
    seen.anew = true
    return { events: [], write: call(ASK.session, 'session/new', placeOf(request)) }
  }
  seen.error = objectOf(message.error)
  return { events: [], done: true }
}

function takeUpdate(message: Json, seen: Seen): AgentEvent[] {
  const update = objectOf(objectOf(message.params).update)
  switch (update.sessionUpdate) {
    case 'agent_message_chunk': {
      const words = text(objectOf(update.content).text) ?? ''
      seen.words += words
      return words ? [{ kind: 'text', text: seen.words }] : []
    }
    case 'tool_call': {
      seen.words = '' // what came before a tool is not the last word
      const summary = text(objectOf(update.rawInput).command) ?? text(update.title) ?? ''
      if (update.kind === 'execute') seen.ran.push(summary)
      return [{ kind: 'tool', name: text(update.kind) ?? 'tool', summary }]
    }
    case 'usage_update': {
      const cost = objectOf(update.cost)
      if (cost.currency === 'USD') seen.costUsd = amount(cost.amount)
      return []
    }
    default:
      return []
  }
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
  const base = {
    finalText: seen.words,
    ...tokensIn(seen.result),
    denied: seen.denied,
    ran: seen.ran,
    ...(seen.session ? { session: { id: seen.session, costUsd: seen.costUsd ?? 0 } } : {}),
    // It counts from the beginning of the session.
    ...(seen.costUsd === undefined
      ? {}
      : { costUsd: Math.max(0, seen.costUsd - (resume?.id === seen.session ? resume.costUsd : 0)) }),
  }
  const stopped = stoppedEnding(exit)
  if (stopped) return { ...base, ...stopped }
  if (seen.error) return { ...base, ...errorEnding(seen.error, at) }
  if (!seen.result) return { ...base, ...brokenOff(exit, seen.stderr.at(-1)) }
  const reason = String(seen.result.stopReason)
  const kind = (Object.hasOwn(REASONS, reason) && REASONS[reason]) || 'unknown'
  if (kind === 'ok') return { ...base, kind, finalText: reason === 'end_turn' ? seen.words : '' }
  return { ...base, kind, message: `it stopped: ${reason}` }
}

const REASONS: Readonly<Record<string, Outcome['kind']>> = {
  end_turn: 'ok',
  max_turn_requests: 'ok', // it worked, and was cut by its own limit
  max_tokens: 'unknown',
  refusal: 'refused',
  cancelled: 'killed',
}

/** Four shapes were seen: the status as the code, a text in `message`, in `data.message`, or in `data.details`. */
function errorEnding(error: Json, at: number): Pick<Outcome, 'kind' | 'message' | 'resetsAt'> {
  const data = objectOf(error.data)
  const message = [text(error.message), text(data.message), text(data.details)].filter(Boolean).join(': ')
  const kind =
    kindOfStatus(amount(error.code)) ?? kindOfWords(`${message} ${JSON.stringify(error.data ?? '')}`) ?? 'unknown'
  const resetsAt = kind === 'rate-limit' ? readReset(message, at) : undefined
  return { kind, message, ...(resetsAt === undefined ? {} : { resetsAt }) }
}

/** Where agents put it: `usage`, or Gemini's `_meta`. Most tell nothing. */
function tokensIn(result: Json | undefined): { tokens: number; usage?: Usage } {
  const { inputTokens, outputTokens, cachedReadTokens, totalTokens } = objectOf(result?.usage)
  const count = objectOf(objectOf(objectOf(result?._meta).quota).token_count)
  const usages = [
    { input: amount(inputTokens), cached: amount(cachedReadTokens), output: amount(outputTokens) },
    { input: amount(count.input_tokens), cached: 0, output: amount(count.output_tokens) },
  ]
  const usage = usages.find((one) => sumOf(one) > 0)
  return usage ? { tokens: sumOf(usage), usage } : { tokens: amount(totalTokens) }
}

function call(id: number, method: string, params: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
}

function refuse({ id, method }: Json): string {
  const error = { code: -32_601, message: `ralph does not offer ${method}` }
  return `${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`
}
