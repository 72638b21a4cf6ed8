/** A worker takes over a task on its remote: from then on nobody else can push for it. */

import { type Fenced, pushFenced, type RemoteState } from './fence.ts'
import { ensureCommit } from './fetch-objects.ts'
import type { Repository } from './git.ts'
import type { Calling, Trouble } from './remote-call.ts'
import type { Change } from './remote-refs.ts'
import { openRepoCache } from './repo-cache.ts'
import { maskUrl } from './repo-url.ts'
import { fenceRef, headOf, mustBeOurs, numberIn, type TaskPlace } from './task-names.ts'

/** `pushed`: the commit of the branch as the store knows it; absent: none. `kept`: the last checkpoint that counts. */
export type Taking = TaskPlace & Calling & { epoch: number; pushed?: string | undefined; kept?: number | undefined }

/**
 * Only this worker can push for the task from here on. What another one has pushed without recording it is taken back:
 * the branch is what the store knows, and there is no later checkpoint.
 */
export async function takeFence(taking: Taking): Promise<{ kind: 'taken' } | Fenced | Trouble> {
  mustBeOurs(taking)
  const mirror = await openRepoCache(taking.home).open(taking.repo)
  const done = await pushFenced(mirror, { ...taking, takes: true }, (refs) => takeBack(mirror, taking, refs))
  return done.kind === 'done' ? { kind: 'taken' } : done
}

async function takeBack(mirror: Repository, taking: Taking, refs: RemoteState): Promise<Change[] | Trouble> {
  const { repo, branch, loop, pushed, kept = 0 } = taking
  const head = headOf(branch)
  const now = refs.get(head)
  if (pushed === undefined && now !== undefined && !refs.has(fenceRef(loop)))
    return { kind: 'refused', why: `${branch} already exists in ${maskUrl(repo)}, and no worker pushed it.` }
  const later = [...refs].filter(([ref]) => (numberIn(loop, ref) ?? 0) > kept)
  const gone = later.map(([ref, was]): Change => ({ ref, was, to: undefined }))
  if (now === pushed) return gone
  // What was pushed later builds on it.
  if (pushed !== undefined && !(await ensureCommit(mirror, pushed, { ...taking, ref: head })))
    return { kind: 'refused', why: `The commit ${pushed} of ${branch} is no longer in ${maskUrl(repo)}.` }
  return [...gone, { ref: head, was: now, to: pushed }]
}
