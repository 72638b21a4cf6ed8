/** OpenCode and Kilo in a terminal: what makes them tell ralph what happens, and how they look. */
import type { Screen, Telling, TurnEnd } from './agent.ts'

/** A plugin of its interface: known when one can type. The person's own settings of the interface, and their plugins, hold all the same. */
export function openCodePane(name: string, { hook, plugins, folder }: Telling): TurnEnd {
  const path = `${folder}/tui.json`
  return {
    args: [],
    env: { [`${name.toUpperCase()}_TUI_CONFIG`]: path, RALPH_PANE_TELL: JSON.stringify(hook) },
    files: [{ path, text: JSON.stringify({ plugin: [`${plugins}/pane/opencode.js`] }) }],
  }
}

export function openCodeScreen(client: string): Screen {
  return { ...SCREEN, client }
}

// In a wide terminal its sidebar stands to the right of everything.
const SCREEN: Omit<Screen, 'client'> = {
  seen: '2026-11-17',
  // Below the box that is typed into: "⬝⬝⬝⬝⬝⬝■■  esc interrupt", also while it waits to try again.
  working: [/^ {3}[⬝■]{8} .*\besc (again to )?interrupt\b/],
  // A permission, a question, a dialog that is open.
  asks: [/^ *┃ {2}△ /, /^ *┃ .*\besc dismiss\b/, / {8}\S.{0,40} {20}esc( {3}|$)/],
  // The box, whose last line names the agent and the model. While a dialog is open above it, nothing is typed there.
  input:
    /^ *┃(?: {20}.*)?\n *┃ {0,2}(.*?)(?: {20}.*)?\n(?: *┃.*\n)* *┃ {2}\S.*\n *╹▀(?<! {8}\S.{0,40} {20}esc(?: {3}.*)?\n[\s\S]*)/m,
  placeholders: [/^Ask anything(…|\.\.\.) "/],
  quietSeconds: 3,
  // It looks up whether what was pasted is the path of a file.
  settleMs: 200,
  // Two that come at once are another key to it: there must be a moment between them.
  interrupt: ['Escape', 'Escape'],
  // Three lines and more are one here. Ctrl-C would end it where nothing stands.
  clear: ['C-u', 'BSpace', 'C-u'],
}
