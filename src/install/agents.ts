/** What ralph installs in the folders where each agent looks for hooks and commands. The places were tried with the real clients. */
import { join } from 'node:path'
import { HOSTS, type Host, type Install, type InstallName } from '../session/hosts.ts'
import { forgetTrust } from './codex-trust.ts'
import { droidCommand, droidFiles, droidHooks } from './droid.ts'
import {
  commandFiles,
  commandOf,
  copies,
  copilotHooks,
  fileOf,
  hooks,
  PROMPT_SECONDS,
  piPackage,
  type Scope,
  type Site,
  STOP_SECONDS,
  skills,
  type Wanted,
} from './pieces.ts'
import type { Edit, Ground } from './plan.ts'

export type Place = Writes & {
  title: string
  programs: readonly string[]
  /** The folder that identifies an installation. */
  folder(site: Site): string
  /** How the user starts a loop there; absent if that is not a command. */
  command?: string
}

type Writes = {
  wanted(site: Site, folder: string): Wanted[]
  /** Other files that may contain entries of ralph's. */
  elsewhere?(folder: string): string[]
  /** Other records the agent itself keeps about ralph's entries, removed with them. */
  forgets?(edits: Edit[], site: Site, folder: string, ground: Ground): Edit[]
  /** What the user still has to do. `others` are the installations of all agents. */
  afterwards(site: Site, others: readonly { agent: string; scope: Scope }[]): string[]
}

// What Claude Code and Codex show while a hook runs.
const STOP = ['Stop', STOP_SECONDS, { statusMessage: 'ralph checks the work' }] as const
const PROMPT = ['UserPromptSubmit', PROMPT_SECONDS, { statusMessage: 'ralph' }] as const

// Without a name Gemini shows the whole command after everything a hook says. The end of a tool reports Esc.
const SHOWN = { name: 'ralph' }
const GEMINI_STOPS = [
  ['AfterAgent', STOP_SECONDS * 1_000, SHOWN],
  ['AfterTool', PROMPT_SECONDS * 1_000, SHOWN],
] as const
const GEMINI_PROMPT = ['BeforeAgent', PROMPT_SECONDS * 1_000, SHOWN] as const

// Whatever the timeout, Qwen itself breaks when a hook takes a minute. From 1000 on all versions read milliseconds.
const QWEN_STOP = ['Stop', 55_000] as const
const QWEN_PROMPT = ['UserPromptSubmit', 50_000] as const

const TWICE_IN_COPILOT =
  'Note: in a folder with `ralph install claude --project`, Copilot runs those hooks too. Use `ralph install claude` there instead.'

const RESTART = 'Open sessions do not have it yet: start a new one.'

/** In the order in which `ralph install` lists them. */
const WRITES: Readonly<Record<InstallName, Writes>> = {
  claude: {
    wanted: (site, folder) => [
      // A project's settings are shared and would be committed; the local ones are not.
      hooks(join(folder, site.scope === 'user' ? 'settings.json' : 'settings.local.json'), site, [STOP], PROMPT),
      ...commandFiles(site, (name) => join(folder, 'commands', 'ralph', `${name}.md`)),
    ],
    afterwards: ({ scope }, others) => [
      ...(scope === 'project' && others.some(({ agent }) => agent === 'copilot') ? [TWICE_IN_COPILOT] : []),
      RESTART,
    ],
  },
  codex: {
    wanted: (site, folder) => [
      hooks(join(folder, 'hooks.json'), site, [STOP], PROMPT),
      ...skills(site, join(folder, 'skills')),
    ],
    forgets: (edits, site, folder, ground) =>
      forgetTrust(edits, { folder, config: userFolder(HOSTS.codex.install.user, site), ground }),
    afterwards: ({ scope }) => [
      'The next time Codex starts, it asks you to review the new hooks: trust them, or they do not run.',
      ...(scope === 'project' ? ['The folder itself must also be trusted; Codex asks when it starts here.'] : []),
    ],
  },
  gemini: {
    wanted: (site, folder) => [
      hooks(join(folder, 'settings.json'), site, GEMINI_STOPS, GEMINI_PROMPT),
      ...copies(site.plugin('gemini/commands'), join(folder, 'commands')),
    ],
    afterwards: ({ scope }) => [
      ...(scope === 'project'
        ? ["Gemini runs a folder's hooks only if you trust the folder: answer its question, or type /permissions."]
        : []),
      RESTART,
    ],
  },
  opencode: {
    wanted: (site, folder) => [
      ...copies({ 'ralph.js': fileOf(site.plugin('opencode'), 'ralph.js') }, join(folder, 'plugins')),
    ],
    afterwards: () => [RESTART],
  },
  copilot: {
    wanted: (site, folder) => [
      // A project's hooks/ would be committed; its local settings are not. Both are read.
      site.scope === 'user'
        ? copilotHooks(site, join(folder, 'hooks', 'ralph.json'), { version: 1 })
        : copilotHooks(site, join(folder, 'copilot', 'settings.local.json'), {}),
      ...skills(site, join(folder, 'skills')),
    ],
    afterwards: ({ scope }, others) => [
      ...(others.some((one) => one.agent === 'claude' && one.scope === 'project') ? [TWICE_IN_COPILOT] : []),
      ...(scope === 'project'
        ? ["Copilot runs a folder's hooks only if you trust the folder; it asks when it starts here."]
        : []),
      RESTART,
    ],
  },
  qwen: {
    wanted: (site, folder) => [
      hooks(join(folder, 'settings.json'), site, [QWEN_STOP], QWEN_PROMPT),
      ...commandFiles(site, (name) => join(folder, 'commands', 'ralph', `${name}.md`)),
    ],
    afterwards: () => [
      RESTART,
      'Qwen gives a hook less than a minute: a loop with longer checks ends. `ralph run --agent qwen` has no such limit.',
      'Qwen lets a loop continue seven times, then it pauses; QWEN_CODE_STOP_HOOK_BLOCK_CAP=100 in its environment allows more.',
    ],
  },
  droid: {
    wanted: (site, folder) => [
      ...droidHooks(site, folder),
      ...commandFiles(site, (name) => join(folder, 'commands', `ralph-${name}.md`), droidCommand),
    ],
    elsewhere: droidFiles,
    afterwards: ({ scope }) => [
      ...(scope === 'project'
        ? ["Droid loads a folder's hooks and commands only if you trust the folder; it asks when it starts here."]
        : []),
      RESTART,
    ],
  },
  cursor: {
    wanted: (site, folder) => [
      {
        kind: 'settings',
        path: join(folder, 'hooks.json'),
        fields: { version: 1 },
        entries: [
          // Without this it continues at most five times.
          {
            at: ['hooks', 'stop'],
            item: { command: commandOf(site, 'stop'), timeout: STOP_SECONDS, loop_limit: null },
          },
          {
            at: ['hooks', 'beforeSubmitPrompt'],
            item: { command: commandOf(site, 'prompt'), timeout: PROMPT_SECONDS },
          },
        ],
      },
      ...commandFiles(site, (name) => join(folder, 'commands', `ralph-${name}.md`)),
    ],
    afterwards: () => [RESTART, "This follows Cursor's documentation and has not been tried with Cursor itself."],
  },
  pi: {
    wanted: (site, folder) => [
      {
        kind: 'settings',
        path: join(folder, 'settings.json'),
        entries: [{ at: ['packages'], item: piPackage(site.home) }],
      },
    ],
    afterwards: ({ scope }) => [
      ...(scope === 'project'
        ? [
            "Pi loads a folder's packages only if you trust the folder: it asks when it starts here; `pi -p` needs --approve.",
          ]
        : []),
      'In an open session, type /reload.',
    ],
  },
}

/** By the name given to `ralph install`. */
export const PLACES: Readonly<Record<string, Place>> = Object.fromEntries(
  // `Object.entries` loses the key type.
  Object.entries(WRITES).map(([name, writes]) => [name, placeOf(HOSTS[name as InstallName], writes)]),
)

function placeOf({ title, agent, folder, types, install }: Host & { install: Install }, writes: Writes): Place {
  return {
    ...writes,
    title: install.title ?? title,
    programs: install.programs ?? [agent],
    folder: (site) =>
      site.scope === 'user' ? userFolder(install.user, site) : join(site.project, install.project ?? folder),
    command: types('loop'),
  }
}

/** The first of these folders whose variable is set; `~` always is. */
function userFolder(places: readonly string[], { env, person }: Site): string {
  for (const place of places) {
    const [root = '', ...below] = place.split('/')
    const start = root === '~' ? person : env[root.slice(1)]
    if (start) return join(start, ...below)
  }
  return person
}
