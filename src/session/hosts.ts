/** The agents whose own session can hold a loop, as far as the end of a turn must know them. */

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
  /** How often a hook may go on in a row before the host ends that. */
  cap?: Cap
  /** How a person types a command. */
  types(command: CommandName): string
}

/** `sure`: nothing the agent does starts the count anew. `raise`: how a person changes it. */
type Cap = { most: number; sure?: true; variable?: string; raise?: string }

const named = (command: CommandName) => `/ralph:${command}`
const dashed = (command: CommandName) => `/ralph-${command}`

export const HOSTS: Readonly<Record<HostName, Host>> = {
  claude: {
    title: 'Claude Code',
    types: named,
    cap: {
      most: 8,
      variable: 'CLAUDE_CODE_STOP_HOOK_BLOCK_CAP',
      raise: 'a tool call starts the count anew; CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0 lifts it',
    },
  },
  codex: { title: 'Codex', types: (command) => `$ralph-${command}` },
  copilot: { title: 'Copilot', types: dashed, cap: { most: 8, sure: true } },
  cursor: { title: 'Cursor', types: dashed },
  droid: { title: 'Droid', types: dashed },
  gemini: { title: 'Gemini', types: named },
  kilo: { title: 'Kilo', types: named },
  opencode: { title: 'OpenCode', types: named },
  pi: { title: 'Pi', types: (command) => (command === 'cancel' ? '/cancel-ralph' : dashed(command)) },
  qwen: {
    title: 'Qwen',
    types: named,
    cap: {
      most: 7,
      sure: true,
      variable: 'QWEN_CODE_STOP_HOOK_BLOCK_CAP',
      raise: 'QWEN_CODE_STOP_HOOK_BLOCK_CAP=100 raises it',
    },
  },
}

export function isHostName(name: unknown): name is HostName {
  return typeof name === 'string' && Object.hasOwn(HOSTS, name)
}
