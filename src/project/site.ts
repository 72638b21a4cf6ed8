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
  /** Nothing new starts; what is running finishes first. */
  rest: AbortSignal
  /** Every task has its own worktree, which is merged into this branch. */
  parallel: boolean
  branch?: string
  /** What is required of every task. */
  request: Omit<LoopRequest, 'prompt' | 'checks' | 'stages' | 'limits'>
  checks: string[]
  /** The proof settings from the config. */
  config: Config
  limits: () => Omit<Limits, 'iterations'>
  /** Whether one more turn may start now. */
  mayTurn: () => boolean
  /** The turn limit for tasks, and the turns taken. `fixed`: the user set the limit. */
  turns: { most: number; left: number; taken: number; fixed: boolean }
  /** Files outside git that the work needs: copied into every worktree. */
  copied: string[]
  /** A command that prepares every worktree. */
  setup?: string
  known: NonNullable<Workbench['known']>
  show: (task: string) => Show
  saw: (task: string, loop: Loop, fact: Fact) => void
  note: (task: string, text: string) => void
  /** Takes the project lock again if an agent removed its file. */
  hold: () => void
}

/** The project files as the agent of this task sees them: a worktree has its own copy. */
export function agentFolder({ project }: Site, { worktree }: Open): string {
  return worktree ? join(worktree.dir, ARTEFACTS, project.name) : project.folder
}

/** The environment of this task's agent. A project numbers the turns of all its tasks in one sequence. */
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
