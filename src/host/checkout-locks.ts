/** The locks that a killed git left in a checkout. Those of a running git are left alone. */
import { existsSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { RalphError } from '../error.ts'
import { must, type Repository } from './git.ts'
import { listProcesses } from './process-tree.ts'

/** The existing locks, of those that moving a branch takes. */
export async function listLocks(repo: Repository, branch: string): Promise<string[]> {
  const ofBranch = await repo.ask(['rev-parse', '--path-format=absolute', '--git-path', `refs/heads/${branch}.lock`])
  const own = ['HEAD.lock', 'ORIG_HEAD.lock', 'MERGE_HEAD.lock'].map((name) => join(repo.gitDir, name))
  return [`${repo.index}.lock`, ...own, must(ofBranch)].filter((lock) => existsSync(lock))
}

/** `before`: locks that are older than the killed git. */
export async function clearLocks(repo: Repository, branch: string, before: readonly string[] = []): Promise<void> {
  const left = (await listLocks(repo, branch)).filter((lock) => !before.includes(lock))
  if (left.length === 0) return
  if (hasGitAtWork(repo))
    throw new RalphError(
      'git-failed',
      `Another git process is running in ${repo.top}, so ralph cannot clean up after a run that was killed there. Try again when git has finished.`,
    )
  for (const lock of left) rmSync(lock, { force: true })
}

/** git changes to the top of the worktree before it does anything. Without /proc nobody can tell. */
function hasGitAtWork({ top, gitDir }: Repository): boolean {
  return listProcesses().some((pid) => {
    try {
      if (readFileSync(`/proc/${pid}/comm`, 'utf8') !== 'git\n') return false
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(1)
      return !IN_BACKGROUND.has(commandIn(words)) && [top, gitDir].includes(readlinkSync(`/proc/${pid}/cwd`))
    } catch {
      return false // it has ended, or belongs to another user
    }
  })
}

/** What git runs for long in the background; none of it takes these locks. */
const IN_BACKGROUND = new Set(['fsmonitor--daemon', 'gc', 'maintenance', 'repack', 'pack-objects', 'prune'])

function commandIn(words: readonly string[]): string {
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word === '-c' || word === '-C') at++
    else if (!word.startsWith('-')) return word
  }
  return ''
}
