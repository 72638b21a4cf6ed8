/**
 * What lies in a work tree, as a tree object: tracked and untracked files, not ignored ones. It is built in a private index,
 * kept so that only changed files are read again; the person's index, branch and stash stay untouched.
 */
import { createHash } from 'node:crypto'
import { constants, copyFile, mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { lookAt, pathBelow } from './files.ts'
import { folderState } from './folder.ts'
import { git, type Repository } from './git.ts'

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
  /** Names the private index to git. */
  env: Record<string, string>
  /** Untracked files that are too large to be kept, so far. */
  large: ReadonlySet<string>
}

const LARGEST = 32 * 1024 * 1024

/** `own` is a folder that is left out, wherever in the repository it lies. */
export async function openSnapshots(
  repo: Repository,
  { index, own }: { index: string; own: string },
): Promise<Snapshots> {
  await mkdir(dirname(index), { recursive: true, mode: 0o700 })
  await rm(`${index}.lock`, { force: true }) // of a git that was killed; a loop has one driver at a time
  const env = { GIT_INDEX_FILE: index }
  const large = new Set<string>()
  const leftOut = pathBelow(repo.top, own)
  const pathspec = ['--', '.', ...(leftOut === undefined ? [] : [`:(exclude,top,literal)${leftOut}`])]
  const add = ['add', '--ignore-errors', ...((await isSparse(repo)) ? ['--sparse'] : [])]
  const modules = await submodules(repo)
  await copyFile(repo.index, index, constants.COPYFILE_EXCL).catch(() => {}) // there is one from before, or a new repository has none

  /** Undefined when git gave up altogether; files it could not read are left as they were. */
  const succeeds = async (args: readonly string[], stdin?: string) => {
    const answer = await repo.ask(args, { env, minutes: 10, ...(stdin === undefined ? {} : { stdin }) })
    return answer.ok || answer.code === 1
  }

  async function addAll(): Promise<string[] | undefined> {
    if (!(await succeeds([...add, '--update', ...pathspec]))) return undefined
    const listed = await repo.ask(['ls-files', '--others', '--exclude-standard', '-z', ...pathspec], { env })
    if (!listed.ok) return undefined
    const others = listed.out.split('\0').filter(Boolean)
    const nested = others.filter((path) => path.endsWith('/'))
    const files = others.filter((path) => !path.endsWith('/'))
    const kept = files.filter((path) => {
      const size = lookAt(join(repo.top, path))?.size
      if (size !== undefined && size > LARGEST) large.add(path)
      return size !== undefined && size <= LARGEST
    })
    return (await addPaths(kept)) ? [...nested, ...modules] : undefined
  }

  async function addPaths(paths: readonly string[], ...how: string[]): Promise<boolean> {
    if (paths.length === 0) return true
    const literal = { ...env, GIT_LITERAL_PATHSPECS: '1' }
    const args = [...add, ...how, '--pathspec-from-file=-', '--pathspec-file-nul']
    const answer = await repo.ask(args, { env: literal, stdin: paths.join('\0'), minutes: 10 })
    return answer.ok || answer.code === 1
  }

  async function writeTree(): Promise<string | undefined> {
    const answer = await repo.ask(['write-tree'], { env })
    return answer.ok ? answer.out : undefined
  }

  let rules: string | undefined
  /** A file that is ignored from now on, and that only ralph tracks, is no part of the state any more. */
  async function dropIgnored(): Promise<boolean> {
    const listed = await repo.ask(['ls-files', '--stage', '-z', '--', ':(top,glob)**/.gitignore'], { env })
    if (!listed.ok || listed.out === rules) return false
    rules = listed.out
    const [ignored, tracked] = await Promise.all([
      repo.ask(['ls-files', '--cached', '--ignored', '--exclude-standard', '-z'], { env }),
      repo.ask(['ls-files', '-z']),
    ])
    if (!ignored.ok || !ignored.out || !tracked.ok) return false
    const theirs = new Set(tracked.out.split('\0'))
    const gone = ignored.out.split('\0').filter((path) => !theirs.has(path))
    return gone.length > 0 && succeeds(['update-index', '--force-remove', '-z', '--stdin'], gone.join('\0'))
  }

  /** A file may go away while it is added, and a private index may name objects that were cleared away: both are mended. */
  async function build(): Promise<{ tree: string; nested: string[] } | undefined> {
    for (let attempt = 1; attempt <= 3; attempt++) {
      const nested = await addAll()
      const [written, dropped] = nested ? await Promise.all([writeTree(), dropIgnored()]) : []
      const tree = dropped ? await writeTree() : written
      if (nested && tree) return { tree, nested }
      if (attempt < 2) continue
      await rm(index, { force: true })
      await copyFile(repo.index, index).catch(() => {})
    }
    return undefined
  }

  return {
    env,
    large,
    async take() {
      const [built, position] = await Promise.all([build(), readHead(repo)])
      if (!built) return undefined
      return {
        tree: built.tree,
        ...position,
        beside: await stateOf(repo.top, built.nested, large),
      }
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
  const hash = createHash('sha1')
  for (const path of nested) {
    const head = await git(join(top, path), ['rev-parse', '--verify', '--quiet', 'HEAD'])
    hash.update(`${path}\0${head}\0${folderState(join(top, path))}\0`)
  }
  for (const path of large) {
    const stat = lookAt(join(top, path))
    hash.update(`${path}\0${stat?.size}\0${stat?.mtimeMs}\0`)
  }
  return hash.digest('hex')
}
