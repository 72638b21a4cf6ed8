/** Resumes a loop that is paused, waiting or interrupted, or one that halted on a limit and gets more room. */
import { RalphError } from '../error.ts'
import { sessionOf } from '../session/armed.ts'
import { holderOf, interruptedIn } from '../session/elsewhere.ts'
import { refuseBelowTurn } from './below-turn.ts'
import { locate } from './choose-agents.ts'
import { findLoop, mustBeOpen } from './find-loop.ts'
import { type Given, giveOrder } from './give-order.ts'
import { giveRoom, type Room } from './more-room.ts'
import { type Context, handOver, type Operation } from './operation.ts'
import { ownerOf } from './owners.ts'

/** `nobody`: no process is running it; the next one receives the order first. */
export type Resumed = Given | { loop: string; heard: 'nobody' }

/** `limits`: the new ones. */
export type Resuming = { loop?: string; limits?: Room }

export const resume: Operation<Resuming, Resumed> = {
  name: 'resume',
  effect: 'write',
  summary: 'Resumes a loop that is paused, waiting or interrupted, or, with new limits, one that halted on a limit.',
  agent: { tool: 'resume_loop', idempotent: true },
  async run(context, { loop: name, limits }) {
    const store = context.store()
    const id = await findLoop(context, name)
    if (limits) await refuseBelowTurn(context)
    const loop = limits ? await giveRoom(context, id, limits) : await mustBeOpen(context, id)
    const driven = await store.isDriven(id)
    const rules = ownerOf(loop)
    const refusal = rules.refuses?.(loop, { kind: 'resume', driven })
    if (refusal) throw refusal
    if (rules.takesTurns?.(loop) === false) return giveOrder(context, id, { kind: 'resume' })
    const { next, spec } = loop
    if (next.kind === 'wait' && driven) {
      await store.tell(id, 'you', { kind: 'resume' })
      return { loop: id, heard: 'driver' }
    }
    if (driven && limits) return { loop: id, heard: 'driver' }
    if (driven)
      throw new RalphError(
        'loop-held',
        `Loop ${id} is already running in ${await driverOf(context, id)}. Watch it with \`ralph show ${id} --follow\`.`,
      )
    const holder = holderOf(context.home, id)
    if (holder !== undefined && next.kind !== 'wait' && interruptedIn(context.home, loop) === undefined)
      throw new RalphError(
        'loop-held',
        `Loop ${id} is running in ${holder}. Pause it first, then resume it here without that session: ralph pause ${id}`,
      )
    // Its session could still continue it, so it is not handed to an agent that is not installed.
    if (sessionOf(context.home, id)) locate(spec.work.agent, { ...context, dir: spec.work.dir })
    if (next.kind === 'wait') await store.tell(id, 'you', { kind: 'resume' })
    return handOver(context, loop)
  },
}

async function driverOf({ store }: Pick<Context, 'store'>, id: string): Promise<string> {
  const lease = await store().lease(id, 0)
  if ('heldBy' in lease) return lease.heldBy
  await lease.release() // its driver has just released it
  return 'another process'
}
