/** A task and the branch changed the same files: an agent merges both sides in the task's worktree. */
import type { Loop, Spec } from '../engine/loop.ts'
import { MERGE_TURNS } from '../engine/schedule.ts'
import { concludeMerge, isMerging, leaveTrial, tryMerge } from '../host/merge.ts'
import { repositoryOf } from '../host/worktree.ts'
import { buildMergePrompt } from '../prompt/merge-prompt.ts'
import { buildTaskPrompt } from '../prompt/turn-prompt.ts'
import { enterTurn } from './enter-turn.ts'
import { type Open, taskOf } from './record.ts'
import { agentFolder, type Site, turnEnv } from './site.ts'
import { driveTaskLoop, specOf } from './task.ts'
import { beginTurn, keepTrouble } from './task-turn.ts'
import { checksTogether } from './together.ts'

/** A separate loop for the merge. Not an attempt at the task, but a turn of the project. */
export async function resolveConflict(site: Site, open: Open): Promise<Loop> {
  const { task, worktree, merging, trial } = open
  if (!worktree || !merging || !trial) throw new Error(`${task} has no conflict`)
  const folder = { folder: agentFolder(site, open) }
  const message = `Merge ${task}: ${taskOf(site.keeper.record, task).title}`
  const loop = await driveTaskLoop(site, task, merging.loop, {
    spec: async () => ({
      ...withoutRequire(await specOf(site, open)),
      prompt: await sidesOf(site, open),
      checks: checksTogether(site, open),
      stages: [{ name: 'merge' }],
      limits: { ...site.limits(), iterations: MERGE_TURNS },
    }),
    turn: {
      prompt: (loop, next) => buildTaskPrompt(loop.spec.prompt, loop, next),
      get env() {
        return { ...turnEnv(site, open), RALPH_MERGE: '1' }
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
    failed: (_, turn) => keepTrouble(site, task, { turn, folder }),
    async judged(loop, _, turn) {
      const concluded = await concludeMerge(worktree, { onto: trial.onto, conflicts: merging.files }, message)
      if ('merged' in concluded) return { ...turn, claim: { kind: 'clear', stage: 'merge' } }
      await site.store.tell(loop.id, 'ralph', { kind: 'say', words: `The merge is not finished: ${concluded.wrong}` })
      return { ...turn, claim: { kind: 'none' } }
    },
  })
  if (loop.next.kind !== 'complete') await enterTurn(site, loop)
  return loop
}

/** The task itself is already proven; merging turns nothing from red to green. */
function withoutRequire({ require: _, ...spec }: Spec): Spec {
  return spec
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
