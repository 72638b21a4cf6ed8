/** Copilot CLI in a pane: what makes it tell ralph what happens in it, and how it looks. */
import type { Screen, Telling, TurnEnd } from './agent.ts'
import { tellEnv } from './tell-hooks.ts'

export function tellingCopilot(telling: Telling): TurnEnd {
  // For this one session: nothing is written into anybody's settings.
  return { args: ['--plugin-dir', `${telling.plugins}/pane/copilot`], env: tellEnv(telling) }
}

export const copilotScreen: Screen = {
  client: '1.0.102',
  seen: '2026-11-17',
  working: [/^ [○◎◉●] \w+(?: · [\d.]+ \w*B)? esc (?:esc|again) /],
  // Dialogs take the place of the line that is typed into.
  asks: [/^│ Do you .*\?\s+│$/, /^│ ↑\/↓ to navigate · .*│$/],
  // Prompts that were sent before stand behind a blank.
  input: /^❯(?: (.*))?$/,
  quietSeconds: 5,
  // Sooner it now and then misses Enter. What is longer than 20 KB it has put into a file by then.
  settleMs: 500,
  untoldStart: true,
  // Escape would have to come twice, with a moment in between.
  interrupt: ['C-c'],
  clear: ['C-c'],
}
