/** Agents that take the iterations in turn: which one is next, and what the last one said. */
import type { Loop, Work } from '../engine/loop.ts'
import type { Store } from '../host/store.ts'
import { inChain } from '../prompt/turn-prompt.ts'
import type { TurnNext } from './drive.ts'

export function linkArgs({ chain = [] }: Work, { iteration }: TurnNext): string[] {
  return chain[(iteration - 1) % chain.length] ?? []
}

/** The loop with the last iteration's words in its prompt. */
export async function linked(store: Pick<Store, 'iterations'>, loop: Loop, { iteration }: TurnNext): Promise<Loop> {
  const { spec } = loop
  if (!spec.work.chain) return loop
  const [last] = iteration > 1 ? await store.iterations(loop.id, { after: iteration - 2, limit: 1 }) : []
  return { ...loop, spec: { ...spec, prompt: inChain(spec.prompt, last?.words ?? '') } }
}
