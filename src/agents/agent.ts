/** What ralph must know about a coding agent: data and pure functions, one file an agent. */
import type { Session, Usage as TokensByKind } from '../engine/loop.ts'

export type Agent = {
  name: string
  /** How to name what must be started; absent where the agent's own program is. */
  targetExample?: string
  /** Which of these it knows what to do with. */
  settings: readonly ('model' | 'permissions' | 'context' | 'mcp')[]
  /** What it tells of its spending. */
  reports: readonly ('tokens' | 'cost')[]
  /** The flags that make it work without asking, as they are shown to the user. */
  bypass?: string
  /** Where a person allows what it was denied: a setting of its own, or an argument that it is started with. */
  grants?: { setting: string } | { argument: string }
  /** With `--permissions ask` its model is not even offered the tools that it would have to ask for. */
  hidesTools?: true
  /** How to find it without a model call. Absent: there is nothing to look for. */
  probe?: Probe
  /** What it keeps about itself: paths (`~` is the home folder), and variables that name others; `NAME/folder` is a folder in one that other programs use, too. A sandbox lets it write there. */
  own?: { paths: string[]; variables: string[] }
  command(request: Request): Command
  /** One parser a turn: it is fed line by line and sums up at the end. */
  parser(request: Request): Parser
  /** How its texts come: as plain lines, in pieces that follow each other, or again and again as they grow. Absent: whole. */
  texts?: 'lines' | 'pieces' | 'growing'
  /** A line that brings a new parser to where a turn is under way. Absent: it needs none. */
  underWay?: string
  /** What makes its interactive client write `file` whenever a turn ends. Absent: it cannot be told to without touching its settings. */
  turnEnd?(file: string, folder: string): TurnEnd
  /** What makes its interactive client tell ralph what happens in it, without touching its settings. Absent: only its screen tells. */
  pane?(telling: Telling): TurnEnd
  /** In a pane it tells what a turn has cost. */
  tellsCost?: true
  /** How its interactive client looks. */
  screen?: Screen
  /** Time between asking it to end and ending it. */
  graceMs: number
}

/**
 * `hook`: the command line of the program that is told, by absolute paths; the payload goes on its stdin, as the client
 * itself writes it, or as `{"event", "host", "session_id", …}` from a shim. `plugins`: ralph's own plugins. `folder`: private,
 * for files. `machineFile`: the text of the file that a variable names, or else of the first of these that is there.
 */
export type Telling = {
  hook: string[]
  plugins: string
  folder: string
  machineFile?: (variable: string, paths: readonly string[]) => string | undefined
}

/** What can be read off the screen of a client, as patterns of whole lines: data, which holds for one version at one time. */
export type Screen = {
  /** The version it was seen with, and when: `2.1.325`, `2026-11-17`. */
  client: string
  seen: string
  /** One of these is to be seen while it works. */
  working: RegExp[]
  /**
   * One of these is to be seen below the line that is typed into, or instead of it, while it asks for a permission, for
   * trust or for a login: nothing may be typed then. Those that say what it asks come first.
   */
  asks: RegExp[]
  /** Questions that decide nothing: these keys close them without an answer. */
  closable?: { question: RegExp; keys: string[] }[]
  /** The line that is typed into; the first group is what stands there. With the flag `m` it is matched against the whole screen. */
  input: RegExp
  /** What stands in that line while nothing is typed: suggestions. */
  placeholders?: RegExp[]
  /** It tells of its session only with the first prompt; that it can be talked to, its screen tells. */
  untoldStart?: true
  /** For so long it must print nothing before it counts as quiet. */
  quietSeconds: number
  /** For so long it takes in what was pasted, before it may be sent off. Absent: at once. */
  settleMs?: number
  /** The key, as tmux calls it, that interrupts it. Twice where it wants to be told twice. */
  interrupt: string[]
  /** The keys that empty the line. Only for a line in which something stands: in an empty one they may end the client. */
  clear?: string[]
}

export type Probe = {
  programs: string[]
  /** The npm package that brings it. */
  install: string
  versionArgs: string[]
  /** The version the adapter was tried with. */
  tested: string
  /**
   * Any of these files (`~` is the home folder) or variables tells that somebody is logged in. Where `folder` is missing,
   * the agent has never been used, so nobody is.
   */
  login: { files: string[]; variables: string[]; folder?: string }
}

/** What one turn needs. `self` is the command line that starts one of ralph's own programs. */
export type Request = {
  /** Empty: an interactive client waits for what is typed. */
  prompt: string
  mode: 'headless' | 'interactive'
  model?: string
  /** The agent's own session to go on with. */
  resume?: Session
  permissions: 'bypass' | 'ask'
  /** Whether it runs in ralph's own sandbox. */
  sandbox: boolean
  /** What stands behind the colon of `--agent name:target`. */
  target: string
  extraArgs: string[]
  dir: string
  /** How to start the MCP server that it reports to. Absent: it has none. */
  mcp?: McpServer
  /** A private folder for this turn, for files the agent writes to be collected. */
  folder: string
  self: (program: string) => string[]
  /** The time when it is asked: a reset in so many seconds counts from the end of the turn. */
  readonly at: number
}

/** Started without a shell; `stdin` is written and ended, unless the parser goes on writing. */
export type Command = {
  argv: string[]
  env: Record<string, string>
  stdin: string
  dialogue?: true
  /** Written before it starts, readable for nobody else. */
  files?: { path: string; text: string }[]
}

/**
 * `file`: the path of a file for its token, where nobody else can read or write. `machineFile`: the text of the file
 * that a variable names, or else of the first of these that is there; `variable`: what the person has set, where the agent
 * takes one value and not several.
 */
export type McpServer = {
  command: string[]
  env: Record<string, string>
  file: (name: string) => string
  machineFile?: (variable: string, paths: readonly string[]) => string | undefined
  variable?: (name: string) => string | undefined
}

/** `args` go among the arguments for the agent; `files` are written before it starts, into the folder that was given. */
export type TurnEnd = { args: string[]; env: Record<string, string>; files?: { path: string; text: string }[] }

export type Parser = {
  push(line: string, stream: 'out' | 'err'): Pushed
  /** Files to read once the agent has ended, such as usage reports. */
  collect?(): string[]
  end(exit: Exit, files: ReadonlyMap<string, string>): Outcome
}

/** `write` goes to the agent's stdin. `done`: it has said all; its stdin ends, and soon the agent, should it not by itself. */
export type Pushed = { events: AgentEvent[]; write?: string; done?: true }

export type Exit = {
  code: number | null
  signal: string | null /** Why ralph itself ended the agent. */
  stopped?: 'silent' | 'deadline' | 'told'
}

export type AgentEvent =
  | { kind: 'session'; id: string }
  | { kind: 'text'; text: string }
  | { kind: 'tool'; name: string; summary: string }
  | { kind: 'usage'; usage: Usage }
  | { kind: 'retry'; why: string }
  | { kind: 'warning'; message: string }

/** `scope` says what the numbers cover: one step, this run, or the agent's whole session with the runs before it. */
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
  /** The same by kind. Absent: the agent does not tell, or did not get to it. */
  usage?: TokensByKind
  /** Absent: the agent does not report it. */
  costUsd?: number
  /** How often it called its model, as far as its own report shows. */
  calls?: number
  resetsAt?: number
  /** Tools a permission was denied for. */
  denied: string[]
  /** Commands the agent ran. */
  ran: string[]
}
