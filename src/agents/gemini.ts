/** Gemini CLI, headless: one `gemini` per turn, read from its stream of JSON lines. */
import type { Usage } from '../engine/loop.ts'
import type { Agent, AgentEvent, Command, Exit, Outcome, Parser, Request } from './agent.ts'
import { kindOfStatus, kindOfWords } from './api-error.ts'
import { type Ending, exitedEarly, stoppedByRalph } from './ended.ts'
import { geminiScreen } from './gemini-pane.ts'
import { amount, isRest, type Json, objectOf, parseJsonLine, text } from './json-line.ts'
import { partsOf, withServer } from './mcp-config.ts'
import { readReset } from './reset.ts'

export const gemini: Agent = {
  name: 'gemini',
  settings: ['model', 'permissions', 'context', 'mcp'],
  reports: ['tokens'],
  bypass: '--yolo',
  grants: { setting: 'a rule in ~/.gemini/policies, such as toolName = "run_shell_command" with decision = "allow"' },
  hidesTools: true,
  probe: {
    programs: ['gemini'],
    install: '@google/gemini-cli',
    versionArgs: ['--version'],
    tested: '0.61.0',
    login: {
      folder: '~/.gemini',
      files: ['~/.gemini/oauth_creds.json', '~/.gemini/gemini-credentials.json', '~/.gemini/.env'],
      variables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENAI_USE_VERTEXAI', 'GOOGLE_GENAI_USE_GCA'],
    },
  },
  own: { paths: ['~/.gemini'], variables: [] },
  graceMs: 5_000,
  command,
  parser: (request) => streamParser(request),
  texts: 'pieces',
  screen: geminiScreen,
}

function command(request: Request): Command {
  const { prompt, mode, model, resume, permissions, extraArgs, target } = request
  const flags = [
    // Headless, it refuses to start in a folder that is not trusted yet.
    ...(mode === 'headless' ? ['--output-format', 'stream-json', '--skip-trust'] : []),
    ...(permissions === 'bypass' ? ['--yolo'] : []),
    ...(model ? ['--model', model] : []),
    ...(resume ? ['--resume', resume.id] : []),
    ...extraArgs,
  ]
  const program = target || 'gemini'
  const first = prompt ? [`--prompt-interactive=${prompt}`] : []
  if (mode === 'interactive') return { argv: [program, ...flags, ...first], env: {}, stdin: '' }
  return { argv: [program, ...flags], stdin: prompt, ...serverPlace(request) }
}

const DEFAULTS = 'GEMINI_CLI_SYSTEM_DEFAULTS_PATH'
const DEFAULTS_PATHS = [
  '/etc/gemini-cli/system-defaults.json',
  '/Library/Application Support/GeminiCli/system-defaults.json',
]

/**
 * It has no flag for a server, but reads defaults from a file, which everybody's own settings override. The file must
 * be safe from others.
 */
function serverPlace({ mcp }: Request): Pick<Command, 'env' | 'files'> {
  if (!mcp) return { env: {} }
  const path = mcp.file('gemini-defaults.json')
  const server = { ...partsOf(mcp), trust: true }
  const text = withServer(mcp.machineFile?.(DEFAULTS, DEFAULTS_PATHS), 'mcpServers', server)
  return { env: { [DEFAULTS]: path }, files: [{ path, text }] }
}

type Tool = { name: string; summary: string }

type Seen = {
  words: string
  session: string
  result?: Json
  error: string
  tools: Map<string, Tool>
  denied: string[]
  ran: string[]
  stderr: string[]
}

function streamParser(request: Request): Parser {
  const seen: Seen = { words: '', session: '', error: '', tools: new Map(), denied: [], ran: [], stderr: [] }
  return {
    push(line, stream) {
      const event = stream === 'out' ? parseJsonLine(line) : undefined
      if (event) return { events: take(event, seen, request) }
      if (!line.trim()) return { events: [] }
      // A bad flag is followed by the whole help, an error by its stack: what matters comes first.
      seen.stderr = [...seen.stderr, line].slice(0, 100)
      if (isRest(line)) return { events: [] }
      const retries = /^Attempt \d+ failed\b.*\bretrying\b/i.test(line)
      return { events: [retries ? { kind: 'retry', why: line } : { kind: 'warning', message: line.slice(0, 500) }] }
    },
    end: (exit) => sumUp(seen, exit, request),
  }
}

function take(event: Json, seen: Seen, request: Request): AgentEvent[] {
  switch (event.type) {
    case 'init':
      seen.session = text(event.session_id) ?? ''
      return [{ kind: 'session', id: seen.session }]
    case 'message': {
      if (event.role !== 'assistant' || typeof event.content !== 'string') return []
      seen.words += event.content // text arrives in pieces, and ends where a tool is called
      return [{ kind: 'text', text: event.content }]
    }
    case 'tool_use': {
      const tool = { name: text(event.tool_name) ?? 'a tool', summary: summaryOf(event.parameters) }
      seen.words = ''
      seen.tools.set(String(event.tool_id), tool)
      return [{ kind: 'tool', ...tool }]
    }
    case 'tool_result':
      return takeToolResult(event, seen, request)
    case 'error':
      seen.error = text(event.message) ?? ''
      // A hook of the user's made it continue: what it said before was not its last word.
      if (seen.error.startsWith('Agent execution blocked')) seen.words = ''
      return [{ kind: 'warning', message: seen.error }]
    case 'result':
      seen.result = event
      return [{ kind: 'usage', usage: { ...usageOf(event), scope: 'run' } }]
    default:
      return []
  }
}

function usageOf({ stats }: Json): Usage {
  const { input, cached, total_tokens: total } = objectOf(stats)
  return {
    input: amount(input),
    cached: amount(cached),
    output: Math.max(0, amount(total) - amount(input) - amount(cached)),
  }
}

function takeToolResult(event: Json, seen: Seen, { permissions }: Request): AgentEvent[] {
  const { name, summary } = seen.tools.get(String(event.tool_id)) ?? { name: 'a tool', summary: '' }
  const { type } = objectOf(event.error)
  // It does not deny tools that need permission: it hides them from the model.
  const isHidden = type === 'tool_not_registered' && permissions === 'ask' && ASKED_FOR.has(name)
  if (!isHidden && type !== 'policy_violation') {
    if (name === 'run_shell_command') seen.ran.push(summary)
    return []
  }
  seen.denied.push([name, summary].filter(Boolean).join(': '))
  return [{ kind: 'warning', message: `denied: ${name}` }]
}

const ASKED_FOR = new Set(['run_shell_command', 'write_file', 'replace', 'web_fetch'])

function sumUp(seen: Seen, exit: Exit, { at }: Request): Outcome {
  const { result } = seen
  const base = {
    finalText: seen.words,
    denied: seen.denied,
    ran: seen.ran,
    tokens: amount(objectOf(result?.stats).total_tokens),
    ...(result ? { usage: usageOf(result) } : {}),
    ...(seen.session ? { session: { id: seen.session, costUsd: 0 } } : {}),
  }
  const stopped = stoppedByRalph(exit)
  if (stopped) return { ...base, ...stopped }
  const complaint = seen.session ? undefined : complaintIn(seen.stderr, exit)
  if (complaint) return { ...base, ...complaint }
  if (!result) return { ...base, ...exitedEarly(exit, seen.stderr.at(-1)) }
  if (result.status === 'success' && exit.code === 0) return { ...base, kind: 'ok' }
  if (exit.code === EXITS.turnLimit) return { ...base, finalText: '', kind: 'ok' } // the user wanted it to stop there
  const message = text(objectOf(result.error).message) ?? (seen.error || `it exited with code ${exit.code}`)
  const kind = errorKind(message, exit.code ?? 0)
  const resetsAt = kind === 'rate-limit' ? readReset(message, at) : undefined
  return { ...base, kind, message, ...(resetsAt === undefined ? {} : { resetsAt }) }
}

const EXITS = { auth: 41, sandbox: 44, config: 52, turnLimit: 53, untrusted: 55, cancelled: 130 } as const

/** What it prints on stderr if it does not even start. */
function complaintIn(said: readonly string[], { code }: Exit): Ending | undefined {
  const find = (pattern: RegExp) => said.find((line) => pattern.test(line))
  if (code === null || code === 0) return undefined
  const lost = find(/^Error resuming session|^Invalid session identifier/)
  if (lost) return { kind: 'context', message: lost }
  const wrong = find(/^(Unknown argument|Invalid values|Not enough arguments)/)
  if (wrong) return { kind: 'config', message: wrong }
  const kind = code === EXITS.auth ? 'auth' : TO_SET_RIGHT.has(code) ? 'config' : undefined
  return kind && { kind, message: find(/\b(must|not|error|invalid)\b/i) ?? said.join('\n') }
}

const TO_SET_RIGHT = new Set<number>([EXITS.sandbox, EXITS.config, EXITS.untrusted])

function errorKind(message: string, code: number): Outcome['kind'] {
  const words = kindOfWords(message)
  if (words === 'context') return words
  if (/exhausted your daily quota/i.test(message)) return 'quota'
  if (/response was blocked/i.test(message)) return 'refused'
  if (code === EXITS.auth) return 'auth'
  if (code === EXITS.cancelled) return 'killed'
  // Its exit code keeps only the lowest eight bits of an HTTP status.
  return (code >= 400 - 256 ? kindOfStatus(code + 256) : undefined) ?? words ?? 'unknown'
}

function summaryOf(parameters: unknown): string {
  const { command: line, file_path: path, dir_path: folder, pattern, url, prompt } = objectOf(parameters)
  return text(line) ?? text(path) ?? text(folder) ?? text(pattern) ?? text(url) ?? text(prompt) ?? ''
}
