/** Brings the work of a completed task into the user's branch: committed there, or merged from its worktree. */
import { existsSync } from 'node:fs'
import type { Loop, Worktree } from '../engine/loop.ts'
import { MERGE_TRIES, mergeReason, type ProjectStop } from '../engine/schedule.ts'
import { cutTo, oneLine } from '../formats/one-line.ts'
import { changedPaths, commitPaths, repositoryAt } from '../host/branch.ts'
import { holding } from '../host/git-site.ts'
import { concludeMerge, forward, hasArrived, keepTrial, leaveTrial, tipOf, tryMerge } from '../host/merge.ts'
import { openPins } from '../host/pin.ts'
import { commitRest, dropWorktree, repositoryOf } from '../host/worktree.ts'
import { resolveConflict } from './conflict.ts'
import { enterTurn } from './enter-turn.ts'
import { projectOf } from './owner.ts'
import { type Open, openOf, taskOf, withProof } from './record.ts'
import type { Site } from './site.ts'
import { backOut, checkTogether } from './together.ts'

/** `again`: its checks fail together with the others' work: another attempt. `unfinished`: it continues later. */
export type Arrival = 'arrived' | 'again' | 'unfinished' | { halt: ProjectStop }

/** In the user's own checkout: commits what the agent left uncommitted. */
export async function commitTask(site: Site, loop: Loop): Promise<void> {
  const { sites } = await openPins(site.home, loop.id)
  await holding(sites, () => commitIn(site, loop))
}

async function commitIn(site: Site, loop: Loop): Promise<void> {
  const { project } = site
  const repo = await repositoryAt(project.dir)
  const task = projectOf(loop).task
  const first = site.keeper.record.trees[task]
  const [start, begun, after] = [first, loop.tally.startTree, loop.tally.tree].map((tree) => tree?.split(' ')[0])
  if (!repo || begun === undefined || after === undefined) return
  // The tree of an older loop may have been pruned.
  const paths = (start && (await changedPaths(repo, start, after))) || (await changedPaths(repo, begun, after)) || []
  await commitPaths(repo, paths, messageOf(site, loop))
}

function messageOf({ keeper }: Site, loop: Loop): string {
  const task = taskOf(keeper.record, projectOf(loop).task)
  return cutTo(oneLine(`${task.id}: ${task.title}`), 100)
}

/** From its own worktree: nothing arrives on the branch without being checked together with what is there. */
export async function mergeTask(site: Site, loop: Loop): Promise<Arrival> {
  const { task, worktree } = openOf(site.keeper.record, projectOf(loop).task)
  const base = worktree?.base
  if (!worktree || base === undefined) throw new Error(`${task} has no worktree`)
  const message = messageOf(site, loop)
  let merge: Merge = { site, task, worktree: { ...worktree, base }, message, last: loop }
  for (let tries = 0; tries < MERGE_TRIES; tries++) {
    const { sites } = await openPins(site.home, merge.last.id)
    const step = await holding(sites, () => nextStep(merge, openOf(site.keeper.record, task)))
    if ('arrival' in step) return step.arrival
    merge = { ...merge, last: step.last }
  }
  const sentence = `${base} moved ${MERGE_TRIES} times while ${task} was being merged into it.`
  return { halt: { reason: 'conflict', sentence } }
}

/** `last`: the loop that took the last turn. */
type Merge = {
  site: Site
  task: string
  worktree: Worktree & { base: string }
  message: string
  last: Loop
}

type Step = { arrival: Arrival } | { last: Loop }

/** The record shows how far the merge got, even after a kill. */
function nextStep(merge: Merge, open: Open): Promise<Step> {
  if (open.merge) return arrive(merge, open.merge)
  return open.merging ? settleConflict(merge, open, open.merging.files) : tryOut(merge, open)
}

async function arrive({ site, task, worktree, last }: Merge, ready: NonNullable<Open['merge']>): Promise<Step> {
  const { home, project } = site
  if (await forward({ home, repo: await repositoryOf(project.dir) }, worktree, ready)) {
    await enterTurn(site, last, true)
    return { arrival: 'arrived' }
  }
  await keepTrial(worktree, ready.commit) // the branch has moved: keep what is already merged
  await site.keeper.changeOpen(task, ({ merge: _, merging: __, trial: ___, ...rest }) => rest)
  return { last }
}

/** Merges the tip of the branch into the worktree, and runs the checks there. */
async function tryOut({ site, task, worktree, message, last }: Merge, { trial }: Open): Promise<Step> {
  const { keeper } = site
  if (trial) await leaveTrial(worktree, trial)
  else await commitRest(worktree, message)
  const onto = await tipOf(worktree.path, worktree.base)
  const committed = await tipOf(worktree.path, worktree.branch)
  await keeper.changeOpen(task, (open) => ({ ...open, trial: { committed, onto } }))
  const tried = await tryMerge(worktree, onto, `Merge ${message}`)
  if ('conflicts' in tried) {
    const files = tried.conflicts
    site.note(task, `${worktree.base} and the task both changed ${files.join(', ')}. An agent will merge the two.`)
    await enterTurn(site, last)
    const loop = site.newId()
    await keeper.changeOpen(task, (open) => ({ ...open, merging: { loop, files } }))
    await keeper.change((record) => ({ ...record, loops: [...record.loops, loop] }))
    return { last }
  }
  const failed = tried.same ? [] : await checkTogether(site, openOf(keeper.record, task))
  if (!failed) return { arrival: 'unfinished' }
  if (failed.length > 0) {
    await backOut(site, last, { merged: tried.merged, onto, failed })
    return { arrival: 'again' }
  }
  await keeper.changeOpen(task, (open) => ({ ...open, merge: { commit: tried.merged, onto } }))
  return { last }
}

async function settleConflict(merge: Merge, open: Open, files: string[]): Promise<Step> {
  const { site, task, worktree, message } = merge
  const { trial } = open
  const last = await resolveConflict(site, open)
  if (last.next.kind === 'halt' && trial) {
    // What the user does there now is theirs; the next run starts over.
    await leaveTrial(worktree, trial)
    await site.keeper.changeOpen(task, ({ merging: _, trial: __, ...rest }) => rest)
    return { arrival: { halt: unresolved(merge, files, last.next) } }
  }
  if (last.next.kind !== 'complete' || !trial) return { arrival: 'unfinished' }
  const { onto } = trial
  const concluded = await concludeMerge(worktree, { onto, conflicts: files }, `Merge ${message}`)
  if ('wrong' in concluded) throw new Error(`${task}: ${concluded.wrong}`)
  await site.keeper.changeOpen(task, (now) => ({ ...now, merge: { commit: concluded.merged, onto } }))
  return { last }
}

type Halt = Extract<Loop['next'], { kind: 'halt' }>

function unresolved({ task, worktree }: Merge, files: readonly string[], { reason, sentence }: Halt): ProjectStop {
  const { base, branch, path } = worktree
  return {
    reason: mergeReason(reason),
    sentence: `${task} does not merge with ${base}: both changed ${files.join(', ')}, and no agent could merge them: ${sentence} Its work is on the branch ${branch}, in ${path}.`,
  }
}

/** A task that is already completed: ralph was killed just then, or the user marked it so; the agent's work stays. */
export async function closeCompleted(site: Site, { task, worktree }: Open): Promise<void> {
  if (worktree && existsSync(worktree.path)) await commitRest(worktree, `${task}: not finished`)
  if (!worktree || (await hasArrived(worktree))) return closeTask(site, task)
  site.note(
    task,
    `You marked it completed. The agent's work stays on the branch ${worktree.branch}, in ${worktree.path}.`,
  )
  await site.keeper.change((record) => ({ ...record, open: record.open.filter((open) => open.task !== task) }))
}

/** The task is finished: removes its worktree and its open entry. */
export async function closeTask(site: Site, task: string): Promise<void> {
  const { worktree, loop: id } = openOf(site.keeper.record, task)
  if (worktree) await dropWorktree(worktree)
  const loop = await site.store.load(id).catch(() => undefined) // it has been pruned
  await site.keeper.change((record) => ({
    ...withProof(record, task, loop),
    open: record.open.filter((open) => open.task !== task),
  }))
}
