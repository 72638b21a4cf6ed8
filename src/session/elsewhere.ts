/** Keeps what a session knows about its loop up to date when the loop is changed from elsewhere. */
import { ended, type Loop } from '../engine/loop.ts'
import { disarm, sessionOf } from './armed.ts'
import { readFace, removeFace, writeFace } from './face.ts'
import { HOSTS } from './hosts.ts'
import { stoppedShort } from './record.ts'

/** Which agent's session holds a loop, in words; undefined when none does, or when the session has ended. */
export function holderOf(home: string, loop: string): string | undefined {
  const held = sessionOf(home, loop)
  return held && !held.gone ? `a session of ${HOSTS[held.armed.host].title}` : undefined
}

/** How to resume a loop whose session stopped mid-turn: by Esc, by an error, or because it was closed. */
export function interruptedIn(home: string, { id, next }: Pick<Loop, 'id' | 'next'>): string | undefined {
  const held = next.kind === 'turn' ? sessionOf(home, id) : undefined
  if (!held) return undefined
  const { host, record } = held.armed
  const resume = HOSTS[host].types('resume')
  if (held.gone) return `${resume} ${id}`
  return stoppedShort(host, record) ? resume : undefined
}

/** The session releases its loop: something else drives it now, or it has ended. */
export function releaseLoop(home: string, loop: string): void {
  const held = sessionOf(home, loop)
  if (!held) return
  disarm(home, held.session)
  removeFace(held.armed.face)
}

/** For an order that was carried out elsewhere. A session whose loop has ended learns that at the end of its turn. */
export function syncSession(home: string, loop: Loop): void {
  const held = sessionOf(home, loop.id)
  if (!held) return
  if (ended(loop)) removeFace(held.armed.face)
  else if (readFace(held.armed.face).kind === 'file') writeFace(held.armed.face, { loop, session: held.session, home })
}
