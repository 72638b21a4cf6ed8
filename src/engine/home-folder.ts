/** Where a person started a loop, wherever it works; of a task of the fleet the address of its repository. */
import type { Loop } from './loop.ts'

export function homeFolder({ spec }: Pick<Loop, 'spec'>): string {
  const { worktree, dir } = spec.work
  return worktree?.repo ?? worktree?.from ?? dir
}
