/** What a runner's configuration names: setup files, configuration it extends, test files with custom names. */
import { pathMatcher } from './glob.ts'
import type { Files, Means, Part } from './means.ts'
import { extractPart } from './means-parts.ts'
import { folderOf, join } from './means-paths.ts'

const MOST_READ = 50
const LONGEST = 1_000_000 // nobody writes that much configuration by hand

/** Adds to `found` the files that its configuration names. */
export async function followConfig(files: Files, found: Map<string, Means>): Promise<void> {
  const open = [...found].filter(([path, { role, part }]) => role === 'config' && READ.test(path) && !isOurs(part))
  for (const [path, { part }] of open.slice(0, MOST_READ)) {
    const text = extractPart(part, (await files.read(path)) ?? '')
    if (text === undefined || text.length > LONGEST) continue
    const folder = folderOf(path)
    for (const name of namedBy(LOADS, text)) take(files, found, join(folder, name), 'setup')
    if (!path.endsWith('package.json'))
      for (const [, name = ''] of text.matchAll(IMPORTS)) take(files, found, join(folder, name), 'config')
    for (const glob of RUNNER.test(path) ? namedBy(SELECTS, text) : []) takeTests(files, found, folder, glob)
  }
}

/** It names commands, but no file that a runner loads. */
function isOurs(part: Part): boolean {
  return part !== 'whole' && part.kind === 'ralph'
}

const READ = /\.([cm]?[jt]s|json|jsonc|ya?ml|ini|toml|cfg)$|rc$/
const RUNNER =
  /(^|\/)\.?(vitest|vite|jest|mocha|ava|playwright|cypress|karma|wdio|jasmine|pytest|tox|setup\.cfg|pyproject|package\.json)[^/]*$/
const LOADS =
  /["']?\b(?:setupFiles\w*|globalSetup|globalTeardown|testEnvironment|environment|testRunner|runner|reporters?|require|import|preset|snapshotSerializers|extends|resolver)["']?\s*[:=]\s*(\[[^\]]{0,4000}\]|["'][^"'\n]{0,1000}["'])/g
const SELECTS =
  /["']?\b(?:include|testMatch|testFiles|specPattern|spec|files|python_files|testpaths)["']?\s*[:=]\s*(\[[^\]]{0,4000}\]|["'][^"'\n]{0,1000}["']|[^\n"'[]{1,4000})/g
const IMPORTS = /\b(?:from|import|require|mergeConfig)\s*\(?\s*["'](\.[^"'\n]+)["']/g

function namedBy(keys: RegExp, text: string): string[] {
  return [...text.matchAll(keys)].flatMap(([, value = '']) => {
    const quoted = [...value.matchAll(/["']([^"'\n]+)["']/g)].map(([, name = '']) => name)
    return (quoted.length > 0 ? quoted : value.split(/[\s,]+/)).map((name) => name.replace(/^<rootDir>\//, './'))
  })
}

function take({ paths }: Files, found: Map<string, Means>, path: string | undefined, role: 'setup' | 'config'): void {
  if (path === undefined || path === '') return
  const file = ['', '.ts', '.js', '.mjs', '.cjs', '.json'].map((end) => path + end).find((one) => paths.has(one))
  if (file !== undefined && !found.has(file)) found.set(file, { role, part: 'whole' })
}

/** Only patterns that tell tests from sources: `*.check.ts`, `check_*.py`, and not `src/**`. */
function takeTests({ paths }: Files, found: Map<string, Means>, folder: string, glob: string): void {
  const name = glob.slice(glob.lastIndexOf('/') + 1)
  if (!/\*\w*[._-]\w[\w-]*\.|^[a-z]+_\*|\*_[a-z]+\.|\.\w+\.\w+$/i.test(name) || glob.startsWith('!')) return
  const whole = join(folder, glob.includes('/') ? glob : `**/${glob}`)
  if (whole === undefined) return
  const matches = pathMatcher(whole)
  for (const path of paths)
    if (!found.has(path) && !/(^|\/)node_modules\//.test(path) && matches(path))
      found.set(path, { role: 'test', part: 'whole' })
}
