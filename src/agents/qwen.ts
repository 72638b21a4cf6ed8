/** Qwen Code, headless: one `qwen` per turn, read from a stream like Claude Code's. */
import type { Usage as TokensByKind } from '../engine/loop.ts'
import type { Agent, AgentEvent, Command, Exit, Outcome, Parser, Request, Usage } from './agent.ts'
import { kindOfWords } from './api-error.ts'
import { deniedIn, nothingSeen, type Seen, takeAssistant, takeInit } from './claude-stream.ts'
import { type Ending, exitedEarly, stoppedByRalph } from './ended.ts'
import { type Json, objectOf, pushTo, text } from './json-line.ts'
import { mcpFile } from './mcp-config.ts'
import { qwenScreen, tellingQwen } from './qwen-pane.ts'
import { readReset } from './reset.ts'
import { plus, sinceResume, sumOf, wholeUsage } from './usage.ts'

export const qwen: Agent = {
  name: 'qwen',
  settings: ['model', 'permissions', 'context', 'mcp'],
  reports: ['tokens'],
  bypass: '--yolo',
  grants: { setting: 'permissions.allow in .qwen/settings.json, such as "Bash(npm test)"' },
  hidesTools: true,
  probe: {
    programs: ['qwen'],
    install: '@qwen-code/qwen-code',
    versionArgs: ['--version'],
    tested: '0.24.4',
    login: {
      folder: '~/.qwen',
      files: ['~/.qwen/oauth_creds.json', '~/.qwen/.env'],
      variables: ['OPENAI_API_KEY', 'DASHSCOPE_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    },
  },
  own: { paths: ['~/.qwen'], variables: [] },
  graceMs: 5_000,
  command,
  parser: (request) => streamParser(request),
  pane: tellingQwen,
  screen: qwenScreen,
}

function command(request: Request): Command {
  const { prompt, mode, model, resume, permissions, extraArgs, target } = request
  const server = mcpFile(request, { trust: true, alwaysLoadTools: true })
  const flags = [
    ...(mode === 'headless' ? ['--output-format', 'stream-json'] : []),
    ...(permissions === 'bypass' ? ['--yolo'] : []),
    ...(model ? ['--model', model] : []),
    ...(resume ? ['--resume', resume.id] : []),
    ...(server ? ['--mcp-config', server.path] : []),
    ...extraArgs,
  ]
  const program = target || 'qwen'
  const first = prompt ? [`--prompt-interactive=${prompt}`] : []
  if (mode === 'interactive') return { argv: [program, ...flags, ...first], env: {}, stdin: '' }
  return { argv: [program, ...flags], env: {}, stdin: prompt, ...(server ? { files: [server] } : {}) }
}

/** `spent`: what the answers of this turn used, for turns without a result; `complaint`: what kept it from starting. */
type QwenSeen = Seen & { spent?: TokensByKind; complaint?: string }

function streamParser(request: Request): Parser {
  const seen: QwenSeen = nothingSeen()
  const push = pushTo(seen, (event) => take(event, seen))
  return {
    push(line, stream) {
      if (/^Retrying provider attempt/.test(line)) return { events: [{ kind: 'retry', why: line }] }
      if (!seen.session && /^(Unknown argument|Invalid values)/.test(line)) seen.complaint = line // the whole help follows
      return push(line, stream)
    },
    end: (exit) => sumUp(seen, exit, request),
  }
}

function take(event: Json, seen: QwenSeen): AgentEvent[] {
  switch (event.type) {
    case 'system':
      return event.subtype === 'init' ? takeInit(event, seen) : []
    case 'assistant':
      seen.spent = plus(seen.spent, usageOf(objectOf(event.message)))
      return takeAssistant(event, seen, 'run_shell_command')
    case 'result': {
      const usage = usageOf(event)
      seen.result = event
      seen.usage = plus(undefined, usage)
      return [{ kind: 'usage', usage }]
    }
    default:
      return []
  }
}

function usageOf(from: Json): Usage {
  const { input_tokens: input, output_tokens: output, cache_read_input_tokens: cached } = objectOf(from.usage)
  return { ...wholeUsage(input, cached, output), scope: 'session' }
}

function sumUp(seen: QwenSeen, exit: Exit, { at, resume }: Request): Outcome {
  const { result } = seen
  // Its result counts from the session's start.
  const before = resume?.tokens ?? 0
  const usage = result ? sinceResume(seen.usage, resume) : seen.spent
  const total = seen.usage ? Math.max(before, sumOf(seen.usage)) : before + (seen.spent ? sumOf(seen.spent) : 0)
  const all =
    seen.usage ?? (seen.spent && (before === 0 || resume?.usage) ? plus(resume?.usage, seen.spent) : undefined)
  const base = {
    finalText: result?.is_error === true ? '' : seen.words, // an error is printed as if the model had said it
    denied: deniedIn(result),
    ran: seen.ran,
    tokens: total - before,
    ...(usage ? { usage } : {}),
    ...(seen.session
      ? { session: { id: seen.session, costUsd: 0, tokens: total, ...(all ? { usage: all } : {}) } }
      : {}),
  }
  const stopped = stoppedByRalph(exit)
  if (stopped) return { ...base, ...stopped }
  if (seen.complaint && exit.code !== 0) return { ...base, kind: 'config', message: seen.complaint }
  if (CUT_BY_OWN_LIMIT.has(exit.code ?? 0)) return { ...base, finalText: '', kind: 'ok' }
  if (!result) return { ...base, ...withoutResult(seen, exit) }
  if (result.is_error !== true && exit.code === 0) return { ...base, kind: 'ok' }
  const message = text(objectOf(result.error).message) ?? seen.stderr.at(-1) ?? `it exited with code ${exit.code}`
  const kind = errorKind(message)
  const resetsAt = kind === 'quota' || kind === 'rate-limit' ? resetIn(message, at) : undefined
  return { ...base, kind, message, ...(resetsAt === undefined ? {} : { resetsAt }) }
}

// `--max-session-turns`, `--max-wall-time` and `--max-tool-calls` among its arguments: the user wanted it to stop
// there.
const CUT_BY_OWN_LIMIT = new Set([53, 55])

function withoutResult({ stderr }: Seen, exit: Exit): Ending {
  const last = stderr.at(-1) ?? ''
  return /^No saved session found/.test(last) ? { kind: 'context', message: last } : exitedEarly(exit, last)
}

function errorKind(message: string): Outcome['kind'] {
  if (/^Quota exhausted/.test(message)) return 'quota'
  if (/^Missing API key|no auth type/i.test(message)) return 'auth'
  return kindOfWords(message) ?? 'unknown'
}

/** It gives up at once only on a quota that names its end. */
function resetIn(message: string, at: number): number | undefined {
  const named = /reset at (\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?) ?(UTC|Z|[+-]\d\d:?\d\d)?/.exec(message)
  if (!named) return readReset(message, at)
  const [, day, clock, zone = ''] = named
  return Date.parse(`${day}T${clock}${zone.replace('UTC', 'Z')}`)
}
