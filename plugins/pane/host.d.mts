/** What the shims know of the clients they are loaded into, and what they tell. */

/** What ralph is told, besides the host, the session and the folder. */
export type Told =
  | { event: 'started' | 'session' | 'answered' }
  | { event: 'prompt'; prompt: string; turn: number }
  | ({ event: 'stop'; turn: number } & Turned)
  | { event: 'asks'; question: string }

/** What a turn came to. */
export type Turned = {
  outcome: 'completed' | 'error' | 'aborted'
  error_message?: string
  last_assistant_message: string
  tokens: number
  cost_usd: number
  /** The commands of its shell tool. */
  ran: string[]
}

/** What outlives a session of Pi. */
export type Memory = {
  /** The session that was told last. */
  session: string
  turns: number
  told: Promise<unknown>
  /** Runs until it is known that Pi asks whether to trust the folder. */
  trust?: NodeJS.Timeout
  isAsking?: boolean
}

export type Tell = (context: PiContext, what: Told) => void

export type Usage = {
  input?: number
  output?: number
  cacheRead?: number
  cacheWrite?: number
  cost?: { total?: number }
}

export type PiMessage = {
  role: string
  content?: string | { type: string; text?: string; name?: string; arguments?: { command?: unknown } }[]
  usage?: Usage
  stopReason?: string
  errorMessage?: string
}

export type PiContext = {
  cwd: string
  /** Absent while it is not yet known whether the folder is trusted. */
  sessionManager?: { getSessionId(): string }
  ui: { onTerminalInput(handler: (key: string) => undefined): () => void }
  signal?: AbortSignal
  isIdle(): boolean
}

/** What Pi tells, by its name. */
type PiEvents = {
  project_trust: object
  session_start: object
  session_shutdown: object
  input: { text: string }
  agent_start: object
  message_end: { message: PiMessage }
  session_compact: { compactionEntry?: { usage?: Usage } }
  agent_end: object
  agent_settled: object
  ui_prompt_start: { kind: string; title?: string }
  ui_prompt_end: object
}

export type Pi = {
  on<Name extends keyof PiEvents>(name: Name, handler: (event: PiEvents[Name], context: PiContext) => unknown): void
}
