/** Which iterations were refused although their checks pass, and why: what `ralph run` showed, found again in the events. */
import { type Loop, startLoop } from '../engine/loop.ts'
import { step } from '../engine/step.ts'
import { refusalWords } from '../formats/proof-words.ts'
import type { StoredEvent } from '../host/store.ts'

export type Refusals = {
  see(event: Pick<StoredEvent, 'fact' | 'next'>): void
  of(iteration: number): string | undefined
}

/** The events carry no memory of the loop, so it is played again. What was asked for next is known, and beats what would be asked for today. */
export function refusalsOf({ id, spec, tally }: Loop): Refusals {
  const found = new Map<number, string>()
  let loop = startLoop(id, spec, { at: tally.startedAt })
  return {
    see({ fact, next }) {
      const after = { ...step(loop, fact), next }
      const words = refusalWords(loop.tally, after)
      if (words !== undefined) found.set(loop.tally.iteration, words)
      loop = after
    },
    of: (iteration) => found.get(iteration),
  }
}
