/** What the plugin knows about OpenCode and the answers of hook.cjs. */
import type { ChildProcess } from 'node:child_process'

/** Questions to hook.cjs, besides the session. */
export type Told =
  | { event: 'command'; command: string; args: string }
  | { event: 'prompt'; prompt: string }
  | { event: 'woke' }
  | ({ event: 'stop' } & Turned)

/** The outcome of a turn. */
export type Turned = {
  outcome: 'completed' | 'error' | 'aborted'
  error_message: string | undefined
  last_assistant_message: string
  tokens: number
  cost_usd: number
  /** The commands of its shell tool. */
  ran: string[]
  /** When OpenCode compacted the agent's context. */
  compacted_at?: number | undefined
}

export type Answer = {
  /** Its id. Absent: the answer is about no loop. */
  loop?: string
  next: 'turn' | 'wait' | 'none'
  status: string
  prompt?: string
  fresh?: boolean
  wait_ms?: number
  show: { level: 'info' | 'warning' | 'error'; text: string }[]
  /** The call was stopped by a user who wants something else. */
  isStale?: true
}

/** A looping session: its last prompt, and whether that turn is running. */
export type Looping = {
  prompt: string
  isFresh: boolean
  isTurn: boolean
  messageID?: string
  error?: Failure
  compactedAt?: number
  wake?: NodeJS.Timeout
  /** The call that reports its last turn. */
  asking?: { call: ChildProcess; ended: Promise<unknown> }
}

export type Failure = { name?: string; data?: { message?: string; statusCode?: number } }

export type Part = {
  id?: string
  type: string
  text: string
  /** Shown, and never sent to the model. */
  ignored?: boolean
  /** Sent to the model, and never shown. */
  synthetic?: boolean
  tool?: string
  state?: { input?: { command?: string } }
}

export type Tokens = { input: number; output: number; reasoning: number; cache: { read: number; write: number } }

export type Info = {
  id: string
  sessionID: string
  role: 'user' | 'assistant'
  agent?: string
  model?: { providerID: string; modelID: string; variant?: string }
  /** For an answer that compacts the conversation. */
  summary?: unknown
  /** Why its model stopped: `stop`, `tool-calls`, `length` … */
  finish?: string
  error?: Failure
  cost?: number
  tokens?: Tokens
}

export type Message = { info: Info; parts: Part[] }

type At = { path: { id: string } }

export type Host = {
  directory: string
  client: {
    session: {
      messages(of: At): Promise<{ data?: Message[] }>
      status(): Promise<{ data?: Record<string, object> }>
      prompt(what: At & { body: object }): Promise<unknown>
      promptAsync(what: At & { body: object }): Promise<unknown>
    }
    tui: { showToast(what: { body: object }): Promise<unknown> }
  }
}

type Command = { description: string; template: string }

export type Hooks = {
  config(config: { command?: Record<string, Command> }): Promise<void>
  'command.execute.before'(
    input: { command: string; sessionID: string; arguments: string },
    output: { parts: Part[] },
  ): Promise<void>
  'chat.message'(input: { sessionID: string }, output: { message: { id: string }; parts: Part[] }): Promise<void>
  'experimental.chat.messages.transform'(input: object, output: { messages: Message[] }): Promise<void>
  event(input: { event: { type: string; properties: { sessionID?: string; error?: Failure } } }): Promise<void>
}
