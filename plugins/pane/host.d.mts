/** What the shims know about the clients they are loaded into, and what they report. */

/** What is reported to ralph, besides the host, the session and the folder. */
export type Told =
  | { event: 'started' | 'session' | 'answered' }
  | { event: 'prompt'; prompt: string; turn: string }
  | ({ event: 'stop'; turn: string } & Turned)
  | { event: 'asks'; question: string }

/** The outcome of a turn. */
export type Turned = {
  outcome: 'completed' | 'error' | 'aborted'
  error_message?: string
  last_assistant_message: string
  tokens: number
  cost_usd: number
  /** The commands of its shell tool. */
  ran: string[]
}

/** What outlives a Pi session. */
export type Memory = {
  /** The last reported session. */
  session: string
  turns: number
  told: Promise<unknown>
  /** Runs until it is known whether Pi asks to trust the folder. */
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
  /** Absent until it is known whether the folder is trusted. */
  sessionManager?: { getSessionId(): string }
  ui: { onTerminalInput(handler: (key: string) => undefined): () => void }
  signal?: AbortSignal
  isIdle(): boolean
}

/** Pi's events, by name. */
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

export type Failure = {
  name?: string
  data?: { message?: string; statusCode?: number; responseHeaders?: Record<string, string> }
}

export type Tokens = { input: number; output: number; reasoning: number; cache: { read: number; write: number } }

export type Info = {
  id: string
  sessionID: string
  role: 'user' | 'assistant'
  /** For an answer that compacts the conversation. */
  summary?: unknown
  /** Why its model stopped: `stop`, `tool-calls`, `length` … */
  finish?: string
  error?: Failure
  cost?: number
  tokens?: Tokens
}

export type Part = {
  id: string
  sessionID: string
  messageID: string
  type: string
  text?: string
  ignored?: boolean
  synthetic?: boolean
  tool?: string
  state?: { input?: { command?: string }; error?: string }
}

/** OpenCode's events, by name. */
type TuiEvents = {
  'session.created': { info: { id: string; parentID?: string } }
  'session.error': { sessionID?: string; error?: Failure }
  'session.idle': { sessionID: string }
  'message.updated': { info: Info }
  'message.part.updated': { part: Part }
  'permission.asked': { id: string; permission: string; patterns?: string[]; metadata?: { command?: string } }
  'permission.replied': { requestID: string }
  'question.asked': { id: string; questions: { question: string }[] }
  'question.replied': { requestID: string }
  'question.rejected': { requestID: string }
}

/** What OpenCode gives an interface plugin. */
export type Tui = {
  state: {
    path: { directory: string }
    session: { get(id: string): { parentID?: string } | undefined }
  }
  /** The current screen; a session has its id. */
  route: { current: { params?: { sessionID?: string } } }
  event: {
    on<Type extends keyof TuiEvents>(type: Type, handler: (event: { properties: TuiEvents[Type] }) => void): void
  }
  lifecycle: { onDispose(act: () => Promise<unknown>): void }
}
