/** The refs of a task on its remote: what they are, and how they all change in one step. */

import { refOf } from './checkpoint.ts'
import type { Repository } from './git.ts'
import { askRemote, type Calling, type RemoteAnswer, type Trouble } from './remote-call.ts'
import { headOf, type TaskPlace } from './task-names.ts'

export type RemoteRefs = { kind: 'read'; refs: ReadonlyMap<string, string> }

/** The branch of a task, and ralph's own refs next to it. */
export async function readRemote(
  mirror: Repository,
  { repo, branch, loop, ...calling }: Pick<TaskPlace, 'repo' | 'branch' | 'loop'> & Calling,
): Promise<RemoteRefs | Trouble> {
  const answer = await askRemote(mirror, ['ls-remote', '--', repo, headOf(branch), refOf(loop, '*')], calling)
  if (!answer.ok) return answer.trouble
  const lines = answer.out.split('\n').map((line) => line.split('\t'))
  return { kind: 'read', refs: new Map(lines.flatMap(([commit, ref]) => (commit && ref ? [[ref, commit]] : []))) }
}

/** `was`: what must be there now; undefined: nothing. No `to`: it is removed. */
export type Change = { ref: string; was: string | undefined; to: string | undefined }

/** All of them or none: the remote compares each with what was expected, at the moment it changes them. */
export async function pushAll(
  mirror: Repository,
  changes: readonly Change[],
  { repo, ...calling }: Pick<TaskPlace, 'repo'> & Calling,
): Promise<RemoteAnswer> {
  const leases = changes.map(({ ref, was = '' }) => `--force-with-lease=${ref}:${was}`)
  const specs = changes.map(({ ref, to = '' }) => `${to}:${ref}`)
  const answer = await askRemote(mirror, [...PUSH, ...leases, '--', repo, ...specs], calling)
  if (answer.ok || !/does not support --atomic/.test(answer.says)) return answer
  return { ...answer, trouble: { kind: 'refused', why: NOT_ATOMIC } }
}

const PUSH = [
  'push',
  '--quiet',
  '--atomic',
  '--no-verify',
  '--no-signed',
  '--no-follow-tags',
  '--recurse-submodules=no',
]

const NOT_ATOMIC =
  'The server does not support atomic pushes, which ralph needs so that two workers never overwrite each other.'

/** A ref was not as expected: noticed by git here, or by the remote at the last moment. */
export function isMissed(says: string): boolean {
  if (/exists; cannot create/.test(says)) return false // there is a branch in the place of a folder of branches
  return /\(stale info\)|\(fetch first\)|\(non-fast-forward\)|cannot lock ref|failed to update ref|incorrect old value|reference already exists/.test(
    says,
  )
}
