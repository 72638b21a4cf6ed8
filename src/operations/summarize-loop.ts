/** The parts of a short summary of a loop: its state, its last iterations, its proof. */
import { shareable } from '../formats/shareable.ts'
import { findLoop } from './find-loop.ts'
import { type FoundLoop, getLoop } from './get-loop.ts'
import { type FoundProof, getProof } from './get-proof.ts'
import type { Iteration } from './iteration-view.ts'
import { listIterations } from './list-iterations.ts'
import type { Context } from './operation.ts'
import { editorIn, foldersOf } from './personal.ts'

export type LoopSummary = Omit<FoundLoop, 'iterations'> & { last: Iteration[]; proof: FoundProof }

const LAST = 60

export async function summarizeLoop(
  context: Context,
  name: string | undefined,
  { redact }: { redact: boolean },
): Promise<LoopSummary> {
  const id = await findLoop(context, name)
  const { iterations: _, ...found } = await getLoop.run(context, { loop: id, brief: true })
  const after = Math.max(0, found.loop.tally.iteration - LAST)
  const { iterations: last } = await listIterations.run(context, { loop: id, after, limit: LAST })
  const proof = await getProof.run(context, { loop: id })
  return shareable({ ...found, last, proof }, editorIn(context, { redact, project: foldersOf(found.loop) }))
}
