/** A linked worktree with its own branch, so that a loop leaves the person's files alone until they accept its work. */
import { cpSync, existsSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import type { Worktree } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { pathBelow } from './files.ts'
import { type Answer, type Asking, askGit, inOneLine, must, openRepository, type Repository } from './git.ts'
import { leaveOut, listGitlinks, updateGitlinks } from './gitlinks.ts'

/** Where a loop that is started in `dir` will work, and its initial state. Creates nothing yet. */
export async function planWorktree(
  dir: string,
  { path, branch, copied = [], setup }: Pick<Worktree, 'path' | 'branch' | 'copied' | 'setup'>,
): Promise<{ worktree: Worktree; dir: string; tree: string }> {
  const repo = await openRepository(dir)
  if ('none' in repo) throw new RalphError('usage', `--worktree needs a git repository. ${dir}: ${repo.none}.`)
  const [head, base] = await Promise.all([
    repo.ask(['rev-parse', '--verify', '--quiet', 'HEAD']),
    repo.ask(['symbolic-ref', '--quiet', '--short', 'HEAD']),
  ])
  if (!head.ok)
    throw new RalphError(
      'usage',
      `--worktree needs a commit, but ${repo.top} has none yet. Make a first commit, or omit --worktree.`,
    )
  const tree = must(await repo.ask(['rev-parse', '--verify', 'HEAD^{tree}']))
  return {
    tree: `${tree} ${head.out}`,
    worktree: {
      from: dir,
      path,
      branch,
      commit: head.out,
      ...(base.ok ? { base: base.out } : {}),
      ...(copied.length > 0 ? { copied } : {}),
      ...(setup === undefined ? {} : { setup }),
    },
    dir: join(path, pathBelow(repo.top, dir) ?? ''),
  }
}

/**
 * Creates the worktree, or recreates it if somebody removed it, and fills it. It stays locked until it is filled, so
 * that one whose ralph was killed halfway is filled again. Does nothing if it exists.
 */
export async function ensureWorktree(worktree: Worktree, fill: () => Promise<void>): Promise<void> {
  const repo = await repositoryOf(worktree.from)
  await inTurn(repo, () => make(repo, worktree, fill))
}

async function make(
  repo: Repository,
  { from, path, branch, commit, copied = [] }: Worktree,
  fill: () => Promise<void>,
): Promise<void> {
  const isLinked = () => existsSync(join(path, '.git'))
  if (existsSync(path) && !isLinked()) await repo.ask(['worktree', 'repair']) // somebody removed the link, but not the files
  if (!isLinked()) {
    const where = (await hasBranch(repo, branch)) ? [path, branch] : ['-b', branch, path, commit]
    const marked = { env: { RALPH_LOOP_ID: basename(path) }, minutes: 10 } // so that the next ralph can kill it
    // Forced twice: git may know one at this path that somebody removed, even a locked one.
    must(await repo.ask(['worktree', 'add', '--quiet', '--lock', '--force', '--force', ...where], marked))
  } else if (!(await isLocked(repo, path))) return
  await fill()
  for (const name of copied) copyOver(from, join(path, pathBelow(repo.top, from) ?? ''), name)
  must(await repo.ask(['worktree', 'unlock', path]))
}

/**
 * While another git is creating a worktree, git considers it deleted: so they are created and removed one at a time.
 */
export function inTurn<Result>(repo: Repository, work: () => Promise<Result>): Promise<Result> {
  const mine = (queues.get(repo.gitDir) ?? Promise.resolve()).then(work, work)
  queues.set(repo.gitDir, mine)
  return mine
}

const queues = new Map<string, Promise<unknown>>()

/** Checked before anything is created: files of the person's folder, and none of git's own. */
export function mustBeCopyable(from: string, names: readonly string[]): void {
  for (const name of names) {
    const source = join(from, name)
    const below = pathBelow(from, source)
    const real = existsSync(source) ? pathBelow(realpathSync(from), realpathSync(source)) : below
    if (isAbsolute(name) || below === undefined || real === undefined || below.split('/').includes('.git'))
      throw new RalphError(
        'input-invalid',
        `worktree_files in the config names ${name}, but only files below ${from} can be copied. Correct it.`,
      )
  }
}

/** An existing file, such as one that is in git after all, stays. */
export function copyOver(from: string, to: string, name: string): void {
  const [source, target] = [join(from, name), join(to, name)]
  if (!existsSync(source) || existsSync(target)) return
  mkdirSync(dirname(target), { recursive: true })
  cpSync(source, target, { recursive: true, dereference: true })
}

async function isLocked(repo: Repository, path: string): Promise<boolean> {
  const listed = must(await repo.ask(['worktree', 'list', '--porcelain']))
  return listed.split('\n\n').some((entry) => entry.startsWith(`worktree ${path}\n`) && /^locked/m.test(entry))
}

/** How many changes of the person are uncommitted, and so not in the worktree. */
export async function countUncommitted(dir: string): Promise<number> {
  const answer = await askGit(dir, ['status', '--porcelain', '-z', '--no-renames'])
  return answer.ok ? answer.out.split('\0').filter(Boolean).length : 0
}

/** A repository inside the worktree would be removed with it, and no commit holds its content. */
export async function refuseHidden({ path }: Worktree): Promise<void> {
  const [untracked, ignored] = await Promise.all([
    askGit(path, ['ls-files', '--others', '--exclude-standard', '-z']),
    askGit(path, ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z']),
  ])
  const foldersIn = (answer: Answer) => (answer.ok ? answer.out.split('\0').filter((entry) => entry.endsWith('/')) : [])
  const nested = [
    ...foldersIn(untracked),
    ...foldersIn(ignored).filter((folder) => holdsRepository(join(path, folder))),
  ][0]
  if (nested)
    throw new RalphError(
      'git-failed',
      `${join(path, nested)} is or contains another git repository, which cannot be committed. Move or remove it, then accept again.`,
    )
}

/** Installed packages are no loss. */
function holdsRepository(folder: string): boolean {
  return readdirSync(folder, { withFileTypes: true }).some(
    (entry) =>
      entry.name === '.git' ||
      (entry.isDirectory() && entry.name !== 'node_modules' && holdsRepository(join(folder, entry.name))),
  )
}

/** Commits in a submodule of the worktree would be removed with it, unless the person's submodule has them. */
export async function refuseLostCommits({ from, path, commit }: Worktree): Promise<void> {
  const raw = await askGit(path, ['diff', '--raw', '--no-abbrev', '--ignore-submodules=dirty', '-z', commit, 'HEAD'])
  const { top } = await repositoryOf(from)
  for (const [, id = '', name = ''] of (raw.ok ? raw.out : '').matchAll(/:\d+ 160000 \w+ (\w+) \w\0([^\0]+)/g))
    if (!(await askGit(join(top, name), ['cat-file', '-e', `${id}^{commit}`])).ok)
      throw new RalphError(
        'git-failed',
        `The submodule ${name} has commits that are only in ${join(path, name)}. Push them, or fetch them into ${join(top, name)}, then accept again.`,
      )
}

/** The agent may have gone to another branch, or to none: its work is what the worktree has checked out. */
export async function gatherOnBranch({ path, branch }: Worktree): Promise<void> {
  const current = await askGit(path, ['symbolic-ref', '--quiet', '--short', 'HEAD'])
  if (current.ok && current.out === branch) return
  const known = (await askGit(path, ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`])).ok
  if (known && !(await askGit(path, ['merge-base', '--is-ancestor', branch, 'HEAD'])).ok)
    throw new RalphError(
      'git-failed',
      `The worktree ${path} is on ${current.ok ? current.out : 'no branch'}, but ${branch} has commits that are missing there. Merge them, then accept again.`,
    )
  must(await askGit(path, ['branch', '--quiet', '--force', branch, 'HEAD']))
}

/**
 * Commits whatever the loop left uncommitted, as the person and with their hooks. Returns whether there was anything.
 */
export async function commitRest(worktree: Worktree, message: string): Promise<boolean> {
  const { path } = worktree
  await stageAll(worktree)
  if ((await askGit(path, ['diff', '--cached', '--quiet'])).ok) return false
  const env = { RALPH_LOOP_ID: basename(path) } // so that the next ralph can kill it
  const how = ['--quiet', '--file', '-']
  const answer = await askGit(path, ['commit', ...how], { env, stdin: message, hooks: true, minutes: 10 })
  if (!answer.ok)
    throw new RalphError(
      'git-failed',
      `git commit failed in ${path}: ${inOneLine(answer.says)} Fix the cause in that folder or commit yourself, then accept again.`,
    )
  return true
}

/** What a commit of everything there would contain, unless hooks change it. */
export async function stagedTree(worktree: Worktree): Promise<string> {
  await stageAll(worktree)
  return must(await askGit(worktree.path, ['write-tree']))
}

export async function headTree(dir: string): Promise<string> {
  return must(await askGit(dir, ['rev-parse', '--verify', 'HEAD^{tree}']))
}

/** Changes the message of the last commit, whose files stay as they are; does nothing if the message is another one. */
export async function reword(dir: string, said: string, says: string): Promise<void> {
  const [before, after] = [said.split('\n'), says.split('\n')]
  const wrong = before.filter((line) => !after.includes(line))
  const right = after.filter((line) => !before.includes(line))
  const lines = must(await askGit(dir, ['log', '-1', '--format=%B'])).split('\n')
  if (!lines.some((line) => wrong.includes(line))) return
  // Hooks may have added their own lines.
  const text = lines.flatMap((line) => {
    const at = wrong.indexOf(line)
    return at < 0 ? [line] : right.slice(at, at + 1)
  })
  const how = ['--quiet', '--amend', '--only', '--allow-empty', '--no-verify', '--file', '-']
  must(await askGit(dir, ['commit', ...how], { stdin: `${text.join('\n')}\n`, minutes: 10 }))
}

/** Whether the branch that the loop was started from has commits that are not part of its work. */
export async function hasMoved({ from, branch, base = '' }: Worktree): Promise<boolean> {
  const { ask } = await repositoryOf(from)
  return !(await ask(['merge-base', '--is-ancestor', `refs/heads/${base}`, `refs/heads/${branch}`])).ok
}

/** Everything there, except what was only copied into it. */
export async function stageAll({ from, path, copied = [] }: Worktree): Promise<void> {
  const below = copied.length > 0 ? (pathBelow((await repositoryOf(from)).top, from) ?? '') : ''
  const leftOut = copied.map((name) => `:(exclude,top,literal)${join(below, name)}`)
  const env = { RALPH_LOOP_ID: basename(path) }
  const ask = (args: readonly string[], asking: Asking) =>
    askGit(path, args, { ...asking, env: { ...env, ...asking.env } })
  const links = await listGitlinks(ask)
  must(await ask(['add', '--all', '--', '.', ...leftOut, ...leaveOut(links)], {}))
  await updateGitlinks(ask, links)
}

/** The person's repository, which must be on the branch that the loop was started from, with no merge in progress. */
export async function mustBeOnBase(
  { from, base }: Worktree,
  loop: string,
): Promise<{ repo: Repository; base: string }> {
  const repo = await repositoryOf(from)
  const [current, under] = await Promise.all([
    repo.ask(['symbolic-ref', '--quiet', '--short', 'HEAD']),
    repo.ask(['rev-parse', '--verify', '--quiet', 'MERGE_HEAD']),
  ])
  const here = current.ok ? current.out : 'no branch (HEAD is detached)'
  if (!base || here !== base)
    throw new RalphError(
      'git-failed',
      `Loop ${loop} started on ${base ? `the branch ${base}` : 'a detached HEAD'}, but ${repo.top} is on ${here}. ${base ? `Switch to ${base}, or keep` : 'Keep'} the branch: ralph accept ${loop} --branch`,
    )
  if (under.ok)
    throw new RalphError('git-failed', `A merge is in progress in ${repo.top}. Finish or abort it, then accept again.`)
  return { repo, base }
}

/** Removes the worktree, whose content is committed. `merged`: its branch as well. */
export async function removeWorktree({ from, path, branch }: Worktree, merged: boolean): Promise<void> {
  const repo = await repositoryOf(from)
  must(await repo.ask(['worktree', 'remove', '--force', path], { minutes: 10 }))
  if (merged) must(await repo.ask(['branch', '--quiet', '-D', branch]))
}

/** The same for one whose ralph may have been killed while doing so: removes whatever is left. */
export async function dropWorktree({ from, path, branch }: Worktree, merged = true): Promise<void> {
  const repo = await repositoryOf(from)
  await inTurn(repo, async () => {
    const isLeft = merged && (await hasBranch(repo, branch))
    if (!isLeft && !existsSync(path)) return
    await repo.ask(['worktree', 'unlock', path])
    const removed = await repo.ask(['worktree', 'remove', '--force', path], { minutes: 10 })
    rmSync(path, { recursive: true, force: true })
    if (!removed.ok) must(await repo.ask(['worktree', 'prune']))
    if (isLeft) must(await repo.ask(['branch', '--quiet', '-D', branch]))
  })
}

async function hasBranch(repo: Repository, branch: string): Promise<boolean> {
  return (await repo.ask(['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`])).ok
}

export async function repositoryOf(dir: string): Promise<Repository> {
  const repo = await openRepository(dir)
  if ('none' in repo) throw new RalphError('git-failed', `The repository of ${dir} cannot be used: ${repo.none}.`)
  return repo
}
