/** What the work on every task of a project shares. */
import { join } from 'node:path'
import type { Show, Workbench } from '../drive/hands.ts'
import type { Fact, Limits, Loop } from '../engine/loop.ts'
import type { Config } from '../formats/config.ts'
import type { Store } from '../host/store.ts'
import type { LoopRequest } from '../request/request.ts'
import { ARTEFACTS, type Project } from './folder.ts'
import { type Keeper, type Open, openOf } from './record.ts'

export type Site = {
  project: Project
  keeper: Keeper
  store: Store
  home: string
  env: Workbench['env']
  now: () => number
  self: Workbench['self']
  newId: () => string
  /** Ends agents at once. */
  stop: AbortSignal
  /** Nothing new is begun; what is under way ends first. */
  rest: AbortSignal
  /** Every task has a worktree of its own, which is merged into this branch. */
  parallel: boolean
  branch?: string
  /** What is asked of every task. */
  request: Omit<LoopRequest, 'prompt' | 'checks' | 'stages' | 'limits'>
  checks: string[]
  /** What its config says about the proof. */
  config: Config
  limits: () => Omit<Limits, 'iterations'>
  /** Whether one more turn may be begun now. */
  mayTurn: () => boolean
  /** Turns that may be taken at tasks, and that were taken at all. `fixed`: a person named the number. */
  turns: { most: number; left: number; taken: number; fixed: boolean }
  /** Files that are not in git, but that work needs: copied into every worktree. */
  copied: string[]
  /** A command that prepares every worktree. */
  setup?: string
  known: NonNullable<Workbench['known']>
  show: (task: string) => Show
  saw: (task: string, loop: Loop, fact: Fact) => void
  note: (task: string, text: string) => void
  /** Takes the lock of the project again, should an agent have removed its file. */
  hold: () => void
}

/** The folder with the project's files as the agent of this task sees it: in a worktree it has a copy of its own. */
export function agentFolder({ project }: Site, { worktree }: Open): string {
  return worktree ? join(worktree.dir, ARTEFACTS, project.name) : project.folder
}

/** What the agent of this task finds in its environment. A project numbers the turns of all its tasks through. */
export function turnEnv(site: Site, open: Open): Record<string, string> {
  const { turn } = openOf(site.keeper.record, open.task)
  return {
    RALPH_TASK_ID: open.task,
    RALPH_PROJECT: site.project.name,
    RALPH_PROJECT_DIR: agentFolder(site, open),
    RALPH_ITERATION: String(turn?.iteration),
    RALPH_LOOP_ITERATION: String(turn?.n),
    RALPH_LOOP_ATTEMPT: String(turn?.attempt),
  }
}
