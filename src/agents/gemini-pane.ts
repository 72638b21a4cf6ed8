/**
 * What Gemini CLI looks like in a pane. It cannot be told to call a program for one start only: it loads system
 * settings only from files owned by root.
 */
import type { Screen } from './agent.ts'

export const geminiScreen: Screen = {
  client: '0.61.0',
  seen: '2026-11-17',
  working: [/^ [\u2800-\u28ff] .*\(esc to cancel, /],
  // Dialogs replace the input line.
  asks: [
    /^\s*│\s+(?:Allow execution of .*|Apply this change|Do you (?:want to|trust) .*|How would you like to .*)\?\s+│$/,
    /^│ Usage limit reached for .*│$/,
    /^\s*│\s+● 1\. /,
  ],
  // Prompts sent earlier look the same, but what is above them does not. A terminal with many colors draws block
  // edges.
  input: /^─{9,}\n(?:.*\n)?▄*\n [>*](?: (.*))?$/m,
  placeholders: [/^Type your message\b/],
  quietSeconds: 5,
  // Any sooner, it takes Enter for a line break of the paste.
  settleMs: 500,
  interrupt: ['Escape'],
  clear: ['C-c'],
}
