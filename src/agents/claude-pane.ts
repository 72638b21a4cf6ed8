/** Claude Code in a pane: how it reports to ralph, and what it looks like. */
import type { Screen, Telling, TurnEnd } from './agent.ts'
import { tellEnv } from './tell-hooks.ts'

export function tellingClaude(telling: Telling): TurnEnd {
  return {
    // For this session only: nobody's settings are changed.
    args: ['--plugin-dir', `${telling.plugins}/pane/claude`],
    env: {
      ...tellEnv(telling),
      // A suggested prompt appears in the line as if somebody had typed it.
      CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: 'false',
    },
  }
}

// A dialog replaces the input line; the text below its choices gives it away.
export const claudeScreen: Screen = {
  client: '2.1.325',
  seen: '2026-11-17',
  working: [/^ {2}[⏵⏸].* · esc to interrupt/, /^[·✢✳✶✻✽*] \S+… ?(?:\(|$)/, /^[·✢✳✶✻✽*] .* · attempt \d+\/\d+$/],
  asks: [
    /^\s*(?:Do you want to .*|What do you want to do)\?$/,
    /^\s*Quick safety check: .*\?/,
    /^\s*Select login method:$/,
    /^\s*WARNING: Claude Code running in Bypass Permissions mode/,
    /^\s*Choose the text style/,
    /^\s*(?:Enter to (?:confirm|select)|Esc to cancel)\b/,
  ],
  closable: [{ question: /^\s*❯ 1\. Stop and wait for limit to reset$/, keys: ['Escape'] }],
  // A no-break space: prompts sent earlier follow a plain one.
  input: /^❯(?=\u00a0|$)\s*(.*)$/,
  placeholders: [/^Try "/, /^Press (?:up|Enter) to /, /^Message @.*…$/],
  quietSeconds: 5,
  interrupt: ['Escape'],
  clear: ['C-c'],
}
