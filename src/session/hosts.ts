/** The agents whose own session can hold a loop: one entry per host, with all that ralph knows about it as data. */

/** Those that `ralph install` sets up. */
export type InstallName = 'claude' | 'codex' | 'gemini' | 'opencode' | 'copilot' | 'qwen' | 'droid' | 'cursor' | 'pi'

export type HostName = InstallName | 'kilo'

export type CommandName = 'loop' | 'cancel' | 'status' | 'help' | 'pause' | 'resume' | 'steer'

/** `fresh`: each turn starts without memory of the earlier ones. `process`: a program next to the session takes the turns. */
export type Context = 'same' | 'fresh' | 'process'

export type Host = {
  /** Its name in a sentence. */
  title: string
  /** How a user types a command. */
  types(command: CommandName): string
  /** Its name for `--agent`, for a loop that continues without a session. */
  agent: string
  /** The folder in a project that holds its files. */
  folder: string
  contexts: readonly Context[]
  /** Minutes that its hook may take; undefined: no limit. */
  hookMinutes: number | undefined
  /** How often a hook may continue in a row before the host stops. */
  cap: Cap | undefined
  /** Longer text for its agent is truncated; the rest is in a file that the agent may or may not read. */
  mostBytes?: number
  /** Its agent gets hook output as XML with every bracket escaped: in Codex from the second iteration on, in Qwen the first time. */
  escapes?: true
  /** It holds back what the user types until the loop has ended. */
  deaf?: true
  /** Arguments with which it prints its answer and exits, showing nothing that a hook says. */
  mute?: readonly string[]
  /** Arguments with which it does not show the answer to a command. */
  dumb?: readonly string[]
  speaks: Dialect
  /** Where `ralph install` writes; undefined if it does not. */
  install: Install | undefined
}

/** `sure`: nothing the agent does resets the count. `raise`: how to change the limit. */
type Cap = { most: number; sure?: true; variable?: string; raise?: string }

/**
 * How a host talks to its hook: `fronts/hook/` reads it and answers in the same form. `plain` is Claude's form without
 * what only Claude has. `shim`: ralph's own plugin talks, never the host itself.
 */
export type Dialect = 'claude' | 'plain' | 'copilot' | 'cursor' | 'droid' | 'gemini' | 'shim'

/** The files are in `install/agents.ts`, by host name. */
export type Install = {
  /** The program's name, if not the title. */
  title?: string
  /** Names it may have in the PATH, if not `agent`. */
  programs?: readonly string[]
  /** The folder of the user's own settings: the first of these whose variable is set. */
  user: readonly string[]
  /** The folder of a project's settings, if not `folder`. */
  project?: string
}

type Hosts = Readonly<Record<HostName, Host>> & Readonly<Record<InstallName, { install: Install }>>

const named = (command: CommandName) => `/ralph:${command}`
const dashed = (command: CommandName) => `/ralph-${command}`

/** What most hosts with a hook program have in common, followed by those that ralph reaches through a plugin. */
const hooked = { contexts: ['same'], hookMinutes: 10, cap: undefined, speaks: 'plain' } as const
const shimmed = { contexts: ['same', 'fresh'], hookMinutes: undefined, cap: undefined, speaks: 'shim' } as const

export const HOSTS: Hosts = {
  claude: {
    ...hooked,
    title: 'Claude Code',
    types: named,
    agent: 'claude',
    folder: '.claude',
    speaks: 'claude',
    mostBytes: 10_000,
    mute: ['-p', '--print'],
    cap: {
      most: 8,
      variable: 'CLAUDE_CODE_STOP_HOOK_BLOCK_CAP',
      raise: 'a tool call resets the count; CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0 lifts it',
    },
    install: { user: ['$CLAUDE_CONFIG_DIR', '~/.claude'] },
  },
  codex: {
    ...hooked,
    title: 'Codex',
    types: (command) => `$ralph-${command}`,
    agent: 'codex',
    folder: '.codex',
    mostBytes: 10_000,
    escapes: true,
    mute: ['exec', 'e'],
    dumb: ['exec', 'e'],
    install: { user: ['$CODEX_HOME', '~/.codex'] },
  },
  gemini: {
    ...hooked,
    title: 'Gemini',
    types: named,
    agent: 'gemini',
    folder: '.gemini',
    contexts: ['same', 'fresh'],
    deaf: true,
    speaks: 'gemini',
    install: {
      title: 'Gemini CLI',
      user: ['$GEMINI_CLI_HOME/.gemini', '~/.gemini'],
    },
  },
  opencode: {
    ...shimmed,
    title: 'OpenCode',
    types: named,
    agent: 'opencode',
    folder: '.opencode',
    install: {
      user: ['$OPENCODE_CONFIG_DIR', '$XDG_CONFIG_HOME/opencode', '~/.config/opencode'],
    },
  },
  copilot: {
    ...hooked,
    title: 'Copilot',
    types: dashed,
    agent: 'copilot',
    folder: '.copilot',
    mute: ['-p', '--prompt'],
    speaks: 'copilot',
    cap: { most: 8, sure: true },
    install: {
      title: 'Copilot CLI',
      user: ['$COPILOT_HOME', '~/.copilot'],
      project: '.github',
    },
  },
  qwen: {
    ...hooked,
    title: 'Qwen',
    types: named,
    agent: 'qwen',
    folder: '.qwen',
    dumb: ['-p', '--prompt'],
    escapes: true,
    hookMinutes: 55 / 60, // whatever the setting, Qwen breaks when a hook takes a minute
    cap: {
      most: 7,
      sure: true,
      variable: 'QWEN_CODE_STOP_HOOK_BLOCK_CAP',
      raise: 'QWEN_CODE_STOP_HOOK_BLOCK_CAP=100 raises it',
    },
    install: {
      title: 'Qwen Code',
      user: ['$QWEN_HOME', '~/.qwen'],
    },
  },
  droid: {
    ...hooked,
    title: 'Droid',
    types: dashed,
    agent: 'droid',
    folder: '.factory',
    mute: ['exec'],
    speaks: 'droid',
    install: {
      user: ['$FACTORY_HOME_OVERRIDE/.factory', '~/.factory'],
    },
  },
  cursor: {
    ...hooked,
    title: 'Cursor',
    types: dashed,
    agent: 'acp:cursor-agent acp',
    folder: '.cursor',
    speaks: 'cursor',
    install: { programs: ['cursor-agent', 'cursor'], user: ['~/.cursor'] },
  },
  pi: {
    ...shimmed,
    title: 'Pi',
    types: (command) => (command === 'cancel' ? '/cancel-ralph' : dashed(command)),
    agent: 'pi',
    folder: '.pi',
    contexts: ['same', 'fresh', 'process'],
    install: { user: ['$PI_CODING_AGENT_DIR', '~/.pi/agent'] },
  },
  // It loads OpenCode's plugin.
  kilo: {
    ...shimmed,
    title: 'Kilo',
    types: named,
    agent: 'kilo',
    folder: '.kilocode',
    install: undefined,
  },
}

export type Env = Readonly<Record<string, string | undefined>>

/** How often this host lets a hook continue in a row. Its variable counts from the usual eight. */
export function allowance({ cap }: Host, env: Env): number {
  const given = cap?.variable === undefined ? undefined : env[cap.variable]
  if (!cap || given === '0') return Number.POSITIVE_INFINITY
  return given !== undefined && /^\d+$/.test(given) ? Number(given) - 8 + cap.most : cap.most
}

export function isHostName(name: unknown): name is HostName {
  return typeof name === 'string' && Object.hasOwn(HOSTS, name)
}
