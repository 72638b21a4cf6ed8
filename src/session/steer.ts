/** `/ralph:steer`: words for the next iteration, without pausing the loop. */
import { ended } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { type Answer, say } from './answer.ts'
import { loadArmed } from './armed.ts'
import type { Asked, Desk } from './begin.ts'
import { loadKnown } from './desk.ts'
import { HOSTS } from './hosts.ts'
import { resetCount } from './resume.ts'
import { noLoopHere } from './status.ts'
import { continueLoop, otherPrompt } from './turn-over.ts'

export async function steer(desk: Desk, asked: Asked): Promise<Answer> {
  const { session, host, args } = asked
  const { types } = HOSTS[host]
  const armed = loadArmed(desk.home, session)
  const loop = armed && (await loadKnown(desk, armed.loop))
  if (!loop || ended(loop)) return say(await noLoopHere(desk, asked))
  const words = args.trim()
  if (!words)
    throw new RalphError('usage', `Missing text. Say what the next iteration should know: ${types('steer')} Use tabs`)
  const { next } = loop
  // A vault task and a program next to the session find an answer in the store.
  const isHere = !armed.vault && armed.context !== 'process'
  if (isHere && next.kind === 'wait' && next.why === 'person') return otherPrompt(desk, session, words)
  const order = { kind: 'say', words } as const
  if (armed.due && next.kind === 'turn') {
    await resetCount(desk, session)
    return continueLoop(desk, session, { kind: 'told', at: desk.now(), by: 'you', order })
  }
  await desk.store().tell(loop.id, 'you', order)
  const isPaused = next.kind === 'wait' && next.why === 'paused'
  const how = isPaused
    ? `the loop is paused; the agent gets this after ${types('resume')}.`
    : 'the next iteration gets this; the loop continues.'
  return { ...say(`ralph: ${how}`), loop, context: armed.context }
}
