/** Pi, headless: one `pi --mode json` per turn, read from its stream of JSON lines. */
import type { Usage as TokensByKind } from '../engine/loop.ts'
import type { Agent, AgentEvent, Command, Exit, Outcome, Parser, Request, Screen, Usage } from './agent.ts'
import { kindOfMessage, wordsOfError } from './api-error.ts'
import { type Ending, exitedEarly, stoppedByRalph } from './ended.ts'
import { amount, type Json, objectOf, pushTo, text } from './json-line.ts'
import { readReset } from './reset.ts'
import { plus, sumOf } from './usage.ts'

const SCREEN: Screen = {
  client: '0.87.1',
  seen: '2026-11-17',
  // The upper edge of its editor: "── ⠧ Working ──", "── ⠸ Retrying (2/3) in 3s... ──".
  working: [/^── [\u2800-\u28ff] /],
  asks: [/^ ↑↓ navigate {2}.*\bcancel$/, /^ \S+ submit {2}.*\bcancel\b/, /^ \(\S+ to cancel\b.*\)$/],
  // What is between the last two edges, which also frame dialogs.
  input: /^──.*\n((?:(?!──).*\n)*)──.*$(?![\s\S]*\n──)/m,
  quietSeconds: 3,
  interrupt: ['Escape'],
  clear: ['C-c'],
}

/** It has no permissions to ask for, so there are none to bypass. */
export const pi: Agent = {
  name: 'pi',
  settings: ['model', 'context'],
  reports: ['tokens', 'cost'],
  probe: {
    programs: ['pi'],
    install: '@earendil-works/pi-coding-agent',
    versionArgs: ['--version'],
    tested: '0.87.1',
    login: {
      folder: '~/.pi',
      files: ['~/.pi/agent/auth.json', '~/.pi/agent/models.json'],
      variables: [
        'ANTHROPIC_API_KEY',
        'ANTHROPIC_AUTH_TOKEN',
        'ANTHROPIC_OAUTH_TOKEN',
        'OPENAI_API_KEY',
        'GEMINI_API_KEY',
        'OPENROUTER_API_KEY',
        'AI_GATEWAY_API_KEY',
        'XAI_API_KEY',
        'GROQ_API_KEY',
        'MISTRAL_API_KEY',
        'DEEPSEEK_API_KEY',
        'ZAI_API_KEY',
      ],
    },
  },
  own: { paths: ['~/.pi'], variables: ['PI_CODING_AGENT_DIR'] },
  graceMs: 5_000,
  command,
  parser: (request) => streamParser(request),
  turnEnd(file, folder) {
    const path = `${folder}/turn-end.ts`
    return { args: ['--extension', path], env: {}, files: [{ path, text: extension(file) }] }
  },
  reportsCost: true,
  pane: ({ hook, plugins }) => ({
    args: ['--extension', `${plugins}/pane/pi.js`],
    env: { RALPH_PANE_TELL: JSON.stringify(hook) },
  }),
  screen: SCREEN,
}

/** Settled, not ended: a retry or a queued message may still follow an end. */
function extension(file: string): string {
  return `export default function (pi) {
  pi.on('agent_settled', () => pi.exec('touch', [${JSON.stringify(file)}]))
}
`
}

function command({ prompt, mode, model, resume, extraArgs, target }: Request): Command {
  const flags = [...(model ? ['--model', model] : []), ...(resume ? ['--session', resume.id] : []), ...extraArgs]
  const program = target || 'pi'
  if (mode === 'interactive')
    return { argv: [program, ...flags, ...(prompt ? ['--', prompt] : [])], env: {}, stdin: '' }
  return { argv: [program, '--mode', 'json', ...flags], env: {}, stdin: prompt }
}

type Seen = {
  session: string
  words: string
  /** The last message of the assistant, which says how the turn ended. */
  last?: Json
  /** It will neither retry nor continue by itself. */
  settled: boolean
  tokens: number
  usage?: TokensByKind
  calls: number
  costUsd?: number
  ran: string[]
  stderr: string[]
}

function streamParser(request: Request): Parser {
  const seen: Seen = { session: '', words: '', settled: false, tokens: 0, calls: 0, ran: [], stderr: [] }
  return {
    push: pushTo(seen, (event) => take(event, seen)),
    end: (exit) => sumUp(seen, exit, request),
  }
}

function take(event: Json, seen: Seen): AgentEvent[] {
  switch (event.type) {
    case 'session':
      seen.session = text(event.id) ?? ''
      return [{ kind: 'session', id: seen.session }]
    case 'agent_start':
      seen.settled = false
      return []
    case 'agent_end':
      // Before 0.80.4 it reports no more than that.
      seen.settled = event.willRetry !== true
      return []
    case 'agent_settled':
      seen.settled = true
      return []
    case 'message_end':
      return takeMessage(objectOf(event.message), seen)
    case 'tool_execution_start':
      return [takeTool(event, seen)]
    case 'compaction_end':
      return takeUsage(objectOf(event.result).usage, seen)
    case 'auto_retry_start':
    case 'summarization_retry_scheduled':
      return [{ kind: 'retry', why: text(event.errorMessage) ?? 'an error' }]
    default:
      return []
  }
}

function takeMessage(message: Json, seen: Seen): AgentEvent[] {
  if (message.role !== 'assistant') return []
  const blocks = Array.isArray(message.content) ? message.content.map(objectOf) : []
  const words = blocks.flatMap((block) => (block.type === 'text' ? (text(block.text) ?? []) : [])).join('\n')
  seen.last = message
  if (words) seen.words = words
  return [...(words ? [{ kind: 'text', text: words } as const] : []), ...takeUsage(message.usage, seen)]
}

function takeTool({ toolName, args }: Json, seen: Seen): AgentEvent {
  const { command: line, path, pattern } = objectOf(args)
  const summary = text(line) ?? text(path) ?? text(pattern) ?? ''
  if (toolName === 'bash' || toolName === 'powershell') seen.ran.push(summary)
  return { kind: 'tool', name: text(toolName) ?? 'tool', summary }
}

function takeUsage(value: unknown, seen: Seen): AgentEvent[] {
  if (value === undefined) return []
  const { input, output, cacheRead, cacheWrite, cost } = objectOf(value)
  const costUsd = amount(objectOf(cost).total)
  const usage: Usage = {
    input: amount(input) + amount(cacheWrite),
    output: amount(output),
    cached: amount(cacheRead),
    costUsd,
    scope: 'step',
  }
  seen.calls += 1
  seen.tokens += sumOf(usage)
  seen.usage = plus(seen.usage, usage)
  seen.costUsd = (seen.costUsd ?? 0) + costUsd
  return [{ kind: 'usage', usage }]
}

function sumUp(seen: Seen, exit: Exit, { at }: Request): Outcome {
  const base = {
    finalText: seen.words,
    denied: [],
    ran: seen.ran,
    tokens: seen.tokens,
    ...(seen.usage ? { usage: seen.usage } : {}),
    calls: seen.calls,
    ...(seen.session ? { session: { id: seen.session, costUsd: 0 } } : {}),
    ...(seen.costUsd === undefined ? {} : { costUsd: seen.costUsd }),
  }
  const stopped = stoppedByRalph(exit)
  if (stopped) return { ...base, ...stopped }
  if (!seen.last) return { ...base, ...(neverBegan(seen, exit) ?? exitedEarly(exit, seen.stderr.at(-1))) }
  if (!seen.settled || exit.code !== 0) return { ...base, ...exitedEarly(exit, seen.stderr.at(-1)) }
  const failed = failureOf(seen.last)
  if (!failed) return { ...base, kind: 'ok' }
  // "Try again in ~20 min."
  const resetsAt = failed.kind === 'rate-limit' ? readReset(failed.message.replace('~', ''), at) : undefined
  return { ...base, ...failed, ...(resetsAt === undefined ? {} : { resetsAt }) }
}

/** In JSON mode it exits with code 0 whatever its model said, so the last message decides. */
function failureOf({ stopReason, errorMessage }: Json): Ending | undefined {
  if (stopReason === 'stop' || stopReason === 'toolUse') return undefined // a tool may end the turn
  const message = text(errorMessage) ?? `the answer ended with "${stopReason}"`
  if (stopReason === 'aborted') return { kind: 'killed', message }
  return { kind: stopReason === 'error' ? kindOfMessage(message) : 'unknown', message: wordsOfError(message) }
}

function neverBegan({ stderr }: Seen, exit: Exit): Ending | undefined {
  const said = stderr.join('\n')
  // For a session of another folder it asks whether to copy it, takes the prompt for a no, and exits with 0.
  const noSession = /^.*(no session found|session found in different project).*$/im.exec(said)
  if (noSession) return { kind: 'context', message: noSession[0] }
  if (exit.code === 0 || exit.signal) return undefined
  const noKey = /^.*(no api key|no models? (available|selected)).*$/im.exec(said)
  if (noKey) return { kind: 'auth', message: noKey[0] }
  const wrong = /^(error: .*|.*(unknown option|not found).*)$/im.exec(said)
  return wrong ? { kind: 'config', message: wrong[0] } : undefined
}
