/** Updates what a session keeps about its loop after a change, and answers the session. */
import { atCap } from '../engine/limits.ts'
import { ended, type Tally, type Verdict } from '../engine/loop.ts'
import { type Answer, progressNote } from './answer.ts'
import { finish } from './armed.ts'
import type { Desk, Holding } from './desk.ts'
import { readFace, removeFace, writeFace } from './face.ts'
import { give, keep } from './give.ts'
import { allowance, HOSTS } from './hosts.ts'

/**
 * Brings face and armed file in line with the loop, and reports its state. `before`: its tally before the checks ran.
 * `waits`: the next turn starts with words of the user that are still to come.
 */
export function settle(
  desk: Desk,
  held: Holding,
  verdicts: readonly Verdict[],
  { before = held.visit.loop.tally, waits = false }: { before?: Tally; waits?: boolean } = {},
): Answer {
  const { session, armed } = held
  const { loop } = held.visit
  const host = HOSTS[armed.host]
  const note = loop.next.kind === 'turn' ? progressNote(loop) : desk.words().standing(loop, host)
  const checked =
    verdicts.length > 0 && loop.next.kind !== 'complete' ? ` · ${desk.words().checkWords(verdicts, loop, before)}` : ''
  const show = [
    { ...note, text: `${note.text}${checked}` },
    ...(loop.tally.findings.length > 0 ? desk.words().findingNotes(loop, before) : []),
  ]
  if (ended(loop)) {
    removeFace(armed.face)
    finish(desk.home, session)
    return { loop, verdicts, show }
  }
  if (armed.face && readFace(armed.face).kind === 'file') writeFace(armed.face, { loop, session, home: desk.home })
  if (loop.next.kind === 'wait' && loop.next.until !== undefined)
    return { loop, verdicts, show, waitMs: Math.max(0, loop.next.until - desk.now()) }
  if (loop.next.kind === 'wait' && loop.next.why === 'paused') {
    if (armed.quiet) return { loop, verdicts, show: [] }
    keep(desk.home, held, { ...armed, quiet: true })
  }
  if (loop.next.kind !== 'turn') return { loop, verdicts, show }
  if (waits) {
    keep(desk.home, held, { ...armed, due: true })
    return { loop, verdicts, show }
  }
  const isLast = atCap(loop, armed.since, allowance(host, desk.env))
  return {
    loop,
    verdicts,
    prompt: give(desk, held, loop),
    context: armed.context,
    ...(checked ? { checked: checked.slice(3) } : {}),
    fresh: armed.context === 'fresh' || (loop.next.fresh && loop.next.iteration > 1),
    show: isLast ? [...show, desk.words().capNote(loop, host, desk.env)] : show,
  }
}
