/** Which process or session is working on a loop right now. */
import { isOver, type Loop, type Status } from '../engine/loop.ts'
import { isRalphError } from '../error.ts'
import type { Store } from '../host/store.ts'
import { given } from '../request/given.ts'
import { holderOf, interruptedIn } from '../session/elsewhere.ts'
import type { Context } from './operation.ts'
import { ownerOf } from './owners.ts'
import { hasQueue } from './queue.ts'

export type Attendance = {
  /** A process is running it. */
  alive: boolean
  /** The agent's session that holds it. */
  session?: string
  /** Its session stopped in the middle of a turn; this command resumes it. */
  interrupted?: string
  /** What takes its turns, if ralph does not. */
  worker?: string
  /** Its driver has died, and nothing continues it. */
  unattended: boolean
  /** Its stored state cannot be read. */
  damaged?: true
}

export async function attendanceOf(
  { home, store }: Pick<Context, 'home' | 'store'>,
  { id, status }: { id: string; status: Status },
): Promise<Attendance> {
  if (isOver(status)) return { alive: false, unattended: false }
  const alive = await store().isDriven(id)
  const session = holderOf(home, id)
  const loop = await loadReadable(store(), id)
  if (!loop) return { alive, ...given({ session }), unattended: false, damaged: true }
  const worker = ownerOf(loop).hints?.(loop).worker
  const isAlone = !alive && session === undefined && worker === undefined && UNDER_WAY.has(status)
  return {
    alive,
    ...given({ session, worker, interrupted: alive ? undefined : interruptedIn(home, loop) }),
    unattended: isAlone && !(await isQueued(store(), loop)),
  }
}

/** Undefined if its stored state is damaged: one damaged loop must not hide the others. */
export async function loadReadable(store: Pick<Store, 'load'>, id: string): Promise<Loop | undefined> {
  try {
    return await store.load(id)
  } catch (cause) {
    if (isRalphError(cause) && cause.code === 'database-broken') return undefined
    throw cause
  }
}

async function isQueued(store: Store, { spec }: Loop): Promise<boolean> {
  return spec.work.owner?.kind === 'board' && (await hasQueue(store))
}

const UNDER_WAY: ReadonlySet<Status> = new Set(['running', 'verifying', 'waiting'])
