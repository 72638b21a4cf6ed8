/**
 * The content of a worktree as a tree object: tracked and untracked files, not ignored ones. It is built in a private
 * index, which is kept so that only changed files are read again; the person's index, branch and stash stay untouched.
 */
import { join } from 'node:path'
import { pathBelow, stampOf, statBelow } from './files.ts'
import { folderState, LOOP_FACES } from './folder.ts'
import { git, listPaths, type Repository, readable } from './git.ts'
import { leaveOut, listGitlinks, updateGitlinks } from './gitlinks.ts'
import { openPrivateIndex, type PrivateIndex } from './private-index.ts'

export type Snapshot = {
  tree: string
  /** The commit of HEAD; undefined before the first one. */
  head: string | undefined
  /** Undefined: HEAD is detached. */
  branch: string | undefined
  /**
   * A text for what git cannot store here: nested repositories, files that are too large. Empty if there is nothing.
   */
  beside: string
}

export type Snapshots = {
  /** Undefined if git fails. */
  take(): Promise<Snapshot | undefined>
  /** The tree that was taken last, plus these paths although they are ignored. */
  cover(tree: string, paths: readonly string[]): Promise<string | undefined>
  /** Whether some of the files are not checked out. */
  sparse: boolean
  /** Names the private index to git. */
  env: Record<string, string>
  /** Untracked files that are too large to keep, so far. */
  large: ReadonlySet<string>
}

const LARGEST = 32 * 1024 * 1024

/** `own` are folders that are left out, wherever they are in the repository. */
export async function openSnapshots(
  repo: Repository,
  { index: path, own, loop }: { index: string; own: readonly string[]; loop: string },
): Promise<Snapshots> {
  const index = await openPrivateIndex(repo, path, loop)
  const { env, sparse } = index
  const modules = await listGitlinks(repo.ask, env)
  const large = new Set<string>()
  const forced = ignoredButTheirs(repo)
  const gone = newlyIgnored(repo, index)
  const gather = async () => addAll(repo, index, { pathspec: pathspecOf(repo, own), modules, large, forced })
  return {
    env,
    sparse,
    large,
    async take() {
      const [built, position] = await Promise.all([build(index, gather, gone), readHead(repo)])
      if (!built) return undefined
      const { tree, nested } = built
      return { tree, ...position, beside: await stateOf(repo.top, [...nested, ...modules.map(readable)], large) }
    },
    async cover(tree, paths) {
      if (paths.length === 0) return tree
      return (await index.add(paths)) ? index.writeTree() : undefined
    },
  }
}

function pathspecOf({ top }: Repository, own: readonly string[]): string[] {
  const leftOut = own.flatMap((folder) => pathBelow(top, folder) ?? [])
  return ['--', '.', ...leftOut.map((path) => `:(exclude,top,literal)${path}`), `:(exclude,top,glob)**/${LOOP_FACES}`]
}

/** A file may disappear while it is added, and a private index may name objects that were pruned: both are repaired. */
async function build(
  index: PrivateIndex,
  gather: () => Promise<string[] | undefined>,
  gone: (tree: string) => Promise<string[]>,
): Promise<{ tree: string; nested: string[] } | undefined> {
  for (let attempt = 1; attempt <= 3; attempt++) {
    const nested = await gather()
    const written = nested && (await index.writeTree())
    const ignored = written ? await gone(written) : []
    const dropped = ignored.length > 0 && (await index.drop(ignored))
    const tree = dropped ? await index.writeTree() : written
    if (nested && tree) return { tree, nested }
    if (attempt > 1) await index.renew()
  }
  return undefined
}

type Adding = {
  pathspec: readonly string[]
  modules: readonly string[]
  large: Set<string>
  forced: () => Promise<string[]>
}

/** Returns the nested repositories; undefined if git gave up. */
async function addAll(
  repo: Repository,
  index: PrivateIndex,
  { pathspec, modules, large, forced }: Adding,
): Promise<string[] | undefined> {
  const [updated, ignored] = await Promise.all([index.update([...pathspec, ...leaveOut(modules)]), forced()])
  await updateGitlinks(repo.ask, modules, index.env)
  const others = updated && (await index.list(['--others', '--exclude-standard', ...pathspec]))
  if (!others) return undefined
  const nested = others.filter((path) => path.endsWith('/'))
  const files = others.filter((path) => !path.endsWith('/'))
  const heavy = files.filter((path) => (statBelow(repo.top, path)?.size ?? 0) > LARGEST)
  const theirs = new Set(heavy.length > 0 ? await listPaths(repo, []) : [])
  const skipped = new Set(heavy.filter((path) => !theirs.has(path)))
  for (const path of skipped) large.add(readable(path))
  const there = [...ignored, ...files].filter((path) => !skipped.has(path) && statBelow(repo.top, path))
  return (await index.add(there)) ? nested.map(readable) : undefined
}

const IGNORED = ['--cached', '--ignored', '--exclude-standard']

/** What the person or the agent has added to their index since the last call although it is ignored. */
function ignoredButTheirs(repo: Repository): () => Promise<string[]> {
  let stamp = stampOf(repo.index)
  return async () => {
    const now = stampOf(repo.index)
    if (now === stamp) return []
    stamp = now
    return (await listPaths(repo, IGNORED)) ?? []
  }
}

/** What is ignored from now on, and was tracked only by ralph: no longer part of the state. */
function newlyIgnored(repo: Repository, { env, list }: PrivateIndex): (tree: string) => Promise<string[]> {
  let known: string | undefined
  let rules: string | undefined
  return async (tree) => {
    if (tree === known) return [] // and so are its rules
    const listed = await repo.ask(['ls-files', '--stage', '-z', '--', ':(top,glob)**/.gitignore'], { env })
    if (!listed.ok) return []
    known = tree
    if (listed.out === rules) return []
    rules = listed.out
    const ignored = await list(IGNORED)
    if (!ignored || ignored.length === 0) return []
    const theirs = new Set(await listPaths(repo, []))
    return ignored.filter((path) => !theirs.has(path))
  }
}

async function readHead(repo: Repository): Promise<Pick<Snapshot, 'head' | 'branch'>> {
  const born = await repo.ask(['rev-parse', 'HEAD', '--symbolic-full-name', 'HEAD'])
  const [head, branch] = born.ok ? born.out.split('\n') : []
  if (head) return { head, branch: branch === 'HEAD' ? undefined : branch }
  const unborn = await repo.ask(['symbolic-ref', '--quiet', 'HEAD'])
  return { head: undefined, branch: unborn.ok ? unborn.out : undefined }
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
