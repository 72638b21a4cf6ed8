/** A machine of the fleet, as far as git is concerned: it has its own home and works on tasks of one remote. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Worktree } from '../engine/loop.ts'
import { newLoopId } from './loop-id.ts'
import { temporaryFolder } from './place.test-support.ts'
import type { Remote } from './remote.test-support.ts'
import { takeFence } from './take-fence.ts'
import { takeOverTask } from './take-over.ts'
import { finishBranch, pushIteration } from './task-push.ts'
import { closeTaskTree, type OpenTask, openTaskTree } from './task-tree.ts'
import { openTree, type Tree } from './tree.ts'

export type Machine = {
  home: string
  place: { home: string; repo: string; branch: string; loop: string }
  /** Starts the task in epoch 1. */
  begin(): Promise<OpenTask>
  /** The agent writes these files, and the iteration is kept. Returns its state. */
  work(n: number, files: Record<string, string>): Promise<string>
  push(n: number, epoch: number, pushed?: string): ReturnType<typeof pushIteration>
  takeOver(known: Known): ReturnType<typeof takeOverTask>
  finish(epoch: number): ReturnType<typeof finishBranch>
  close(): Promise<void>
  /** git as the agent runs it. */
  git(...args: string[]): string
  tree(): Promise<Tree>
}

export type Known = { epoch: number; iteration: number; worktree: Worktree; pushed?: string; tree?: string }

/** Different in each test file: the processes of a loop are killed by its name. */
export const LOOP: string = newLoopId()
export const BRANCH = 'ralph/T1'

export function openMachine(remote: Remote, machine: Partial<Machine['place']> = {}): Machine {
  const { loop = LOOP, branch = BRANCH, home = temporaryFolder() } = machine
  const place = { home, repo: remote.url, branch, loop }
  const dir = join(home, 'worktrees', loop)
  const tree = () => openTree({ dir, home, loop })
  return {
    home,
    place,
    tree,
    async begin() {
      const taken = await takeFence({ ...place, epoch: 1 })
      if (taken.kind !== 'taken') throw new Error(JSON.stringify(taken))
      const open = await openTaskTree({ ...place, base: 'main' })
      if (open.kind !== 'open') throw new Error(open.why)
      await keep(await tree(), 0)
      return open
    },
    async work(n, files) {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(dir, name)), { recursive: true })
        writeFileSync(join(dir, name), text)
      }
      return keep(await tree(), n)
    },
    push: (iteration, epoch, pushed) => pushIteration({ ...place, task: 'T1', iteration, epoch, pushed }),
    takeOver: (known) => takeOverTask({ ...place, ...known }),
    finish: (epoch) => finishBranch({ ...place, epoch }),
    close: () => closeTaskTree(place),
    git: (...args) =>
      execFileSync('git', args, {
        cwd: dir,
        encoding: 'utf8',
        stdio: 'pipe',
        env: { ...process.env, ...AGENT },
      }).replace(/\n$/, ''),
  }
}

const AGENT = {
  GIT_AUTHOR_NAME: 'Agent',
  GIT_AUTHOR_EMAIL: 'agent@localhost',
  GIT_COMMITTER_NAME: 'Agent',
  GIT_COMMITTER_EMAIL: 'agent@localhost',
}

async function keep(tree: Tree, n: number): Promise<string> {
  const state = (await tree.look()) ?? ''
  if ('none' in tree.checkpoints) throw new Error(tree.checkpoints.none)
  await tree.checkpoints.keep(n)
  return state
}
