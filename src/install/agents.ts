/** What ralph puts into the folders where each agent looks for hooks and commands. The places were tried with the real clients. */
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
  /** The folder that an installation is known by. */
  folder(site: Site): string
  /** How a person starts a loop there; absent where that is no command. */
  command?: string
}

type Writes = {
  wanted(site: Site, folder: string): Wanted[]
  /** Further files that may have got entries of ralph's. */
  elsewhere?(folder: string): string[]
  /** What else the agent itself has written down about ralph's entries, which goes with them. */
  forgets?(edits: Edit[], site: Site, folder: string, ground: Ground): Edit[]
  /** What is still to be done by hand. `others` are the installations of all agents. */
  afterwards(site: Site, others: readonly { agent: string; scope: Scope }[]): string[]
}

// What Claude Code and Codex show while a hook runs.
const STOP = ['Stop', STOP_SECONDS, { statusMessage: 'ralph checks the work' }] as const
const PROMPT = ['UserPromptSubmit', PROMPT_SECONDS, { statusMessage: 'ralph' }] as const

// Without a name Gemini shows the whole command behind everything a hook says. A tool that has ended tells of Esc.
const SHOWN = { name: 'ralph' }
const GEMINI_STOPS = [
  ['AfterAgent', STOP_SECONDS * 1_000, SHOWN],
  ['AfterTool', PROMPT_SECONDS * 1_000, SHOWN],
] as const
const GEMINI_PROMPT = ['BeforeAgent', PROMPT_SECONDS * 1_000, SHOWN] as const

// Whatever a hook is given, Qwen itself breaks down when one takes a minute. From 1000 on all versions read milliseconds.
const QWEN_STOP = ['Stop', 55_000] as const
const QWEN_PROMPT = ['UserPromptSubmit', 50_000] as const

const TWICE_IN_COPILOT =
  'Note: in a folder with `ralph install claude --project` Copilot runs those hooks, too. Better there: `ralph install claude`.'

const RESTART = 'Sessions that are open do not know it yet: start a new one.'

/** In the order in which `ralph install` names them. */
const WRITES: Readonly<Record<InstallName, Writes>> = {
  claude: {
    wanted: (site, folder) => [
      // The settings of a project are for everybody in it, and would be committed; the local ones are not.
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
      'Codex asks you to review new hooks when it starts next: look at them and trust them, or they do not run.',
      ...(scope === 'project'
        ? ['The folder itself must be trusted, too; Codex asks for that when it starts here.']
        : []),
    ],
  },
  gemini: {
    wanted: (site, folder) => [
      hooks(join(folder, 'settings.json'), site, GEMINI_STOPS, GEMINI_PROMPT),
      ...copies(site.plugin('gemini/commands'), join(folder, 'commands')),
    ],
    afterwards: ({ scope }) => [
      ...(scope === 'project'
        ? ['Gemini runs hooks of a folder only when you trust it: answer its question, or type /permissions.']
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
        ? ['Copilot runs hooks of a folder only when you trust it; it asks when it starts here.']
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
      'Qwen gives a hook less than a minute: a loop whose checks take longer ends. `ralph run --agent qwen` has no such limit.',
      'Qwen lets a loop go on seven times, then it pauses; QWEN_CODE_STOP_HOOK_BLOCK_CAP=100 in its environment allows more.',
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
        ? ['Droid loads what a folder brings only when you trust it; it asks when it starts here.']
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
          // Without this it goes on five times at most.
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
    afterwards: () => [RESTART, 'This was written by the documentation of Cursor and has not been tried with it.'],
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
            'Pi loads packages of a folder only when you trust it: it asks when it starts here; `pi -p` needs --approve.',
          ]
        : []),
      'In an open session type /reload.',
    ],
  },
}

/** By the name that `ralph install` is given. */
export const PLACES: Readonly<Record<string, Place>> = Object.fromEntries(
  // `Object.entries` forgets which names there are.
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

/** The first of these places whose variable is set; `~` always is. */
function userFolder(places: readonly string[], { env, person }: Site): string {
  for (const place of places) {
    const [root = '', ...below] = place.split('/')
    const start = root === '~' ? person : env[root.slice(1)]
    if (start) return join(start, ...below)
  }
  return person
}
