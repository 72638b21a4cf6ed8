/** npm, pnpm, yarn and bun: which scripts of which package.json a command runs. */
import { quoteWord } from './command-line.ts'
import { matchesPath } from './glob.ts'
import { isObject, readJson } from './json-file.ts'
import type { Means } from './means.ts'
import { type Following, followCommand, followScript, type Where } from './means-follow.ts'
import { folderOf, join } from './means-paths.ts'
import { followRunner } from './means-runners.ts'
import { followShell } from './means-shell.ts'
import { scriptsIn } from './repo-checks.ts'

export const PACKAGES: RegExp = /^(npm|pnpm|yarn|bun|npx|pnpx|bunx|run-[sp]|npm-run-all2?|concurrently|turbo|nx|lerna)$/

export async function followPackages(
  following: Following,
  name: string,
  args: readonly string[],
  where: Where,
): Promise<void> {
  if (/^(npx|pnpx|bunx)$/.test(name)) return followExec(following, args, where)
  if (name === 'concurrently') return followTogether(following, args, where)
  if (/^(run-[sp]|npm-run-all2?)$/.test(name)) {
    for (const script of args.filter((word) => !word.startsWith('-')))
      await runScripts(following, [where.cwd], script, '', where)
    return
  }
  const { words, rest, options } = readArgs(args)
  const folders = await foldersOf(following, options, where)
  const [verb = '', second = ''] = words
  if (/^(turbo|nx|lerna)$/.test(name)) {
    const everywhere = manifests(following).map(folderOf)
    for (const script of words) await runScripts(following, everywhere, script.replace(/^.*:/, ''), '', where)
    return
  }
  if (name === 'bun' && verb === 'test') return followRunner(following, 'jest', args.slice(1), where)
  if (/^(exec|x|dlx)$/.test(verb)) return followExec(following, args.slice(args.indexOf(verb) + 1), where)
  const script = /^(run|run-script|rum|urn)$/.test(verb) ? second : /^(t|tst)$/.test(verb) ? 'test' : verb
  const added = [...words.slice(words.indexOf(script) + 1), ...rest].map(quoteWord).join(' ')
  const ran = await runScripts(following, folders, script, added, where)
  if (ran || name === 'npm') return
  if (name === 'bun') return followScript(following, script, where)
  if (name === 'yarn' || name === 'pnpm') await followCommand(following, words, where)
}

const TAKES_VALUE = /^(-w|--workspace|--prefix|-C|--dir|--cwd|--filter|-F)$/

type Args = { words: string[]; rest: string[]; options: { name: string; value: string }[] }

function readArgs(args: readonly string[]): Args {
  const words: string[] = []
  const options: Args['options'] = []
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? ''
    if (word === '--') return { words, options, rest: args.slice(at + 1) }
    const [, name = word, value] = /^(--?[\w-]+)=(.*)$/s.exec(word) ?? []
    if (!word.startsWith('-')) words.push(word)
    else if (value === undefined && TAKES_VALUE.test(name)) options.push({ name, value: args[++at] ?? '' })
    else options.push({ name, value: value ?? '' })
  }
  if (words[0] === 'workspace') options.push({ name: '-w', value: words.splice(0, 2)[1] ?? '' })
  if (words[0] === 'workspaces')
    options.push({ name: '-ws', value: words.splice(0, words[1] === 'foreach' ? 2 : 1)[0] ?? '' })
  return { words, options, rest: [] }
}

/** The package.json in question; several for workspaces. */
async function foldersOf(following: Following, options: Args['options'], { cwd }: Where): Promise<string[]> {
  const inside = options.find(({ name }) => /^(--prefix|-C|--dir|--cwd)$/.test(name))
  if (inside) return [join(cwd, inside.value) ?? cwd]
  if (options.some(({ name }) => /^(-ws|--workspaces|-r|--recursive)$/.test(name)))
    return manifests(following).map(folderOf)
  const named = options.filter(({ name }) => /^(-w|--workspace|--filter|-F)$/.test(name))
  if (named.length === 0) return [nearest(following, cwd)]
  const folders: string[] = []
  for (const path of manifests(following)) {
    const folder = folderOf(path)
    const read = readJson((await following.files.read(path)) ?? '')
    const title = 'value' in read && isObject(read.value) ? read.value.name : undefined
    const isNamed = ({ value }: { value: string }) =>
      value === title ||
      join(cwd, value) === folder ||
      matchesPath(String(title ?? ''), value.replace(/^\.\.\.|\.\.\.$/g, ''))
    if (named.some(isNamed)) folders.push(folder)
  }
  return folders
}

function manifests({ files }: Following): string[] {
  return [...files.paths].filter((path) => /(^|\/)package\.json$/.test(path) && !/(^|\/)node_modules\//.test(path))
}

/** npm uses the nearest package.json, in the folder or above. */
function nearest(following: Following, folder: string): string {
  if (following.files.paths.has(join(folder, 'package.json') ?? '')) return folder
  return folder === '' ? folder : nearest(following, folderOf(folder))
}

/** Whether there is a script of that name. Its `pre` and `post` scripts belong to it, even while missing. */
async function runScripts(
  following: Following,
  folders: readonly string[],
  wanted: string,
  added: string,
  where: Where,
): Promise<boolean> {
  let ran = false
  for (const folder of folders) {
    const path = join(folder, 'package.json') ?? ''
    const scripts = scriptsIn((await following.files.read(path)) ?? '')
    const names = Object.keys(scripts).filter((name) => name === wanted || matchesPath(name, wanted))
    for (const script of names.length > 0 || wanted === '' ? names : [wanted]) {
      for (const name of [`pre${script}`, script, `post${script}`]) {
        takeKey(following.found, path, ['scripts', name])
        const text = scripts[name]
        const visit = `${path}\0${name}`
        if (typeof text !== 'string') continue
        ran = true
        if (following.seen.has(visit)) continue
        following.seen.add(visit)
        const here = { cwd: folder, beside: folder, depth: where.depth, captured: where.captured }
        await followShell(following, name === script && added ? `${text} ${added}` : text, here)
      }
    }
  }
  return ran
}

function takeKey(found: Map<string, Means>, path: string, key: readonly string[]): void {
  const known = found.get(path)?.part
  const keys = known && known !== 'whole' && known.kind === 'json' ? known.keys : []
  if (known !== 'whole') found.set(path, { role: 'script', part: { kind: 'json', keys: [...keys, key] } })
}

async function followExec(following: Following, args: readonly string[], where: Where): Promise<void> {
  const shell = args.findIndex((word) => word === '-c' || word === '--call')
  if (shell >= 0) return followShell(following, args[shell + 1] ?? '', where)
  const at = args.findIndex((word, index) => !word.startsWith('-') && !/^(-p|--package)$/.test(args[index - 1] ?? ''))
  if (at < 0) return
  const [program = '', ...rest] = args.slice(at)
  await followCommand(following, [program.replace(/(.)@[^/]*$/, '$1'), ...rest], where)
}

async function followTogether(following: Following, args: readonly string[], where: Where): Promise<void> {
  for (const text of args.filter((word) => !word.startsWith('-'))) {
    const script = /^(?:npm|pnpm|yarn|bun):(.*)$/.exec(text)?.[1]
    if (script === undefined) await followShell(following, text, where)
    else await runScripts(following, [where.cwd], script, '', where)
  }
}
