/** Forks a loop: continues from a state of another one, in a new linked worktree. The other one stays as it is. */
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { homeFolder } from '../engine/home-folder.ts'
import type { Loop, Spec } from '../engine/loop.ts'
import { isRalphError, RalphError } from '../error.ts'
import type { Config } from '../formats/config.ts'
import { dropCheckpoints, listCheckpoints, NOW } from '../host/checkpoint.ts'
import { originOf, planFork, plantState, readState, type State } from '../host/fork.ts'
import { openRepository, type Repository } from '../host/git.ts'
import { treeIn } from '../host/tree.ts'
import { mustBeCopyable } from '../host/worktree.ts'
import { isAccepted } from './accept.ts'
import { alone, checkpointsOf, type Desk } from './rollback.ts'

/** The repository that has its checkpoints. */
async function mustHaveRepository(loop: Loop): Promise<Repository> {
  const dir = homeFolder(loop)
  const repo = await openRepository(dir)
  if (!('none' in repo)) return repo
  throw new RalphError('checkpoint-missing', `Loop ${loop.id} has no checkpoints: ${repo.none} (${dir}).`)
}

/** The state after an iteration; 0 is the start. */
export async function stateAfter(loop: Loop, iteration: number): Promise<State> {
  return readState(await mustHaveRepository(loop), loop.id, iteration)
}

/** What a loop left in its own worktree, including the user's later changes. Undefined: nothing, or it was accepted. */
export async function stateLeft(desk: Desk, loop: Loop): Promise<State | undefined> {
  const { worktree } = loop.spec.work
  if (!worktree || (await isAccepted(loop))) return undefined
  const repo = await mustHaveRepository(loop)
  if (!existsSync(worktree.path))
    return (await listCheckpoints(repo, loop.id)).includes(NOW) ? readState(repo, loop.id, NOW) : undefined
  return alone(desk, loop.id, async () => {
    const { snapshots, keep } = (await checkpointsOf(desk, loop)).restoring
    const now = await snapshots.take()
    if (!now)
      throw new RalphError('git-failed', `git cannot read the files in ${worktree.path}. Try \`git status\` there.`)
    await keep('left', now)
    return readState(repo, loop.id, 'left')
  })
}

/**
 * `id`: of the new loop, whose spec does not say yet where it works. `iteration`: the iteration of the other loop to
 * continue after.
 */
type Forking = { id: string; spec: Spec; state: State; iteration: number; config: Config }

/**
 * The spec with its place, and the state that the new loop starts in. Its files are in git before the loop becomes
 * visible.
 */
export async function forkFrom(
  { home }: Pick<Desk, 'home'>,
  parent: Loop,
  { id, spec, state, iteration, config }: Forking,
): Promise<{ spec: Spec; tree: string }> {
  const from = homeFolder(parent)
  const { worktree_files: copied = [], worktree_setup: setup } = config
  mustBeCopyable(from, copied)
  const repo = await mustHaveRepository(parent)
  const branch = `ralph/${id}`
  const { worktree } = parent.spec.work
  const { tree, ...plan } = planFork(repo, state, {
    from,
    path: join(realpathSync(home), 'worktrees', id),
    branch,
    base: worktree ? worktree.base : state.branch?.replace('refs/heads/', ''),
    ...(copied.length > 0 ? { copied } : {}),
    ...(setup === undefined ? {} : { setup }),
  })
  const proofBase = measuredAgainst(parent, state)
  const origin = proofBase === undefined ? undefined : await originOf(repo, parent.id)
  await plantState(repo, id, { state, branch, origin })
  const work = { ...spec.work, ...plan, parent: { loop: parent.id, iteration } }
  return { spec: { ...spec, work: { ...work, ...(proofBase === undefined ? {} : { proofBase }) } }, tree }
}

/** Removes what was put into git for a loop that could not be stored. */
export async function orCleanUp<Result>(
  { store }: Pick<Desk, 'store'>,
  { parent, id }: { parent: Loop; id: string },
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    const isStored = await store.load(id).then(
      () => true,
      (why: unknown) => !isRalphError(why) || why.code !== 'loop-unknown',
    )
    const cleanUp = async () => dropCheckpoints(await mustHaveRepository(parent), new Set([id]), Infinity)
    if (!isStored) await cleanUp().catch(() => {}) // the original failure matters, not the leftovers
    throw cause
  }
}

/** The other loop's changes to the tests must not pass for the original ones: the start of that loop counts. */
function measuredAgainst({ spec, tally }: Loop, { tree }: State): string | undefined {
  const base = spec.work.proofBase ?? tally.startTree
  return base === undefined || treeIn(base) === tree ? undefined : base
}
