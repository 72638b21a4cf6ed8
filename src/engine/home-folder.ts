/** Where a person started a loop, wherever it works. */
import type { Loop } from './loop.ts'

export function homeFolder({ spec }: Pick<Loop, 'spec'>): string {
  return spec.work.worktree?.from ?? spec.work.dir
}
