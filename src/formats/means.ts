/** The means of proof: the files and parts of files that decide the outcome of a check. */
import { matchesGlob } from './glob.ts'
import { followConfig } from './means-config.ts'
import { type Followed, followChecks } from './means-follow.ts'
import { meansByName } from './means-names.ts'
import { RUNS_EXAMPLES } from './means-pytest.ts'
import { pythonRoots, shadowsPython } from './means-python.ts'

export type Role = 'test' | 'script' | 'config' | 'setup' | 'snapshot' | 'ci' | 'shadow' | 'protected'

/**
 * How much of a file counts. `ralph`: its section of a config.yaml. `lines`: those about tests, `examples`: those that
 * doctest runs; both are compared, but cannot be moved to another state. `mixed`: tests and work that cannot be told apart.
 */
export type Part =
  | 'whole'
  | { kind: 'json'; keys: readonly (readonly string[])[] }
  | { kind: 'toml'; tables: readonly string[] }
  | { kind: 'make'; targets: readonly string[]; variables: readonly string[] }
  | { kind: 'rust' }
  | { kind: 'ralph' }
  | { kind: 'lines' }
  | { kind: 'examples' }
  | { kind: 'mixed' }

/** `protected`: the user listed a file that is a test anyway. `ran`: what a `shadow` is to the checks that run it. */
export type Means = { role: Role; part: Part; protected?: true; ran?: Means }

/** A state of the files: `paths` relative to the top of the repository; `read` gives undefined for missing files. */
export type Files = {
  paths: ReadonlySet<string>
  /** The symbolic links among them; their text is their target. */
  links?: ReadonlySet<string>
  read(path: string): Promise<string | undefined>
  /** A script outside the repository, by its absolute path, as it is now. */
  readOutside?(path: string): Promise<string | undefined>
}

/** `dir`: the loop's folder, relative to the repository's top ('' is the top); `top`: absolute, for paths in checks. */
export type Proving = {
  checks: readonly string[]
  dir: string
  top: string
  /** Globs relative to `dir`: `protect` adds files, `mayChange` excuses them. */
  protect?: readonly string[]
  mayChange?: readonly string[]
}

/** Every means of proof in that state, by path. `only`: for other paths, just configuration and what the checks run. */
export async function findMeans(
  files: Files,
  proving: Proving,
  only?: ReadonlySet<string>,
  followed?: Followed,
): Promise<Map<string, Means>> {
  const { files: run, tools, started } = followed ?? (await followChecks(files, proving))
  const roots = pythonRoots(files, { dir: proving.dir, tools, started })
  const found = new Map<string, Means>()
  for (const path of [...files.paths, ...[...run.keys()].filter((one) => files.paths.has(one))]) {
    const ran = run.get(path)
    const isAsked = ran || !only || only.has(path) || MAY_CONFIGURE.test(path)
    const named = isAsked ? (meansByName(path, tools) ?? meansInPython(path, tools, roots)) : undefined
    const means = named && ran ? together(named, ran) : (ran ?? named)
    if (means) found.set(path, means)
  }
  await followConfig(files, found)
  for (const path of [...found.keys(), ...(proving.protect?.length ? (only ?? files.paths) : [])]) {
    if (!files.paths.has(path)) continue
    if (!isExcused(path, proving) && isMatched(path, proving.dir, proving.protect))
      found.set(path, asProtected(found.get(path)))
  }
  return found
}

function meansInPython(path: string, tools: ReadonlySet<string>, roots: ReadonlySet<string>): Means | undefined {
  // It may be the requested work, so no experiment moves it.
  if (shadowsPython(path, roots)) return { role: 'shadow', part: { kind: 'mixed' } }
  return path.endsWith('.py') && tools.has(RUNS_EXAMPLES) ? { role: 'test', part: { kind: 'examples' } } : undefined
}

/** Tests stay tests: new ones may show that the work is needed. */
function asProtected(known: Means | undefined): Means {
  const isTest = known?.part === 'whole' && (known.role === 'test' || known.role === 'snapshot')
  return { role: isTest ? known.role : 'protected', part: 'whole', ...(isTest ? { protected: true } : {}) }
}

/** Whether the user allowed changes to it. */
export function isExcused(path: string, { dir, mayChange }: Pick<Proving, 'dir' | 'mayChange'>): boolean {
  return isMatched(path, dir, mayChange)
}

/** A quick filter that lets no configuration slip through. */
const MAY_CONFIGURE = /(?:config|conf|rc|workspace|projects)\.\w+$|rc$|\.(?:ini|toml|cfg)$|package\.json$/

/** Relative to the loop's folder; other files, relative to the top. */
export function isMatched(path: string, dir: string, globs: readonly string[] = []): boolean {
  const seen = dir && path.startsWith(`${dir}/`) ? path.slice(dir.length + 1) : path
  return globs.some((glob) => matchesGlob(seen, glob))
}

/** Those of both states: what counts in one counts in both. */
export function unionMeans(one: ReadonlyMap<string, Means>, other: ReadonlyMap<string, Means>): Map<string, Means> {
  const union = new Map(one)
  for (const [path, means] of other) {
    const known = union.get(path)
    union.set(path, known ? together(known, means) : means)
  }
  return union
}

function together(one: Means, other: Means): Means {
  const means = { ...one, ...other, role: one.role, part: bothParts(one.part, other.part) }
  const isModule = one.role === 'shadow' && one.part !== 'whole'
  const ran = isModule ? [one, other].flatMap((each) => ranOf(each) ?? []) : []
  return ran.length > 0 ? { ...means, ran: ran.reduce(together) } : means
}

/** Undefined: it is named like a standard Python module, and nothing runs it. */
function ranOf(means: Means): Means | undefined {
  return means.ran ?? (means.role === 'shadow' && means.part !== 'whole' ? undefined : means)
}

/** A module of that name that existed at the start: what the checks run of it, or at most its examples. */
export function asModule(means: Means): Means {
  return ranOf(means) ?? { role: 'test', part: { kind: 'examples' } }
}

function bothParts(one: Part, other: Part): Part {
  if (one === 'whole' || other === 'whole') return 'whole'
  if (one.kind === 'json' && other.kind === 'json') {
    const keys = new Map([...one.keys, ...other.keys].map((key) => [JSON.stringify(key), key]))
    return { kind: 'json', keys: [...keys.values()] }
  }
  if (one.kind === 'toml' && other.kind === 'toml')
    return { kind: 'toml', tables: [...new Set([...one.tables, ...other.tables])] }
  if (one.kind === 'make' && other.kind === 'make')
    return {
      kind: 'make',
      targets: [...new Set([...one.targets, ...other.targets])],
      variables: [...new Set([...one.variables, ...other.variables])],
    }
  if (one.kind === other.kind) return one
  return one.kind === 'mixed' || other.kind === 'mixed' ? { kind: 'mixed' } : 'whole'
}
