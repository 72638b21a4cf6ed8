/** What a person types in their session: each command's way to its answer, and cancel, pause and resume themselves. */
import { visit } from '../drive/visit.ts'
import { ended, type Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { realFolder } from '../host/files.ts'
import { given } from '../request/given.ts'
import { type Answer, say } from './answer.ts'
import { type Armed, arm, disarm, loadArmed, processOf, sessionOf, typedAt } from './armed.ts'
import { type Asked, beginLoop, type Desk } from './begin.ts'
import { loadKnown } from './desk.ts'
import { interruptedIn } from './elsewhere.ts'
import { chooseFace, writeFace } from './face.ts'
import { helpFor } from './help.ts'
import { type CommandName, HOSTS } from './hosts.ts'
import { settle } from './settle.ts'
import { standing } from './standing.ts'
import { noLoop, status } from './status.ts'
import { goOnNow, told, withLoop } from './turn-over.ts'

export async function runCommand(desk: Desk, command: CommandName, asked: Asked): Promise<Answer> {
  switch (command) {
    case 'loop':
      // It would be a prompt otherwise, and nobody means that.
      return /^(--help|-h)$/.test(asked.args.trim()) ? say(helpFor(HOSTS[asked.host])) : beginLoop(desk, asked)
    case 'cancel':
    case 'pause':
      return order(desk, command, asked)
    case 'resume':
      return resume(desk, asked)
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
    throw new RalphError('usage', `Loop ${id} is not the one of this session. In a shell: ralph ${kind} ${id}`)
  if (!armed) return say(noLoop(HOSTS[host]))
  if (armed.context === 'process') return orderBeside(desk, kind, { session, armed })
  await freshCount(desk, session)
  if (await desk.store().isDriven(armed.loop)) return tell(desk, kind, armed) // its checks run
  return withLoop(
    desk,
    session,
    async (held) => {
      await told(held, 'you', { kind })
      return settle(desk, held, [])
    },
    'person',
  )
}

/** An order for the program beside the session; where it does not run, the order is carried out here. */
async function orderBeside(
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
      if (ended(loop)) disarm(desk.home, session)
      return { loop, context: 'process', show: [standing(loop, HOSTS[armed.host])] }
    },
  })
}

/** Whoever drives the loop carries it out. */
async function tell(desk: Desk, kind: 'cancel' | 'pause', { loop }: Armed): Promise<Answer> {
  await desk.store().tell(loop, 'you', { kind })
  return { ...say(`ralph: told loop ${loop}.`), loop: await desk.store().load(loop) }
}

/** The loop of this session goes on, or the one that is named, wherever it was. */
async function resume(desk: Desk, asked: Asked): Promise<Answer> {
  const name = asked.args.trim()
  const own = loadArmed(desk.home, asked.session)
  if (!own && !name) return say(noLoop(HOSTS[asked.host]))
  if (name) await takeOver(desk, asked, await desk.store().find(name))
  else if (own?.context === 'process') return resumeBeside(desk, own)
  else if (own) await freshCount(desk, asked.session)
  return goOnNow(desk, asked.session, { kind: 'told', at: desk.now(), by: 'you', order: { kind: 'resume' } })
}

/** The program beside the session is started anew by whoever asked. */
async function resumeBeside(desk: Desk, { loop: id, host }: Armed): Promise<Answer> {
  const loop = await desk.store().load(id)
  return { loop, context: 'process', show: ended(loop) ? [standing(loop, HOSTS[host])] : [] }
}

/** A person has typed something: what a host's cap counts begins anew, and they are told things again. */
async function freshCount(desk: Desk, session: string): Promise<void> {
  const armed = loadArmed(desk.home, session)
  const loop = armed && (await loadKnown(desk, armed.loop))
  if (!loop) return
  arm(desk.home, session, typedAt(armed, loop))
}

async function takeOver(desk: Desk, asked: Asked, id: string): Promise<void> {
  const { session, host, dir } = asked
  const loop = await desk.store().load(id)
  if (loadArmed(desk.home, session)?.loop === id) return freshCount(desk, session)
  await refuseUnlessFree(desk, asked, loop)
  const before = sessionOf(desk.home, id)
  // After /clear the same process has another session.
  const over =
    interruptedIn(desk.home, loop) !== undefined ||
    (before?.armed.pid !== undefined && before.armed.pid === processOf(desk.env).pid)
  if (before && !over && loop.next.kind === 'turn')
    throw new RalphError(
      'loop-held',
      `Loop ${id} is at work in another session of ${HOSTS[before.armed.host].title}. Pause it first: ralph pause ${id}`,
    )
  const face = before?.armed.face ?? (await chooseFace(desk, dir, { host, session }))
  if (before) disarm(desk.home, before.session)
  writeFace(face, { loop, session, home: desk.home })
  arm(desk.home, session, {
    loop: id,
    host,
    face,
    context: 'same',
    since: loop.tally.iteration,
    ...given({ record: asked.record }),
    ...processOf(desk.env),
  })
}

/** Only a loop of this folder that nobody is at work on can go on in a session that has none. */
async function refuseUnlessFree(desk: Desk, { session, host, dir }: Asked, loop: Loop): Promise<void> {
  const { id, spec } = loop
  const own = loadArmed(desk.home, session)
  if (own && (await isOpen(desk, own.loop))) throw new RalphError('usage', `This session has loop ${own.loop} already.`)
  if (ended(loop))
    throw new RalphError('loop-ended', `Loop ${id} has ended. Start a new one with ${HOSTS[host].types('loop')}.`)
  if (spec.work.owner?.kind === 'project')
    throw new RalphError('usage', `Loop ${id} belongs to a project, which goes on with \`ralph execute\`.`)
  if (spec.work.dir !== realFolder(dir))
    throw new RalphError('usage', `Loop ${id} works in ${spec.work.dir}, and this session in ${dir}. Resume it there.`)
  if (await desk.store().isDriven(id))
    throw new RalphError('loop-held', `Loop ${id} is at work elsewhere. Pause it first: ralph pause ${id}`)
}

/** Not so when it ended elsewhere and the session has not heard of it, or when the home was cleared. */
async function isOpen(desk: Desk, id: string): Promise<boolean> {
  const loop = await loadKnown(desk, id)
  return loop !== undefined && !ended(loop)
}
