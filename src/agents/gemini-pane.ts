/** How Gemini CLI looks in a pane. It cannot be told to call a program for one start only: it loads system settings only from files of root. */
import type { Screen } from './agent.ts'

export const geminiScreen: Screen = {
  client: '0.61.0',
  seen: '2026-11-17',
  working: [/^ [\u2800-\u28ff] .*\(esc to cancel, /],
  // Dialogs take the place of the line that is typed into.
  asks: [
    /^\s*│\s+(?:Allow execution of .*|Apply this change|Do you (?:want to|trust) .*|How would you like to .*)\?\s+│$/,
    /^│ Usage limit reached for .*│$/,
    /^\s*│\s+● 1\. /,
  ],
  // Prompts that were sent before look the same, but not what stands above. A terminal of many colours draws edges of blocks.
  input: /^─{9,}\n(?:.*\n)?▄*\n [>*](?: (.*))?$/m,
  placeholders: [/^Type your message\b/],
  quietSeconds: 5,
  // Sooner it takes Enter for a line break of what was pasted.
  settleMs: 500,
  interrupt: ['Escape'],
  clear: ['C-c'],
}
