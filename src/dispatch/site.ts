/** What a dispatcher works with. */
import type { Loop } from '../engine/loop.ts'
import type { Store } from '../host/store.ts'
import type { Tmux } from '../host/tmux.ts'
import type { CrewAgent } from './crew.ts'
import type { Purse } from './purse.ts'

export type Site = {
  store: Store
  home: string
  env: Readonly<Record<string, string | undefined>>
  now: () => number
  tmux: Tmux
  /** Where ralph's own plugins are. */
  plugins: string
  /** The command line of one of ralph's own programs. */
  self: (program: string) => string[]
  /** The command line of the program that a client's hooks call. */
  hook: string[]
  /** A new loop for a task, which asks for its first turn or check. */
  make(agent: CrewAgent, prompt: string): Promise<Loop>
  /** The total spending of all agents. */
  purse?: Purse
  /** Shows the user a message. */
  note(agent: CrewAgent, text: string): void
  /** The dispatcher leaves; the agents stay. */
  stop: AbortSignal
}
