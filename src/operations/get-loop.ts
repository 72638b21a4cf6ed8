/** Shows a loop and its state. */
import { wasAccepted } from '../drive/accept.ts'
import { breakerState } from '../engine/breaker.ts'
import { type Loop, type Status, statusOf } from '../engine/loop.ts'
import { fleetOf } from '../fleet/owner.ts'
import type { IterationRow, Store } from '../host/store.ts'
import { given } from '../request/given.ts'
import { type Attendance, attendanceOf } from './attendance.ts'
import { findLoop } from './find-loop.ts'
import type { Operation } from './operation.ts'
import { ownerOf } from './owners.ts'
import { type Standing, standingOf } from './standing.ts'

export type FoundLoop = Attendance & {
  loop: Loop
  status: Status
  standing: Standing
  breaker: ReturnType<typeof breakerState>
  /** One line that says whose loop it is, if it is not a person's. */
  whose?: string
  iterations: IterationRow[]
}

/** `brief`: without its iterations. */
export type AskingLoop = { loop?: string; brief?: boolean }

export const getLoop: Operation<AskingLoop, FoundLoop> = {
  name: 'get_loop',
  effect: 'read',
  summary: 'Shows a loop: the request, its iterations, its current state, and what to do next.',
  agent: {},
  report: true,
  async run(context, { loop: name, brief = false }) {
    const store = context.store()
    const id = await findLoop(context, name)
    const loop = await store.load(id)
    const status = statusOf(loop)
    const whose = await whoseOf(store, loop)
    return {
      loop,
      status,
      standing: standingOf(loop, { accepted: await wasAccepted(loop) }),
      breaker: breakerState(loop),
      ...(await attendanceOf(context, { id, status })),
      ...given({ whose }),
      iterations: brief ? [] : await store.iterations(id),
    }
  },
}

/** For a fleet task, also the last pushed commit. */
async function whoseOf({ fleet }: Store, loop: Loop): Promise<string | undefined> {
  const whose = ownerOf(loop).hints?.(loop).whose
  if (!fleet || loop.spec.work.owner?.kind !== 'fleet') return whose
  const task = await fleet.load(fleetOf(loop).task)
  return task?.pushed && task.loop_id === loop.id ? `${whose} Last pushed commit: ${task.pushed}.` : whose
}
