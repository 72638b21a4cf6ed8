/** Droid in a pane: how it reports to ralph, and what it looks like. */
import { printJson } from '../formats/json-file.ts'
import type { Screen, Telling, TurnEnd } from './agent.ts'
import { tellEnv, tellHooks } from './tell-hooks.ts'

const EVENTS = ['SessionStart', 'UserPromptSubmit', 'Stop', 'Notification', 'PostToolUse']

export function tellingDroid(telling: Telling): TurnEnd {
  const path = `${telling.folder}/droid-settings.json`
  return {
    // For this process only: it adds these hooks to the user's own.
    args: ['--settings', path],
    env: tellEnv(telling),
    files: [{ path, text: printJson({ hooks: tellHooks(EVENTS, 10) }) }],
  }
}

export const droidScreen: Screen = {
  client: '0.215.0',
  seen: '2026-11-17',
  working: [/^ [\u2800-\u28ff] .*\(Press ESC to stop\)$/],
  // Dialogs replace the input box.
  asks: [
    /^ {2}\w+ to approve\b/,
    /^│ Trust this folder\?\s+│$/,
    /^ {2}↑↓ navigate {3}Enter select\b/,
    /^Enter to confirm · Esc to exit$/,
  ],
  input: /^│ >(?: (.*?))?\s*│$/,
  placeholders: [/^Try "/, /^Enter to steer · /],
  quietSeconds: 5,
  settleMs: 500,
  interrupt: ['Escape'],
  clear: ['C-c'],
}
