/** The commands a user types in a session: dispatches each to its answer, and implements cancel and pause. */
import { visit } from '../drive/visit.ts'
import { ended } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { type Answer, say } from './answer.ts'
import { type Armed, finish, loadArmed } from './armed.ts'
import { type Asked, beginLoop, type Desk } from './begin.ts'
import { helpFor } from './help.ts'
import { type CommandName, HOSTS } from './hosts.ts'
import { resetCount, resume } from './resume.ts'
import { settle } from './settle.ts'
import { standing } from './standing.ts'
import { noLoop, status } from './status.ts'
import { steer } from './steer.ts'
import { giveOrder, withLoop } from './turn-over.ts'

export async function runCommand(desk: Desk, command: CommandName, asked: Asked): Promise<Answer> {
  switch (command) {
    case 'loop':
      // Otherwise this would be a prompt, which nobody means.
      return /^(--help|-h)$/.test(asked.args.trim()) ? say(helpFor(HOSTS[asked.host])) : beginLoop(desk, asked)
    case 'cancel':
    case 'pause':
      return order(desk, command, asked)
    case 'resume':
      return resume(desk, asked)
    case 'steer':
      return steer(desk, asked)
    case 'status':
      return status(desk, asked)
    case 'help':
      return say(helpFor(HOSTS[asked.host]))
  }
}

async function order(desk: Desk, kind: 'cancel' | 'pause', { session, host, args }: Asked): Promise<Answer> {
  const armed = loadArmed(desk.home, session)
  const id = args.trim() ? await desk.store().find(args.trim()) : armed?.loop
  if (id !== armed?.loop)
    throw new RalphError('usage', `Loop ${id} does not belong to this session. In a terminal: ralph ${kind} ${id}`)
  if (!armed) return say(noLoop(HOSTS[host]))
  if (armed.context === 'process') return orderAlongside(desk, kind, { session, armed })
  await resetCount(desk, session)
  if (await desk.store().isDriven(armed.loop)) return tell(desk, kind, armed) // its checks are running
  return withLoop(
    desk,
    session,
    async (held) => {
      await giveOrder(held, 'you', { kind })
      return settle(desk, held, [])
    },
    'person',
  )
}

/** An order for the program next to the session; if that is not running, the order is carried out here. */
async function orderAlongside(
  desk: Desk,
  kind: 'cancel' | 'pause',
  { session, armed }: { session: string; armed: Armed },
): Promise<Answer> {
  const answer = await tell(desk, kind, armed)
  return visit<Answer>(armed.loop, {
    store: desk.store(),
    now: desk.now,
    held: () => answer,
    async work(held) {
      const loop = await held.drive({})
      if (ended(loop)) finish(desk.home, session)
      return { loop, context: 'process', show: [standing(loop, HOSTS[armed.host])] }
    },
  })
}

/** Leaves the order to whoever drives the loop. */
async function tell(desk: Desk, kind: 'cancel' | 'pause', { loop }: Armed): Promise<Answer> {
  await desk.store().tell(loop, 'you', { kind })
  return { ...say(`ralph: ${kind} requested for loop ${loop}.`), loop: await desk.store().load(loop) }
}
