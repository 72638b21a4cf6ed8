/** Merges the branch of a task into the branch it was made from, on the remote; merged and checked here first. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Verdict } from '../engine/loop.ts'
import { makePrivateFolder, realFolder } from './files.ts'
import { findSite, inOneLine, must, openSite, type Repository } from './git.ts'
import { identity } from './iteration-commit.ts'
import type { Calling, Trouble } from './remote-call.ts'
import { isMissed, pushAll } from './remote-refs.ts'
import { openRepoCache, type RepoCache } from './repo-cache.ts'
import { maskUrl } from './repo-url.ts'
import { headOf, mustBeBranch, mustBeOurs, type TaskPlace } from './task-names.ts'
import { mergePlace } from './task-traces.ts'

/** `same`: it has exactly the files of the task's branch, so there is nothing new to check. */
export type Together = { dir: string; commit: string; same: boolean }

export type MergingIntoBase = TaskPlace &
  Calling & {
    base: string
    message: string
    author?: { name: string; email: string }
    /** Runs the checks on both together. */
    check(together: Together): Promise<readonly Verdict[]>
  }

export type MergedIntoBase =
  | { kind: 'merged'; commit: string }
  | { kind: 'conflict'; paths: string[] }
  | { kind: 'red'; failed: Verdict[] }
  | Trouble

/** Nothing arrives unchecked, nobody's commits are lost, and nothing is left behind here. */
export async function mergeIntoBase(merging: MergingIntoBase): Promise<MergedIntoBase> {
  mustBeOurs(merging)
  mustBeBranch(merging.base)
  const { home, repo, base, signal } = merging
  const cache = openRepoCache(home)
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const fetched = await cache.fetch(repo, [headOf(base), headOf(merging.branch)], merging)
    if (fetched.kind !== 'fetched') return fetched
    const [onto = '', work = ''] = [headOf(base), headOf(merging.branch)].map((ref) => fetched.commits.get(ref))
    const sides = { mirror: fetched.mirror, onto, work }
    if (await isPart(sides.mirror, work, onto)) return { kind: 'merged', commit: onto }
    const tried = await inMergeTree(cache, merging, sides, (tree) => tryOut(tree, merging, sides))
    if (tried.kind !== 'together') return tried
    if (signal?.aborted) return { kind: 'unreachable', why: 'It was interrupted.' }
    const answer = await pushAll(sides.mirror, [{ ref: headOf(base), was: onto, to: tried.commit }], merging)
    if (answer.ok) return { kind: 'merged', commit: tried.commit }
    if (!isMissed(answer.says)) return answer.trouble
  }
  return { kind: 'unreachable', why: `${base} in ${maskUrl(repo)} moved ${MOST_TRIES} times during the merge.` }
}

const MOST_TRIES = 5

type Sides = { mirror: Repository; onto: string; work: string }

async function isPart(mirror: Repository, commit: string, of: string): Promise<boolean> {
  return (await mirror.ask(['merge-base', '--is-ancestor', commit, of])).ok
}

/** A worktree for this alone, with a detached HEAD. One that a killed ralph left is replaced. */
async function inMergeTree<Result>(
  cache: RepoCache,
  { home, repo, loop }: MergingIntoBase,
  { mirror, onto }: Sides,
  work: (tree: Repository) => Promise<Result>,
): Promise<Result> {
  makePrivateFolder(join(home, 'merges'))
  const path = mergePlace(realFolder(home), loop)
  const remove = async () => {
    await mirror.ask(['worktree', 'remove', '--force', '--force', path], { minutes: 10 })
    rmSync(path, { recursive: true, force: true })
    await mirror.ask(['worktree', 'prune'])
  }
  const asking = { env: { RALPH_LOOP_ID: loop }, minutes: 10 } // so that the next ralph can kill it
  await cache.alone(repo, async () => {
    await remove()
    must(await mirror.ask(['worktree', 'add', '--quiet', '--detach', '--force', '--force', path, onto], asking))
  })
  try {
    const site = await findSite(path)
    if ('none' in site) throw new Error(`${path} was created, but ${site.none}`)
    const { pinned } = mirror
    return await work(openSite(pinned === undefined ? site : { ...site, pinned }))
  } finally {
    await cache.alone(repo, remove)
  }
}

async function tryOut(
  tree: Repository,
  { loop, branch, message, author, check }: MergingIntoBase,
  { mirror, onto, work }: Sides,
): Promise<{ kind: 'together'; commit: string } | MergedIntoBase> {
  const who = author ? { GIT_AUTHOR_NAME: author.name, GIT_AUTHOR_EMAIL: author.email } : {}
  const env = { ...(await identity(mirror)), ...who, RALPH_LOOP_ID: loop }
  const how = ['--quiet', '--ff', '--no-squash', '--commit', '--no-verify', '--no-gpg-sign', '--no-verify-signatures']
  const merged = await tree.ask(['-c', 'rerere.enabled=false', 'merge', ...how, '-m', message, work], {
    env,
    minutes: 10,
  })
  if (!merged.ok) {
    const listed = await tree.ask(['diff', '--name-only', '--diff-filter=U', '-z'])
    const paths = listed.ok ? [...new Set(listed.out.split('\0').filter(Boolean))] : []
    if (paths.length > 0) return { kind: 'conflict', paths }
    return { kind: 'refused', why: `${branch} cannot be merged: ${inOneLine(merged.says)}` }
  }
  const commit = must(await tree.ask(['rev-parse', '--verify', 'HEAD']))
  const verdicts = await check({ dir: tree.top, commit, same: await isPart(mirror, onto, work) })
  const failed = verdicts.filter(({ result }) => result !== 'pass')
  return failed.length > 0 ? { kind: 'red', failed } : { kind: 'together', commit }
}
