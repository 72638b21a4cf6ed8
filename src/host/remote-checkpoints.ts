/** The checkpoints of a task on its remote, and which of them the loop continues from. */
import { type Kept, readCheckpoint } from './checkpoint.ts'
import { fetchObjects } from './fetch-objects.ts'
import type { Repository } from './git.ts'
import type { Calling, Trouble } from './remote-call.ts'
import { readRemote } from './remote-refs.ts'
import { headOf, marksRef, numberIn, type TaskPlace } from './task-names.ts'

export type Numbered = { n: number; kept: Kept }

/** `marks`: the commit with the records about the means of proof. */
export type RemoteCheckpoints = { kind: 'found'; all: Numbered[]; marks?: string | undefined }

/** Nothing points to them here until the worktree is created. */
export async function fetchCheckpoints(
  mirror: Repository,
  place: Pick<TaskPlace, 'repo' | 'branch' | 'loop'> & Calling,
): Promise<RemoteCheckpoints | Trouble> {
  const { repo, loop, branch } = place
  const remote = await readRemote(mirror, place)
  if (remote.kind !== 'read') return remote
  const numbers = [...remote.refs].flatMap(([ref, commit]) => {
    const n = numberIn(loop, ref)
    return n === undefined ? [] : [{ ref, commit, n }]
  })
  const wanted = [headOf(branch), marksRef(loop)].filter((ref) => remote.refs.has(ref))
  const refs = [...wanted, ...numbers.map(({ ref }) => ref)]
  if (refs.length === 0) return { kind: 'found', all: [] }
  const fetched = await fetchObjects(mirror, repo, refs, place)
  if (!fetched.ok) return fetched.trouble
  const all: Numbered[] = []
  for (const { n, commit } of numbers) {
    const kept = await readCheckpoint(mirror, commit)
    if (kept) all.push({ n, kept })
  }
  return { kind: 'found', all, marks: remote.refs.get(marksRef(loop)) }
}

/** The last known state of the loop. If checks wrote files after that, the last one before. */
export function chooseCheckpoint(
  all: readonly Numbered[],
  { tree, iteration }: { tree?: string | undefined; iteration: number },
): Numbered | undefined {
  const latest = all.toSorted((a, b) => b.n - a.n)
  const same = latest.find(({ kept }) => tree?.startsWith(stateOf(kept)))
  return same ?? latest.find(({ n }) => n <= iteration)
}

/** As a tree describes it. */
export function stateOf({ tree, head }: Kept): string {
  return `${tree} ${head ?? 'no-commit'}`
}
