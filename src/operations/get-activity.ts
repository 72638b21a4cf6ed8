/** Shows what the agent said and did in an iteration, as rows for people, one part of the transcript at a time. */
import { parseAgent } from '../agents/index.ts'
import { ended, type Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { PART_BYTES } from '../host/transcript.ts'
import { readSpan } from '../host/transcript-span.ts'
import { given } from '../request/given.ts'
import { type Reading, type Row, rowsOf } from './activity-rows.ts'
import { findLoop } from './find-loop.ts'
import { noIteration } from './get-iteration.ts'
import { type Context, type Operation, selfIn } from './operation.ts'

/** The lines of the transcript that start at or after byte `from` and before byte `to`. `raw`: the output, line by line. */
export type AskingActivity = { loop: string; iteration: number; from?: number; to?: number; raw?: boolean }

/** `next`: where to continue, in bytes. `size`: the current size in bytes. `over`: there will be no more. */
export type FoundActivity = {
  loop: string
  iteration: number
  rows: Row[]
  next: number
  size: number
  over: boolean
}

export const getActivity: Operation<AskingActivity, FoundActivity> = {
  name: 'get_activity',
  effect: 'read',
  summary: 'Shows what an agent said and did in an iteration, one part of the transcript at a time.',
  report: true,
  async run(context, { loop: name, iteration, from = 0, to = from + PART_BYTES, raw = false }) {
    const { transcripts, load } = context.store()
    // Checked before reading, so that a finished iteration has been read to its end.
    const loop = await load(await findLoop(context, name))
    const over = loop.tally.iteration >= iteration || ended(loop)
    const until = Math.min(to, from + MOST_BYTES)
    const part = await readSpan(transcripts, { loop: loop.id, iteration, from, to: until })
    const size = await transcripts.size(loop.id, iteration)
    if (size === 0 && loop.tally.iteration < iteration) throw noIteration(loop.id, iteration)
    const reading = raw ? AS_IT_IS : readingOf(context, loop, await agentOf(context, loop, iteration))
    return { loop: loop.id, iteration, rows: rowsOf(part, reading), next: part.next, size, over }
  },
}

/** The most at once; `next` says where to continue. */
const MOST_BYTES = 4 << 20

const AS_IT_IS: Reading = { texts: 'lines' }

/** The agent that took the turn, or takes it now. */
async function agentOf(
  { store }: Pick<Context, 'store'>,
  { id, spec, next }: Loop,
  iteration: number,
): Promise<string> {
  const [row] = await store().iterations(id, { after: iteration - 1, limit: 1 })
  if (row?.n === iteration) return row.agent
  return (next.kind === 'turn' && next.agent) || spec.work.agent
}

/** The parser for the output of an agent; unknown agents print plain lines. */
function readingOf({ root, now }: Pick<Context, 'root' | 'now'>, { spec }: Loop, name: string): Reading {
  const { agent, target } = known(name) ?? parseAgent('command:true')
  const { dir, agentArgs, permissions, model } = spec.work
  const request = {
    ...({ prompt: '', mode: 'headless', sandbox: false, folder: '' } as const),
    ...{ target, dir, permissions, extraArgs: agentArgs, self: selfIn(root), at: now() },
    ...given({ model }),
  }
  return {
    texts: agent.texts,
    parser(isUnderWay) {
      const parser = agent.parser(request)
      if (isUnderWay && agent.underWay !== undefined) parser.push(agent.underWay, 'out')
      return parser
    },
  }
}

function known(name: string): ReturnType<typeof parseAgent> | undefined {
  try {
    return parseAgent(name)
  } catch (cause) {
    if (cause instanceof RalphError) return undefined // written by a ralph that knew it
    throw cause
  }
}
