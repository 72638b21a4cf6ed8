/** A user's session with an agent, as its host reports it to a hook: the real gate, the built hook program, real payloads. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Place } from './ralph.ts'

const ROOT = resolve(import.meta.dirname, '..')
export const GATE: string = join(ROOT, 'plugins', 'claude', 'hook.sh')
export const PROGRAM: string = join(ROOT, 'dist', 'hook.cjs')

export type Json = Record<string, unknown>

/** What a hook returned. */
export type HookResult = {
  code: number | null
  out: string
  err: string
  /** The answer as the host reads it; empty if nothing was printed. */
  json: Json
  /** The agent's next prompt; empty if it may stop. */
  prompt: string
  /** What the user sees. */
  said: string
}

export type Call = { env?: Record<string, string | undefined>; cwd?: string; gate?: string; shell?: string }

export type Calling = { child: ChildProcess; ended: Promise<HookResult> }

/** Calls the gate as a host does. */
export function callGate(place: Place, event: 'stop' | 'prompt', payload: Json | string, call: Call = {}): Calling {
  const shell = call.shell === 'busybox' ? ['busybox', 'sh'] : [call.shell ?? 'sh']
  return callHook(place, [...shell, call.gate ?? GATE, event], payload, call)
}

/** Asks the program itself, as the shims do. */
export async function askProgram(place: Place, payload: Json | string, call: Call = {}): Promise<HookResult> {
  return callHook(place, [process.execPath, PROGRAM], payload, call).ended
}

/** Calls any program as a hook. */
export function callHook(place: Place, argv: string[], payload: Json | string, { env, cwd }: Call = {}): Calling {
  const [program = '', ...args] = argv
  const child = spawn(program, args, {
    cwd: cwd ?? place.dir,
    env: { ...place.env, RALPH_NODE: process.execPath, ...env },
    stdio: 'pipe',
  })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  child.stdin.on('error', () => {}) // it may exit without reading
  child.stdin.end(typeof payload === 'string' ? payload : JSON.stringify(payload))
  return { child, ended: once(child, 'close').then(([code]) => hookResult(code, out, err)) }
}

function hookResult(code: number | null, out: string, err: string): HookResult {
  if (/this is a bug in ralph|^\s+at .+:\d+:\d+\)?$/m.test(out + err))
    throw new Error(`A bug in ralph:\n${out}\n${err}`)
  // Only Droid is answered in plain text.
  const words = /^[^{]/.test(out) ? out : ''
  const json = out.trim() && !words ? (JSON.parse(out) as Json) : {}
  const more = (json.hookSpecificOutput ?? {}) as Json
  return {
    code,
    out,
    err,
    json,
    prompt: String(more.additionalContext ?? json.reason ?? json.prompt ?? json.followup_message ?? words),
    said: String(json.systemMessage ?? words),
  }
}

export type Session = {
  id: string
  /** The user submits this. */
  type(prompt: string, more?: Json, call?: Call): Promise<HookResult>
  /** A turn of the agent ends with these words. */
  stop(message?: string, more?: Json, call?: Call): Promise<HookResult>
  /** The same, after the agent has changed a file. */
  work(message?: string, more?: Json, call?: Call): Promise<HookResult>
  stopPayload(message?: string, more?: Json): Json
}

let works = 0

/** A session of Claude Code, whose payloads most hosts share. */
export function openSession(place: Place, { id = 's-1', env = {} }: { id?: string; env?: Call['env'] } = {}): Session {
  const common = {
    session_id: id,
    transcript_path: join(place.root, `${id}.jsonl`),
    cwd: place.dir,
    prompt_id: '5487be8e-2f6f-4a2e-9d3e-1f1c0b7a9c11',
    permission_mode: 'bypassPermissions',
  }
  const stopPayload = (message = 'I worked.', more: Json = {}) => ({
    ...common,
    effort: { level: 'medium' },
    hook_event_name: 'Stop',
    stop_hook_active: false,
    last_assistant_message: message,
    background_tasks: [],
    session_crons: [],
    ...more,
  })
  const session: Session = {
    id,
    stopPayload,
    type: (prompt, more, call) =>
      callGate(
        place,
        'prompt',
        { ...common, hook_event_name: 'UserPromptSubmit', prompt, ...more },
        { ...call, env: { ...env, ...call?.env } },
      ).ended,
    stop: (message, more, call) =>
      callGate(place, 'stop', stopPayload(message, more), { ...call, env: { ...env, ...call?.env } }).ended,
    work(message, more, call) {
      place.write('work.txt', `${++works}\n`)
      return session.stop(message, more, call)
    },
  }
  return session
}

/** The answer to a command that needs no agent. */
export function answerOf({ json }: HookResult): string {
  return json.decision === 'block' ? String(json.reason) : ''
}

export function face(place: Place, name = '.claude/ralph-loop.local.md'): string {
  return readFileSync(join(place.dir, name), 'utf8')
}

/** One line of a face's head. */
export function field(place: Place, key: string, name?: string): string | undefined {
  return new RegExp(`^${key}: (.*)$`, 'm').exec(face(place, name))?.[1]
}
