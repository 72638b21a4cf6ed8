/**
 * Restores a checkpoint: files, HEAD, branch and index become what they were; ignored files stay. The current state is
 * kept first, in its own checkpoint. Nothing is ever removed that this one does not hold.
 */
import { existsSync, mkdirSync } from 'node:fs'
import { rename, rm, utimes, writeFile } from 'node:fs/promises'
import { RalphError } from '../error.ts'
import {
  type Kept,
  NOW,
  type openKeeper,
  type Refs,
  readCheckpoint,
  refOf,
  setRefs,
  UNFINISHED,
  underWay,
} from './checkpoint.ts'
import { must, type Repository } from './git.ts'
import {
  bringBackIgnored,
  compare,
  EVERYWHERE,
  hideAgain,
  inTheWay,
  isFileAt,
  modesOf,
  refuseRepositories,
  setModes,
} from './restore-files.ts'
import type { Snapshot, Snapshots } from './snapshot.ts'
import { refuseDamaged } from './true-objects.ts'

export type Restoring = {
  repo: Repository
  snapshots: Snapshots
  keep: ReturnType<typeof openKeeper>
  loop: string
  /** The folder the loop works in. */
  place: string
}

/**
 * `safety` names the checkpoint for the current state, `drops` one that is not needed afterwards. `marked`: leaves a
 * mark in case of a kill. `cutOff`: the rollback that is taken back did not finish.
 */
export type How = { safety: string; marked?: true; drops?: string; cutOff?: boolean }

/** `to` names the checkpoint. */
export async function restore(restoring: Restoring, to: string, how: How): Promise<string[]> {
  try {
    return await putBack(restoring, to, how)
  } finally {
    mkdirSync(restoring.place, { recursive: true }) // git keeps no empty folder, but the loop works in this one
  }
}

async function putBack(restoring: Restoring, to: string, { safety, marked, drops, cutOff }: How): Promise<string[]> {
  const { repo, snapshots, keep, loop } = restoring
  refuseLocked(repo)
  const target = await readCheckpoint(repo, refOf(loop, to))
  if (!target) throw new RalphError('checkpoint-missing', `No such checkpoint in ${repo.top}: ${refOf(loop, to)}.`)
  const refs = new Map([...target.refs, ...(target.branch ? [[target.branch, target.head] as const] : [])])
  await refuseElsewhere(repo, target.branch)

  const now = await snapshots.take()
  const changes = now && (await compare(repo, now.tree, target.tree))
  const brought = now ? await broughtBy(restoring, { to, target, now, cutOff }) : new Set<string>()
  const covering = changes ? inTheWay(repo.top, changes.added) : []
  if (changes) refuseRepositories(repo, changes, covering)
  const half = cutOff ? [...brought].filter((path) => isFileAt(repo.top, path)) : []
  const covered = changes && (await snapshots.cover(now.tree, [...covering, ...half]))
  if (!changes || !covered)
    throw new RalphError(
      'git-failed',
      `git cannot read the files in ${repo.top}, so nothing was changed. Try \`git status\` there.`,
    )
  await refuseDamaged(repo, target.tree, [...changes.added, ...changes.changed])
  const before = await valuesOf(repo, refs)
  await keep(safety, { ...now, tree: covered }, { refs: before, to: target.commit, mark: marked && UNFINISHED })

  const modes = modesOf(repo.top, changes.changed)
  const args = [...EVERYWHERE, 'read-tree', '--reset', '-u', '--no-recurse-submodules', target.tree]
  const moved = await repo.ask(args, { env: snapshots.env, minutes: 10 })
  if (!moved.ok)
    throw new RalphError(
      'git-failed',
      `git stopped halfway: ${moved.says.split('\n')[0]}. Some files were changed. Fix the cause and try again, or run \`ralph undo ${loop}\`.`,
    )
  setModes(repo.top, modes)
  await bringBackIgnored(
    restoring,
    covered,
    changes.removed.filter((path) => !brought.has(path)),
  )
  await moveBranches(repo, refs, before)
  await setHead(repo, target, now)
  await putIndex(repo, target)
  if (snapshots.sparse) await hideAgain(restoring, target)
  const over = [...(marked ? [UNFINISHED] : []), ...(drops === undefined ? [] : [drops])]
  must(
    await setRefs(
      repo,
      [refOf(loop, NOW)],
      target.commit,
      over.map((name) => refOf(loop, name)),
    ),
  )
  return [...headMoved(target, now), ...remarks(target.underWay, underWay(repo))]
}

type Bringing = { to: string; target: Kept; now: Snapshot; cutOff: boolean | undefined }

/**
 * The files that did not exist before the rollback that is undone, and are still as it wrote them, completely or in
 * part.
 */
async function broughtBy({ repo, loop }: Restoring, { to, target, now, cutOff }: Bringing): Promise<Set<string>> {
  const went = (cutOff && target.to) || refOf(loop, NOW)
  const last = to.startsWith('before/') ? await readCheckpoint(repo, went) : undefined
  if (!last) return new Set()
  const { added } = await compare(repo, target.tree, last.tree)
  if (cutOff) return new Set(added)
  const since = await compare(repo, last.tree, now.tree)
  const touched = new Set([...since.added, ...since.changed, ...since.removed])
  return new Set(added.filter((path) => !touched.has(path)))
}

function headMoved({ branch, head }: Kept, now: Snapshot): string[] {
  if (branch === now.branch && head === now.head) return []
  const where = branch?.replace('refs/heads/', '') ?? 'no branch'
  return [
    `HEAD is back on ${where}${head ? ` at ${head.slice(0, 10)}` : ', without a commit'}; the commits made since then are kept with the rollback.`,
  ]
}

function remarks(then: string | undefined, now: string | undefined): string[] {
  if (then === now) return []
  return [
    ...(then ? [`A ${then} was in progress then; its files and index are restored, but not git's state of it.`] : []),
    ...(now ? [`A ${now} is still in progress; \`git ${now} --quit\` ends it and leaves the files alone.`] : []),
  ]
}

function refuseLocked({ gitDir, index }: Repository): void {
  if (!existsSync(`${index}.lock`)) return
  throw new RalphError(
    'git-failed',
    `${index}.lock exists: another git process is running in ${gitDir}, or one was killed. If none is running, remove that file and try again.`,
  )
}

/** A branch that another worktree has checked out must not change under it. */
async function refuseElsewhere(repo: Repository, branch: string | undefined): Promise<void> {
  const listed = await repo.ask(['worktree', 'list', '--porcelain', '-z'])
  if (!branch || !listed.ok) return
  // git assumes that the folder of a repository is its worktree if that is elsewhere, as with a submodule.
  const others = listed.out.split('\0\0').slice(repo.gitDir === repo.commonDir ? 1 : 0)
  for (const entry of others) {
    const [where = '', ...lines] = entry.split('\0').filter(Boolean)
    const path = where.replace(/^worktree /, '')
    if (lines.includes(`branch ${branch}`) && path !== repo.top && existsSync(path))
      throw new RalphError(
        'git-failed',
        `The branch ${branch.replace('refs/heads/', '')} is checked out in ${path}. Switch that worktree to another branch first.`,
      )
  }
}

/** The branches that will be set, as they are now. */
export async function valuesOf(repo: Repository, refs: Refs): Promise<Refs> {
  const now = new Map<string, string | undefined>()
  for (const ref of refs.keys()) {
    const answer = await repo.ask(['rev-parse', '--verify', '--quiet', `${ref}^{commit}`])
    now.set(ref, answer.ok ? answer.out : undefined)
  }
  return now
}

const WHY = ['-m', 'ralph: back to a checkpoint']

async function moveBranches(repo: Repository, refs: Refs, before: Refs): Promise<void> {
  for (const [ref, commit] of refs)
    if (commit !== before.get(ref))
      must(await repo.ask(['update-ref', ...WHY, ...(commit ? [ref, commit] : ['-d', ref])]))
}

async function setHead(repo: Repository, { branch, head }: Kept, now: Snapshot): Promise<void> {
  if (branch !== undefined && branch !== now.branch) must(await repo.ask(['symbolic-ref', ...WHY, 'HEAD', branch]))
  if (branch === undefined && head && (now.branch !== undefined || head !== now.head))
    must(await repo.ask(['update-ref', ...WHY, '--no-deref', 'HEAD', head]))
}

async function putIndex(repo: Repository, { index: commit, head }: Kept): Promise<void> {
  if (!commit) return rm(repo.index, { force: true })
  const file = `${repo.index}.ralph`
  const env = { GIT_INDEX_FILE: file }
  try {
    await writeFile(file, await repo.read(`${commit}:index`))
    // It may need a part that git has pruned since; then what was staged is all that is known. One that was damaged
    // then starts from scratch, with nothing staged.
    if (!(await repo.ask(['ls-files', '--stage'], { env })).ok) {
      await rm(file)
      const staged = await repo.ask(['rev-parse', '--verify', '--quiet', `${commit}:staged`])
      must(await repo.ask(['read-tree', staged.ok ? staged.out : (head ?? '--empty')], { env }))
    }
    // Older than every file, so that git looks at each one again.
    await utimes(file, 1, 1)
    await rename(file, repo.index)
  } finally {
    await rm(file, { force: true })
  }
}
