/** The work of a task on its remote: pushed after every iteration, and left there as a branch at the end. */
import { readCheckpoint, refOf, WRITER } from './checkpoint.ts'
import { type Fenced, pushFenced } from './fence.ts'
import { ensureCommit } from './fetch-objects.ts'
import { readIfThere } from './files.ts'
import { marksFile } from './fingerprint.ts'
import { must, type Repository } from './git.ts'
import { commitIteration } from './iteration-commit.ts'
import { notedCommits } from './kept-commits.ts'
import { commitsFile } from './pin.ts'
import type { Calling, Trouble } from './remote-call.ts'
import { type Change, readRemote } from './remote-refs.ts'
import { openRepoCache, trackedAs } from './repo-cache.ts'
import { maskUrl } from './repo-url.ts'
import { headOf, marksRef, mustBeOurs, type TaskPlace } from './task-names.ts'

/** `pushed`: the commit that was pushed last; absent: none. `title`: what the task is about, in a few words. */
export type Pushing = TaskPlace &
  Calling & { task: string; title?: string; iteration: number; epoch: number; pushed?: string | undefined }

/** `kept-nothing`: the iteration has no checkpoint, so there is nothing to push. */
export type Pushed = { kind: 'pushed'; commit: string } | { kind: 'kept-nothing' } | Fenced | Trouble

/**
 * Pushes the checkpoint of an iteration as a commit of the branch, and the checkpoint itself, so that another machine
 * can continue from it. HEAD, index and files of the worktree stay as the agent left them. Repeating it gives the same
 * commit.
 */
export async function pushIteration(pushing: Pushing): Promise<Pushed> {
  mustBeOurs(pushing)
  const { home, repo, branch, loop, iteration, pushed } = pushing
  const mirror = await openRepoCache(home).open(repo)
  const [start, last] = await Promise.all([0, iteration].map((n) => findCheckpoint(mirror, { home, loop }, n)))
  const kept = last && (await readCheckpoint(mirror, last))
  if (!kept) return { kind: 'kept-nothing' }
  if (pushed !== undefined && !(await ensureCommit(mirror, pushed, { ...pushing, ref: headOf(branch) })))
    return { kind: 'unreachable', why: `The commit ${pushed} of ${branch} cannot be fetched from ${maskUrl(repo)}.` }
  const [commit, marks] = await Promise.all([
    commitIteration(mirror, kept, pushing),
    writeMarks(mirror, { home, loop }),
  ])
  const wanted = new Map([
    [headOf(branch), commit],
    [refOf(loop, 0), start],
    [refOf(loop, iteration), last],
    [marksRef(loop), marks],
  ])
  const done = await pushFenced<Pushed>(mirror, pushing, async (refs) => {
    const there = refs.get(headOf(branch))
    if (there !== pushed && there !== commit)
      return { kind: 'refused', why: `Somebody else has pushed to ${branch} in ${maskUrl(repo)}.` }
    const changes = [...wanted].map(([ref, to]): Change => ({ ref, was: refs.get(ref), to }))
    const left = changes.filter(({ was, to }) => to !== undefined && was !== to)
    return left.length > 0 ? left : { kind: 'pushed', commit } // the answer to an earlier try was lost
  })
  if (done.kind !== 'done') return done
  await mirror.ask(['update-ref', trackedAs(headOf(branch)), commit]) // so that it stays here for the next one
  return { kind: 'pushed', commit }
}

/** An agent can move refs, but not what ralph has recorded. */
export async function findCheckpoint(
  mirror: Repository,
  { home, loop }: Pick<TaskPlace, 'home' | 'loop'>,
  n: number,
): Promise<string | undefined> {
  const noted = notedCommits({ commits: commitsFile(home, loop) }).get(refOf(loop, n))
  const found = await mirror.ask(['rev-parse', '--verify', '--quiet', `${noted ?? refOf(loop, n)}^{commit}`])
  return found.ok ? found.out : undefined
}

/** What ralph recorded about the disk at the start, as a commit: the next machine compares with it. */
async function writeMarks(
  mirror: Repository,
  { home, loop }: Pick<TaskPlace, 'home' | 'loop'>,
): Promise<string | undefined> {
  const text = readIfThere(marksFile(home, loop))
  if (text === undefined) return undefined
  const blob = must(await mirror.ask(['hash-object', '-w', '--stdin'], { stdin: text }))
  const tree = must(await mirror.ask(['mktree'], { stdin: `100644 blob ${blob}\tmarks.json\n` }))
  const env = { ...WRITER, GIT_AUTHOR_DATE: '1000000000 +0000', GIT_COMMITTER_DATE: '1000000000 +0000' }
  return must(await mirror.ask(['commit-tree', tree, '-m', `ralph: marks of loop ${loop}`], { env }))
}

/** The task has ended: its branch stays, and ralph's own refs next to it are removed. */
export async function finishBranch(
  finishing: TaskPlace & Calling & { epoch: number },
): Promise<{ kind: 'finished' } | Fenced | Trouble> {
  mustBeOurs(finishing)
  const { home, repo, loop } = finishing
  const mirror = await openRepoCache(home).open(repo)
  const done = await pushFenced<{ kind: 'finished' }>(mirror, finishing, async (refs) => {
    const own = [...refs].filter(([ref]) => ref.startsWith(refOf(loop, '')))
    return own.map(([ref, was]) => ({ ref, was, to: undefined }))
  })
  if (done.kind === 'fenced' && (await isFinished(mirror, finishing))) return { kind: 'finished' }
  return done.kind === 'done' ? { kind: 'finished' } : done
}

/** An earlier try may have worked, and only its answer was lost. */
async function isFinished(mirror: Repository, finishing: TaskPlace & Calling): Promise<boolean> {
  const remote = await readRemote(mirror, finishing)
  return remote.kind === 'read' && ![...remote.refs.keys()].some((ref) => ref.startsWith(refOf(finishing.loop, '')))
}
