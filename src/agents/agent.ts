/** What ralph must know about a coding agent: data and pure functions, one file per agent. */
import type { Session, Usage as TokensByKind } from '../engine/loop.ts'

export type Agent = {
  name: string
  /** How to name the program to start; absent if it is the agent's own. */
  targetExample?: string
  /** Which of these options it supports. */
  settings: readonly ('model' | 'permissions' | 'context' | 'mcp')[]
  /** What it reports about its spending. */
  reports: readonly ('tokens' | 'cost')[]
  /** The flags that make it work without asking, as shown to the user. */
  bypass?: string
  /** Where the user allows what it was denied: its own setting, or an argument it is started with. */
  grants?: { setting: string } | { argument: string }
  /** With `--permissions ask`, its model is not even offered the tools that need permission. */
  hidesTools?: true
  /** How to detect it without a model call. Absent: there is nothing to detect. */
  probe?: Probe
  /**
   * Where it keeps its own state: paths (`~` is the home folder), and variables that name others; `NAME/folder` is a
   * folder in one that other programs share. A sandbox lets it write there.
   */
  own?: { paths: string[]; variables: string[] }
  command(request: Request): Command
  /** One parser per turn: it is fed line by line and sums up at the end. */
  parser(request: Request): Parser
  /** How its text arrives: as plain lines, in consecutive pieces, or repeatedly as it grows. Absent: whole. */
  texts?: 'lines' | 'pieces' | 'growing'
  /** A line that puts a new parser into a running turn. Absent: it needs none. */
  underWay?: string
  /**
   * What makes its interactive client write `file` whenever a turn ends. Absent: impossible without touching its
   * settings.
   */
  turnEnd?(file: string, folder: string): TurnEnd
  /**
   * What makes its interactive client report to ralph, without touching its settings. Absent: only its screen can be
   * read.
   */
  pane?(telling: Telling): TurnEnd
  /** In a pane it reports the cost of a turn. */
  reportsCost?: true
  /** What its interactive client looks like. */
  screen?: Screen
  /** Time between asking it to exit and killing it. */
  graceMs: number
}

/**
 * `hook`: the command line of the program to notify, with absolute paths; the payload goes to its stdin, as the client
 * itself writes it, or as `{"event", "host", "session_id", …}` from a shim. `plugins`: ralph's own plugins. `folder`:
 * private, for files. `machineFile`: the content of the file that a variable names, or else of the first of these that
 * exists.
 */
export type Telling = {
  hook: string[]
  plugins: string
  folder: string
  machineFile?: (variable: string, paths: readonly string[]) => string | undefined
}

/** What the screen of a client shows, as patterns of whole lines: data, valid for one version at one time. */
export type Screen = {
  /** The version and the date of the observation: `2.1.325`, `2026-11-17`. */
  client: string
  seen: string
  /** One of these is visible while it works. */
  working: RegExp[]
  /**
   * One of these is visible below the input line, or instead of it, while it asks for a permission, for trust or for a
   * login: nothing may be typed then. Those that say what it asks come first.
   */
  asks: RegExp[]
  /** Questions that decide nothing: these keys close them without an answer. */
  closable?: { question: RegExp; keys: string[] }[]
  /** The input line; the first group is its content. With the flag `m` it is matched against the whole screen. */
  input: RegExp
  /** What the input line shows while nothing is typed: suggestions. */
  placeholders?: RegExp[]
  /** It reports its session only with the first prompt; until then, its screen shows that it is ready. */
  silentStart?: true
  /** How long it must print nothing before it counts as quiet. */
  quietSeconds: number
  /** How long it takes to accept a paste before it may be submitted. Absent: no time. */
  settleMs?: number
  /** The key, in tmux notation, that interrupts it. Listed twice if it must be pressed twice. */
  interrupt: string[]
  /** The keys that clear the line. Only for a line with content: in an empty one they may quit the client. */
  clear?: string[]
}

export type Probe = {
  programs: string[]
  /** The npm package that provides it. */
  install: string
  versionArgs: string[]
  /** The version the adapter was tested with. */
  tested: string
  /**
   * Any of these files (`~` is the home folder) or variables shows that somebody is logged in. If `folder` is missing,
   * the agent has never been used, so nobody is.
   */
  login: { files: string[]; variables: string[]; folder?: string }
}

/** What one turn needs. `self` is the command line that starts one of ralph's own programs. */
export type Request = {
  /** Empty: an interactive client waits for input. */
  prompt: string
  mode: 'headless' | 'interactive'
  model?: string
  /** The agent's own session to resume. */
  resume?: Session
  permissions: 'bypass' | 'ask'
  /** Whether it runs in ralph's own sandbox. */
  sandbox: boolean
  /** What follows the colon of `--agent name:target`. */
  target: string
  extraArgs: string[]
  dir: string
  /** How to start the MCP server that it reports to. Absent: none. */
  mcp?: McpServer
  /** A private folder for this turn, for files the agent writes and ralph collects. */
  folder: string
  self: (program: string) => string[]
  /** The current time: a reset in some seconds counts from the end of the turn. */
  readonly at: number
}

/** Started without a shell; `stdin` is written and closed, unless the parser keeps writing. */
export type Command = {
  argv: string[]
  env: Record<string, string>
  stdin: string
  dialogue?: true
  /** Written before it starts, readable by nobody else. */
  files?: { path: string; text: string }[]
}

/**
 * `file`: the path of a file for its token, which nobody else can read or write. `machineFile`: the content of the file
 * that a variable names, or else of the first of these that exists; `variable`: what the user has set, if the agent
 * takes only one value.
 */
export type McpServer = {
  command: string[]
  env: Record<string, string>
  file: (name: string) => string
  machineFile?: (variable: string, paths: readonly string[]) => string | undefined
  variable?: (name: string) => string | undefined
}

/** `args` are added to the agent's arguments; `files` are written before it starts, into the given folder. */
export type TurnEnd = { args: string[]; env: Record<string, string>; files?: { path: string; text: string }[] }

export type Parser = {
  push(line: string, stream: 'out' | 'err'): Pushed
  /** Files to read after the agent has exited, such as usage reports. */
  collect?(): string[]
  end(exit: Exit, files: ReadonlyMap<string, string>): Outcome
}

/**
 * `write` goes to the agent's stdin. `done`: nothing more will come; its stdin is closed, and if it does not exit soon,
 * it is stopped.
 */
export type Pushed = { events: AgentEvent[]; write?: string; done?: true }

export type Exit = {
  code: number | null
  signal: string | null /** Why ralph itself stopped the agent. */
  stopped?: 'silent' | 'deadline' | 'told'
}

export type AgentEvent =
  | { kind: 'session'; id: string }
  | { kind: 'text'; text: string }
  | { kind: 'tool'; name: string; summary: string }
  | { kind: 'usage'; usage: Usage }
  | { kind: 'retry'; why: string }
  | { kind: 'warning'; message: string }

/** `scope`: what the numbers cover: one step, this run, or the agent's whole session including earlier runs. */
export type Usage = TokensByKind & { costUsd?: number; scope: 'step' | 'run' | 'session' }

export type Outcome = {
  kind:
    | 'ok'
    | 'rate-limit'
    | 'quota'
    | 'auth'
    | 'context'
    | 'overloaded'
    | 'config'
    | 'refused'
    | 'killed'
    | 'crash'
    | 'unknown'
  /** The final assistant text, and nothing else the agent printed. */
  finalText: string
  /** What the agent or the system said when it did not end well. */
  message?: string
  session?: Session
  tokens: number
  /** The same by kind. Absent: the agent does not report it, or did not get that far. */
  usage?: TokensByKind
  /** Absent: the agent does not report it. */
  costUsd?: number
  /** How often it called its model, according to its own report. */
  calls?: number
  resetsAt?: number
  /** Tools that were denied permission. */
  denied: string[]
  /** Commands the agent ran. */
  ran: string[]
}
