/** `/ralph:resume`: the loop of a session goes on, or another one does there, also one that halted on a limit. */
import { visit } from '../drive/visit.ts'
import { endedOnLimit, extend } from '../engine/extend.ts'
import { ended, type Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { parseResumeCommand, type ResumeCommand } from '../formats/resume-command.ts'
import { moreOption } from '../formats/room-words.ts'
import { realFolder } from '../host/files.ts'
import { given } from '../request/given.ts'
import { type Answer, say } from './answer.ts'
import {
  type Armed,
  arm,
  disarm,
  isSameClient,
  loadArmed,
  loadFinished,
  processOf,
  sessionOf,
  typedAt,
} from './armed.ts'
import type { Asked, Desk } from './begin.ts'
import { loadKnown } from './desk.ts'
import { interruptedIn } from './elsewhere.ts'
import { chooseFace, readFace, writeFace } from './face.ts'
import { HOSTS } from './hosts.ts'
import { markSpent } from './spent.ts'
import { standing } from './standing.ts'
import { noLoopHere } from './status.ts'
import { goOnNow, told } from './turn-over.ts'

/** The loop of this session goes on, or the one that is named, wherever it was. */
export async function resume(desk: Desk, asked: Asked): Promise<Answer> {
  const { loop: named, limits } = parseResumeCommand(asked.args)
  const more = Object.keys(limits).length > 0 ? limits : undefined
  const own = loadArmed(desk.home, asked.session)
  const name = named ?? (own || !more ? undefined : loadFinished(desk.home, asked.session)?.loop)
  if (!own && !name) return say(await noLoopHere(desk, asked))
  if (name) await takeOver(desk, { ...asked, more }, await desk.store().find(name))
  else if (own && more) {
    await giveRoom(desk, { ...asked, more }, own.loop)
    // Or else its old limit would be taken for what a person wrote there.
    if (readFace(own.face).kind === 'file')
      writeFace(own.face, { loop: await desk.store().load(own.loop), session: asked.session, home: desk.home })
  }
  const armed = loadArmed(desk.home, asked.session)
  if (armed?.context === 'process') return resumeBeside(desk, armed)
  if (armed && !name) await freshCount(desk, asked.session)
  return goOnNow(desk, asked.session, { kind: 'told', at: desk.now(), by: 'you', order: { kind: 'resume' } })
}

/** `more`: the limits that it goes on with. */
type Resuming = Asked & { more: ResumeCommand['limits'] | undefined }

/** Other limits, also for a loop that halted on one: then it asks for its next turn. */
async function giveRoom(desk: Desk, { more = {}, host }: Resuming, id: string): Promise<void> {
  await visit<unknown>(id, {
    store: desk.store(),
    now: desk.now,
    held: () => desk.store().tell(id, 'you', { kind: 'limits', limits: more }),
    async work(held) {
      const order = { kind: 'extend', limits: more, since: held.lease.movedAt } as const
      if (endedOnLimit(extend(held.loop, order, held.now())))
        throw new RalphError(
          'usage',
          `Loop ${id} has no room left with that. Give it more: ${HOSTS[host].types('resume')} ${moreOption(held.loop)}`,
        )
      await told({ visit: held }, 'you', order)
    },
  })
}

/** The program beside the session is started anew by whoever asked. */
async function resumeBeside(desk: Desk, { loop: id, host }: Armed): Promise<Answer> {
  const loop = await desk.store().load(id)
  return { loop, context: 'process', show: ended(loop) ? [standing(loop, HOSTS[host])] : [] }
}

/** A person has typed something: what a host's cap counts begins anew, and they are told things again. */
export async function freshCount(desk: Desk, session: string): Promise<void> {
  const armed = loadArmed(desk.home, session)
  const loop = armed && (await loadKnown(desk, armed.loop))
  if (!loop) return
  // What was said while it rested is none of its business.
  const spent = loop.next.kind === 'wait' ? markSpent(armed.host, armed.spent?.record) : undefined
  // The session may have been closed since, and taken up in another process.
  arm(desk.home, session, { ...typedAt(armed, loop), ...given({ spent }), ...processOf(armed.host, desk.env) })
}

async function takeOver(desk: Desk, asked: Resuming, id: string): Promise<void> {
  const { session, host, dir, more } = asked
  const found = await desk.store().load(id)
  const isOwn = loadArmed(desk.home, session)?.loop === id
  if (!isOwn) await refuseUnlessFree(desk, asked, found)
  if (more) await giveRoom(desk, asked, id)
  if (isOwn) return freshCount(desk, session)
  const loop = await desk.store().load(id)
  const before = sessionOf(desk.home, id)
  // After /clear the same process has another session.
  const own = processOf(host, desk.env)
  const over = interruptedIn(desk.home, loop) !== undefined || (before && isSameClient(before.armed, own))
  if (before && !over && loop.next.kind === 'turn')
    throw new RalphError(
      'loop-held',
      `Loop ${id} is at work in another session of ${HOSTS[before.armed.host].title}. Pause it first: ralph pause ${id}`,
    )
  const last = loadFinished(desk.home, session)
  const face = before?.armed.face ?? (await chooseFace(desk, dir, { host, session }))
  if (before) disarm(desk.home, before.session)
  writeFace(face, { loop, session, home: desk.home })
  arm(desk.home, session, {
    loop: id,
    host,
    face,
    context: last?.loop === id ? last.context : 'same',
    since: loop.tally.iteration,
    ...given({ record: asked.record, spent: markSpent(host, asked.record) }),
    ...own,
  })
}

/** Only a loop of this folder that nobody is at work on can go on in a session that has none. */
async function refuseUnlessFree(desk: Desk, { session, host, dir, more }: Resuming, loop: Loop): Promise<void> {
  const { id, spec } = loop
  const own = loadArmed(desk.home, session)
  if (own && (await isOpen(desk, own.loop))) throw new RalphError('usage', `This session has loop ${own.loop} already.`)
  if (endedOnLimit(loop) && !more)
    throw new RalphError(
      'loop-ended',
      `Loop ${id} has ended on a limit. Go on with more: ${HOSTS[host].types('resume')} ${id} ${moreOption(loop)}`,
    )
  if (ended(loop) && !(endedOnLimit(loop) && isPersons(loop)))
    throw new RalphError('loop-ended', `Loop ${id} has ended. Start a new one with ${HOSTS[host].types('loop')}.`)
  if (spec.work.owner?.kind === 'project')
    throw new RalphError('usage', `Loop ${id} belongs to a project, which goes on with \`ralph execute\`.`)
  if (spec.work.dir !== realFolder(dir))
    throw new RalphError('usage', `Loop ${id} works in ${spec.work.dir}, and this session in ${dir}. Resume it there.`)
  if (await desk.store().isDriven(id))
    throw new RalphError('loop-held', `Loop ${id} is at work elsewhere. Pause it first: ralph pause ${id}`)
}

/** Whose end is nobody else's business. */
function isPersons({ spec }: Loop): boolean {
  const { kind = 'person' } = spec.work.owner ?? {}
  return kind === 'person' || kind === 'session' || kind === 'board'
}

/** Not so when it ended elsewhere and the session has not heard of it, or when the home was cleared. */
async function isOpen(desk: Desk, id: string): Promise<boolean> {
  const loop = await loadKnown(desk, id)
  return loop !== undefined && !ended(loop)
}
