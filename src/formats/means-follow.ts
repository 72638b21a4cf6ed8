/** Follows the checks: which scripts, targets and test files they run, and with which tools. */
import { parseCommandLine } from './command-line.ts'
import type { Files, Means, Proving, Role } from './means.ts'
import { followCode } from './means-code.ts'
import { filesFound, globbed } from './means-lists.ts'
import { followJust, followMake } from './means-make.ts'
import { followPackages, PACKAGES } from './means-packages.ts'
import { folderOf, join, resolve, resolveOutside } from './means-paths.ts'
import { followPytestOptions } from './means-pytest.ts'
import { roleOf } from './means-role.ts'
import { followRunner, isRunner } from './means-runners.ts'
import { followShell, notePath } from './means-shell.ts'
import { leavesFiles, noteUnclear, onlyLooks, type Unclear } from './means-unclear.ts'
import { ASSIGNS, readShellArgs, wrapped } from './means-wrappers.ts'
import type { ShellCommand } from './shell-text.ts'

export type Followed = {
  files: ReadonlyMap<string, Means>
  tools: ReadonlySet<string>
  started: ReadonlySet<string>
  outside: ReadonlySet<string>
  unclear: Unclear
  /** There was more to follow than the limit allows. */
  isCut: boolean
}

/**
 * The context of a command: its folder, the folder of its script, and how many scripts deep it is. `outside`: the
 * absolute folder of a script outside the repository. `doubtful`: the script may be the work itself, and so may all that
 * it runs. `direct`: in the check itself or in a recipe, not in a script.
 */
export type Where = {
  cwd: string
  beside: string
  depth: number
  captured: boolean
  outside?: string
  doubtful?: true
  direct?: true
}

export type Following = {
  files: Files
  top: string
  /** Where the checks start. */
  dir: string
  found: Map<string, Means>
  tools: Set<string>
  /** Folders that Python starts in or is told to import from. */
  started: Set<string>
  /** What was already followed: scripts may run each other. */
  seen: Set<string>
  opened: Set<string>
  steps: number
  /** The bodies of shell functions. */
  functions: Map<string, ShellCommand[]>
  /** Folders that scripts add to PATH. */
  path: string[]
  /** Scripts outside the repository, by their absolute paths. */
  outside: Set<string>
  unclear: Unclear
  isCut: boolean
}

export async function followChecks(files: Files, { checks, dir, top }: Proving): Promise<Followed> {
  const following: Following = {
    files,
    top,
    dir,
    found: new Map(),
    tools: new Set(),
    started: new Set(),
    seen: new Set(),
    opened: new Set(),
    steps: 0,
    functions: new Map(),
    path: [],
    outside: new Set(),
    unclear: { files: new Set(), named: new Set(), patterns: new Map() },
    isCut: false,
  }
  const where: Where = { cwd: dir, beside: dir, depth: 0, captured: false, direct: true }
  for (const check of checks) await followCommand(following, wordsOf(check), where)
  const { found, tools, started, outside, unclear, isCut } = following
  return { files: found, tools, started, outside, unclear, isCut }
}

function wordsOf(check: string): string[] {
  try {
    return parseCommandLine(check)
  } catch {
    return ['sh', '-c', check] // an older loop may have a check that would be refused today
  }
}

export async function followCommand(following: Following, words: readonly string[], where: Where): Promise<void> {
  const [program = '', ...args] = words
  const name = program.slice(program.lastIndexOf('/') + 1)
  if (name === '' || !hasStep(following)) return
  for (const word of words) await followSetting(following, word, where)
  if (ASSIGNS.test(program)) return args.length > 0 ? followCommand(following, args, where) : undefined
  following.tools.add(name)
  if (program.includes('/')) await followScript(following, program, where, { given: args })
  else for (const folder of following.path) await followScript(following, `${folder}/${name}`, where, { given: args })
  if (SHELLS.test(name)) return followShellArgs(following, args, where)
  if (name === '.' || name === 'source') {
    const [script = '', ...given] = args
    return followScript(following, script, { ...where, captured: false }, { sourced: true, given })
  }
  if (name === 'make' || name === 'gmake') return followMake(following, args, where)
  if (PACKAGES.test(name)) return followPackages(following, name, args, where)
  if (name === 'diff' || name === 'cmp') return takeCompared(following, args, where)
  if (name === 'find') return followFind(following, args, where)
  if (isRunner(name)) return followRunner(following, name, args, where)
  if (name === 'cargo' || name === 'go') {
    for (const arg of args.filter((word) => /^[a-z-]+$/.test(word))) following.tools.add(arg)
    return
  }
  if (name === 'just') return followJust(following, where)
  if (name === 'env') for (const word of args) if (word.startsWith('PATH=')) notePath(following, word.slice(5))
  const inner = wrapped(following, name, args, where)
  if (inner) return followCommand(following, inner, where)
  if (!program.includes('/') && !onlyLooks(name)) noteUnclear(following, args, where)
}

/** No real check needs more. */
export function hasStep(following: Following): boolean {
  if (++following.steps > MOST_STEPS) following.isCut = true
  return following.steps <= MOST_STEPS
}

const MOST_STEPS = 60_000
export const SHELLS: RegExp = /^(ba|da|k|z|a)?sh$/

/** Environment variables that Python and pytest read. */
export async function followSetting(following: Following, word: string, where: Where): Promise<void> {
  const [, name, value = ''] = /^(PYTEST_ADDOPTS|PYTHONPATH)=(.*)$/s.exec(word) ?? []
  if (name === 'PYTEST_ADDOPTS') await followPytestOptions(following, value, where)
  if (name !== 'PYTHONPATH') return
  for (const folder of value.split(':')) following.started.add(join(where.cwd, folder) ?? where.cwd)
}

/** What the work's output is compared with is not work. With two files, there is no telling which is which. */
function takeCompared({ files, top, found }: Following, args: readonly string[], where: Where): void {
  if (!args.includes('-')) return
  for (const word of args) {
    const path = resolve(files, top, word, where)
    if (path !== undefined && !found.has(path)) found.set(path, { role: 'snapshot', part: 'whole' })
  }
}

const EXECUTES = /^-(exec|ok)(dir)?$/

async function followFind(following: Following, args: readonly string[], where: Where): Promise<void> {
  const at = args.findIndex((word) => EXECUTES.test(word))
  if (at < 0) return
  const end = args.findIndex((word, index) => index > at && /^[;+]$/.test(word))
  // The next command gets the same files.
  const rest = end < 0 ? [] : args.slice(end + 1)
  if (rest.some((word) => EXECUTES.test(word))) await followFind(following, [...args.slice(0, at), ...rest], where)
  const command = args.slice(at + 1, end < 0 ? undefined : end)
  if (leavesFiles(command[0] ?? '')) return
  for (const file of filesFound(following, args.slice(0, at), where.cwd))
    await followCommand(
      following,
      command.map((word) => word.replaceAll('{}', file)),
      where,
    )
}

async function followShellArgs(following: Following, args: readonly string[], where: Where): Promise<void> {
  const asked = readShellArgs(args)
  if (!asked) return
  const { kind, word, given } = asked
  if (kind === 'script') return followScript(following, word, where, { given })
  const [own, ...rest] = given // `$0` is the first of them
  const text = own === undefined ? word : word.replace(/\$(0|\{0\})(?!\w)/g, own)
  return followShell(following, text, where, rest)
}

/** `sourced` files are always means, others may be the work under test; `given` are the arguments. */
export type Running = { sourced?: boolean; given?: readonly string[] }

/** A script that is run. */
export async function followScript(
  following: Following,
  word: string,
  where: Where,
  { sourced = false, given }: Running = {},
): Promise<void> {
  const { files, top, dir } = following
  // A `cd` in a subshell ends with it, so the script may be relative to where the checks started.
  const path = resolve(files, top, word, where) ?? resolve(files, top, word, { ...where, cwd: dir })
  if (path === undefined) return followElsewhere(following, word, where, given)
  const role = sourced ? 'means' : roleOf(path, where)
  if (role === 'work') return
  await followFile(following, path, role === 'unclear' ? { ...where, doubtful: true } : where, { given })
}

/** A script outside the repository, or every file that a word with an unknown variable may mean. */
async function followElsewhere(
  following: Following,
  word: string,
  where: Where,
  given: readonly string[] | undefined,
): Promise<void> {
  const { files, top, outside } = following
  const path = resolveOutside(top, word, where)
  const text = path === undefined ? undefined : await files.readOutside?.(path)
  if (path !== undefined && text !== undefined) {
    if (outside.has(path)) return
    if (outside.size > MOST_OUTSIDE) following.isCut = true
    if (outside.size > MOST_OUTSIDE) return
    outside.add(path)
    const { direct: _, ...around } = where
    const inside = { ...around, outside: folderOf(path), depth: where.depth + 1, captured: false }
    if (isShell(path, text)) await followShell(following, text, inside, given)
    else await followCode(following, { path, text }, inside)
    return
  }
  const pattern = word.replace(/\$(\{[^}]*\}|\(\)|\w+)/g, '*')
  if (pattern === word || !/^(\.\/)?[\w.-]*\w\//.test(pattern)) return
  for (const file of globbed(following, pattern, where.cwd)) {
    const found = resolve(files, top, file, where)
    if (found !== undefined) await followScript(following, `${top}/${found}`, where, given ? { given } : {})
  }
}

const MOST_OUTSIDE = 200

/** Counts the whole file, and follows what it runs in turn. */
export async function followFile(
  following: Following,
  path: string,
  where: Where,
  { role = 'script', given }: { role?: Role; given?: readonly string[] | undefined } = {},
): Promise<void> {
  if (where.doubtful) following.unclear.files.add(path)
  else if (!following.found.has(path)) following.found.set(path, { role, part: 'whole' })
  const visit = [where.cwd, path, where.doubtful ?? '', ...(given ?? [])].join('\0')
  if (following.seen.has(visit)) return
  following.seen.add(visit)
  following.opened.add(path)
  if (following.opened.size > MOST_OPENED || following.seen.size > MOST_FOLLOWED) {
    following.isCut = true
    return
  }
  const text = await following.files.read(path)
  if (text === undefined || text.length > LONGEST) return
  if (following.files.links?.has(path)) {
    const target = join(folderOf(path), text)
    if (target !== undefined && following.files.paths.has(target))
      await followFile(following, target, where, { role, given })
    return
  }
  const { cwd, depth, doubtful } = where
  const inside = { cwd, beside: folderOf(path), depth: depth + 1, captured: false, ...(doubtful ? { doubtful } : {}) }
  if (isShell(path, text)) await followShell(following, text, inside, given)
  else if (!doubtful) await followCode(following, { path, text }, inside)
}

const MOST_OPENED = 1000
const MOST_FOLLOWED = 5000
const LONGEST = 1_000_000

function isShell(path: string, text: string): boolean {
  if (text.startsWith('#!')) return /^#!.*?\b(ba|da|k|z|a)?sh\b/.test(text)
  return /\.(ba|z|k)?sh$|(^|\/)[^/.]+$/.test(path)
}
