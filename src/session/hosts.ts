/** The agents whose own session can hold a loop: data about each, and nothing that decides. */

export type HostName =
  | 'claude'
  | 'codex'
  | 'copilot'
  | 'cursor'
  | 'droid'
  | 'gemini'
  | 'kilo'
  | 'opencode'
  | 'pi'
  | 'qwen'

export type CommandName = 'loop' | 'cancel' | 'status' | 'help' | 'pause' | 'resume'

export type Host = {
  /** How it is called in a sentence. */
  title: string
  /** As `--agent` knows it, for a loop that goes on without a session. */
  agent: string
  /** The folder of a project that its files lie in. */
  folder: string
  contexts: readonly ('same' | 'fresh' | 'process')[]
  /** How often a hook may go on in a row before the host ends that; `raise` says how to change it. Without it nothing can. */
  cap?: { most: number; variable?: string; raise?: string }
  /** Minutes that its hook may take. Absent: as long as it wants. */
  hookMinutes?: number
  /** How a person types a command. */
  types(command: CommandName): string
}

const named = (command: CommandName) => `/ralph:${command}`
const dashed = (command: CommandName) => (command === 'cancel' ? '/cancel-ralph' : `/ralph-${command}`)

export const HOSTS: Readonly<Record<HostName, Host>> = {
  claude: {
    ...{ title: 'Claude Code', agent: 'claude', folder: '.claude', contexts: ['same'], hookMinutes: 10, types: named },
    cap: {
      most: 8,
      variable: 'CLAUDE_CODE_STOP_HOOK_BLOCK_CAP',
      raise: 'a tool call starts the count anew; CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0 lifts it',
    },
  },
  codex: {
    ...{ title: 'Codex', agent: 'codex', folder: '.codex', contexts: ['same'], hookMinutes: 10 },
    types: (command) => `$ralph:${command}`,
  },
  copilot: {
    ...{ title: 'Copilot', agent: 'copilot', folder: '.copilot', contexts: ['same'], hookMinutes: 10, types: named },
    cap: { most: 8 },
  },
  cursor: {
    ...{ title: 'Cursor', agent: 'acp:cursor-agent acp', folder: '.cursor', contexts: ['same'], hookMinutes: 10 },
    types: dashed,
  },
  droid: {
    ...{ title: 'Droid', agent: 'droid', folder: '.factory', contexts: ['same'], hookMinutes: 10 },
    types: (command) => `ralph:${command}`,
  },
  gemini: {
    ...{ title: 'Gemini', agent: 'gemini', folder: '.gemini', contexts: ['same', 'fresh'], hookMinutes: 10 },
    types: named,
  },
  kilo: { title: 'Kilo', agent: 'kilo', folder: '.kilocode', contexts: ['same', 'fresh'], types: named },
  opencode: { title: 'OpenCode', agent: 'opencode', folder: '.opencode', contexts: ['same', 'fresh'], types: named },
  pi: { title: 'Pi', agent: 'pi', folder: '.pi', contexts: ['same', 'fresh', 'process'], types: dashed },
  qwen: {
    ...{ title: 'Qwen', agent: 'qwen', folder: '.qwen', contexts: ['same'], hookMinutes: 10, types: named },
    cap: {
      most: 8,
      variable: 'QWEN_CODE_STOP_HOOK_BLOCK_CAP',
      raise: 'QWEN_CODE_STOP_HOOK_BLOCK_CAP=100 raises it',
    },
  },
}

export function isHostName(name: unknown): name is HostName {
  return typeof name === 'string' && Object.hasOwn(HOSTS, name)
}
