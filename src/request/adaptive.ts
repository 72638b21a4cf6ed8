/** How many iterations a task may take, guessed from its size and from what earlier loops took. */
import { estimateIterations } from '../engine/limits.ts'
import { git } from '../host/git.ts'
import type { LoopRequest, Place } from './request.ts'

export async function guessIterations(
  { prompt, stages = [] }: Pick<LoopRequest, 'prompt' | 'stages'>,
  { dir, history }: Pick<Place, 'dir' | 'history'>,
  { ceiling }: { ceiling: number },
): Promise<{ iterations: number; ceiling: number }> {
  const listed = await git(dir, ['ls-files'])
  const size = {
    words: prompt.split(/\s+/).length,
    items: prompt.match(/^\s*([-*]|\d+[.)])\s/gm)?.length ?? 0,
    stages: stages.length,
    files: listed?.split('\n').length ?? 0,
  }
  return { iterations: estimateIterations(size, (await history?.()) ?? [], ceiling), ceiling }
}
