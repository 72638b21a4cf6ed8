/** What was said in an iteration, as it was said: the prompt, what the agent printed, how it ended. */
import { readTurnPart, type TurnEntry } from '../host/transcript.ts'
import { findLoop } from './find-loop.ts'
import { noIteration } from './get-iteration.ts'
import type { Operation } from './operation.ts'

/** `from`: the `next` of an earlier portion. */
export type AskingTranscript = { loop: string; iteration: number; from?: number }

/** `next`: where to read on, in bytes; it is `from` while nothing more is there. `over`: the iteration has ended. */
export type FoundTranscript = { loop: string; iteration: number; entries: TurnEntry[]; next: number; over: boolean }

export const getTranscript: Operation<AskingTranscript, FoundTranscript> = {
  name: 'get_transcript',
  effect: 'read',
  summary: 'Reads the transcript of an iteration in portions. Continue from `next`.',
  async run(context, { loop: name, iteration, from = 0 }) {
    const store = context.store()
    const loop = await findLoop(context, name)
    // Asked before it is read, so that an iteration that is over has been read to its end.
    const over = (await store.load(loop)).tally.iteration >= iteration
    const { entries, next } = await readTurnPart(store.transcripts, { loop, iteration, from })
    if (!over && next === 0) throw noIteration(loop, iteration)
    return { loop, iteration, entries, next, over }
  },
}
