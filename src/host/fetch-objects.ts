/** Fetches objects of a remote into a mirror, without any ref that points to them there. */
import type { Repository } from './git.ts'
import { askRemote, type Calling, type RemoteAnswer } from './remote-call.ts'

/** `wanted`: refs, or commit hashes, which not every remote serves. */
export function fetchObjects(
  mirror: Repository,
  repo: string,
  wanted: readonly string[],
  calling: Calling,
): Promise<RemoteAnswer> {
  return askRemote(mirror, [...FETCH, '--', repo, ...wanted], calling)
}

/** Overrides settings of the person that make a fetch do more than requested. */
export const FETCH: readonly string[] = [
  ...['fetch', '--quiet', '--no-tags', '--no-prune', '--no-write-fetch-head'],
  ...['--no-recurse-submodules', '--no-auto-maintenance'],
]

export async function hasCommit(mirror: Repository, commit: string): Promise<boolean> {
  return (await mirror.ask(['cat-file', '-e', `${commit}^{commit}`])).ok
}

/** Whether the mirror has the commit; fetches it if not. `ref`: the ref that probably contains it on the remote. */
export async function ensureCommit(
  mirror: Repository,
  commit: string,
  { repo, ref, ...calling }: Calling & { repo: string; ref?: string },
): Promise<boolean> {
  for (const from of [...(ref === undefined ? [] : [ref]), commit]) {
    if (await hasCommit(mirror, commit)) return true
    await fetchObjects(mirror, repo, [from], calling)
  }
  return hasCommit(mirror, commit)
}
