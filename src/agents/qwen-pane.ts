/** Qwen Code in a pane: how it reports to ralph, and what it looks like. */
import { isObject, type Json, printJson } from '../formats/json-file.ts'
import { readLooseJson } from '../formats/json-text.ts'
import type { Screen, Telling, TurnEnd } from './agent.ts'
import { tellEnv, tellHooks } from './tell-hooks.ts'

const EVENTS = [
  ...['SessionStart', 'UserPromptSubmit', 'Stop', 'StopFailure'],
  ...['Notification', 'PostToolUse', 'PostToolUseFailure'],
]

const VARIABLE = 'QWEN_CODE_SYSTEM_DEFAULTS_PATH'
const PATHS = ['/etc/qwen-code/system-defaults.json', '/Library/Application Support/QwenCode/system-defaults.json']

/** Through defaults, which everybody's own settings override; it adds the user's hooks to these. */
export function tellingQwen(telling: Telling): TurnEnd {
  const path = `${telling.folder}/qwen-defaults.json`
  // The file replaces one that the machine may have.
  const text = printJson(withOurs(readLooseJson(telling.machineFile?.(VARIABLE, PATHS) ?? '')))
  return { args: [], env: { ...tellEnv(telling), [VARIABLE]: path }, files: [{ path, text }] }
}

// A suggested prompt appears in the line as if somebody had typed it, and nobody is there for its other questions.
const QUIET = { enableFollowupSuggestions: false, enableUserFeedback: false, enableWelcomeBack: false }

function withOurs(found: unknown): Json {
  const theirs = isObject(found) ? found : {}
  const hooks = isObject(theirs.hooks) ? theirs.hooks : {}
  const ours = Object.entries(tellHooks(EVENTS, 10_000)).map(([event, list]) => {
    const before = hooks[event]
    return [event, [...(Array.isArray(before) ? before : []), ...list]]
  })
  return {
    ...theirs,
    ui: { ...QUIET, ...(isObject(theirs.ui) ? theirs.ui : {}) },
    hooks: { ...hooks, ...Object.fromEntries(ours) },
  }
}

export const qwenScreen: Screen = {
  client: '0.24.4',
  seen: '2026-11-17',
  working: [/^ {2}[\u2800-\u28ff].*\besc to cancel\)$/, /^ {2}Enter to steer · Ctrl\+Q to queue\b/],
  // Dialogs replace the input line.
  asks: [
    /^ {3}(?:Allow execution of: .*|Apply this change|Do you .*)\?$/,
    /^ {2}│ Connect a Provider\s+│$/,
    /^\s*│?\s*› 1\. /,
    /^ {2}[\u2800-\u28ff] Waiting for user confirmation\.\.\.$/,
  ],
  // Prompts sent earlier follow spaces.
  input: /^[>*](?: (.*))?$/,
  placeholders: [/^Type your message\b/],
  quietSeconds: 5,
  // Any sooner, it sends the placeholder of a long paste instead of its content.
  settleMs: 500,
  interrupt: ['Escape'],
  // If it had not answered yet, it puts the interrupted prompt back into the line.
  clear: ['C-c'],
}
