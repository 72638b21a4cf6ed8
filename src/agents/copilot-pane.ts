/** Copilot CLI in a pane: how it reports to ralph, and what it looks like. */
import type { Screen, Telling, TurnEnd } from './agent.ts'
import { tellEnv } from './tell-hooks.ts'

export function tellingCopilot(telling: Telling): TurnEnd {
  // For this session only: nobody's settings are changed.
  return { args: ['--plugin-dir', `${telling.plugins}/pane/copilot`], env: tellEnv(telling) }
}

export const copilotScreen: Screen = {
  client: '1.0.102',
  seen: '2026-11-17',
  working: [/^ [○◎◉●] \w+(?: · [\d.]+ \w*B)? esc (?:esc|again) /],
  // Dialogs replace the input line.
  asks: [/^│ Do you .*\?\s+│$/, /^│ ↑\/↓ to navigate · .*│$/],
  // Prompts sent earlier follow a space.
  input: /^❯(?: (.*))?$/,
  quietSeconds: 5,
  // Any sooner, it sometimes misses Enter. It has put anything above 20 KB into a file by then.
  settleMs: 500,
  silentStart: true,
  // Escape would have to come twice, with a pause in between.
  interrupt: ['C-c'],
  clear: ['C-c'],
}
