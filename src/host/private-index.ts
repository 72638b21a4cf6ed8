/** ralph's own index, started as a copy of the person's: what is built in it leaves theirs untouched. */
import { constants, copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { inBytes, listPaths, type Repository } from './git.ts'
import { listGitlinks } from './gitlinks.ts'

/** git accepts that it could not read some files; those are left as they were. False: git gave up. */
export type PrivateIndex = {
  /** Names it to git. */
  env: Record<string, string>
  /** Whether some of the files are not checked out. */
  sparse: boolean
  /** What `git ls-files` lists in it. */
  list(how: readonly string[]): Promise<string[] | undefined>
  /** Adds what has changed in the files it contains. */
  update(pathspec: readonly string[]): Promise<boolean>
  /** Adds these files, even ignored ones. */
  add(paths: readonly string[]): Promise<boolean>
  drop(paths: readonly string[]): Promise<boolean>
  /** Undefined if git fails. */
  writeTree(): Promise<string | undefined>
  /** Starts again with a copy of the person's. */
  renew(): Promise<void>
}

/** An earlier one is reused, so that only changed files are read. */
export async function openPrivateIndex(repo: Repository, path: string, loop: string): Promise<PrivateIndex> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  rmSync(`${path}.lock`, { force: true }) // left by a killed git; a loop has one driver at a time
  // The mark lets the next ralph find and kill a git whose own ralph was killed.
  const env = { GIT_INDEX_FILE: path, RALPH_LOOP_ID: loop }
  const list = (how: readonly string[]) => listPaths(repo, how, env)

  async function succeeds(args: readonly string[], paths: readonly string[] = [], how = {}): Promise<boolean> {
    const answer = await repo.ask(args, { env: { ...env, ...how }, minutes: 10, stdin: inBytes(paths) })
    return answer.ok || answer.code === 1
  }

  async function copy(how = 0): Promise<void> {
    try {
      copyFileSync(repo.index, path, how)
    } catch {
      return // a new repository has none
    }
    // Files that a person told git to skip must be looked at, or a rollback would overwrite them unseen.
    const hidden = ((await list(['-v'])) ?? []).flatMap((entry) => (/^[a-z] /.test(entry) ? [entry.slice(2)] : []))
    if (hidden.length > 0) await succeeds(['update-index', '--no-assume-unchanged', '-z', '--stdin'], hidden)
  }

  const [sparse] = await Promise.all([isSparse(repo), copy(constants.COPYFILE_EXCL)])
  const add = ['add', '--ignore-errors', ...(sparse ? ['--sparse'] : [])]
  const listed = [...add, '--force', '--pathspec-from-file=-', '--pathspec-file-nul']
  return {
    env,
    sparse,
    list,
    update: (pathspec) => succeeds([...add, '--update', ...pathspec]),
    add: async (paths) => paths.length === 0 || succeeds(listed, paths, { GIT_LITERAL_PATHSPECS: '1' }),
    drop: (paths) => succeeds(['update-index', '--force-remove', '-z', '--stdin'], paths),
    async writeTree() {
      const answer = await repo.ask(['write-tree'], { env })
      return answer.ok ? answer.out : undefined
    },
    async renew() {
      rmSync(path, { force: true })
      await copy()
      // Those that are new in it are like any repository in the folder, and stay out.
      const links = await listGitlinks(repo.ask, env)
      await succeeds(['update-index', '--force-remove', '-z', '--stdin'], links)
    },
  }
}

async function isSparse(repo: Repository): Promise<boolean> {
  const answer = await repo.ask(['config', '--type=bool', 'core.sparseCheckout'])
  return answer.ok && answer.out === 'true'
}
