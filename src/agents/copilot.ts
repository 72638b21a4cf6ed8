/**
 * GitHub Copilot CLI, headless: one `copilot` per turn with its prompt on stdin, read from its lines of JSON and its
 * usage file.
 */
import type { Usage } from '../engine/loop.ts'
import type { Agent, AgentEvent, Command, Exit, Outcome, Parser, Request } from './agent.ts'
import { kindOfStatus, kindOfWords } from './api-error.ts'
import { copilotScreen, tellingCopilot } from './copilot-pane.ts'
import { exitedEarly, stoppedByRalph } from './ended.ts'
import { amount, type Json, objectOf, parseJsonLine, pushTo, text } from './json-line.ts'
import { MCP_NAME, mcpFile } from './mcp-config.ts'
import { readReset } from './reset.ts'
import { plus, sinceResume, sumOf, wholeUsage } from './usage.ts'

export const copilot: Agent = {
  name: 'copilot',
  settings: ['model', 'permissions', 'context', 'mcp'],
  reports: ['tokens'],
  bypass: '--yolo',
  grants: { argument: '--allow-tool "shell(npm test)"' },
  probe: {
    programs: ['copilot'],
    install: '@github/copilot',
    versionArgs: ['--version'],
    tested: '1.0.102',
    login: {
      folder: '~/.copilot',
      files: ['~/.copilot/config.json'],
      variables: ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN', 'COPILOT_PROVIDER_BASE_URL'],
    },
  },
  own: { paths: ['~/.copilot'], variables: ['COPILOT_HOME', 'XDG_CONFIG_HOME/.copilot', 'XDG_STATE_HOME/.copilot'] },
  graceMs: 5_000,
  command,
  parser: (request) => lineParser(request),
  pane: tellingCopilot,
  screen: copilotScreen,
}

function command(request: Request): Command {
  const { prompt, mode, model, resume, permissions, extraArgs, target } = request
  const server = mcpFile(request, { type: 'local', tools: ['*'] })
  const flags = [
    ...(permissions === 'bypass' ? ['--yolo'] : []),
    ...(server ? ['--additional-mcp-config', `@${server.path}`, `--allow-tool=${MCP_NAME}`] : []),
    ...(model ? ['--model', model] : []),
    ...(resume ? [`--resume=${resume.id}`] : []),
    ...extraArgs,
  ]
  const program = target || 'copilot'
  const first = prompt ? [`--interactive=${prompt}`] : []
  if (mode === 'interactive') return { argv: [program, ...flags, ...first], env: {}, stdin: '' }
  const headless = ['--output-format', 'json', '--no-ask-user', '--no-auto-update']
  return {
    argv: [program, ...headless, '--usage-output-file', usageFile(request), ...flags],
    env: {},
    stdin: prompt,
    ...(server ? { files: [server] } : {}),
  }
}

function usageFile({ folder }: Request): string {
  return `${folder}/copilot-usage.json`
}

type Seen = {
  words: string
  result?: Json
  /** The last error of the session, and when it occurred. */
  error?: Json & { at: number }
  aborted: boolean
  tools: Map<string, string>
  ran: string[]
  denied: string[]
  stderr: string[]
}

function lineParser(request: Request): Parser {
  const seen: Seen = { words: '', aborted: false, tools: new Map(), ran: [], denied: [], stderr: [] }
  return {
    push: pushTo(seen, (event) => take(event, objectOf(event.data), seen)),
    collect: () => [usageFile(request)],
    end: (exit, files) => sumUp(seen, exit, { request, usage: files.get(usageFile(request)) }),
  }
}

function take(event: Json, data: Json, seen: Seen): AgentEvent[] {
  switch (event.type) {
    case 'assistant.message': {
      const words = text(data.content)
      if (!words) return []
      // What a subagent says is not the last word.
      if (event.agentId === undefined && data.parentToolCallId === undefined) seen.words = words
      return [{ kind: 'text', text: words }]
    }
    case 'tool.execution_start':
      return takeTool(data, seen)
    case 'tool.execution_complete': {
      if (objectOf(data.error).code !== 'denied') return []
      const tool = seen.tools.get(String(data.toolCallId)) ?? 'a tool'
      seen.denied.push(tool)
      return [{ kind: 'warning', message: `denied: ${tool}` }]
    }
    case 'assistant.turn_retry':
      return [{ kind: 'retry', why: text(data.reason) ?? 'its model did not answer' }]
    case 'session.error':
      seen.error = { ...data, at: Date.parse(text(event.timestamp) ?? '') }
      return [{ kind: 'warning', message: text(data.message) ?? 'an error' }]
    case 'abort':
      seen.aborted = true
      return []
    case 'result':
      seen.result = event
      return typeof event.sessionId === 'string' ? [{ kind: 'session', id: event.sessionId }] : []
    default:
      return []
  }
}

function takeTool(data: Json, seen: Seen): AgentEvent[] {
  const { command: line, path, pattern, url, description } = objectOf(data.arguments)
  const summary = text(line) ?? text(path) ?? text(pattern) ?? text(url) ?? text(description) ?? ''
  const name = text(data.toolName) ?? 'tool'
  seen.tools.set(String(data.toolCallId), [name, summary].filter(Boolean).join(': '))
  if (name === 'bash' && summary) seen.ran.push(summary)
  return [{ kind: 'tool', name, summary }]
}

type Turn = { request: Request; usage: string | undefined }

function sumUp(seen: Seen, exit: Exit, { request: { resume, at }, usage }: Turn): Outcome {
  const { result, error } = seen
  const before = resume?.tokens ?? 0
  // Its file counts from the session's start, including earlier turns.
  const all = usage === undefined ? undefined : usageIn(usage)
  const total = Math.max(before, all ? sumOf(all) : 0)
  const spent = sinceResume(all, resume)
  const known = all ?? resume?.usage
  const id = text(result?.sessionId) ?? resume?.id
  const base = {
    finalText: seen.words,
    denied: seen.denied,
    // A denied command did not run.
    ran: seen.ran.filter((line) => !seen.denied.includes(`bash: ${line}`)),
    tokens: total - before,
    ...(spent ? { usage: spent } : {}),
    ...(id === undefined ? {} : { session: { id, costUsd: 0, tokens: total, ...(known ? { usage: known } : {}) } }),
  }
  const stopped = stoppedByRalph(exit)
  if (stopped) return { ...base, ...stopped }
  if (seen.aborted) return { ...base, kind: 'killed', message: 'it was interrupted' }
  if (error) {
    const message = text(error.message) ?? 'it ended with an error'
    const kind = errorKind(error, message)
    const resetsAt = readReset(message, Number.isNaN(error.at) ? at : error.at)
    if (result?.exitCode !== 0 || exit.code !== 0)
      return { ...base, kind, message, ...(isLimit(kind) && resetsAt !== undefined ? { resetsAt } : {}) }
  }
  if (result?.exitCode === 0 && exit.code === 0) return { ...base, kind: 'ok' }
  const complaint = complaintIn(seen.stderr.join('\n'))
  if (exit.code !== 0 && complaint) return { ...base, ...complaint }
  return { ...base, ...exitedEarly(exit, seen.stderr.at(-1)) }
}

function isLimit(kind: Outcome['kind']): boolean {
  return kind === 'rate-limit' || kind === 'quota'
}

const TYPES: Readonly<Record<string, Outcome['kind']>> = {
  authentication: 'auth',
  authorization: 'auth',
  policy: 'auth',
  quota: 'quota',
  context_limit: 'context',
}

// `query` stands for everything without its own type, and `rate_limit` also for an account without credit.
function errorKind({ errorType, errorCode, statusCode }: Json, message: string): Outcome['kind'] {
  if (errorCode === 'billing_not_configured') return 'auth'
  const typed = TYPES[String(errorType)]
  if (typed) return typed
  const kind = kindOfWords(message)
  if (kind === 'context' || kind === 'auth') return kind
  if (errorType === 'rate_limit') return 'rate-limit'
  if (/could not connect/i.test(message)) return 'overloaded'
  return kindOfStatus(amount(statusCode)) ?? kind ?? 'unknown'
}

/** What it prints on stderr if it does not even start. */
function complaintIn(said: string): { kind: Outcome['kind']; message: string } | undefined {
  const line = (pattern: RegExp) => said.split('\n').find((one) => pattern.test(one))
  const lost = line(/no session\b/i)
  if (lost) return { kind: 'context', message: lost }
  const locked = line(/no authentication information|not logged in/i)
  if (locked) return { kind: 'auth', message: locked }
  const wrong = line(/unexpected argument|invalid value|unknown (option|model)|model .* not available/i)
  return wrong ? { kind: 'config', message: wrong } : undefined
}

/** Its input tokens include those from the cache. */
function usageIn(text: string): Usage | undefined {
  const models = Object.values(objectOf(parseJsonLine(text)?.modelMetrics))
  return models.reduce((all: Usage | undefined, model) => {
    const { inputTokens, outputTokens, cacheReadTokens } = objectOf(objectOf(model).usage)
    return plus(all, wholeUsage(inputTokens, cacheReadTokens, outputTokens))
  }, undefined)
}
