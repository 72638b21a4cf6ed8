/**
 * What lies in a work tree, as a tree object: tracked and untracked files, not ignored ones. It is built in a private index,
 * kept so that only changed files are read again; the person's index, branch and stash stay untouched.
 */
import { constants, copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathBelow, stampOf, statBelow } from './files.ts'
import { folderState, LOOP_FACES } from './folder.ts'
import { git, inBytes, listPaths, type Repository, readable } from './git.ts'

export type Snapshot = {
  tree: string
  /** The commit HEAD stands for; undefined before the first one. */
  head: string | undefined
  /** Undefined: HEAD is detached. */
  branch: string | undefined
  /** A text for what git cannot hold here: repositories inside this one, files too large. Empty when there is nothing. */
  beside: string
}

export type Snapshots = {
  /** Undefined when git cannot tell. */
  take(): Promise<Snapshot | undefined>
  /** The tree that was taken last, with these paths in it although they are ignored. */
  cover(tree: string, paths: readonly string[]): Promise<string | undefined>
  /** Whether a part of the files is not checked out. */
  sparse: boolean
  /** Names the private index to git. */
  env: Record<string, string>
  /** Untracked files that are too large to be kept, so far. */
  large: ReadonlySet<string>
}

const LARGEST = 32 * 1024 * 1024

/** `own` are folders that are left out, wherever in the repository they lie. */
export async function openSnapshots(
  repo: Repository,
  { index, own, loop }: { index: string; own: readonly string[]; loop: string },
): Promise<Snapshots> {
  mkdirSync(dirname(index), { recursive: true, mode: 0o700 })
  rmSync(`${index}.lock`, { force: true }) // of a git that was killed; a loop has one driver at a time
  // The mark lets the next ralph find and end a git whose ralph was killed.
  const env = { GIT_INDEX_FILE: index, RALPH_LOOP_ID: loop }
  const large = new Set<string>()
  const leftOut = own.flatMap((folder) => pathBelow(repo.top, folder) ?? [])
  const pathspec = [
    '--',
    '.',
    ...leftOut.map((path) => `:(exclude,top,literal)${path}`),
    `:(exclude,top,glob)**/${LOOP_FACES}`,
  ]
  const [sparse, modules] = await Promise.all([
    isSparse(repo),
    submodules(repo),
    copyIndex(constants.COPYFILE_EXCL), // unless there is one from before
  ])
  const add = ['add', '--ignore-errors', ...(sparse ? ['--sparse'] : [])]

  async function copyIndex(how = 0): Promise<void> {
    try {
      copyFileSync(repo.index, index, how)
    } catch {
      return // a new repository has none
    }
    // What a person asked git not to look at must be looked at, or going back would overwrite it unseen.
    const entries = (await listPaths(repo, ['-v'], env)) ?? []
    const hidden = entries.flatMap((entry) => (/^[a-z] /.test(entry) ? [entry.slice(2)] : []))
    if (hidden.length > 0) await succeeds(['update-index', '--no-assume-unchanged', '-z', '--stdin'], hidden)
  }

  /** Git is content with files it could not read; those are left as they were. */
  async function succeeds(
    args: readonly string[],
    paths?: readonly string[],
    how: Record<string, string> = {},
  ): Promise<boolean> {
    const stdin = paths === undefined ? {} : { stdin: inBytes(paths) }
    const answer = await repo.ask(args, { env: { ...env, ...how }, minutes: 10, ...stdin })
    return answer.ok || answer.code === 1
  }

  async function addPaths(paths: readonly string[], ...how: string[]): Promise<boolean> {
    const args = [...add, ...how, '--pathspec-from-file=-', '--pathspec-file-nul']
    return paths.length === 0 || succeeds(args, paths, { GIT_LITERAL_PATHSPECS: '1' })
  }

  /** Returns the repositories inside this one; undefined when git gave up. */
  async function addAll(): Promise<string[] | undefined> {
    const [updated, forced] = await Promise.all([succeeds([...add, '--update', ...pathspec]), ignoredButTheirs()])
    const others = updated && (await listPaths(repo, ['--others', '--exclude-standard', ...pathspec], env))
    if (!others) return undefined
    const nested = others.filter((path) => path.endsWith('/'))
    const files = others.filter((path) => !path.endsWith('/'))
    const heavy = files.filter((path) => (statBelow(repo.top, path)?.size ?? 0) > LARGEST)
    const theirs = new Set(heavy.length > 0 ? await listPaths(repo, []) : [])
    const skipped = new Set(heavy.filter((path) => !theirs.has(path)))
    for (const path of skipped) large.add(readable(path))
    const there = [...forced, ...files].filter((path) => !skipped.has(path) && statBelow(repo.top, path))
    return (await addPaths(there, '--force')) ? [...nested.map(readable), ...modules] : undefined
  }

  let stamp = stampOf(repo.index)
  /** What the person or the agent has put into their index although it is ignored. */
  async function ignoredButTheirs(): Promise<string[]> {
    const now = stampOf(repo.index)
    if (now === stamp) return []
    stamp = now
    return (await listPaths(repo, ['--cached', '--ignored', '--exclude-standard'])) ?? []
  }

  let rules: string | undefined
  /** What is ignored from now on, and was tracked by nobody but ralph: no part of the state any more. */
  async function newlyIgnored(): Promise<string[]> {
    const listed = await repo.ask(['ls-files', '--stage', '-z', '--', ':(top,glob)**/.gitignore'], { env })
    if (!listed.ok || listed.out === rules) return []
    rules = listed.out
    const ignored = await listPaths(repo, ['--cached', '--ignored', '--exclude-standard'], env)
    if (!ignored || ignored.length === 0) return []
    const theirs = new Set(await listPaths(repo, []))
    return ignored.filter((path) => !theirs.has(path))
  }

  async function writeTree(): Promise<string | undefined> {
    const answer = await repo.ask(['write-tree'], { env })
    return answer.ok ? answer.out : undefined
  }

  /** A file may go away while it is added, and a private index may name objects that were cleared away: both are mended. */
  async function build(): Promise<{ tree: string; nested: string[] } | undefined> {
    for (let attempt = 1; attempt <= 3; attempt++) {
      const nested = await addAll()
      const [written, ignored] = nested ? await Promise.all([writeTree(), newlyIgnored()]) : [undefined, []]
      const dropped =
        ignored.length > 0 && (await succeeds(['update-index', '--force-remove', '-z', '--stdin'], ignored))
      const tree = dropped ? await writeTree() : written
      if (nested && tree) return { tree, nested }
      if (attempt < 2) continue
      rmSync(index, { force: true })
      await copyIndex()
    }
    return undefined
  }

  return {
    env,
    sparse,
    large,
    async take() {
      const [built, position] = await Promise.all([build(), readHead(repo)])
      if (!built) return undefined
      return { tree: built.tree, ...position, beside: await stateOf(repo.top, built.nested, large) }
    },
    async cover(tree, paths) {
      if (paths.length === 0) return tree
      return (await addPaths(paths, '--force')) ? writeTree() : undefined
    },
  }
}

async function readHead(repo: Repository): Promise<Pick<Snapshot, 'head' | 'branch'>> {
  const born = await repo.ask(['rev-parse', 'HEAD', '--symbolic-full-name', 'HEAD'])
  const [head, branch] = born.ok ? born.out.split('\n') : []
  if (head) return { head, branch: branch === 'HEAD' ? undefined : branch }
  const unborn = await repo.ask(['symbolic-ref', '--quiet', 'HEAD'])
  return { head: undefined, branch: unborn.ok ? unborn.out : undefined }
}

async function isSparse(repo: Repository): Promise<boolean> {
  const answer = await repo.ask(['config', '--type=bool', 'core.sparseCheckout'])
  return answer.ok && answer.out === 'true'
}

async function submodules(repo: Repository): Promise<string[]> {
  const answer = await repo.ask(['ls-files', '--stage', '-z'])
  if (!answer.ok) return []
  return answer.out.split('\0').flatMap((entry) => /^160000 [^\t]*\t(.*)$/s.exec(entry)?.[1] ?? [])
}

async function stateOf(top: string, nested: readonly string[], large: ReadonlySet<string>): Promise<string> {
  if (nested.length === 0 && large.size === 0) return ''
  const hash = process.getBuiltinModule('node:crypto').createHash('sha1')
  for (const path of nested) {
    const head = await git(join(top, path), ['rev-parse', '--verify', '--quiet', 'HEAD'])
    hash.update(`${path}\0${head}\0${folderState(join(top, path))}\0`)
  }
  for (const path of large) hash.update(`${path}\0${stampOf(join(top, path))}\0`)
  return hash.digest('hex')
}
