/**
 * OpenCode, headless: one `opencode run` per turn, read from its lines of JSON. Kilo is the same program under another
 * name.
 */
import { plain } from '../engine/breaker.ts'
import type { Usage as TokensByKind } from '../engine/loop.ts'
import type { Agent, AgentEvent, Command, Exit, Outcome, Parser, Request, Usage } from './agent.ts'
import { kindOfStatus, kindOfWords } from './api-error.ts'
import { exitedEarly, stoppedByRalph } from './ended.ts'
import { amount, type Json, objectOf, parseJsonLine, text } from './json-line.ts'
import { withServer } from './mcp-config.ts'
import { openCodePane, openCodeScreen } from './opencode-pane.ts'
import { readReset } from './reset.ts'
import { plus, sumOf } from './usage.ts'

export const opencode: Agent = agentOf({
  name: 'opencode',
  tested: '1.18.33',
  install: 'opencode-ai',
  login: {
    files: ['~/.local/share/opencode/auth.json'],
    variables: ['OPENCODE_API_KEY', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENCODE_CONFIG_CONTENT'],
  },
})

export const kilo: Agent = agentOf({
  name: 'kilo',
  tested: '7.7.7',
  install: '@kilocode/cli',
  login: {
    files: ['~/.local/share/kilo/auth.json'],
    variables: ['KILO_API_KEY', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'KILO_CONFIG_CONTENT'],
  },
})

type Names = { name: string; tested: string; install: string; login: { files: string[]; variables: string[] } }

function agentOf({ name, tested, install, login }: Names): Agent {
  const folders = ['.local/share', '.local/state', '.config', '.cache'].map((folder) => `~/${folder}/${name}`)
  return {
    name,
    settings: ['model', 'permissions', 'context', 'mcp'],
    reports: ['tokens', 'cost'],
    bypass: '--auto',
    grants: { setting: `"permission": {"bash": "allow"} in ${name}.json` },
    probe: {
      programs: [name],
      install,
      versionArgs: ['--version'],
      tested,
      login: { folder: `~/.local/share/${name}`, ...login },
    },
    own: {
      paths: folders,
      variables: ['XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_CONFIG_HOME'].map((one) => `${one}/${name}`),
    },
    graceMs: 5_000,
    command: (request) => command(name, request),
    parser: (request) => lineParser(request),
    reportsCost: true,
    pane: (telling) => openCodePane(name, telling),
    screen: openCodeScreen(tested),
  }
}

function command(name: string, request: Request): Command {
  const { prompt, mode, model, resume, permissions, extraArgs, target } = request
  const flags = [
    ...(permissions === 'bypass' ? ['--auto'] : []),
    ...(model ? ['--model', model] : []),
    ...(resume ? ['--session', resume.id] : []),
    ...extraArgs,
  ]
  const program = target || name
  const first = prompt ? [`--prompt=${prompt}`] : []
  if (mode === 'interactive') return { argv: [program, ...flags, ...first], env: {}, stdin: '' }
  return { argv: [program, 'run', '--format', 'json', ...flags], env: serverEnv(name, request), stdin: prompt }
}

/** It takes settings from a variable, which the user may use too. */
function serverEnv(name: string, { mcp }: Request): Record<string, string> {
  if (!mcp) return {}
  const variable = `${name.toUpperCase()}_CONFIG_CONTENT`
  const server = { type: 'local', command: mcp.command, environment: mcp.env }
  return { [variable]: withServer(mcp.variable?.(variable), 'mcp', server) }
}

type Seen = {
  words: string
  session: string
  /** Why its last step ended; empty during a step. */
  reason: string
  /** The last error, if no step finished after it. */
  error?: { name: string; data: Json; at: number }
  wasFull: boolean
  /** How often its context was full without a tool call in between. */
  overflows: number
  tokens: number
  usage?: TokensByKind
  calls: number
  costUsd: number
  ran: string[]
  denied: string[]
  stderr: string[]
}

function lineParser(request: Request): Parser {
  const seen: Seen = {
    words: '',
    session: '',
    reason: '',
    wasFull: false,
    overflows: 0,
    tokens: 0,
    calls: 0,
    costUsd: 0,
    ran: [],
    denied: [],
    stderr: [],
  }
  return {
    push(line, stream) {
      const event = stream === 'out' ? parseJsonLine(line) : undefined
      if (event) {
        const events = [...takeSession(event, seen), ...take(event, seen)]
        return { events, ...(seen.overflows >= HOPELESS ? { done: true } : {}) }
      }
      if (!line.trim()) return { events: [] }
      seen.stderr = [...seen.stderr.slice(-49), plain(line)]
      return { events: [{ kind: 'warning', message: line.slice(0, 500) }] }
    },
    end: (exit) => sumUp(seen, exit, request),
  }
}

function takeSession({ sessionID }: Json, seen: Seen): AgentEvent[] {
  if (typeof sessionID !== 'string' || sessionID === seen.session) return []
  seen.session = sessionID
  return [{ kind: 'session', id: sessionID }]
}

function take(event: Json, seen: Seen): AgentEvent[] {
  const part = objectOf(event.part)
  switch (event.type) {
    case 'step_start':
      seen.reason = ''
      return []
    case 'text': {
      // What the client itself inserts, such as after compaction, is not the agent's word.
      if (part.synthetic === true || typeof part.text !== 'string') return []
      seen.words = part.text
      return [{ kind: 'text', text: part.text }]
    }
    case 'tool_use':
      return takeTool(part, seen)
    case 'step_finish': {
      const usage = usageOf(part)
      seen.reason = text(part.reason) ?? ''
      seen.calls += 1
      seen.tokens += sumOf(usage)
      seen.usage = plus(seen.usage, usage)
      seen.costUsd += usage.costUsd ?? 0
      delete seen.error
      return [{ kind: 'usage', usage }]
    }
    case 'error':
      return takeError(event, seen)
    default:
      return []
  }
}

function takeTool(part: Json, seen: Seen): AgentEvent[] {
  const { input, status, error } = objectOf(part.state)
  const { command: line, filePath, pattern, url, description } = objectOf(input)
  const summary = text(line) ?? text(filePath) ?? text(pattern) ?? text(url) ?? text(description) ?? ''
  const name = text(part.tool) ?? 'tool'
  seen.overflows = 0
  if (status === 'error' && /rejected permission/i.test(String(error))) {
    seen.denied.push([name, summary].filter(Boolean).join(': '))
    return [{ kind: 'warning', message: `denied: ${name}` }]
  }
  if (name === 'bash' && summary) seen.ran.push(summary)
  return [{ kind: 'tool', name, summary }]
}

function takeError(event: Json, seen: Seen): AgentEvent[] {
  const { name, data } = objectOf(event.error)
  // Kilo's own errors are plain text.
  seen.error = {
    name: text(name) ?? text(event.error) ?? 'an error',
    data: objectOf(data),
    at: amount(event.timestamp),
  }
  if (name === 'ContextOverflowError') {
    seen.wasFull = true
    seen.overflows += 1
  }
  return [{ kind: 'warning', message: messageOf(seen.error) }]
}

function messageOf({ name, data }: NonNullable<Seen['error']>): string {
  return text(data.message) || name
}

/** It compacts and fills up again, endlessly: after this many times it will not recover. */
const HOPELESS = 3

function sumUp(seen: Seen, exit: Exit, { at }: Request): Outcome {
  const { error, reason } = seen
  const base = {
    finalText: seen.words,
    denied: seen.denied,
    ran: seen.ran,
    tokens: seen.tokens,
    ...(seen.usage ? { usage: seen.usage } : {}),
    calls: seen.calls,
    costUsd: seen.costUsd,
    ...(seen.session ? { session: { id: seen.session, costUsd: 0 } } : {}),
  }
  if (seen.overflows >= HOPELESS)
    return { ...base, kind: 'context', message: `its context was full ${seen.overflows} times in a row` }
  const stopped = stoppedByRalph(exit)
  if (stopped) return { ...base, ...stopped }
  // A rejected permission ends a turn in the middle: it needs a person, nothing is broken. Kilo calls it an error.
  if (seen.denied.length > 0 && (error ? /auto-rejected/.test(error.name) : exit.code === 0))
    return { ...base, kind: 'ok' }
  if (error) {
    const kind = errorKind(error)
    const resetsAt = kind === 'rate-limit' ? resetOf(error, at) : undefined
    return { ...base, kind, message: messageOf(error), ...(resetsAt === undefined ? {} : { resetsAt }) }
  }
  // There is no event for the end of a turn.
  if (exit.code === 0 && reason === 'stop') return { ...base, kind: 'ok' }
  if (reason === 'length') return { ...base, kind: 'unknown', message: "its answer was cut off at the model's limit" }
  // Even a turn that finished after compaction has exit code 1.
  if (seen.wasFull && exit.code === 1) return { ...base, kind: 'context', message: 'its context was full' }
  return { ...base, ...(complaintIn(seen.stderr) ?? exitedEarly(exit, seen.stderr.at(-1))) }
}

function errorKind({ name, data }: NonNullable<Seen['error']>): Outcome['kind'] {
  if (name === 'ContextOverflowError') return 'context'
  if (name === 'ProviderAuthError') return 'auth'
  if (name === 'ContentFilterError') return 'refused'
  if (name === 'MessageAbortedError') return 'killed'
  const kind = kindOfWords(text(data.message) ?? '')
  if (kind === 'context' || kind === 'auth') return kind
  return kindOfStatus(amount(data.statusCode)) ?? kind ?? 'unknown'
}

function resetOf(error: NonNullable<Seen['error']>, at: number): number | undefined {
  const from = error.at || at
  const seconds = Number(objectOf(error.data.responseHeaders)['retry-after'])
  return seconds > 0 ? from + seconds * 1_000 : readReset(messageOf(error), from)
}

/** What it prints if it does not even start. */
function complaintIn(said: readonly string[]): { kind: Outcome['kind']; message: string } | undefined {
  const line = (pattern: RegExp) => said.find((one) => pattern.test(one))
  const lost = line(/session not found/i)
  if (lost) return { kind: 'context', message: lost }
  // It does not say which argument is unknown: it prints its help.
  if (line(/^Options:$/))
    return { kind: 'config', message: 'it did not recognize one of its arguments and printed its help' }
  const wrong = line(/model not found|config.* (invalid|not valid)/i)
  return wrong ? { kind: 'config', message: wrong } : undefined
}

function usageOf(part: Json): Usage {
  const { input, output, reasoning, cache } = objectOf(part.tokens)
  const { read, write } = objectOf(cache)
  return {
    input: amount(input) + amount(write),
    output: amount(output) + amount(reasoning),
    cached: amount(read),
    costUsd: amount(part.cost),
    scope: 'step',
  }
}
