/** Decides which session works on a vault task: one at a time, and never one that has another loop. */
import { leasePatiently } from '../drive/patience.ts'
import { visit } from '../drive/visit.ts'
import { ended, type Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { type Answer, NOTHING, say } from '../session/answer.ts'
import { arm, disarm, isSameClient, isSessionId, loadArmed, processOf, sessionOf } from '../session/armed.ts'
import type { Desk } from '../session/begin.ts'
import { HOSTS, type HostName } from '../session/hosts.ts'
import { writeHookFiles } from '../vault/state-file.ts'
import { vaultOf } from '../vault/vault-task.ts'

/** The session whose turn ended. */
export type From = { host: HostName; session: string }

/** Gives the session the loop, unless another one has it: then returns the message for this session. */
export async function take(desk: Desk, from: From, loop: Loop): Promise<Answer | undefined> {
  const isOwn = () => loadArmed(desk.home, from.session)?.loop === loop.id
  return visit<Answer | undefined>(loop.id, {
    store: desk.store(),
    now: desk.now,
    take: () => leasePatiently(desk.store(), loop.id, PATIENCE_MS),
    // The holder may be a second hook of this session, which has then counted the turn.
    held: () => (isOwn() ? NOTHING : elsewhere(loop, 'in another process')),
    work: async () => (isOwn() ? undefined : armWith(desk, from, loop)),
  })
}

const PATIENCE_MS = 1_000

async function armWith(desk: Desk, { session, host }: From, loop: Loop): Promise<Answer | undefined> {
  const { home, env } = desk
  const armed = loadArmed(home, session)
  const before = armed && !armed.vault ? await loadLoop(desk, armed.loop) : undefined
  if (!isSessionId(session) || (before && !ended(before))) return NOTHING
  if (vaultOf(loop).by === 'watch') return elsewhere(loop, 'in `ralph watch`')
  const other = sessionOf(home, loop.id)
  // After /clear the same process has another session.
  const own = processOf(host, env)
  const isSame = other !== undefined && isSameClient(other.armed, own)
  if (other && !other.gone && !isSame) return elsewhere(loop, `in another session of ${HOSTS[other.armed.host].title}`)
  if (other) disarm(home, other.session)
  await writeHookFiles(loop, home, session)
  const since = loop.tally.iteration
  arm(home, session, { loop: loop.id, host, face: '', context: 'same', since, vault: true, ...own })
  return undefined
}

function elsewhere(loop: Loop, where: string): Answer {
  return say(`ralph: task ${vaultOf(loop).id} is running ${where}; this session is no longer looping.`)
}

export async function loadLoop({ store }: Desk, id: string | undefined): Promise<Loop | undefined> {
  if (id === undefined) return undefined
  return store()
    .load(id)
    .catch((cause) => {
      if (cause instanceof RalphError && cause.code === 'loop-unknown') return undefined // its home was cleared
      throw cause
    })
}
