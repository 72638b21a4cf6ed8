/** `/ralph:resume`: resumes the session's loop, or another one there, including one that halted on a limit. */
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
  afterTyping,
  arm,
  disarm,
  isSameClient,
  loadArmed,
  loadFinished,
  processOf,
  sessionOf,
} from './armed.ts'
import type { Asked, Desk } from './begin.ts'
import { loadKnown } from './desk.ts'
import { interruptedIn } from './elsewhere.ts'
import { chooseFace, readFace, writeFace } from './face.ts'
import { HOSTS } from './hosts.ts'
import { markSpent } from './spent.ts'
import { standing } from './standing.ts'
import { noLoopHere } from './status.ts'
import { continueLoop, giveOrder } from './turn-over.ts'

/** Resumes this session's loop, or the named one wherever it was. */
export async function resume(desk: Desk, asked: Asked): Promise<Answer> {
  const { loop: named, limits } = parseResumeCommand(asked.args)
  const more = Object.keys(limits).length > 0 ? limits : undefined
  const own = loadArmed(desk.home, asked.session)
  const name = named ?? (own || !more ? undefined : loadFinished(desk.home, asked.session)?.loop)
  if (!own && !name) return say(await noLoopHere(desk, asked))
  if (name) await takeOver(desk, { ...asked, more }, await desk.store().find(name))
  else if (own && more) {
    await giveRoom(desk, { ...asked, more }, own.loop)
    // Otherwise the old limit there would count as an edit by the user.
    if (readFace(own.face).kind === 'file')
      writeFace(own.face, { loop: await desk.store().load(own.loop), session: asked.session, home: desk.home })
  }
  const armed = loadArmed(desk.home, asked.session)
  if (armed?.context === 'process') return resumeAlongside(desk, armed)
  if (armed && !name) await resetCount(desk, asked.session)
  return continueLoop(desk, asked.session, { kind: 'told', at: desk.now(), by: 'you', order: { kind: 'resume' } })
}

/** `more`: the limits to continue with. */
type Resuming = Asked & { more: ResumeCommand['limits'] | undefined }

/** Sets new limits, even for a loop that halted on one: it then asks for its next turn. */
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
          `Loop ${id} has already used what these limits allow. Raise them: ${HOSTS[host].types('resume')} ${moreOption(held.loop)}`,
        )
      await giveOrder({ visit: held }, 'you', order)
    },
  })
}

/** The caller restarts the program next to the session. */
async function resumeAlongside(desk: Desk, { loop: id, host }: Armed): Promise<Answer> {
  const loop = await desk.store().load(id)
  return { loop, context: 'process', show: ended(loop) ? [standing(loop, HOSTS[host])] : [] }
}

/** The user has typed something: the host's cap counts from zero, and notices are shown again. */
export async function resetCount(desk: Desk, session: string): Promise<void> {
  const armed = loadArmed(desk.home, session)
  const loop = armed && (await loadKnown(desk, armed.loop))
  if (!loop) return
  // Tokens spent while the loop was paused are not its own.
  const spent = loop.next.kind === 'wait' ? markSpent(armed.host, armed.spent?.record) : undefined
  // The session may have been closed since, and reopened in another process.
  arm(desk.home, session, { ...afterTyping(armed, loop), ...given({ spent }), ...processOf(armed.host, desk.env) })
}

async function takeOver(desk: Desk, asked: Resuming, id: string): Promise<void> {
  const { session, host, dir, more } = asked
  const found = await desk.store().load(id)
  const isOwn = loadArmed(desk.home, session)?.loop === id
  if (!isOwn) await refuseUnlessFree(desk, asked, found)
  if (more) await giveRoom(desk, asked, id)
  if (isOwn) return resetCount(desk, session)
  const loop = await desk.store().load(id)
  const before = sessionOf(desk.home, id)
  // After /clear the same process has a new session.
  const own = processOf(host, desk.env)
  const over = interruptedIn(desk.home, loop) !== undefined || (before && isSameClient(before.armed, own))
  if (before && !over && loop.next.kind === 'turn')
    throw new RalphError(
      'loop-held',
      `Loop ${id} is running in another session of ${HOSTS[before.armed.host].title}. Pause it first: ralph pause ${id}`,
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

/** Only a loop of this folder that no process is running can continue, in a session without a loop. */
async function refuseUnlessFree(desk: Desk, { session, host, dir, more }: Resuming, loop: Loop): Promise<void> {
  const { id, spec } = loop
  const own = loadArmed(desk.home, session)
  if (own && (await isOpen(desk, own.loop))) throw new RalphError('usage', `This session already has loop ${own.loop}.`)
  if (endedOnLimit(loop) && !more)
    throw new RalphError(
      'loop-ended',
      `Loop ${id} halted on a limit. Raise it to resume: ${HOSTS[host].types('resume')} ${id} ${moreOption(loop)}`,
    )
  if (ended(loop) && !(endedOnLimit(loop) && isStandalone(loop)))
    throw new RalphError('loop-ended', `Loop ${id} has ended. Start a new one with ${HOSTS[host].types('loop')}.`)
  if (spec.work.owner?.kind === 'project')
    throw new RalphError('usage', `Loop ${id} belongs to a project: \`ralph execute\` continues it.`)
  if (spec.work.dir !== realFolder(dir))
    throw new RalphError(
      'usage',
      `Loop ${id} works in ${spec.work.dir}, but this session is in ${dir}. Resume it there.`,
    )
  if (await desk.store().isDriven(id))
    throw new RalphError('loop-held', `Loop ${id} is running elsewhere. Pause it first: ralph pause ${id}`)
}

/** Whether nothing else depends on how this loop ended. */
function isStandalone({ spec }: Loop): boolean {
  const { kind = 'person' } = spec.work.owner ?? {}
  return kind === 'person' || kind === 'session' || kind === 'board'
}

/** False when it ended elsewhere without the session knowing, or when the home was cleared. */
async function isOpen(desk: Desk, id: string): Promise<boolean> {
  const loop = await loadKnown(desk, id)
  return loop !== undefined && !ended(loop)
}
