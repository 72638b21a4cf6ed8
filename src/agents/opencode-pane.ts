/** OpenCode and Kilo in a terminal: how they report to ralph, and what they look like. */
import type { Screen, Telling, TurnEnd } from './agent.ts'

/** A plugin of its interface: loaded once the user can type. The user's own interface settings and plugins still apply. */
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

// In a wide terminal, its sidebar is to the right of everything.
const SCREEN: Omit<Screen, 'client'> = {
  seen: '2026-11-17',
  // Below the input box: "⬝⬝⬝⬝⬝⬝■■  esc interrupt", also while it waits to retry.
  working: [/^ {3}[⬝■]{8} .*\besc (again to )?interrupt\b/],
  // A permission, a question or an open dialog.
  asks: [/^ *┃ {2}△ /, /^ *┃ .*\besc dismiss\b/, / {8}\S.{0,40} {20}esc( {3}|$)/],
  // The box, whose last line names the agent and the model. While a dialog is open above it, it takes no input.
  input:
    /^ *┃(?: {20}.*)?\n *┃ {0,2}(.*?)(?: {20}.*)?\n(?: *┃.*\n)* *┃ {2}\S.*\n *╹▀(?<! {8}\S.{0,40} {20}esc(?: {3}.*)?\n[\s\S]*)/m,
  placeholders: [/^Ask anything(…|\.\.\.) "/],
  quietSeconds: 3,
  // It checks whether the paste is the path of a file.
  settleMs: 200,
  // Two at once are a different key: there must be a pause between them.
  interrupt: ['Escape', 'Escape'],
  // Three lines or more are one here. Ctrl-C would quit if the line is empty.
  clear: ['C-u', 'BSpace', 'C-u'],
}
