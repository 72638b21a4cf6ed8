/** Estimates the size of a task before any work, from what costs nothing to look at. */
import { sizeOf } from '../engine/limits.ts'
import type { Size } from '../engine/loop.ts'
import { countTracked } from '../host/git-index.ts'
import type { LoopRequest, Place } from './request.ts'

export function guessSize(
  { prompt, stages = [] }: Pick<LoopRequest, 'prompt' | 'stages'>,
  { dir }: Pick<Place, 'dir'>,
): Size {
  return sizeOf({
    words: prompt.split(/\s+/).length,
    items: prompt.match(/^\s*([-*]|\d+[.)])\s/gm)?.length ?? 0,
    stages: stages.length,
    files: countTracked(dir),
  })
}
