/** One loop, and how it stands. */
import { breakerState } from '../engine/breaker.ts'
import { ended, type Loop, type Status, statusOf } from '../engine/loop.ts'
import type { IterationRow } from '../host/store.ts'
import { holderOf } from '../session/elsewhere.ts'
import { findLoop } from './find-loop.ts'
import type { Operation } from './operation.ts'
import { ownerOf } from './owners.ts'
import { type Standing, standingOf } from './standing.ts'

export type FoundLoop = {
  loop: Loop
  status: Status
  standing: Standing
  breaker: ReturnType<typeof breakerState>
  /** Somebody drives it. */
  alive: boolean
  /** The agent's session that holds it. */
  session?: string
  /** Its driver is gone, and nobody goes on with it. */
  unattended: boolean
  whose?: string
  /** Who takes its turns, where ralph does not. */
  worker?: string
  iterations: IterationRow[]
}

export const getLoop: Operation<{ loop?: string }, FoundLoop> = {
  name: 'get_loop',
  effect: 'read',
  summary: 'One loop: what was asked for, what came of its iterations, how it stands, what to do next.',
  async run(context, { loop: name }) {
    const store = context.store()
    const id = await findLoop(context, name)
    const loop = await store.load(id)
    const alive = await store.isDriven(id)
    const session = ended(loop) ? undefined : holderOf(context.home, id)
    const { whose, worker } = ownerOf(loop).hints?.(loop) ?? {}
    const status = statusOf(loop)
    return {
      loop,
      status,
      standing: standingOf(loop),
      breaker: breakerState(loop),
      alive,
      ...(session === undefined ? {} : { session }),
      unattended: !alive && session === undefined && worker === undefined && UNDER_WAY.has(status),
      ...(whose === undefined ? {} : { whose }),
      ...(worker === undefined ? {} : { worker }),
      iterations: await store.iterations(id),
    }
  },
}

const UNDER_WAY: ReadonlySet<Status> = new Set(['running', 'verifying', 'waiting'])
