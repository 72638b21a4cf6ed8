/** Droid, headless: one `droid exec` per turn, read from its stream of JSON lines. */
import type { Agent, AgentEvent, Command, Exit, Outcome, Parser, Request, Usage } from './agent.ts'
import { kindOfStatus, kindOfWords } from './api-error.ts'
import { droidScreen, tellingDroid } from './droid-pane.ts'
import { type Ending, exitedEarly, stoppedByRalph } from './ended.ts'
import { type Json, objectOf, pushTo, text } from './json-line.ts'
import { readReset } from './reset.ts'
import { anthropicUsage } from './usage.ts'

export const droid: Agent = {
  name: 'droid',
  settings: ['model', 'permissions', 'context'],
  reports: ['tokens'],
  bypass: '--skip-permissions-unsafe',
  grants: { argument: '--auto medium' },
  probe: {
    programs: ['droid'],
    install: 'droid',
    versionArgs: ['--version'],
    tested: '0.215.0',
    login: {
      folder: '~/.factory',
      files: ['~/.factory/auth.v2.file', '~/.factory/auth.encrypted', '~/.factory/auth.json'],
      variables: ['FACTORY_API_KEY'],
    },
  },
  own: { paths: ['~/.factory'], variables: [] },
  graceMs: 1_000, // it ignores SIGTERM
  command,
  parser: (request) => streamParser(request),
  pane: tellingDroid,
  screen: droidScreen,
}

function command({ prompt, mode, model, resume, permissions, extraArgs, target }: Request): Command {
  const program = target || 'droid'
  if (mode === 'interactive') {
    // When interactive, it has neither a flag for the model nor one that skips every permission.
    const flags = [...(permissions === 'bypass' ? ['--auto', 'high'] : []), ...(resume ? ['--resume', resume.id] : [])]
    return { argv: [program, ...flags, ...extraArgs, ...(prompt ? ['--', prompt] : [])], env: {}, stdin: '' }
  }
  const flags = [
    ...(permissions === 'bypass' ? ['--skip-permissions-unsafe'] : []),
    ...(model ? ['--model', model] : []),
    // To resume the session itself it asks Factory's server; a fork is made from local files.
    ...(resume ? ['--fork', resume.id] : []),
    ...extraArgs,
  ]
  return { argv: [program, 'exec', '--output-format', 'stream-json', ...flags], env: {}, stdin: prompt }
}

type Seen = {
  session: string
  words: string
  completion?: Json
  /** What went wrong, in the words of the model's service if it was that. */
  error: string
  /** Running calls, for their names if one is denied. */
  calls: Map<string, string>
  denied: string[]
  ran: string[]
  stderr: string[]
}

function streamParser(request: Request): Parser {
  const seen: Seen = { session: '', words: '', error: '', calls: new Map(), denied: [], ran: [], stderr: [] }
  return {
    push: pushTo(seen, (event) => take(event, seen)),
    end: (exit) => sumUp(seen, exit, request),
  }
}

function take(event: Json, seen: Seen): AgentEvent[] {
  switch (event.type) {
    case 'system':
      if (event.subtype !== 'init') return []
      seen.session = text(event.session_id) ?? ''
      return [{ kind: 'session', id: seen.session }]
    case 'message':
      if (event.role !== 'assistant' || !text(event.text)) return []
      seen.words = String(event.text)
      return [{ kind: 'text', text: seen.words }]
    case 'tool_call':
      return [takeCall(event, seen)]
    case 'tool_result':
      return takeResult(event, seen)
    case 'error': {
      const message = text(event.message) ?? 'an error'
      if (event.source !== 'cli' || !seen.error) seen.error = message // the last one only says that it failed
      return [{ kind: 'warning', message }]
    }
    case 'completion':
      seen.completion = event
      return [{ kind: 'usage', usage: usageOf(event) }]
    default:
      return []
  }
}

function takeCall({ id, toolName, parameters }: Json, seen: Seen): AgentEvent {
  const { command: line, file_path: path, pattern, url } = objectOf(parameters)
  const summary = text(line) ?? text(path) ?? text(pattern) ?? text(url) ?? ''
  const name = text(toolName) ?? 'tool'
  if (name === 'Execute') seen.ran.push(summary)
  seen.calls.set(String(id), [name, summary].filter(Boolean).join(': '))
  return { kind: 'tool', name, summary }
}

const DENIED = /^(?:error: )?exec ended early: .*(insufficient permission|requires higher autonomy)/i

function takeResult({ id, error }: Json, seen: Seen): AgentEvent[] {
  if (!DENIED.test(text(objectOf(error).message) ?? '')) return []
  const call = seen.calls.get(String(id)) ?? 'a tool'
  seen.denied.push(call)
  seen.ran = seen.ran.filter((line) => call !== `Execute: ${line}`)
  return [{ kind: 'warning', message: `denied: ${call}` }]
}

function usageOf({ usage }: Json): Usage {
  return { ...anthropicUsage(objectOf(usage)), scope: 'run' }
}

function sumUp(seen: Seen, exit: Exit, { at, resume }: Request): Outcome {
  const { completion, error, denied } = seen
  const { input, cached, output } = usageOf(completion ?? {})
  const base = {
    finalText: text(completion?.finalText) || seen.words,
    denied,
    ran: seen.ran,
    tokens: input + cached + output,
    ...(completion ? { usage: { input, cached, output } } : {}),
    ...(seen.session ? { session: { id: seen.session, costUsd: 0 } } : {}),
  }
  const stopped = stoppedByRalph(exit)
  if (stopped) return { ...base, ...stopped }
  if (completion && exit.code === 0) return { ...base, kind: 'ok' }
  // A denial ends it at once, with an error in place of its last words: it needs a person, nothing has failed.
  if (denied.length > 0 && DENIED.test(error)) return { ...base, finalText: '', kind: 'ok' }
  if (!error)
    return { ...base, ...(neverBegan(seen, exit, resume !== undefined) ?? exitedEarly(exit, seen.stderr.at(-1))) }
  const kind = errorKind(error)
  const resetsAt = kind === 'rate-limit' ? readReset(error, at) : undefined
  return { ...base, kind, message: error, ...(resetsAt === undefined ? {} : { resetsAt }) }
}

function errorKind(message: string): Outcome['kind'] {
  if (/content moderation|refus/i.test(message)) return 'refused'
  if (/context limit/i.test(message)) return 'context'
  if (/model was not found/i.test(message)) return 'config'
  const words = kindOfWords(message)
  if (words === 'context' || words === 'auth') return words
  const status = /^(\d{3})\b/.exec(message)
  return (status && kindOfStatus(Number(status[1]))) ?? words ?? 'unknown'
}

function neverBegan({ session, stderr }: Seen, exit: Exit, resumed: boolean): Ending | undefined {
  if (session || exit.code === 0 || exit.signal) return undefined
  // If it does not find a session, it prints nothing at all.
  if (resumed && stderr.length === 0) return { kind: 'context', message: 'its session was not found' }
  const wrong = /^.*(unknown option|invalid (model|option|argument)|cannot be combined).*$/im.exec(stderr.join('\n'))
  if (wrong) return { kind: 'config', message: wrong[0] }
  const key = /^.*(authenticat|api key|log ?in).*$/im.exec(stderr.join('\n'))
  return key ? { kind: 'auth', message: key[0] } : undefined
}
