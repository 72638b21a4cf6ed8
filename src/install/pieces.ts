/** The pieces of an installation: hooks, commands and skills, in the formats agents read. */
import { join } from 'node:path'
import { quoteWord } from '../formats/command-line.ts'
import type { Entry } from '../formats/json-text.ts'
import { skillOf } from './skill.ts'

/** `vault`: in one folder, for the tasks in it. */
export type Scope = 'user' | 'project' | 'vault'

/** A file that an installation needs. */
export type Wanted =
  /** The user's JSON, which gets entries of ralph's. `fields`: what else the file must have. */
  | { kind: 'settings'; path: string; entries: Entry[]; fields?: Readonly<Record<string, unknown>> }
  /** A file that belongs to ralph alone. `program`: it is executable. */
  | { kind: 'own'; path: string; text: string; program?: true }
  /** Lines at the end of a list of the user's. */
  | { kind: 'lines'; path: string; lines: string[] }
  /** A table of ralph's in the user's TOML. `lines`: what it must have, its header first. */
  | { kind: 'table'; path: string; name: string; lines: string[] }

/** The sources and target of an installation. */
export type Site = {
  scope: Scope
  /** RALPH_HOME. */
  home: string
  /** The user's home folder. */
  person: string
  /** The project folder. */
  project: string
  env: Readonly<Record<string, string | undefined>>
  /** The text of an existing file. */
  read(path: string): string | undefined
  /** The files below a folder of the package's `plugins`, by relative path. */
  plugin(folder: string): Readonly<Record<string, string>>
}

const COMMANDS = ['loop', 'cancel', 'status', 'help', 'pause', 'resume', 'steer'] as const

/** Several checks of ten minutes each may run in a stop hook; a hook that times out ends the loop. */
export const STOP_SECONDS = 3_600
export const PROMPT_SECONDS = 60

type Whose = { home: string; scope: Scope }

/** Whether ralph added a list entry for this kind of installation: a folder may have two. */
export function isOwnEntry(whose: Whose): (item: unknown) => boolean {
  const own = new Set<unknown>(ownWords(whose))
  return (item) => {
    if (typeof item !== 'object' || item === null) return own.has(item)
    const { command, bash, source, args } = item as Readonly<Record<string, unknown>>
    return [command, bash, source, args].flat().some((value) => value !== undefined && own.has(value))
  }
}

/** Whether a text mentions something of ralph's. */
export function mentionsOwn(whose: Whose): (text: string) => boolean {
  const words = ownWords(whose)
  return (text) => words.some((word) => text.includes(JSON.stringify(word)))
}

function ownWords({ home, scope }: Whose): string[] {
  if (scope === 'vault') return [VAULT_COMMAND]
  const events = ['stop', 'prompt'] as const
  // What an older ralph wrote also counts as ralph's.
  const commands = events.flatMap((event) => [commandOf({ home }, event), bareCommand(home, event)])
  return [...commands, piPackage(home), launcher(home)]
}

/** Through the link in ralph's home, as below. */
export function launcher(home: string): string {
  return join(home, 'package', 'bin', 'ralph.cjs')
}

const IN_VAULT = '"$CLAUDE_PROJECT_DIR"/.claude/hooks/stop.sh'

/** Valid wherever the vault is moved. */
export const VAULT_COMMAND: string = `[ ! -r ${IN_VAULT} ] || sh ${IN_VAULT}`

/**
 * One line of sh, which every agent passes to a shell. If the script is missing, plain `sh` would exit with the code that
 * blocks a session.
 */
export function commandOf({ home }: Pick<Site, 'home'>, event: 'stop' | 'prompt'): string {
  return `[ ! -r ${quoteWord(join(home, 'hook.sh'))} ] || ${bareCommand(home, event)}`
}

function bareCommand(home: string, event: 'stop' | 'prompt'): string {
  return `sh ${quoteWord(join(home, 'hook.sh'))} ${event}`
}

/** Through the link in ralph's home, so that it stays valid when ralph is reinstalled somewhere else. */
export function piPackage(home: string): string {
  return join(home, 'package', 'plugins', 'pi')
}

/** An agent's name for an event, its hook timeout in its own unit, and what it shows of the hook. */
type Event = readonly [name: string, timeout: number, shown?: Readonly<Record<string, string>>]

/** `stops`: the end of a turn, and other events that report one. */
export function hooks(path: string, site: Site, stops: readonly Event[], prompt: Event): Wanted {
  const entry = (event: 'stop' | 'prompt', [name, timeout, shown]: Event): Entry => ({
    at: ['hooks', name],
    item: group(site, event, timeout, shown),
  })
  return { kind: 'settings', path, entries: [...stops.map((stop) => entry('stop', stop)), entry('prompt', prompt)] }
}

export function group(site: Site, event: 'stop' | 'prompt', timeout: number, shown: object = {}): object {
  return { hooks: [{ type: 'command', command: commandOf(site, event), timeout, ...shown }] }
}

export function copilotHooks(site: Site, path: string, fields: Readonly<Record<string, unknown>>): Wanted {
  const item = (event: 'stop' | 'prompt', timeoutSec: number) => ({
    type: 'command',
    bash: commandOf(site, event),
    timeoutSec,
  })
  return {
    kind: 'settings',
    path,
    fields,
    entries: [
      { at: ['hooks', 'agentStop'], item: item('stop', STOP_SECONDS) },
      { at: ['hooks', 'userPromptSubmitted'], item: item('prompt', PROMPT_SECONDS) },
    ],
  }
}

/** `shape` converts a command text to an agent's own format. */
export function commandFiles(
  site: Site,
  pathOf: (name: string) => string,
  shape: (name: string, text: string) => string = (_, text) => text,
): Wanted[] {
  const texts = site.plugin('claude/commands')
  return COMMANDS.map((name) => ({ kind: 'own', path: pathOf(name), text: shape(name, fileOf(texts, `${name}.md`)) }))
}

export function skills(site: Site, folder: string): Wanted[] {
  const texts = site.plugin('claude/commands')
  return COMMANDS.map((name) => ({
    kind: 'own',
    path: join(folder, `ralph-${name}`, 'SKILL.md'),
    text: skillOf(`ralph-${name}`, fileOf(texts, `${name}.md`)),
  }))
}

export function copies(files: Readonly<Record<string, string>>, folder: string): Wanted[] {
  return Object.entries(files).map(([way, text]) => ({ kind: 'own', path: join(folder, way), text }))
}

/** A file that the package must have. */
export function fileOf(files: Readonly<Record<string, string>>, name: string): string {
  const text = files[name]
  if (text === undefined)
    throw new Error(`The package has no ${name} among ${Object.keys(files).join(', ') || 'no files'}.`)
  return text
}
