/** Codex: headless, one `codex exec --json` per turn, read from its lines of JSON; interactive with hooks. */
import type { Usage } from '../engine/loop.ts'
import { parseCommandLine } from '../formats/command-line.ts'
import type { Agent, AgentEvent, Command, Exit, McpServer, Outcome, Parser, Request } from './agent.ts'
import { kindOfStatus, kindOfWords } from './api-error.ts'
import { codexScreen, tellingCodex } from './codex-pane.ts'
import { type Ending, exitedEarly, stoppedByRalph } from './ended.ts'
import { type Json, objectOf, parseJsonLine, text } from './json-line.ts'
import { MCP_NAME } from './mcp-config.ts'
import { readReset } from './reset.ts'
import { sinceResume, sumOf, wholeUsage } from './usage.ts'

const BYPASS = '--dangerously-bypass-approvals-and-sandbox'

export const codex: Agent = {
  name: 'codex',
  settings: ['model', 'permissions', 'context', 'mcp'],
  reports: ['tokens'],
  bypass: BYPASS,
  grants: { setting: 'sandbox_mode = "workspace-write" in ~/.codex/config.toml' },
  probe: {
    programs: ['codex'],
    install: '@openai/codex',
    versionArgs: ['--version'],
    tested: '0.166.0',
    login: { folder: '~/.codex', files: ['~/.codex/auth.json'], variables: ['CODEX_API_KEY', 'OPENAI_API_KEY'] },
  },
  own: { paths: ['~/.codex'], variables: ['CODEX_HOME'] },
  graceMs: 5_000,
  command,
  parser: (request) => lineParser(request),
  turnEnd: (file) => ({ args: ['--config', `notify=${JSON.stringify(NOTIFY)}`], env: { RALPH_TURN_END: file } }),
  pane: tellingCodex,
  screen: codexScreen,
}

// Codex appends the event as a last argument. It also generates a title for every message of the user, which is a
// separate turn.
const TITLE = '"input-messages":["Generate a concise, single-line task title'
// A list of strings is the same in TOML as in JSON.
const NOTIFY = ['sh', '-c', `case $1 in *'${TITLE}'*) ;; *) touch "$RALPH_TURN_END" ;; esac`, 'ralph']

function command({ prompt, mode, model, resume, permissions, extraArgs, target, mcp }: Request): Command {
  const program = target || 'codex'
  const flags = [
    ...(permissions === 'bypass' ? [BYPASS] : []),
    ...(model ? ['--model', model] : []),
    ...(mcp ? serverFlags(mcp) : []),
    ...extraArgs,
  ]
  // Before `resume`, where `exec` accepts all its flags: `resume` itself knows only some of them.
  const session = resume ? ['resume', resume.id] : []
  const first = prompt ? ['--', prompt] : []
  if (mode === 'interactive') return { argv: [program, ...flags, ...session, ...first], env: {}, stdin: '' }
  return {
    argv: [program, 'exec', '--json', '--skip-git-repo-check', ...flags, ...session, '-'],
    env: mcp?.env ?? {},
    stdin: prompt,
  }
}

/** It passes only named variables to its servers. Strings and lists of strings are the same in TOML as in JSON. */
function serverFlags({ command, env }: McpServer): string[] {
  const [program, ...args] = command
  const settings = { command: program, args, env_vars: Object.keys(env), default_tools_approval_mode: 'approve' }
  return Object.entries(settings).flatMap(([key, value]) => [
    '--config',
    `mcp_servers.${MCP_NAME}.${key}=${JSON.stringify(value)}`,
  ])
}

type Seen = {
  words: string
  session: string
  /** The outcome of its last turn, once reported. */
  end?: 'completed' | { failed: string }
  /** As it counts, from the session's start. */
  total?: Usage
  items: Set<string>
  ran: string[]
  denied: string[]
  complaints: string[]
}

function lineParser(request: Request): Parser {
  const seen: Seen = { words: '', session: '', items: new Set(), ran: [], denied: [], complaints: [] }
  const asks = request.permissions === 'ask'
  return {
    push(line, stream) {
      const event = stream === 'out' ? parseJsonLine(line) : undefined
      if (event) return { events: take(event, seen, asks) }
      if (!line.trim()) return { events: [] }
      const [rejected] = (asks && REJECTED.exec(line)) || []
      if (rejected) seen.denied.push(rejected)
      seen.complaints = [...seen.complaints.slice(-19), line]
      return { events: [{ kind: 'warning', message: line.slice(0, 500) }] }
    },
    end: (exit) => sumUp(seen, exit, request),
  }
}

// `exec` cannot ask anybody, so it refuses what needs permission, and only its log on stderr says so.
const REJECTED = /patch rejected: .*|approval policy is Never; reject command/

function take(event: Json, seen: Seen, asks: boolean): AgentEvent[] {
  switch (event.type) {
    case 'thread.started':
      seen.session = text(event.thread_id) ?? ''
      return [{ kind: 'session', id: seen.session }]
    case 'turn.started':
      delete seen.end
      return []
    case 'item.started':
    case 'item.updated':
    case 'item.completed':
      return takeItem(objectOf(event.item), seen, asks)
    case 'error': {
      // Also reported for every attempt that is retried, so it ends nothing.
      const message = wordsOf(event.message)
      seen.complaints = [...seen.complaints.slice(-19), message]
      return [message.startsWith('Reconnecting') ? { kind: 'retry', why: message } : { kind: 'warning', message }]
    }
    case 'turn.completed':
      return takeUsage(objectOf(event.usage), seen)
    case 'turn.failed':
      seen.end = { failed: wordsOf(objectOf(event.error).message) }
      return []
    default:
      return []
  }
}

function takeItem(item: Json, seen: Seen, asks: boolean): AgentEvent[] {
  if (item.type === 'agent_message') {
    seen.words = text(item.text) ?? ''
    return [{ kind: 'text', text: seen.words }]
  }
  if (item.type === 'error') return [{ kind: 'warning', message: wordsOf(item.message) }]
  const summary = summaryOf(item)
  if (summary === undefined) return []
  const name = String(item.type)
  if (asks && isDenied(item)) seen.denied.push(`${name}: ${summary}`)
  // Items are reported two or three times, and some only when they are finished.
  const id = text(item.id) ?? ''
  if (seen.items.has(id)) return []
  seen.items.add(id)
  if (name === 'command_execution') seen.ran.push(summary)
  return [{ kind: 'tool', name, summary }]
}

/** Undefined if it is not a tool. */
function summaryOf(item: Json): string | undefined {
  switch (item.type) {
    case 'command_execution':
      return withoutShell(text(item.command) ?? '')
    case 'file_change':
      return (Array.isArray(item.changes) ? item.changes : []).map((one) => text(objectOf(one).path) ?? '').join(', ')
    case 'mcp_tool_call':
      return `${text(item.server) ?? ''}.${text(item.tool) ?? ''}`
    case 'collab_tool_call':
      return text(item.tool) ?? ''
    case 'web_search':
      return text(item.query) ?? ''
    default:
      return undefined
  }
}

/** `/bin/bash -lc 'npm test'` → `npm test` */
function withoutShell(line: string): string {
  if (!/^\S*sh -l?c /.test(line)) return line
  try {
    const words = parseCommandLine(line)
    return words.length === 3 ? (words[2] ?? line) : line
  } catch {
    return line // quoted in a way that only a shell understands
  }
}

// The sandbox shows in the output of the command that it blocked.
function isDenied({ status, aggregated_output: output }: Json): boolean {
  if (status === 'declined') return true
  return status === 'failed' && /read-only file system|operation not permitted/i.test(text(output) ?? '')
}

function takeUsage(usage: Json, seen: Seen): AgentEvent[] {
  seen.end = 'completed'
  seen.total = wholeUsage(usage.input_tokens, usage.cached_input_tokens, usage.output_tokens)
  return [{ kind: 'usage', usage: { ...seen.total, scope: 'session' } }]
}

function sumUp(seen: Seen, exit: Exit, { at, resume }: Request): Outcome {
  const same = resume && (!seen.session || seen.session === resume.id) ? resume : undefined
  const before = same?.tokens ?? 0
  const total = seen.total ? sumOf(seen.total) : before
  const all = seen.total ?? same?.usage
  const usage = sinceResume(seen.total, same)
  const base = {
    finalText: seen.words,
    denied: seen.denied,
    ran: seen.ran,
    tokens: Math.max(0, total - before),
    ...(usage ? { usage } : {}),
    ...(seen.session
      ? { session: { id: seen.session, costUsd: 0, tokens: total, ...(all ? { usage: all } : {}) } }
      : {}),
  }
  const stopped = stoppedByRalph(exit)
  if (stopped) return { ...base, ...stopped }
  if (seen.end === 'completed' && exit.code === 0) return { ...base, kind: 'ok' }
  if (typeof seen.end !== 'object') return { ...base, ...notStarted(seen, exit) }
  const message = seen.end.failed
  const kind = kindOf(message)
  const resetsAt = kind === 'rate-limit' ? resetIn(message, at) : undefined
  return { ...base, kind, message, ...(resetsAt === undefined ? {} : { resetsAt }) }
}

function notStarted({ complaints, session }: Seen, exit: Exit): Ending {
  const said = complaints.join('\n')
  const lost = /^.*no rollout found for thread.*$/m.exec(said)
  if (lost) return { kind: 'context', message: lost[0] }
  const wrong = session ? undefined : /^error: .*$|^Error loading .*$|^Not inside a trusted directory.*$/m.exec(said)
  if (exit.code && wrong) return { kind: 'config', message: wrong[0] }
  return exitedEarly(exit, complaints.at(-1))
}

function kindOf(message: string): Outcome['kind'] {
  const status = /^unexpected status (\d{3})\b/.exec(message)?.[1]
  if (/missing environment variable|sign in again|upgrade to plus|out of credits/i.test(message)) return 'auth'
  if (/^invalid prompt/i.test(message)) return 'refused'
  return (status && kindOfStatus(Number(status))) || kindOfWords(message) || 'unknown'
}

const MINUTE = 60_000

/** `try again at 3:33 AM`, preceded by the date if that is not today: local time, without seconds. */
function resetIn(message: string, at: number): number | undefined {
  const [, month, day, time] = /try again at (\w+ )(\d+)\w\w(, \d{4} \d+:\d\d [AP]M)/.exec(message) ?? []
  const reset = month ? Date.parse(`${month}${day}${time}`) : readReset(message, at - MINUTE)
  return reset === undefined || Number.isNaN(reset) ? undefined : reset + MINUTE
}

/** The service's own error is passed on as JSON. */
function wordsOf(message: unknown): string {
  const said = text(message) ?? ''
  return text(objectOf(parseJsonLine(said)?.error).message) ?? said
}
