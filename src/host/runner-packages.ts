/** The packages behind the programs that a check runs: `npx vitest` is node_modules/vitest and its dependencies. */
import { realpathSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { isObject, readJson } from '../formats/json-file.ts'
import { TEST_LIBRARIES } from '../formats/means-helpers.ts'
import { bytesAt, entriesOf, statAt } from './disk-files.ts'
import { pathBelow } from './files.ts'

const MOST_PACKAGES = 60
const MOST_FILES = 3_000

/**
 * Paths from the top: packages with a slash at the end, the links in .bin that point to them, and what Python loads by
 * itself. `folders`: where checks run and tests are; packages are looked up there and further up.
 */
export function runnersOf(top: string, folders: Iterable<string>, tools: ReadonlySet<string>): string[] {
  const found = new Set<string>()
  const programs = [...tools].some((tool) => PUTS_BIN_FIRST.has(tool)) ? new Set([...tools, ...STARTED]) : tools
  const all = new Set([...folders].flatMap(upwards))
  for (const folder of all) {
    const modules = join(top, folder, 'node_modules')
    if (!statAt(modules)) continue
    for (const tool of programs) {
      const home = packageBehind(modules, tool)
      if (home !== undefined) addPackage(top, home, found, 0)
      const program = pathBelow(top, join(modules, '.bin', tool))
      if (program !== undefined && statAt(join(top, program))) found.add(program)
    }
  }
  for (const folder of all) {
    for (const name of TEST_LIBRARIES) {
      const home = join(top, folder, 'node_modules', name)
      if (statAt(join(home, 'package.json'))) addFolder(top, realpathOr(home), found)
    }
    for (const tool of tools) for (const path of inPython(join(top, folder), tool)) addFolder(top, path, found)
    for (const path of loadedByPython(join(top, folder))) found.add(pathBelow(top, path) ?? path)
  }
  return [...found]
}

/** These run scripts with `node_modules/.bin` in front of everything else, even the shell and what starts a program. */
const PUTS_BIN_FIRST = new Set(['npm', 'npx', 'pnpm', 'pnpx', 'yarn', 'bun', 'bunx'])
const STARTED = ['sh', 'bash', 'env', 'node']

function upwards(dir: string): string[] {
  return dir === '' ? [''] : [dir, ...upwards(dirname(dir) === '.' ? '' : dirname(dir))]
}

/** The folder of the package whose program has that name. */
function packageBehind(modules: string, tool: string): string | undefined {
  if (!/^[\w@][\w.@-]*$/.test(tool)) return undefined
  try {
    const program = realpathSync(join(modules, '.bin', tool))
    for (let folder = dirname(program); folder !== dirname(folder); folder = dirname(folder))
      if (statAt(join(folder, 'package.json'))) return folder
  } catch {
    // There is no such program, or its link is broken.
  }
  return statAt(join(modules, tool, 'package.json')) ? realpathSync(join(modules, tool)) : undefined
}

/** A package and, one level deep, its dependencies: runners are spread over several. */
function addPackage(top: string, home: string, found: Set<string>, depth: number): void {
  if (!addFolder(top, home, found) || depth > 0) return
  const read = readJson(bytesAt(join(home, 'package.json'))?.toString('utf8') ?? '')
  const needs =
    'value' in read && isObject(read.value) && isObject(read.value.dependencies) ? read.value.dependencies : {}
  for (const name of Object.keys(needs)) {
    const folder = [join(home, 'node_modules', name), join(nearestModules(home), name)].find((one) => statAt(one))
    if (folder) addPackage(top, realpathOr(folder), found, depth + 1)
  }
}

function nearestModules(home: string): string {
  const at = home.lastIndexOf('/node_modules/')
  return at < 0 ? join(home, 'node_modules') : home.slice(0, at + '/node_modules'.length)
}

function realpathOr(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path // a broken link
  }
}

/** False: it is outside, is work of the repository itself (a workspace), or there are too many. */
function addFolder(top: string, folder: string, found: Set<string>): boolean {
  const path = pathBelow(top, folder)
  if (path === undefined || found.size >= MOST_PACKAGES || !/(^|\/)(node_modules|site-packages)\//.test(path))
    return false
  if (found.has(`${path}/`)) return false
  found.add(`${path}/`)
  return true
}

/** A runner in a virtual environment of the folder. */
function inPython(folder: string, tool: string): string[] {
  if (!/^(pytest|nose2|tox|nox|coverage|mypy|ruff|flake8|pylint)$/.test(tool)) return []
  return ['.venv', 'venv', 'env'].flatMap((name) => {
    const lib = join(folder, name, 'lib')
    return entriesOf(lib).flatMap((python) =>
      [tool, `_${tool}`, 'pluggy', 'xdist']
        .map((one) => join(lib, python.name, 'site-packages', one))
        .filter((one) => statAt(one)),
    )
  })
}

/**
 * Whether something new takes precedence over what was there at the start: settings outside the repository, a shell
 * before the real one, a package nearer to the tests. It also affects the place of the experiments, so they cannot show
 * what it does.
 */
export function takesPlace(path: string, known: readonly string[]): boolean {
  if (path.startsWith('../')) return true
  const [, folder = '', name = ''] = /^(.*(?:node_modules|site-packages)\/)((?:@[^/]+\/)?[^/]+.*)$/.exec(path) ?? []
  if (name === '') return false
  if (folder.endsWith('site-packages/')) return /\.(pth|py)$/.test(name) && known.some((one) => one.startsWith(folder))
  return (
    STARTED.some((program) => name === `.bin/${program}`) || known.some((one) => one.endsWith(`node_modules/${name}`))
  )
}

/** Files in a virtual environment that every Python there runs on startup, and plugins that pytest finds by itself. */
function loadedByPython(folder: string): string[] {
  return ['.venv', 'venv', 'env'].flatMap((name) => {
    const lib = join(folder, name, 'lib')
    return entriesOf(lib).flatMap((python) => {
      const packages = join(lib, python.name, 'site-packages')
      return entriesOf(packages).flatMap((entry) => {
        if (/\.pth$|^(site|user)customize\.py$/.test(entry.name)) return [join(packages, entry.name)]
        const points = join(packages, entry.name, 'entry_points.txt')
        return entry.name.endsWith('.dist-info') && bytesAt(points)?.includes('[pytest11]') ? [points] : []
      })
    })
  })
}

/** Its files without those of nested packages; names are relative to the package's folder. */
export function packageFiles(home: string): { name: string; stat: Stats }[] {
  const found: { name: string; stat: Stats }[] = []
  const open = ['']
  for (let folder = open.pop(); folder !== undefined && found.length < MOST_FILES; folder = open.pop()) {
    for (const entry of entriesOf(join(home, folder))) {
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        if (entry.name !== 'node_modules' && entry.name !== '__pycache__') open.push(name)
        continue
      }
      const stat = DECIDES.test(entry.name) ? statAt(join(home, name)) : undefined
      if (stat) found.push({ name, stat })
    }
  }
  return found
}

/** What only people and editors read never changes what a runner says. */
const DECIDES = /^(?!.*(\.(md|map|markdown|txt|html|css|svg|png|flow|pyc)|\.d\.[cm]?ts)$)/i
