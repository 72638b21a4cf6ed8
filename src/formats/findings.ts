/** What an agent did to the means of proof: changed check scripts, deleted or changed tests, tests newly skipped. */
import { parseCommandLine } from './command-line.ts'
import { scriptsIn } from './repo-checks.ts'

/** `files` are the lines of `git diff --name-status`, `added` the lines the diff adds, by file. */
export type Changes = {
  files: readonly { status: string; path: string }[]
  added: ReadonlyMap<string, readonly string[]>
  /** The package.json before and after, where it changed. */
  manifest?: { before: string; after: string }
}

/** Sentences; empty when the means of proof are as they were. */
export function readFindings({ files, added, manifest }: Changes, checks: readonly string[]): string[] {
  const scripts = new Set(checks.flatMap(scriptsOf))
  const changed = files.filter(({ path }) => scripts.has(path))
  const tests = files.filter(({ path }) => TEST_FILE.test(path) && !scripts.has(path))
  const skipping = [...added].filter(([, lines]) => lines.some((line) => SKIP.test(line))).map(([path]) => path)
  return [
    ...sentence('what the checks run was changed', paths(changed)),
    ...sentence('scripts of package.json were changed', runsScripts(checks) ? changedScripts(manifest) : []),
    ...sentence('tests were deleted', paths(tests.filter(({ status }) => status === 'D'))),
    ...sentence('tests were changed', paths(tests.filter(({ status }) => status === 'M' || status === 'T'))),
    ...sentence('tests are newly skipped', skipping),
  ]
}

/** The files of the repository that a check's command line runs. */
function scriptsOf(check: string): string[] {
  const [program = '', ...args] = parseCommandLine(check)
  const named = [program, ...(INTERPRETER.test(program) ? args : [])].filter((word) => !word.startsWith('-'))
  return [...named.map((word) => word.replace(/^\.\//, '')), ...(RUNS_FROM[program] ?? [])]
}

/** Programs whose arguments name a script; those of others, such as grep, name the work. */
const INTERPRETER = /^(ba|da|k|z)?sh$|^(python[\d.]*|node|deno|bun|npx|tsx|ruby|perl|php|uv|env|time)$/

const RUNS_FROM: Readonly<Record<string, readonly string[]>> = { make: ['Makefile', 'makefile', 'GNUmakefile'] }

export function runsScripts(checks: readonly string[]): boolean {
  return checks.some((check) => /^(npm|pnpm|yarn|bun)$/.test(parseCommandLine(check)[0] ?? ''))
}

/** A new script proves nothing, so only those that were there before are of interest. */
function changedScripts(manifest: Changes['manifest']): string[] {
  if (!manifest) return []
  const after = scriptsIn(manifest.after)
  return Object.entries(scriptsIn(manifest.before)).flatMap(([name, text]) => (after[name] === text ? [] : [name]))
}

const TEST_FILE =
  /(^|\/)(tests?|__tests__|specs?)\/|\.(test|spec)\.[cm]?[jt]sx?$|_test\.(go|py|rb|exs?)$|(^|\/)test_[^/]*\.py$|Tests?\.(java|kt|cs|php)$|_spec\.rb$/

const SKIP =
  /\b(it|test|describe)\.(skip|todo|only)\b|\bx(it|describe)\s*\(|@pytest\.mark\.(skip|xfail)|\bpytest\.skip\(|@unittest\.skip|\bt\.Skip(Now|f)?\(|#\[ignore\b|@(Disabled|Ignore)\b/

const MOST_NAMED = 5

function sentence(what: string, found: readonly string[]): string[] {
  if (found.length === 0) return []
  const more = found.length > MOST_NAMED ? ` and ${found.length - MOST_NAMED} more` : ''
  return [`${what}: ${found.slice(0, MOST_NAMED).join(', ')}${more}`]
}

function paths(files: readonly { path: string }[]): string[] {
  return files.map(({ path }) => path)
}
