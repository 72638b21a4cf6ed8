/** The work of a completed task becomes part of the person's branch: committed there, or merged from its own work tree. */
import { existsSync } from 'node:fs'
import { type Loop, type Spec, startLoop, type Verdict } from '../engine/loop.ts'
import { MERGE_TRIES, MERGE_TURNS, mergeReason, type ProjectStop } from '../engine/schedule.ts'
import { cutTo, oneLine } from '../formats/one-line.ts'
import { changedPaths, commitPaths, repositoryAt } from '../host/branch.ts'
import { runCheck } from '../host/check.ts'
import { concludeMerge, forward, hasArrived, isMerging, keepTrial, leaveTrial, tipOf, tryMerge } from '../host/merge.ts'
import { openTree } from '../host/tree.ts'
import { commitRest, dropWorktree, repositoryOf } from '../host/worktree.ts'
import { buildMergePrompt } from '../prompt/merge-prompt.ts'
import { buildTaskPrompt } from '../prompt/turn-prompt.ts'
import { DEFAULTS } from '../request/defaults.ts'
import { projectOf } from './owner.ts'
import { type Open, openOf, taskOf } from './record.ts'
import { agentFolder, type Site } from './site.ts'
import { driveLoop, specOf } from './task.ts'
import { beginTurn, enterTurn } from './task-turn.ts'

/** `again`: together with the others' work its checks fail, so it is worked on once more. `unfinished`: it goes on another time. */
export type Arrival = 'arrived' | 'again' | 'unfinished' | { halt: ProjectStop }

/** In the person's own files: what the agent left uncommitted becomes a commit. */
export async function commitTask(site: Site, loop: Loop): Promise<void> {
  const { project } = site
  const repo = await repositoryAt(project.dir)
  const task = projectOf(loop).task
  const first = site.keeper.record.trees[task]
  const [start, begun, after] = [first, loop.tally.startTree, loop.tally.tree].map((tree) => tree?.split(' ')[0])
  if (!repo || begun === undefined || after === undefined) return
  // The tree of an older loop may have been cleared away.
  const paths = (start && (await changedPaths(repo, start, after))) || (await changedPaths(repo, begun, after)) || []
  await commitPaths(repo, paths, messageOf(site, loop))
}

function messageOf({ keeper }: Site, loop: Loop): string {
  const task = taskOf(keeper.record, projectOf(loop).task)
  return cutTo(oneLine(`${task.id}: ${task.title}`), 100)
}

/** From its own work tree: nothing arrives on the branch that was not checked together with what is there. */
export async function mergeTask(site: Site, loop: Loop): Promise<Arrival> {
  const open = () => openOf(site.keeper.record, projectOf(loop).task)
  const { task, worktree } = open()
  const base = worktree?.base
  if (!worktree || base === undefined) throw new Error(`${task} has no work tree`)
  const repo = await repositoryOf(site.project.dir)
  const change = (edit: (open: Open) => Open) => site.keeper.changeOpen(task, edit)
  const message = messageOf(site, loop)
  let last = loop

  for (let tries = 0; tries < MERGE_TRIES; tries++) {
    const { merge, merging, trial } = open()
    if (merge && (await forward(repo, worktree, merge))) {
      await enterTurn(site, last, true)
      return 'arrived'
    }
    if (merge) {
      await keepTrial(worktree, merge.commit) // the branch has moved: what is together stays together
      await change(({ merge: _, merging: __, trial: ___, ...rest }) => rest)
      continue
    }
    if (!merging) {
      if (trial) await leaveTrial(worktree, trial)
      else await commitRest(worktree, message)
      const onto = await tipOf(worktree.path, base)
      const committed = await tipOf(worktree.path, worktree.branch)
      await change((now) => ({ ...now, trial: { committed, onto } }))
      const tried = await tryMerge(worktree, onto, `Merge ${message}`)
      if ('conflicts' in tried) {
        site.note(
          task,
          `${base} and the task both changed ${tried.conflicts.join(', ')}. An agent brings both sides together.`,
        )
        await enterTurn(site, last)
        await change((now) => ({ ...now, merging: { loop: site.newId(), files: tried.conflicts } }))
        await site.keeper.change((record) => ({ ...record, loops: [...record.loops, open().merging?.loop ?? ''] }))
        continue
      }
      const failed = tried.same ? [] : await checkTogether(site, open())
      if (!failed) return 'unfinished'
      if (failed.length > 0) return backOut(site, last, { merged: tried.merged, onto, failed })
      await change((now) => ({ ...now, merge: { commit: tried.merged, onto } }))
      continue
    }
    last = await resolveConflict(site, open())
    if (last.next.kind === 'halt' && trial) {
      // What a person does there now is theirs, and the next time begins anew.
      await leaveTrial(worktree, trial)
      await change(({ merging: _, trial: __, ...rest }) => rest)
      const { reason, sentence } = last.next
      return {
        halt: {
          reason: mergeReason(reason),
          sentence: `${task} does not merge with ${base}: both changed ${merging.files.join(', ')}, and no agent could bring them together: ${sentence} Its work is on the branch ${worktree.branch}, in ${worktree.path}.`,
        },
      }
    }
    if (last.next.kind !== 'complete' || !trial) return 'unfinished'
    const { onto } = trial
    const concluded = await concludeMerge(worktree, { onto, conflicts: merging.files }, `Merge ${message}`)
    if ('wrong' in concluded) throw new Error(`${task}: ${concluded.wrong}`)
    await change((now) => ({ ...now, merge: { commit: concluded.merged, onto } }))
  }
  const sentence = `${base} moved ${MERGE_TRIES} times while ${task} was being merged into it.`
  return { halt: { reason: 'conflict', sentence } }
}

/** Its own checks, those of the project, and those of the tasks that arrived meanwhile. */
function checksTogether(site: Site, open: Open): string[] {
  const { record } = site.keeper
  const others = record.entries.slice(open.entries).filter(({ status }) => status === 'completed')
  const tasks = [open.task, ...others.map(({ task_id }) => task_id)]
  return [...new Set([...site.checks, ...tasks.flatMap((id) => taskOf(record, id).verify ?? [])])]
}

/** Those that fail; undefined when it was interrupted. */
async function checkTogether(site: Site, open: Open): Promise<Verdict[] | undefined> {
  const failed: Verdict[] = []
  for (const check of checksTogether(site, open)) {
    const verdict = await runCheck(check, {
      dir: open.worktree?.dir ?? '',
      env: { ...site.env, RALPH_LOOP_ID: open.loop },
      minutes: site.request.checkMinutes ?? DEFAULTS.checkMinutes,
      signal: site.stop,
    })
    if (!verdict) return undefined
    if (verdict.result !== 'pass') failed.push(verdict)
  }
  return failed
}

/** Nothing of it has arrived on the branch. The next attempt finds both sides together and is told what fails. */
async function backOut(
  site: Site,
  loop: Loop,
  { merged, onto, failed }: { merged: string; onto: string; failed: Verdict[] },
): Promise<Arrival> {
  const open = openOf(site.keeper.record, projectOf(loop).task)
  if (!open.worktree) throw new Error(`${open.task} has no work tree`)
  await keepTrial(open.worktree, merged)
  const names = failed.map(({ check }) => check).join(', ')
  site.note(open.task, `Merged with what arrived meanwhile, its checks fail (${names}). It is tried again.`)
  await enterTurn(site, loop)
  const id = site.newId()
  const { tree: _, ...work } = { ...loop.spec.work, tree: undefined }
  const before = taskOf(site.keeper.record, open.task).attempts
  const left = taskOf(site.keeper.record, open.task).max_attempts - before
  const spec: Spec = { ...loop.spec, limits: { ...loop.spec.limits, iterations: Math.max(1, left) }, work }
  const state = await (await openTree({ ...work, home: site.home, loop: id })).look()
  await site.store.create(startLoop(id, spec, { at: site.now(), ...(state === undefined ? {} : { tree: state }) }))
  const words = failed.map(({ check, tail }) => `The check \`${check}\` fails. Its output ends:\n${tail.trimEnd()}`)
  await site.store.tell(id, 'ralph', {
    kind: 'say',
    words: `Your work passed alone. Merged with what other tasks did meanwhile, it does not:\n${words.join('\n')}`,
  })
  await site.keeper.change((record) => ({
    ...record,
    loops: [...record.loops, id],
    open: record.open.map(({ trial: _, ...other }) =>
      other.task === open.task ? { ...other, loop: id, before, base: onto } : other,
    ),
  }))
  return 'again'
}

/** A loop of its own for the two sides. Not an attempt at the task, but a turn of the project. */
async function resolveConflict(site: Site, open: Open): Promise<Loop> {
  const { task, worktree, merging, trial } = open
  if (!worktree || !merging || !trial) throw new Error(`${task} has no conflict`)
  const folder = { folder: agentFolder(site, open) }
  const message = `Merge ${task}: ${taskOf(site.keeper.record, task).title}`
  const loop = await driveLoop(site, task, merging.loop, {
    spec: async () => ({
      ...(await specOf(site, open)),
      prompt: await sidesOf(site, open),
      checks: checksTogether(site, open),
      stages: [{ name: 'merge' }],
      limits: { ...site.limits(), iterations: MERGE_TURNS },
    }),
    turn: {
      prompt: (loop, next) => buildTaskPrompt(loop.spec.prompt, loop, next),
      env: {
        RALPH_TASK_ID: task,
        RALPH_PROJECT: site.project.name,
        RALPH_PROJECT_DIR: folder.folder,
        RALPH_MERGE: '1',
      },
      finished: (signal) => new Promise((done) => signal.addEventListener('abort', () => done(), { once: true })),
    },
    async before(loop, next) {
      await enterTurn(site, loop)
      if (!(await isMerging(worktree, trial.onto))) {
        await leaveTrial(worktree, trial)
        await tryMerge(worktree, trial.onto, message)
      }
      return beginTurn(site, task, { loop, next, folder })
    },
    async judged(loop, _, turn) {
      const concluded = await concludeMerge(worktree, { onto: trial.onto, conflicts: merging.files }, message)
      if ('merged' in concluded) return { ...turn, claim: { kind: 'clear', stage: 'merge' } }
      await site.store.tell(loop.id, 'ralph', { kind: 'say', words: `The merge is not done: ${concluded.wrong}` })
      return { ...turn, claim: { kind: 'none' } }
    },
  })
  if (loop.next.kind !== 'complete') await enterTurn(site, loop)
  return loop
}

async function sidesOf(site: Site, { task: id, worktree, merging, trial }: Open): Promise<string> {
  const repo = await repositoryOf(site.project.dir)
  const log = await repo.ask(['log', '--format=%h %s', `${trial?.committed}..${trial?.onto}`])
  const { title } = taskOf(site.keeper.record, id)
  return buildMergePrompt({
    task: { id, title, branch: worktree?.branch ?? '' },
    branch: site.branch ?? '',
    others: log.ok ? log.out.split('\n').filter(Boolean).slice(0, 50) : [],
    files: merging?.files ?? [],
  })
}

/** A task that is completed already: its ralph was killed just then, or a person has called it so, whose agent's work stays. */
export async function closeCompleted(site: Site, { task, worktree }: Open): Promise<void> {
  if (worktree && existsSync(worktree.path)) await commitRest(worktree, `${task}: not finished`)
  if (!worktree || (await hasArrived(worktree)))
    return closeTask(site, task, site.keeper.record.proofs[task] ?? 'claimed')
  site.note(
    task,
    `You call it completed. What its agent did stays on the branch ${worktree.branch}, in ${worktree.path}.`,
  )
  await site.keeper.change((record) => ({ ...record, open: record.open.filter((open) => open.task !== task) }))
}

/** The task is over: its work tree goes, and nothing of it is under way any more. */
export async function closeTask(site: Site, task: string, proof: 'verified' | 'claimed'): Promise<void> {
  const { worktree } = openOf(site.keeper.record, task)
  if (worktree) await dropWorktree(worktree)
  await site.keeper.change((record) => ({
    ...record,
    open: record.open.filter((open) => open.task !== task),
    proofs: { ...record.proofs, [task]: proof },
  }))
}
