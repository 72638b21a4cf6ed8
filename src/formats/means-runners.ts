/** Test runners, linters and interpreters: which files their arguments name. */
import { isGlob, pathMatcher } from './glob.ts'
import { followCode } from './means-code.ts'
import { type Following, followCommand, followFile, followScript, type Where } from './means-follow.ts'
import { namedPart } from './means-named.ts'
import { meansByName, TOOLS } from './means-names.ts'
import { join, resolve } from './means-paths.ts'
import { followPytest, takeExamples } from './means-pytest.ts'
import { roleOf, saysCheck } from './means-role.ts'
import { noteUnclear } from './means-unclear.ts'

const TESTS = new Set(
  'vitest jest mocha _mocha ava tap tape playwright cypress jasmine karma wdio cucumber-js pytest py.test unittest nose2 bats prove rspec phpunit pest nox tox tsd uvu'.split(
    ' ',
  ),
)
const INTERPRETERS =
  /^(node|nodejs|tsx|ts-node|esno|jiti|deno|python[\d.]*|pypy\d*|ruby|perl|php|lua|Rscript|pwsh|elixir|julia|groovy|tclsh|fish|awk|gawk|expect|swift)$/

export function isRunner(name: string): boolean {
  return TESTS.has(name) || INTERPRETERS.test(name) || TOOLS.includes(name)
}

export function isInterpreter(name: string): boolean {
  return INTERPRETERS.test(name)
}

export async function followRunner(
  following: Following,
  name: string,
  args: readonly string[],
  where: Where,
): Promise<void> {
  if (/^(python[\d.]*|pypy\d*)$/.test(name)) return followPython(following, args, where)
  if (INTERPRETERS.test(name)) return followInterpreter(following, name, args, where)
  if (PYTEST.test(name)) await followPytest(following, args, where)
  if (PYTEST.test(name) || name === 'unittest') following.started.add(where.cwd)
  return takeFiles(following, args, where, TESTS.has(name) ? name : undefined)
}

const PYTEST = /^(pytest|py\.test|tox|nox)$/

async function followPython(following: Following, args: readonly string[], where: Where): Promise<void> {
  const at = args.findIndex((word, index) => word === '-m' || word === '-c' || isPlain(args, index, /^-[XW]$/))
  const [first = '', second = ''] = at < 0 ? [] : args.slice(at)
  const isFile = first !== '-m' && first !== '-c'
  following.started.add((isFile && join(where.cwd, first.replace(/[^/]*$/, ''))) || where.cwd)
  if (first === '-c') {
    noteUnclear(following, args.slice(at + 2), where)
    return followCode(following, { path: 'inline.py', text: second }, where)
  }
  if (first !== '-m') return followProgram(following, first, where)
  following.tools.add(second)
  const rest = args.slice(at + 2)
  if (second === 'coverage') return followCommand(following, ['coverage', ...rest], where)
  if (second === 'doctest') return takeNamedExamples(following, rest, where)
  if (isRunner(second)) return followRunner(following, second, rest, where)
  const path = second.replaceAll('.', '/')
  for (const file of [`${path}.py`, `${path}/__main__.py`]) await followScript(following, `./${file}`, where)
}

/** What a check runs may be the work, with tests at its end. */
async function followProgram(following: Following, word: string, where: Where): Promise<void> {
  const path = resolve(following.files, following.top, word, where)
  const isMeans = path !== undefined && roleOf(path, where) === 'means'
  if (isMeans && where.direct && !saysCheck(path) && !following.found.has(path))
    following.found.set(path, { role: 'script', part: { kind: 'mixed' } })
  await followScript(following, word, where)
}

function takeNamedExamples(following: Following, args: readonly string[], where: Where): void {
  for (const word of args) {
    const path = resolve(following.files, following.top, word, where)
    if (path !== undefined) takeExamples(following, path)
  }
}

const LOADS = /^(-r|--require|--import|--loader|--experimental-loader|--env-file|--env-file-if-exists)$/
const TAKES_VALUE =
  /^(-r|--require|--import|--loader|--experimental-loader|-C|--conditions|--test-[\w-]+|-I|--env-file|--env-file-if-exists|--tsconfig)$/

/** As in `node --check`. */
const SYNTAX = /^((node|nodejs|ruby|perl) (--check|-c|-wc|-cw)|php (-l|--syntax-check))$/

async function followInterpreter(
  following: Following,
  name: string,
  args: readonly string[],
  where: Where,
): Promise<void> {
  for (const [at, word] of args.entries()) {
    const [, option = word, value = args[at + 1] ?? ''] = /^(--[\w-]+)=(.*)$/.exec(word) ?? []
    if (!LOADS.test(option)) continue
    const path = resolve(following.files, following.top, value, where)
    if (path) await followFile(following, path, where, { role: 'setup' })
  }
  if (args.includes('--test') || (name === 'deno' && args[0] === 'test')) return takeFiles(following, args, where, name)
  const inline = args.findIndex(
    (word) => /^(-e|-p|-pe|--eval|--print|-r)$/.test(word) && (word !== '-r' || name === 'php'),
  )
  if (inline >= 0) {
    noteUnclear(following, args.slice(inline + 2), where)
    return followCode(following, { path: 'inline.js', text: args[inline + 1] ?? '' }, where)
  }
  if (args.some((word) => SYNTAX.test(`${name} ${word}`))) return // it is read, not run
  const isVerb = (word: string) => /^(deno|tsx|swift)$/.test(name) && /^(run|watch|task|test)$/.test(word)
  const script = args.find((word, at) => isPlain(args, at, TAKES_VALUE) && !isVerb(word))
  if (script !== undefined && !/^\w*awk$/.test(name)) return followProgram(following, script, where)
  const named = args[args.indexOf('-f') + 1]
  if (named !== undefined && args.includes('-f')) await followScript(following, named, where)
}

function isPlain(args: readonly string[], at: number, takesValue: RegExp): boolean {
  return !args[at]?.startsWith('-') && !takesValue.test(args[at - 1] ?? '')
}

/** Configuration that an option names and, for a test runner, the files it is given. */
async function takeFiles(
  following: Following,
  args: readonly string[],
  where: Where,
  runner: string | undefined,
): Promise<void> {
  for (const [at, word] of args.entries()) {
    const [, option, value = ''] = /^(--?[\w-]+)=(.*)$/s.exec(word) ?? []
    const named = option === undefined ? word.replace(/::.*$/s, '') : value
    const behind = option ?? (args[at - 1]?.startsWith('-') ? args[at - 1] : undefined)
    if (word.startsWith('-') && option === undefined) continue
    const isConfig =
      behind !== undefined &&
      /^(-c|-p|-r|--\S*(config|project|require|import|setup|rcfile|settings|ini|file)\S*)$/i.test(behind)
    const path = resolve(following.files, following.top, named, where)
    if (path && isConfig)
      await followFile(following, path, where, { role: /require|import|setup|-r$/i.test(behind) ? 'setup' : 'config' })
    else if (path && runner) await take(following, path, runner)
    else if (runner && isGlob(named))
      for (const [index, one] of expandGlob(following, named, where).entries())
        await take(following, one, runner, index < MOST_READ)
  }
}

const MOST_READ = 50

async function take(following: Following, path: string, runner: string, isRead = true): Promise<void> {
  const { files, found } = following
  if (found.has(path)) return
  const isTest = ONLY_TESTS.test(runner) || meansByName(path, following.tools)?.part === 'whole'
  if (isTest || !isRead) return void found.set(path, { role: 'test', part: isTest ? 'whole' : { kind: 'mixed' } })
  const part = namedPart(path, (await files.read(path)) ?? '', { files, runner })
  if (part) found.set(path, { role: 'test', part })
}

/** These are only ever given tests. */
const ONLY_TESTS = /^(bats|prove|playwright|cypress|karma|wdio|cucumber-js|tsd|jasmine)$/

function expandGlob({ files }: Following, glob: string, { cwd }: Where): string[] {
  const whole = join(cwd, glob.replace(/^!/, ''))
  if (whole === undefined || glob.startsWith('!')) return []
  const matches = pathMatcher(whole)
  return [...files.paths].filter((path) => matches(path) && !/(^|\/)node_modules\//.test(path))
}
