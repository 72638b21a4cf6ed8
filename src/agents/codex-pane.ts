/** Codex in a pane: how it reports to ralph, and what it looks like. */
import type { Screen, Telling, TurnEnd } from './agent.ts'
import { tellEnv } from './tell-hooks.ts'

export function tellingCodex(telling: Telling): TurnEnd {
  return {
    args: [
      // The hooks of a session on the shared server would run there, without this environment.
      '--no-daemon',
      ...Object.entries(HOOKS).flatMap(([event, { timeout }]) => ['--config', setting(event, timeout)]),
      // In addition to the user's own decisions about hooks, and for this session only.
      '--config',
      `hooks.state={${Object.values(HOOKS).map(trust).join(',')}}`,
    ],
    env: tellEnv(telling),
  }
}

/**
 * Codex runs only trusted hooks, in exactly the trusted form: `sha256` is a hash over the event, the command and the
 * timeout. No path is part of the command, so it is the same everywhere. Those with a shorter timeout keep it.
 */
const HOOKS: Readonly<Record<string, { key: string; timeout: number; sha256: string }>> = {
  SessionStart: {
    key: 'session_start',
    timeout: 10,
    sha256: '720df1721b36cba59f4483c54b24ff59137d8f93b8fcc8631c04140bc13e8786',
  },
  UserPromptSubmit: {
    key: 'user_prompt_submit',
    timeout: 10,
    sha256: '0449f0ef5585f0dc571babf812bd06cff0197a354304b5c2a6b34d24ee7d21b6',
  },
  PermissionRequest: {
    key: 'permission_request',
    timeout: 10,
    sha256: '6695cf49039a98d37bb13282c0bddf0c1c96c8cddcc73027e0f71ec7dca48eee',
  },
  PostToolUse: {
    key: 'post_tool_use',
    timeout: 10,
    sha256: 'c42ed6d7fcf79eaa6a8ff27ce0487e7fbabf385bcd67d531affc4621986b2a9a',
  },
  PostModelRequest: {
    key: 'post_model_request',
    timeout: 10,
    sha256: 'eefdc41f6107576030efdaa9dea8b2eef40a89c1954352eb54023c4bf32f7355',
  },
  Interrupt: {
    key: 'interrupt',
    timeout: 3,
    sha256: 'fc5cb0fe9cf69d2a8b900a1351ca970211fe83358e92e8dec40f9f2d4c737525',
  },
  Stop: { key: 'stop', timeout: 10, sha256: '738ca46ff7929935bd240384bd049d6ab24243e371fda218e1f61600bda3c1d0' },
  SessionEnd: {
    key: 'session_end',
    timeout: 3,
    sha256: 'e5f1d4003060e5a230795ca0c86ed61b91db1f4ea59bae275a87ef4963866a2a',
  },
}

// TOML, whose single-quoted strings have no escapes.
function setting(event: string, timeout: number): string {
  return `hooks.${event}=[{hooks=[{type="command",command='sh "$RALPH_PANE_TELL" ${event}',timeout=${timeout}}]}]`
}

function trust({ key, sha256 }: { key: string; sha256: string }): string {
  return `"/<session-flags>/config.toml:${key}:0:0"={trusted_hash="sha256:${sha256}"}`
}

// A dialog replaces the input line. Its choices start the way that line does.
export const codexScreen: Screen = {
  client: '0.166.0',
  seen: '2026-11-17',
  working: [/^[•◦] .*\((?:\d+[hms] ?)+ • esc to interrupt\)/],
  asks: [
    /^\s*(?:Would|Do) you (?:like|want) to .*\?$/,
    /^\s*Trust this folder\?/,
    /^\s*Hooks need review$/,
    /^\s*Choose how you want to use Codex\.$/,
    /^\s*(?:Press enter to (?:confirm|continue)|enter (?:confirm|continue|select|submit) ·)/,
    /^\s*t trust (?:all )?·/,
  ],
  input: /^›(?! \d+\. ) ?(.*)$/,
  placeholders: [/^Ask Codex to do anything$/, /^Ask a follow-up question$/],
  silentStart: true,
  quietSeconds: 5,
  interrupt: ['Escape'],
  clear: ['C-c'],
}
