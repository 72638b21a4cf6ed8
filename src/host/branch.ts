/** The branch of a project: what was committed, what an agent left uncommitted, whether its history still holds. */
import { join } from 'node:path'
import { RalphError } from '../error.ts'
import { pathBelow, statBelow } from './files.ts'
import { askGit, inBytes, inOneLine, listPaths, must, openRepository, type Repository } from './git.ts'
import { listGitlinks, updateGitlinks } from './gitlinks.ts'

/** Where HEAD is. A missing field means: no commit yet, or HEAD is detached. */
export type Head = { commit?: string; branch?: string }

export async function readHead(repo: Repository): Promise<Head> {
  const [commit, branch] = await Promise.all([
    repo.ask(['rev-parse', '--verify', '--quiet', 'HEAD']),
    repo.ask(['symbolic-ref', '--quiet', '--short', 'HEAD']),
  ])
  return { ...(commit.ok ? { commit: commit.out } : {}), ...(branch.ok ? { branch: branch.out } : {}) }
}

/** A commit needs an author; git says so only when it is too late. */
export async function mustHaveIdentity(repo: Repository): Promise<void> {
  if ((await repo.ask(['var', 'GIT_COMMITTER_IDENT'])).ok) return
  throw new RalphError(
    'git-failed',
    'git has no user name and email here. Set them with git config user.name "…" and git config user.email "…"',
  )
}

/** Whether everything that was committed when the task started is still part of the history. */
export async function holdsHistory(repo: Repository, base: string): Promise<boolean> {
  return (await repo.ask(['merge-base', '--is-ancestor', base, 'HEAD'])).ok
}

/**
 * Brings an agent that went to another branch, or to none, back with its commits, if they build on the branch. False:
 * they do not.
 */
export async function bringBack(repo: Repository, branch: string): Promise<boolean> {
  const ref = `refs/heads/${branch}`
  const tip = await repo.ask(['rev-parse', '--verify', '--quiet', ref])
  if (tip.ok && !(await repo.ask(['merge-base', '--is-ancestor', tip.out, 'HEAD'])).ok) return false
  must(await repo.ask(['update-ref', ref, 'HEAD']))
  must(await repo.ask(['symbolic-ref', 'HEAD', ref]))
  return true
}

/** Paths that differ between two trees; undefined if one of them does not exist. */
export async function changedPaths(repo: Repository, before: string, after: string): Promise<string[] | undefined> {
  return repo.list(['diff-tree', '-r', '--name-only', '--no-renames', '-z', before, after])
}

/**
 * Commits what is left uncommitted among these paths, and nothing else of the person's, as the person and with their
 * hooks.
 */
export async function commitPaths(repo: Repository, paths: readonly string[], message: string): Promise<void> {
  const known = new Set((await listPaths(repo, [])) ?? [])
  const there = paths.filter((path) => known.has(path) || statBelow(repo.top, path))
  const env = { GIT_LITERAL_PATHSPECS: '1' }
  const from = ['--pathspec-from-file=-', '--pathspec-file-nul']
  const links = new Set(await listGitlinks(repo.ask))
  const files = there.filter((path) => !links.has(path))
  if (files.length > 0) must(await repo.ask(['add', '--all', ...from], { stdin: inBytes(files), env, minutes: 10 }))
  await updateGitlinks(
    repo.ask,
    there.filter((path) => links.has(path)),
  )
  const staged = await repo.list(['diff', '--cached', '--name-only', '--no-renames', '-z'])
  const named = new Set(paths) // includes what is already removed from the index
  const left = (staged ?? []).filter((path) => named.has(path))
  if (left.length === 0) return
  const answer = await repo.ask(['commit', '--quiet', '--message', message, ...from], {
    stdin: inBytes(left),
    env,
    hooks: true,
    minutes: 10,
  })
  if (!answer.ok)
    throw new RalphError(
      'git-failed',
      `git commit failed in ${repo.top}: ${inOneLine(answer.says)} Fix the cause or commit yourself, then resume.`,
    )
}

/** What happened on the branch since a commit, except in the files of `leftOut`. */
export async function historySince(
  repo: Repository,
  since: string | undefined,
  leftOut: string,
): Promise<{ commits: { id: string; subject: string }[]; files: ChangedFile[] }> {
  const empty = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
  const log = await repo.ask(['log', '--reverse', '--format=%h%x00%s', since === undefined ? 'HEAD' : `${since}..HEAD`])
  const below = pathBelow(repo.top, leftOut)
  const exclude = below === undefined ? [] : ['--', '.', `:(exclude,top,literal)${below}`]
  const files = await repo.ask(['diff', '--numstat', '--no-renames', '-z', since ?? empty, 'HEAD', ...exclude])
  return {
    commits: (log.ok ? log.out.split('\n').filter(Boolean) : []).map((line) => {
      const [id = '', subject = ''] = line.split('\0')
      return { id, subject }
    }),
    files: (files.ok ? files.out.split('\0').filter(Boolean) : []).map((line) => {
      const [added = '', removed = '', ...path] = line.split('\t')
      return { path: path.join('\t'), ...numbers(added, removed) }
    }),
  }
}

export type ChangedFile = { path: string; added: number | undefined; removed: number | undefined }

/** git prints a dash for files without lines. */
function numbers(added: string, removed: string): Pick<ChangedFile, 'added' | 'removed'> {
  return { added: added === '-' ? undefined : Number(added), removed: removed === '-' ? undefined : Number(removed) }
}

/** The repository of a folder, or none. */
export async function repositoryAt(dir: string): Promise<Repository | undefined> {
  const repo = await openRepository(dir)
  return 'none' in repo ? undefined : repo
}

/** Tracked files with uncommitted changes. */
export async function uncommitted(repo: Repository, leftOut: string): Promise<string[]> {
  const below = pathBelow(repo.top, leftOut)
  const exclude = below === undefined ? [] : ['--', '.', `:(exclude,top,literal)${below}`]
  const answer = await askGit(repo.top, ['diff', '--name-only', '-z', 'HEAD', ...exclude])
  return answer.ok ? answer.out.split('\0').filter(Boolean) : []
}

/** A killed git leaves its lock behind. */
export async function indexLock(path: string): Promise<string | undefined> {
  const answer = await askGit(path, ['rev-parse', '--git-path', 'index.lock'])
  return answer.ok ? join(answer.out.startsWith('/') ? '' : path, answer.out) : undefined
}
