/** What a hook gets from its host, whichever it is. */
import { type HostName, isHostName } from '../../session/hosts.ts'

/**
 * `shim`: called by ralph's own shim, not by the host itself. `during`: what the host is doing. `feedback`: at a stop it
 * takes words for its agent without showing them as an error. `amid`: the agent is working, and blocking what was typed
 * would silently end its turn.
 */
export type From = {
  host: HostName
  shim: boolean
  during: 'prompt' | 'stop'
  session: string
  dir: string
  feedback?: true
  amid?: true
}

export type Json = Readonly<Record<string, unknown>>
type Env = Readonly<Record<string, string | undefined>>

const STOPS = ['stop', 'Stop', 'agentStop', 'AfterAgent', 'AfterTool']

// Claude Code since 2.1.163.
const FEEDBACK = /^claude-code_(?:[3-9]|\d\d|2-(?:[2-9]|\d\d)|2-1-(?:16[3-9]|1[7-9]\d|[2-9]\d\d|\d{4}))/

/**
 * Undefined for what does not concern ralph: not JSON, no event, no session. `called`: how the gate was called, for
 * Copilot, which does not name the event to hooks in its own settings.
 */
export function readPayload(text: string, env: Env, called?: string): Said | undefined {
  const payload = parseJson(text)
  return payload && fromPayload(payload, env, called)
}

export type Said = { from: From; payload: Json; event: string }

export function fromPayload(payload: Json, env: Env, called?: string): Said | undefined {
  const event = word(payload.event ?? payload.hook_event_name ?? payload.hookEventName ?? called)
  if (event === undefined) return undefined
  const session = word(payload.session_id) ?? word(payload.sessionId) ?? word(payload.conversation_id)
  const dir = dirOf(payload, env)
  if (!session || !dir) return undefined
  const during = STOPS.includes(event) ? 'stop' : 'prompt'
  const host = hostOf(payload, env)
  const feedback = host === 'claude' && FEEDBACK.test(env.AI_AGENT ?? '') ? { feedback: true as const } : {}
  return { payload, event, from: { host, shim: isHostName(payload.host), during, session, dir, ...feedback } }
}

export function parseJson(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined
  } catch {
    return undefined
  }
}

export function word(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function hostOf(payload: Json, env: Env): HostName {
  if (isHostName(payload.host)) return payload.host
  if (/^(After|Before)(Agent|Tool)$/.test(String(payload.hook_event_name))) return 'gemini'
  if ('conversation_id' in payload) return 'cursor'
  if ('turn_id' in payload) return 'codex'
  if (env.QWEN_CODE_SESSION_ID || 'context_usage' in payload || 'submitted_prompt' in payload) return 'qwen'
  if (env.COPILOT_CLI === '1') return 'copilot'
  return env.FACTORY_PROJECT_DIR ? 'droid' : 'claude'
}

/** The project, which stays the same when the agent changes its folder. */
function dirOf(payload: Json, env: Env): string | undefined {
  const [root] = Array.isArray(payload.workspace_roots) ? payload.workspace_roots : []
  const stays = 'host' in payload ? undefined : env.CLAUDE_PROJECT_DIR || env.FACTORY_PROJECT_DIR
  return stays || (word(payload.cwd) ?? word(root))
}
