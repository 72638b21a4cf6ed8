/** Follows the checks: which scripts, targets and test files they run, and with which tools. */
import { parseCommandLine } from './command-line.ts'
import type { Files, Means, Proving, Role } from './means.ts'
import { followCode } from './means-code.ts'
import { followJust, followMake } from './means-make.ts'
import { followPackages } from './means-packages.ts'
import { followPytestOptions } from './means-pytest.ts'
import { followRunner, isRunner } from './means-runners.ts'
import { parseShell } from './shell-text.ts'

export type Followed = { files: ReadonlyMap<string, Means>; tools: ReadonlySet<string>; started: ReadonlySet<string> }

/**
 * Where a command stands: its folder, that of the script it stands in, and how many scripts deep that is. `direct`: in the
 * check itself or in a recipe, and not in a script.
 */
export type Where = { cwd: string; beside: string; depth: number; captured: boolean; direct?: true }

export type Following = {
  files: Files
  top: string
  found: Map<string, Means>
  tools: Set<string>
  /** Folders in which Python is started, or which it is told to import from. */
  started: Set<string>
  /** What was followed already: scripts may run each other. */
  seen: Set<string>
}

export async function followChecks(files: Files, { checks, dir, top }: Proving): Promise<Followed> {
  const following: Following = { files, top, found: new Map(), tools: new Set(), started: new Set(), seen: new Set() }
  const where: Where = { cwd: dir, beside: dir, depth: 0, captured: false, direct: true }
  for (const check of checks) await followCommand(following, wordsOf(check), where)
  return { files: following.found, tools: following.tools, started: following.started }
}

function wordsOf(check: string): string[] {
  try {
    return parseCommandLine(check)
  } catch {
    return ['sh', '-c', check] // an older loop may have a check that is refused today
  }
}

export async function followCommand(following: Following, words: readonly string[], where: Where): Promise<void> {
  const [program = '', ...args] = words
  const name = program.slice(program.lastIndexOf('/') + 1)
  for (const word of words) await followSetting(following, word, where)
  if (name === '' || ASSIGNS.test(program))
    return name && args.length > 0 ? followCommand(following, args, where) : undefined
  following.tools.add(name)
  if (program.includes('/')) await followScript(following, program, where)
  if (SHELLS.test(name)) return followShellCommand(following, args, where)
  if (name === '.' || name === 'source')
    return followScript(following, args[0] ?? '', { ...where, captured: false }, true)
  if (name === 'make' || name === 'gmake') return followMake(following, args, where)
  if (PACKAGES.test(name)) return followPackages(following, name, args, where)
  if (name === 'diff' || name === 'cmp') return takeCompared(following, args, where)
  if (isRunner(name)) return followRunner(following, name, args, where)
  if (name === 'cargo' || name === 'go') {
    for (const arg of args.filter((word) => /^[a-z-]+$/.test(word))) following.tools.add(arg)
    return
  }
  if (name === 'just') return followJust(following, where)
  const inner = wrapped(name, args)
  if (inner) await followCommand(following, inner, where)
}

/** Variables that Python and pytest read by themselves. */
async function followSetting(following: Following, word: string, where: Where): Promise<void> {
  const [, name, value = ''] = /^(PYTEST_ADDOPTS|PYTHONPATH)=(.*)$/s.exec(word) ?? []
  if (name === 'PYTEST_ADDOPTS') await followPytestOptions(following, value, where)
  if (name !== 'PYTHONPATH') return
  for (const folder of value.split(':')) following.started.add(join(where.cwd, folder) ?? where.cwd)
}

/** What the output of the work is compared with is no work. Of two files nobody can tell. */
function takeCompared({ files, top, found }: Following, args: readonly string[], where: Where): void {
  if (!args.includes('-')) return
  for (const word of args) {
    const path = resolve(files, top, word, where)
    if (path !== undefined && !found.has(path)) found.set(path, { role: 'snapshot', part: 'whole' })
  }
}

const ASSIGNS = /^[A-Za-z_]\w*=/
const SHELLS = /^(ba|da|k|z|a)?sh$/
const PACKAGES = /^(npm|pnpm|yarn|bun|npx|pnpx|bunx|run-[sp]|npm-run-all2?|concurrently|turbo|nx|lerna)$/

/** Programs that run the command in their arguments. */
const WRAPPERS: Readonly<Record<string, RegExp | undefined>> = {
  ...Object.fromEntries(
    'env time nice nohup exec command sudo timeout xargs cross-env setsid stdbuf xvfb-run nyc c8 eval ionice chronic unbuffer catchsegv'
      .split(' ')
      .map((name) => [name, /^$/]),
  ),
  ...Object.fromEntries(
    'uv poetry pipenv rye pdm hatch bundle dotenv dotenvx doppler op mise direnv nix rtx asdf coverage docker-run'
      .split(' ')
      .map((name) => [name, /^(run|exec|x|develop|shell)$/]),
  ),
}

function wrapped(name: string, args: readonly string[]): string[] | undefined {
  const verb = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined
  if (!verb) return undefined
  if (name === 'coverage' && args[0] === 'run') return ['python', ...args.slice(1)]
  const at = args.findIndex((word) => !/^-|^[\d.]+[smhd]?$/.test(word) && !ASSIGNS.test(word) && !verb.test(word))
  return at < 0 ? undefined : args.slice(at)
}

async function followShellCommand(following: Following, args: readonly string[], where: Where): Promise<void> {
  const at = args.findIndex((word) => /^-\w*c$/.test(word))
  if (at >= 0) return followShell(following, args[at + 1] ?? '', where)
  const script = args.find((word) => !/^[-+]/.test(word))
  if (script !== undefined) await followScript(following, script, where)
}

/** The commands of a shell text, one after the other; `cd` and simple variables are carried along. */
export async function followShell(following: Following, text: string, where: Where): Promise<void> {
  const variables = new Map<string, string>()
  let { cwd } = where
  for (const { words, captured } of parseShell(text)) {
    const known = words.map((word) => expand(word, variables))
    for (const word of known) {
      const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(word) ?? []
      if (name === undefined) break
      variables.set(name, value ?? '')
    }
    if (known[0] === 'cd') cwd = join(cwd, known[1] ?? '') ?? cwd
    else await followCommand(following, known, { ...where, cwd, captured: where.captured || captured })
  }
}

function expand(word: string, variables: ReadonlyMap<string, string>): string {
  return word.replace(/\$(?:(\w+)|\{(\w+)\})/g, (whole, plain, braced) => variables.get(plain ?? braced) ?? whole)
}

/** A script that is run; `sourced` ones are always means, others may be the work that is looked at. */
export async function followScript(following: Following, word: string, where: Where, sourced = false): Promise<void> {
  const path = resolve(following.files, following.top, word, where)
  if (path === undefined) return
  if (!sourced && isWork(path, where)) return
  await followFile(following, path, where)
}

/** Takes the whole file, and looks at what it runs in turn. */
export async function followFile(
  following: Following,
  path: string,
  where: Where,
  role: Role = 'script',
): Promise<void> {
  const known = following.found.get(path)
  if (!known) following.found.set(path, { role, part: 'whole' })
  const visit = `${where.cwd}\0${path}`
  if (following.seen.has(visit) || following.seen.size > MOST_FOLLOWED) return
  following.seen.add(visit)
  const text = await following.files.read(path)
  if (text === undefined || text.length > LONGEST) return
  if (following.files.links?.has(path)) {
    const target = join(folderOf(path), text)
    if (target !== undefined && following.files.paths.has(target)) await followFile(following, target, where, role)
    return
  }
  const inside = { cwd: where.cwd, beside: folderOf(path), depth: where.depth + 1, captured: false }
  if (isShell(path, text)) await followShell(following, text, inside)
  else await followCode(following, { path, text }, inside)
}

const MOST_FOLLOWED = 500
const LONGEST = 1_000_000

function isShell(path: string, text: string): boolean {
  if (text.startsWith('#!')) return /^#!.*?\b(ba|da|k|z|a)?sh\b/.test(text)
  return /\.(ba|z|k)?sh$|(^|\/)[^/.]+$/.test(path)
}

const CHECKING =
  /(^|[^a-z])(tests?|checks?|checker|verif\w*|lint\w*|specs?|assert\w*|ci|validat\w*|e2e|smoke|ensure|expect\w*|gate|qa|runner|suite|compar\w*|diff|grade\w*|judge|scor(e|er|ing)|eval\w*|bench\w*)([^a-z]|$)/i
const TOOL_FOLDER = /(^|\/)(scripts?|tools?|tooling|ci|\.ci|hack|checks?|dev|\.github|\.husky)\//i
const PRODUCT =
  /(^|\/)((main|app|index|server|cli|program|solution|__main__)\.\w+$|(src|lib|app|dist|build|pkg|cmd)\/)/i

/** Its name or its folder says that it checks something. */
export function saysCheck(path: string): boolean {
  return CHECKING.test(path.slice(path.lastIndexOf('/') + 1)) || TOOL_FOLDER.test(path)
}

/** A program whose output a check looks at is what is proven, not what proves it. */
export function isWork(whole: string, { cwd, depth, captured }: Where): boolean {
  const path = cwd && whole.startsWith(`${cwd}/`) ? whole.slice(cwd.length + 1) : whole
  if (CHECKING.test(path.slice(path.lastIndexOf('/') + 1))) return false
  if (captured) return true
  if (TOOL_FOLDER.test(path)) return false
  if (PRODUCT.test(path)) return true
  return depth > 0 && !/\.(ba|z|k)?sh$|(^|\/)[^/.]+$/.test(path)
}

/** The path of a word in the state; undefined: no file of it. A variable in front may be any folder near by. */
export function resolve(files: Files, top: string, word: string, where: Where): string | undefined {
  if (word === '') return undefined
  if (word.startsWith('/')) {
    const below = word.startsWith(`${top}/`) ? join('', word.slice(top.length + 1)) : undefined
    return below !== undefined && files.paths.has(below) ? below : undefined
  }
  const plain = word.replace(/^.*\$(\{[^}]*\}|\(\)|\w+)\/*/s, '')
  const folders = plain === word ? [where.cwd] : [where.beside, where.cwd, join(where.beside, '..') ?? '']
  return folders.map((folder) => join(folder, plain)).find((path) => path !== undefined && files.paths.has(path))
}

/** Undefined: it leads out of the repository. */
export function join(folder: string, path: string): string | undefined {
  const parts = folder === '' ? [] : folder.split('/')
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return undefined
  }
  return parts.join('/')
}

export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}
