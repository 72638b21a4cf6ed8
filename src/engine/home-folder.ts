/** Where the user started a loop, wherever it works; for a task of the fleet, the address of its repository. */
import type { Loop } from './loop.ts'

export function homeFolder({ spec }: Pick<Loop, 'spec'>): string {
  const { worktree, dir } = spec.work
  return worktree?.repo ?? worktree?.from ?? dir
}

/** Where it works, in terms the user knows: the worktree of a fleet task is on some worker. */
export function shownFolder({ spec }: Pick<Loop, 'spec'>): string {
  return spec.work.worktree?.repo ?? spec.work.dir
}
