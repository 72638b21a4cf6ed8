/** What a loop that begins in a session takes from its host. */
import type { HostName } from './hosts.ts'

export type Hosting = {
  /** As `--agent` knows it, for a loop that goes on without a session. */
  agent: string
  /** The folder of a project that its files lie in. */
  folder: string
  contexts: readonly ('same' | 'fresh' | 'process')[]
  /** Minutes that its hook may take. Absent: as long as it wants. */
  hookMinutes?: number
}

const hooked = { contexts: ['same'], hookMinutes: 10 } as const

export const HOSTING: Readonly<Record<HostName, Hosting>> = {
  claude: { agent: 'claude', folder: '.claude', ...hooked },
  codex: { agent: 'codex', folder: '.codex', ...hooked },
  copilot: { agent: 'copilot', folder: '.copilot', ...hooked },
  cursor: { agent: 'acp:cursor-agent acp', folder: '.cursor', ...hooked },
  droid: { agent: 'droid', folder: '.factory', ...hooked },
  gemini: { agent: 'gemini', folder: '.gemini', ...hooked, contexts: ['same', 'fresh'] },
  kilo: { agent: 'kilo', folder: '.kilocode', contexts: ['same', 'fresh'] },
  opencode: { agent: 'opencode', folder: '.opencode', contexts: ['same', 'fresh'] },
  pi: { agent: 'pi', folder: '.pi', contexts: ['same', 'fresh', 'process'] },
  // Whatever is set, Qwen breaks down when a hook takes a minute.
  qwen: { agent: 'qwen', folder: '.qwen', contexts: ['same'], hookMinutes: 55 / 60 },
}
