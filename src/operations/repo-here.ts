/** Defaults of a fleet task: the remote repository of the current folder, and the submitter. */
import { userInfo } from 'node:os'
import { count } from '../engine/limits.ts'
import { git } from '../host/git.ts'
import { countUncommitted } from '../host/worktree.ts'
import { given } from '../request/given.ts'
import type { Context } from './operation.ts'

export type RepoHere = { repo?: string; base?: string }

/** Empty: this folder is not in a repository with a remote named origin. */
export async function repoHere({ cwd }: Pick<Context, 'cwd'>): Promise<RepoHere> {
  const repo = await git(cwd, ['remote', 'get-url', 'origin'])
  if (repo === undefined) return {}
  return { repo, ...given({ base: await git(cwd, ['symbolic-ref', '--quiet', '--short', 'HEAD']) }) }
}

/** Local work that workers will not see. */
export async function notOnRemote({ cwd }: Pick<Context, 'cwd'>, base: string): Promise<string[]> {
  const ahead = Number((await git(cwd, ['rev-list', '--count', `refs/remotes/origin/${base}..HEAD`])) ?? 0)
  const isThere = (await git(cwd, ['rev-parse', '--verify', '--quiet', `refs/remotes/origin/${base}`])) !== undefined
  const uncommitted = await countUncommitted(cwd).catch(() => 0)
  return [
    ...(isThere ? [] : [`This clone has not seen branch ${base} on origin: push it, or fetch.`]),
    ...(ahead > 0 ? [`${count(ahead, 'commit')} of ${base} here ${ahead === 1 ? 'is' : 'are'} not pushed.`] : []),
    ...(uncommitted > 0
      ? [`${count(uncommitted, 'change')} here ${uncommitted === 1 ? 'is' : 'are'} not committed.`]
      : []),
  ].map((what) => `${what} Workers start from what is on the remote.`)
}

/** The default submitter, whose share and budget a task uses. */
export async function submitterHere({ cwd }: Pick<Context, 'cwd'>): Promise<string> {
  return (await git(cwd, ['config', 'user.email'])) || userInfo().username
}
