/** Where each agent looks for hooks and commands, and what ralph puts there. The places were tried with the real clients. */
import { join } from 'node:path'
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

export type Place = {
  title: string
  programs: readonly string[]
  /** The folder that an installation is known by. */
  folder(site: Site): string
  wanted(site: Site, folder: string): Wanted[]
  /** Further files that may have got entries of ralph's. */
  elsewhere?(folder: string): string[]
  /** How a person starts a loop there; absent where that is no command. */
  command?: string
  /** What is still to be done by hand. `others` are the installations of all agents. */
  afterwards(site: Site, others: readonly { agent: string; scope: Scope }[]): string[]
}

const STOP = ['Stop', STOP_SECONDS] as const
const PROMPT = ['UserPromptSubmit', PROMPT_SECONDS] as const

// Whatever a hook is given, Qwen itself breaks down when one takes a minute. From 1000 on all versions read milliseconds.
const QWEN_STOP = ['Stop', 55_000] as const
const QWEN_PROMPT = ['UserPromptSubmit', 50_000] as const

const TWICE_IN_COPILOT =
  'Note: in a folder with `ralph install claude --project` Copilot runs those hooks, too. Better there: `ralph install claude`.'

const RESTART = 'Sessions that are open do not know it yet: start a new one.'

export const PLACES: Readonly<Record<string, Place>> = {
  claude: {
    title: 'Claude Code',
    programs: ['claude'],
    folder: (site) => choose(site, site.env.CLAUDE_CONFIG_DIR || join(site.person, '.claude'), '.claude'),
    wanted: (site, folder) => [
      // The settings of a project are for everybody in it, and would be committed; the local ones are not.
      hooks(join(folder, site.scope === 'user' ? 'settings.json' : 'settings.local.json'), site, STOP, PROMPT),
      ...commandFiles(site, (name) => join(folder, 'commands', 'ralph', `${name}.md`)),
    ],
    command: '/ralph:loop',
    afterwards: ({ scope }, others) => [
      ...(scope === 'project' && others.some(({ agent }) => agent === 'copilot') ? [TWICE_IN_COPILOT] : []),
      RESTART,
    ],
  },
  codex: {
    title: 'Codex',
    programs: ['codex'],
    folder: (site) => choose(site, site.env.CODEX_HOME || join(site.person, '.codex'), '.codex'),
    wanted: (site, folder) => [
      hooks(join(folder, 'hooks.json'), site, STOP, PROMPT),
      ...skills(site, join(folder, 'skills')),
    ],
    command: '$ralph-loop',
    afterwards: ({ scope }) => [
      'Codex asks you to review new hooks when it starts next: look at them and trust them, or they do not run.',
      ...(scope === 'project'
        ? ['The folder itself must be trusted, too; Codex asks for that when it starts here.']
        : []),
    ],
  },
  gemini: {
    title: 'Gemini CLI',
    programs: ['gemini'],
    folder: (site) => choose(site, join(site.env.GEMINI_CLI_HOME || site.person, '.gemini'), '.gemini'),
    wanted: (site, folder) => [
      hooks(
        join(folder, 'settings.json'),
        site,
        ['AfterAgent', STOP_SECONDS * 1_000],
        ['BeforeAgent', PROMPT_SECONDS * 1_000],
      ),
      ...copies(site.plugin('gemini/commands'), join(folder, 'commands')),
    ],
    command: '/ralph:loop',
    afterwards: ({ scope }) => [
      ...(scope === 'project'
        ? ['Gemini runs hooks of a folder only when you trust it: answer its question, or type /permissions.']
        : []),
      RESTART,
    ],
  },
  opencode: {
    title: 'OpenCode',
    programs: ['opencode'],
    folder: (site) =>
      choose(
        site,
        site.env.OPENCODE_CONFIG_DIR || join(site.env.XDG_CONFIG_HOME || join(site.person, '.config'), 'opencode'),
        '.opencode',
      ),
    wanted: (site, folder) => [
      ...copies({ 'ralph.js': fileOf(site.plugin('opencode'), 'ralph.js') }, join(folder, 'plugins')),
    ],
    command: '/ralph:loop',
    afterwards: () => [RESTART],
  },
  copilot: {
    title: 'Copilot CLI',
    programs: ['copilot'],
    folder: (site) => choose(site, site.env.COPILOT_HOME || join(site.person, '.copilot'), '.github'),
    wanted: (site, folder) => [
      // A project's hooks/ would be committed; its local settings are not. Both are read.
      site.scope === 'user'
        ? copilotHooks(site, join(folder, 'hooks', 'ralph.json'), { version: 1 })
        : copilotHooks(site, join(folder, 'copilot', 'settings.local.json'), {}),
      ...skills(site, join(folder, 'skills')),
    ],
    command: '/ralph-loop',
    afterwards: ({ scope }, others) => [
      ...(others.some((one) => one.agent === 'claude' && one.scope === 'project') ? [TWICE_IN_COPILOT] : []),
      ...(scope === 'project'
        ? ['Copilot runs hooks of a folder only when you trust it; it asks when it starts here.']
        : []),
      RESTART,
    ],
  },
  qwen: {
    title: 'Qwen Code',
    programs: ['qwen'],
    folder: (site) => choose(site, site.env.QWEN_HOME || join(site.person, '.qwen'), '.qwen'),
    wanted: (site, folder) => [
      hooks(join(folder, 'settings.json'), site, QWEN_STOP, QWEN_PROMPT),
      ...commandFiles(site, (name) => join(folder, 'commands', 'ralph', `${name}.md`)),
    ],
    command: '/ralph:loop',
    afterwards: () => [
      RESTART,
      'Qwen gives a hook less than a minute: a loop whose checks take longer ends. `ralph run --agent qwen` has no such limit.',
      'Qwen lets a loop go on seven times, then it pauses; QWEN_CODE_STOP_HOOK_BLOCK_CAP=100 in its environment allows more.',
    ],
  },
  droid: {
    title: 'Droid',
    programs: ['droid'],
    folder: (site) => choose(site, join(site.env.FACTORY_HOME_OVERRIDE || site.person, '.factory'), '.factory'),
    wanted: (site, folder) => [
      ...droidHooks(site, folder),
      ...commandFiles(site, (name) => join(folder, 'commands', `ralph-${name}.md`), droidCommand),
    ],
    elsewhere: droidFiles,
    command: '/ralph-loop',
    afterwards: ({ scope }) => [
      ...(scope === 'project'
        ? ['Droid loads what a folder brings only when you trust it; it asks when it starts here.']
        : []),
      RESTART,
    ],
  },
  cursor: {
    title: 'Cursor',
    programs: ['cursor-agent', 'cursor'],
    folder: (site) => choose(site, join(site.person, '.cursor'), '.cursor'),
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
    command: '/ralph-loop',
    afterwards: () => [RESTART, 'This was written by the documentation of Cursor and has not been tried with it.'],
  },
  pi: {
    title: 'Pi',
    programs: ['pi'],
    folder: (site) => choose(site, site.env.PI_CODING_AGENT_DIR || join(site.person, '.pi', 'agent'), '.pi'),
    wanted: (site, folder) => [
      {
        kind: 'settings',
        path: join(folder, 'settings.json'),
        entries: [{ at: ['packages'], item: piPackage(site.home) }],
      },
    ],
    command: '/ralph-loop',
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

function choose({ scope, project }: Site, user: string, below: string): string {
  return scope === 'user' ? user : join(project, below)
}
