/** The end of an agent's turn in a user's session: step the loop, run what it asks for, and say what comes next. */
import type { Outcome } from '../agents/agent.ts'
import type { CheckHands } from '../drive/check-hands.ts'
import { lookAtSettings } from '../drive/look-at-settings.ts'
import { logTurn, turnEnded } from '../drive/turn-ended.ts'
import { visit } from '../drive/visit.ts'
import { overCap } from '../engine/limits.ts'
import { ended, type Fact, type Loop, type Order, type Verdict } from '../engine/loop.ts'
import { isRalphError } from '../error.ts'
import { mayHaveChanged } from '../host/config-trust.ts'
import type { Lease, LoopStore } from '../host/store.ts'
import { openTree, type Tree } from '../host/tree.ts'
import { given } from '../request/given.ts'
import { type Answer, NOTHING, type Note, opened, say } from './answer.ts'
import { type Armed, afterTyping, disarm, loadArmed } from './armed.ts'
import type { Desk, Holding } from './desk.ts'
import { nameOf, ordersIn, putAside, readFace, writeFace } from './face.ts'
import { forgetTask, givenTo, keep } from './give.ts'
import { allowance, HOSTS, type Host } from './hosts.ts'
import { settle } from './settle.ts'

/** `aborted`: the user stopped the agent. `heard`: what it has said so far, if the host repeats all of it. */
export type TurnOver = {
  session: string
  outcome: Outcome | 'aborted'
  /** Something the agent started is still running; the host takes another turn when it ends. */
  background?: boolean
  /** A command of the user waits for the end of this turn and comes right after it. */
  hasOrder?: boolean
  /** Words of the user for the next turn wait in the same way. */
  hasWords?: boolean
  heard?: Armed['heard']
  /** How far its tokens are counted now. */
  spent?: Armed['spent']
  /** When this was, if the host says so. */
  at?: string
  /** When the host last compacted the agent's context. */
  compactedAt?: number
}

export async function turnOver(desk: Desk, over: TurnOver): Promise<Answer> {
  return withLoop(desk, over.session, async (held) => {
    const { armed, visit } = held
    if (over.hasOrder || isCounted(visit.lease, desk)) return NOTHING
    if (over.background) return say('ralph: a background task is still running; the loop continues when it ends.')
    if (over.outcome === 'aborted') {
      await giveOrder(held, 'you', { kind: 'pause' })
      return settle(desk, held, [])
    }
    if (over.at !== undefined && over.at === armed.stopped) return NOTHING
    const { heard, spent, at: stopped, compactedAt = 0 } = over
    const isForgotten = armed.told !== undefined && compactedAt > armed.told.at
    if (heard || spent || stopped !== undefined || isForgotten)
      keep(desk.home, held, { ...(isForgotten ? forgetTask(armed) : armed), ...given({ heard, spent, stopped }) })
    if (visit.loop.next.kind === 'wait') return settle(desk, held, [])
    const tree = await treeOf(desk, held)
    await countTurn(desk, held, { tree, outcome: over.outcome })
    return advance(desk, held, tree, over.hasWords)
  })
}

function treeOf({ home }: Desk, { visit: { loop } }: Holding): Promise<Tree> {
  return openTree({ ...loop.spec.work, home, loop: loop.id })
}

/** A second hook reports a turn that the first has counted: the next turn was requested after this call started. */
function isCounted({ movedAt }: Lease, { began }: Desk): boolean {
  return movedAt > began && movedAt < began + 10_000 // a clock may have been set back
}

/** A wait has ended, or the user wants to continue. */
export async function continueLoop(desk: Desk, session: string, fact: Fact): Promise<Answer> {
  return withLoop(
    desk,
    session,
    async (held) => {
      // Much may have been said in the meantime.
      if (fact.kind === 'told' && fact.order.kind !== 'say') held.armed = forgetTask(held.armed)
      await held.visit.move(fact)
      return advance(desk, held, await treeOf(desk, held))
    },
    fact.kind === 'told' ? 'person' : 'host',
  )
}

/** The user typed something else: the answer to a question; otherwise the loop pauses. */
export async function otherPrompt(desk: Desk, session: string, words: string): Promise<Answer> {
  return withLoop(desk, session, async (held) => {
    const { loop } = held.visit
    if (loop.next.kind === 'turn' || loop.next.kind === 'check' || loop.next.kind === 'prove') {
      // Some hosts report a hook's own words as typed by the user, and two hooks may report the same answer.
      if (words.trim() === givenTo(desk.home, loop, held.armed).trim() || hasHeard(desk.home, loop, words))
        return NOTHING
      await giveOrder(held, 'you', { kind: 'pause' })
      return settle(desk, held, [])
    }
    if (loop.next.kind !== 'wait' || loop.next.why !== 'person') return NOTHING
    const answered = await giveOrder(held, 'you', { kind: 'say', words })
    keep(desk.home, held, afterTyping(held.armed, answered))
    return settle(desk, held, [])
  })
}

function hasHeard(home: string, { next }: Loop, words: string): boolean {
  return next.kind === 'turn' && next.heard?.some((heard) => opened(home, heard, heard) === words) === true
}

/** Holds the session's loop exclusively and carries out the orders in its face. Leaves alone a loop that something else drives. */
export async function withLoop(
  desk: Desk,
  session: string,
  work: (held: Holding) => Promise<Answer>,
  asked: 'host' | 'person' = 'host',
): Promise<Answer> {
  const armed = loadArmed(desk.home, session)
  if (!armed || armed.context === 'process') return NOTHING
  try {
    // The session's turns belong to its host: nothing of them can have been lost here.
    return await visit<Answer>(armed.loop, {
      store: desk.store(),
      now: desk.now,
      held: (by) => say(`ralph: loop ${armed.loop} is now driven by ${by}; this session is no longer looping.`),
      async work(held) {
        const holding = { session, armed, visit: held }
        const { notes, release } = await obeyOrders(desk, holding, asked)
        const answer = release ? NOTHING : ended(held.loop) ? settle(desk, holding, []) : await work(holding)
        return { ...answer, show: [...notes, ...answer.show] }
      },
    })
  } catch (cause) {
    // For example because the home was cleared.
    if (!isRalphError(cause) || cause.code !== 'loop-unknown') throw cause
    disarm(desk.home, session)
    return say(`ralph: loop ${armed.loop} no longer exists; this session is no longer looping.`, 'warning')
  }
}

/** Carries out orders that the user gave from elsewhere or wrote into the face. */
async function obeyOrders(
  desk: Desk,
  held: Holding,
  asked: 'host' | 'person',
): Promise<{ notes: Note[]; release?: true }> {
  const { armed, session, visit } = held
  const loop = await visit.drive({}, withoutWords(desk.store()))
  if (ended(loop) || !armed.face) return { notes: [] }
  const found = readFace(armed.face)
  const name = nameOf(loop.spec.work.dir, armed.face)
  switch (found.kind) {
    case 'gone':
      await giveOrder(held, `deleting ${name}`, { kind: 'cancel' })
      return { notes: [] }
    case 'strange':
      return { notes: [about(name, `is left alone: ${found.why}`)] }
    case 'broken': {
      const aside = putAside(armed.face, desk.now())
      writeFace(armed.face, { loop, session, home: desk.home })
      return { notes: [about(name, `was damaged; it was renamed to ${aside} and rewritten`)] }
    }
    case 'file': {
      if (found.file.sessionId !== session && asked === 'host')
        return { release: true, notes: [about(name, 'names another session or none, so the loop is paused')] }
      for (const order of ordersIn(found.file, loop, desk.home)) await giveOrder(held, name, order)
      return { notes: [] }
    }
  }
}

function about(face: string, what: string): Note {
  return { level: 'warning', text: `ralph: ${face} ${what}.` }
}

/** Words for the agent wait until a turn is requested: the current one started without them. */
function withoutWords(store: LoopStore): LoopStore['nextOrder'] {
  return async (id) => {
    const fact = await store.nextOrder(id)
    return fact?.kind === 'told' && fact.order.kind === 'say' ? undefined : fact
  }
}

/** An order that is carried out at once. */
export function giveOrder({ visit }: Pick<Holding, 'visit'>, by: string, order: Order): Promise<Loop> {
  return visit.move({ kind: 'told', at: visit.now(), by, order })
}

async function countTurn(
  { home, store, show, judge }: Desk,
  { armed, visit }: Holding,
  { tree, outcome }: { tree: Tree; outcome: Outcome },
): Promise<void> {
  const { loop, now } = visit
  if (loop.next.kind !== 'turn') return
  const ending = { loop, next: loop.next, prompt: givenTo(home, loop, armed), outcome }
  logTurn(store().transcripts, ending, now())
  const turned = await turnEnded({ tree, show, now, judge }, ending)
  const { dir, settings } = loop.spec.work
  if (mayHaveChanged(dir, visit.lease.movedAt, settings)) await lookAtSettings({ home, show }, loop)
  await visit.move(turned)
}

/** Hands that are loaded with the first check. */
export function later(load: () => CheckHands): CheckHands {
  let hands: CheckHands | undefined
  const loaded = () => (hands ??= load())
  return {
    check: (loop, next) => loaded().check(loop, next),
    prove: (loop, next) => loaded().prove(loop, next),
    leave: async (loop) => hands?.leave(loop),
  }
}

/** When the host times its hook out, with some time to spare. */
function deadlineIn({ hookMinutes }: Host, { began }: Desk): number | undefined {
  return hookMinutes === undefined ? undefined : began + hookMinutes * 0.9 * 60_000
}

async function advance(desk: Desk, held: Holding, tree: Tree, waits = false): Promise<Answer> {
  const verdicts: Verdict[] = []
  const { env, stop, show } = desk
  const {
    now,
    loop: { tally },
  } = held.visit
  const host = HOSTS[held.armed.host]
  const loop = await held.visit.drive({
    ...later(() => desk.checker({ tree, env, now, stop, show, ...given({ deadline: deadlineIn(host, desk) }) })),
    saw: (_, fact) => fact.kind === 'checked' && verdicts.push(...fact.verdicts),
  })
  // The host would not take another turn, and nobody would know.
  const capped = host.cap?.sure && loop.next.kind === 'turn' && overCap(loop, held.armed.since, allowance(host, env))
  if (capped) await giveOrder(held, host.title, { kind: 'pause' })
  return settle(desk, held, verdicts, { before: tally, waits })
}
