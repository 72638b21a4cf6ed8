/**
 * The configuration and the hooks of a repository as they were when a loop started: for ralph's own git, and to report
 * what has changed.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { isHarmless, type Listed, parseSettings, printSettings, type Setting, valuesOf } from '../formats/git-config.ts'
import { stampOf } from './files.ts'
import { openSite } from './git.ts'
import type { Site } from './git-site.ts'

type Where = Pick<Site, 'top' | 'gitDir' | 'commonDir'>

/** `files`: the files with the settings. `hooks`: a hash of each, by name. */
export type Settings = { local: Setting[]; files: string[]; hooksFolder: string; hooks: Record<string, string> }

/** Undefined if git cannot read them. */
export async function readSettings({ top, gitDir, commonDir }: Where): Promise<Settings | undefined> {
  const where = { top, gitDir, commonDir }
  const listed = await openSite(where).ask(['config', '--list', '--includes', '--show-scope', '--show-origin', '-z'])
  if (!listed.ok) return undefined
  const all = parseSettings(listed.out).filter(({ scope }) => scope !== 'command') // those are ralph's own
  const own = all.filter(({ scope }) => scope === 'local' || scope === 'worktree')
  const hooksFolder = findHooks(where, all)
  return {
    local: own.map(({ key, value }) => (value === undefined ? { key } : { key, value })),
    files: [...new Set(own.map(({ file }) => resolve(top, file)))],
    hooksFolder,
    hooks: Object.fromEntries(filesIn(hooksFolder).map((name) => [name, hashOf(join(hooksFolder, name))])),
  }
}

function findHooks({ top, commonDir }: Where, settings: readonly Listed[]): string {
  const path = settings.findLast(({ key }) => key === 'core.hookspath')?.value
  if (!path) return join(commonDir, 'hooks')
  return resolve(top, path.replace(/^~(?=\/)/, process.env.HOME ?? homedir()))
}

/** git runs no samples. */
function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  const names = readdirSync(folder).filter((name) => !name.endsWith('.sample'))
  return names.filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile()).sort()
}

function hashOf(path: string): string {
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(readFileSync(path)).digest('hex')
}

/** A string that changes with the settings and the hooks; computing it starts no program. */
export function settingsStamp({ gitDir, commonDir }: Where, { files, hooksFolder }: Settings): string {
  const paths = new Set([
    ...files,
    join(commonDir, 'config'),
    join(gitDir, 'config.worktree'),
    ...[hooksFolder, join(commonDir, 'hooks')].flatMap((folder) => filesIn(folder).map((name) => join(folder, name))),
  ])
  return [...paths].map((path) => `${path} ${stampOf(path)}`).join('\n')
}

/**
 * In sentences, what differs from the start and is as a turn of the loop left it; what somebody changed later is
 * theirs. None unless a change makes git run a program or read other files.
 */
export function describeChanges(
  commonDir: string,
  settings: { start: Settings; left: Settings; now: Settings },
): string[] {
  const maps = (of: (settings: Settings) => Map<string, string>) =>
    [settings.start, settings.left, settings.now].map(of)
  const changed = ([start, left, now]: Map<string, string>[]) =>
    [...new Set([...(left?.keys() ?? []), ...(start?.keys() ?? [])])].filter(
      (key) => left?.get(key) !== start?.get(key) && now?.get(key) === left?.get(key),
    )
  const keys = changed(maps(({ local }) => valuesOf(local))).filter((key) => !isHarmless(key))
  const hooks = changed(maps(({ hooks }) => new Map(Object.entries(hooks))))
  return [
    ...(keys.length > 0 ? [`${join(commonDir, 'config')} ${HAS_CHANGED} (${shortened(keys)}). ${USES_OLD}`] : []),
    ...(hooks.length > 0
      ? [`The git hooks of this repository ${HAVE_CHANGED} (${shortened(hooks)}). ${RUNS_NONE}`]
      : []),
  ]
}

const HAS_CHANGED = 'has changed since the loop started'
const HAVE_CHANGED = 'have changed since the loop started'
const USES_OLD = 'ralph uses the old settings. Review the new ones before you use git there.'
const RUNS_NONE = 'ralph runs none of them. Review them before you use git there.'

function shortened(names: readonly string[]): string {
  const more = names.length > MOST ? [`and ${names.length - MOST} more`] : []
  return [...names.slice(0, MOST), ...more].join(', ')
}

const MOST = 8

/**
 * A folder that git takes for what the worktrees of the repository share: everything in it is the repository's own,
 * except its configuration, its attributes and the end of a shallow history, which stay as they are now. It has no
 * hooks and no grafts.
 */
export function pinSettings(commonDir: string, { local }: Settings, folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'info'), { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, 'config'), printSettings(local.filter(({ key }) => !LEFT_OUT.test(key))), { mode: 0o600 })
  mkdirSync(join(commonDir, 'logs'), { recursive: true }) // git must be able to write them through the link
  for (const name of ['info/attributes', 'shallow'])
    if (existsSync(join(commonDir, name))) copyFileSync(join(commonDir, name), join(folder, name))
  const names = new Set([...readdirSync(commonDir), 'packed-refs', 'info/exclude'])
  for (const name of names) if (!OWN.has(name)) symlinkSync(join(commonDir, name), join(folder, name))
}

// Included settings are in the list itself; the include lines would point to files that an agent may write.
const LEFT_OUT = /^(include\.path|includeif\..*|extensions\.worktreeconfig|core\.worktree|core\.bare)$/s

const OWN = new Set(['config', 'config.worktree', 'hooks', 'info', 'shallow', 'commondir', 'gitdir', 'index'])
