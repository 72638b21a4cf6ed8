/** The part of Pi's extension interface used here, from 0.73 on. Does not need Pi's own packages. */

export type Level = 'info' | 'warning' | 'error'

export type Theme = { fg(color: string, text: string): string; bg(color: string, text: string): string }

export type Ui = {
  readonly theme: Theme
  /** Undefined when nothing was chosen, or when the signal has closed it. */
  select(title: string, options: string[], how?: { signal?: AbortSignal }): Promise<string | undefined>
  notify(message: string, level?: Level): void
  setStatus(key: string, text: string | undefined): void
  setWidget(key: string, lines: string[] | undefined): void
  setEditorText(text: string): void
  /** Every key before Pi sees it; only in a terminal. */
  onTerminalInput(handler: (data: string) => { consume?: boolean } | undefined): () => void
}

/** Everything here throws once Pi has left the session that it belongs to. */
export type Context = {
  ui: Ui
  /** Since 0.78.1. */
  mode?: 'tui' | 'rpc' | 'json' | 'print'
  hasUI: boolean
  cwd: string
  sessionManager: { getSessionId(): string; getEntries(): readonly unknown[] }
  isIdle(): boolean
  abort(): void
  getSystemPrompt(): string
}

export type Content = string | readonly { type: string }[]

export type Message = {
  role: string
  content?: unknown
  customType?: string
  details?: unknown
  usage?: unknown
  stopReason?: string
  errorMessage?: string
  timestamp?: number
  /** Of a system message: the parts of the system prompt. */
  sections?: unknown
}

export type CustomMessage = { customType: string; content: string; display: boolean; details: object }

export type Draft =
  | ({ type: 'custom_message' } & CustomMessage)
  | { type: 'compaction'; summary: string; firstKeptEntryId: null }

export type Boundary = { entries: readonly unknown[]; outcome: 'completed' | 'aborted' | 'error' }

export type Input = { text: string; images?: readonly { type: string }[]; source: 'interactive' | 'rpc' | 'extension' }

/** What a renderer returns: lines no wider than the given width. */
export type Component = { render(width: number): string[]; invalidate(): void }

/** Events from Pi. */
type Events = {
  session_start: object
  /** quit, reload, new, resume, fork */
  session_shutdown: { reason?: string }
  agent_start: object
  message_start: { message: Message }
  message_end: { message: Message }
  agent_end: object
  session_before_compact: object
  session_compact: object
  /** Since 0.80.4. */
  agent_settled: object
}

type Request = { messages: readonly Message[] }

/** Questions from Pi. */
type Asked = {
  input: [event: Input, answer: { action: 'handled' }]
  context: [event: Request, answer: Request]
  /** Since 0.87. */
  context_with_system: [event: Request, answer: Request]
  /** Since 0.87. */
  agent_before_settle: [event: Boundary, answer: { entries: readonly unknown[]; continue: true }]
}

type Maybe<Value> = Value | undefined | Promise<Value | undefined>

export type Pi = {
  on<Name extends keyof Events>(
    name: Name,
    handler: (event: Events[Name], context: Context) => void | Promise<void>,
  ): void
  on<Name extends keyof Asked>(
    name: Name,
    handler: (event: Asked[Name][0], context: Context) => Maybe<Asked[Name][1]>,
  ): void
  registerCommand(
    name: string,
    command: { description: string; handler(args: string, context: Context): Promise<void> },
  ): void
  registerMessageRenderer(
    customType: string,
    render: (message: Message, options: { expanded: boolean; outputPad?: number }, theme: Theme) => Component,
  ): void
  sendMessage(message: CustomMessage, options: { triggerTurn: boolean; deliverAs?: 'followUp' }): void
  sendUserMessage(content: Content, options?: { expandPromptTemplates: boolean }): void
}
