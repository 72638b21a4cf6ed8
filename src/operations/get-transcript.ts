/** Reads the raw transcript of an iteration: the prompt, the output of the agent, how it ended. */
import { readTurnPart, type TurnEntry } from '../host/transcript.ts'
import { findLoop } from './find-loop.ts'
import { noIteration } from './get-iteration.ts'
import type { Operation } from './operation.ts'

/** `from`: `next` of the previous portion. */
export type AskingTranscript = { loop: string; iteration: number; from?: number }

/** `next`: where to continue, in bytes; equals `from` while there is nothing new. `over`: the iteration has ended. */
export type FoundTranscript = { loop: string; iteration: number; entries: TurnEntry[]; next: number; over: boolean }

export const getTranscript: Operation<AskingTranscript, FoundTranscript> = {
  name: 'get_transcript',
  effect: 'read',
  summary: 'Reads the transcript of an iteration in portions. Continue from `next`.',
  async run(context, { loop: name, iteration, from = 0 }) {
    const store = context.store()
    const loop = await findLoop(context, name)
    // Checked before reading, so that a finished iteration has been read to its end.
    const over = (await store.load(loop)).tally.iteration >= iteration
    const { entries, next } = await readTurnPart(store.transcripts, { loop, iteration, from })
    if (!over && next === 0) throw noIteration(loop, iteration)
    return { loop, iteration, entries, next, over }
  },
}
