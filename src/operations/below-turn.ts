/** What only a person may do is refused to the agents that they set to work. */
import { ended, type Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { ancestors, inherited } from '../host/ancestors.ts'
import { armedBy } from '../session/armed.ts'
import type { Context } from './operation.ts'

/**
 * An agent must not excuse itself, whatever it did to its own environment: the processes that it comes from have theirs.
 * Loops of another home are none of our business, so that ralph can be tried out by an agent.
 */
export async function refuseBelowTurn(context: Context): Promise<void> {
  const above = ancestors()
  const { RALPH_LOOP_ID: own } = context.env
  for (const id of new Set([...(own ? [own] : []), ...inherited('RALPH_LOOP_ID', above)]))
    if (await loadKnown(context, id)) throw refusal(id)
  for (const id of armedBy(context.home, new Set(above.map(({ pid }) => pid)))) {
    const loop = await loadKnown(context, id)
    if (loop && !ended(loop)) throw refusal(id)
  }
}

function refusal(id: string): RalphError {
  return new RalphError(
    'below-turn',
    `An agent inside loop ${id} cannot do this: a person must, from their own terminal.`,
  )
}

async function loadKnown({ store }: Pick<Context, 'store'>, id: string): Promise<Loop | undefined> {
  try {
    return await store().load(id)
  } catch (cause) {
    if (cause instanceof RalphError && cause.code === 'loop-unknown') return undefined
    throw cause
  }
}
