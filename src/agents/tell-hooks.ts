/** Hooks in Claude Code's format that report what happens in a pane: each calls `tell.sh`. */
import type { Telling } from './agent.ts'

/** What the script finds in its environment. */
export function tellEnv({ hook: [node = '', program = ''], plugins, folder }: Telling): Record<string, string> {
  return {
    RALPH_PANE_NODE: node,
    RALPH_PANE_HOOK: program,
    RALPH_PANE_ASKS: `${folder}/asks`,
    RALPH_PANE_TELL: `${plugins}/pane/tell.sh`,
  }
}

type Hook = { type: 'command'; command: string; timeout: number }

/** `timeout`: ten seconds, in the unit of the client. */
export function tellHooks(events: readonly string[], timeout: number): Record<string, [{ hooks: [Hook] }]> {
  const hookOf = (event: string): [{ hooks: [Hook] }] => [
    {
      // A client waiting for its next prompt is not worth reporting.
      ...(event === 'Notification' ? { matcher: 'permission_prompt|elicitation_dialog' } : {}),
      hooks: [{ type: 'command', command: `sh "$RALPH_PANE_TELL" ${event}`, timeout }],
    },
  ]
  return Object.fromEntries(events.map((event) => [event, hookOf(event)]))
}
