/** A turn of an agent in a person's session has ended: step the loop, run what it asks for, and say how it goes on. */
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
import { type Armed, disarm, loadArmed, typedAt } from './armed.ts'
import type { Desk, Holding } from './desk.ts'
import { nameOf, ordersIn, putAside, readFace, writeFace } from './face.ts'
import { forgetTold, givenTo, keep } from './give.ts'
import { allowance, HOSTS, type Host } from './hosts.ts'
import { settle } from './settle.ts'

/** `aborted`: a person stopped the agent. `heard`: what it has said so far, where the host repeats all of it. */
export type TurnOver = {
  session: string
  outcome: Outcome | 'aborted'
  /** Something the agent started still runs; the host takes another turn when it ends. */
  background?: boolean
  /** A command of the person waits for the end of this turn, and comes right behind it. */
  toBeTold?: boolean
  /** Words of the person for the next turn wait just so. */
  toBeSteered?: boolean
  heard?: Armed['heard']
  /** Up to where its tokens are counted now. */
  spent?: Armed['spent']
  /** When this was, where the host tells it. */
  at?: string
  /** When the host last shortened what its agent remembers. */
  compactedAt?: number
}

export async function turnOver(desk: Desk, over: TurnOver): Promise<Answer> {
  return withLoop(desk, over.session, async (held) => {
    const { armed, visit } = held
    if (over.toBeTold || isCounted(visit.lease, desk)) return NOTHING
    if (over.background) return say('ralph: a background task is still running; the loop goes on when it ends.')
    if (over.outcome === 'aborted') {
      await told(held, 'you', { kind: 'pause' })
      return settle(desk, held, [])
    }
    if (over.at !== undefined && over.at === armed.stopped) return NOTHING
    const { heard, spent, at: stopped, compactedAt = 0 } = over
    const isForgotten = armed.told !== undefined && compactedAt > armed.told.at
    if (heard || spent || stopped !== undefined || isForgotten)
      keep(desk.home, held, { ...(isForgotten ? forgetTold(armed) : armed), ...given({ heard, spent, stopped }) })
    if (visit.loop.next.kind === 'wait') return settle(desk, held, [])
    const tree = await treeOf(desk, held)
    await countTurn(desk, held, { tree, outcome: over.outcome })
    return goOn(desk, held, tree, over.toBeSteered)
  })
}

function treeOf({ home }: Desk, { visit: { loop } }: Holding): Promise<Tree> {
  return openTree({ ...loop.spec.work, home, loop: loop.id })
}

/** A second hook tells of a turn that the first has counted: the next one was asked for when this call had begun. */
function isCounted({ movedAt }: Lease, { began }: Desk): boolean {
  return movedAt > began && movedAt < began + 10_000 // a clock may have been set back
}

/** The time of a wait has come, or a person wants to go on. */
export async function goOnNow(desk: Desk, session: string, fact: Fact): Promise<Answer> {
  return withLoop(
    desk,
    session,
    async (held) => {
      // Much may have been said meanwhile.
      if (fact.kind === 'told' && fact.order.kind !== 'say') held.armed = forgetTold(held.armed)
      await held.visit.move(fact)
      return goOn(desk, held, await treeOf(desk, held))
    },
    fact.kind === 'told' ? 'person' : 'host',
  )
}

/** A person typed something else: that is the answer to a question, or else the loop rests. */
export async function otherPrompt(desk: Desk, session: string, words: string): Promise<Answer> {
  return withLoop(desk, session, async (held) => {
    const { loop } = held.visit
    if (loop.next.kind === 'turn' || loop.next.kind === 'check' || loop.next.kind === 'prove') {
      // Some hosts tell a hook's own words as if a person had typed them, and two hooks may tell the same answer.
      if (words.trim() === givenTo(desk.home, loop, held.armed).trim() || hasHeard(desk.home, loop, words))
        return NOTHING
      await told(held, 'you', { kind: 'pause' })
      return settle(desk, held, [])
    }
    if (loop.next.kind !== 'wait' || loop.next.why !== 'person') return NOTHING
    const answered = await told(held, 'you', { kind: 'say', words })
    keep(desk.home, held, typedAt(held.armed, answered))
    return settle(desk, held, [])
  })
}

function hasHeard(home: string, { next }: Loop, words: string): boolean {
  return next.kind === 'turn' && next.heard?.some((heard) => opened(home, heard, heard) === words) === true
}

/** The loop of a session, held alone, with the orders of its face carried out. A loop that somebody else drives is none of ours. */
export async function withLoop(
  desk: Desk,
  session: string,
  work: (held: Holding) => Promise<Answer>,
  asked: 'host' | 'person' = 'host',
): Promise<Answer> {
  const armed = loadArmed(desk.home, session)
  if (!armed || armed.context === 'process') return NOTHING
  try {
    // A turn of the session is its host's: nothing of it can have been lost here.
    return await visit<Answer>(armed.loop, {
      store: desk.store(),
      now: desk.now,
      held: (by) => say(`ralph: loop ${armed.loop} is driven by ${by} now; this session is free.`),
      async work(held) {
        const holding = { session, armed, visit: held }
        const { notes, release } = await obeyOrders(desk, holding, asked)
        const answer = release ? NOTHING : ended(held.loop) ? settle(desk, holding, []) : await work(holding)
        return { ...answer, show: [...notes, ...answer.show] }
      },
    })
  } catch (cause) {
    // As when the home was cleared.
    if (!isRalphError(cause) || cause.code !== 'loop-unknown') throw cause
    disarm(desk.home, session)
    return say(`ralph: loop ${armed.loop} is gone; this session is free.`, 'warning')
  }
}

/** What a person told the loop from elsewhere, and what they wrote into its face. */
async function obeyOrders(
  desk: Desk,
  held: Holding,
  asked: 'host' | 'person',
): Promise<{ notes: Note[]; release?: true }> {
  const { armed, session, visit } = held
  const loop = await visit.drive({}, unsaid(desk.store()))
  if (ended(loop) || !armed.face) return { notes: [] }
  const found = readFace(armed.face)
  const name = nameOf(loop.spec.work.dir, armed.face)
  switch (found.kind) {
    case 'gone':
      await told(held, `deleting ${name}`, { kind: 'cancel' })
      return { notes: [] }
    case 'strange':
      return { notes: [about(name, `is left alone: ${found.why}`)] }
    case 'broken': {
      const aside = putAside(armed.face, desk.now())
      writeFace(armed.face, { loop, session, home: desk.home })
      return { notes: [about(name, `was damaged; it is now ${aside}, and rewritten`)] }
    }
    case 'file': {
      if (found.file.sessionId !== session && asked === 'host')
        return { release: true, notes: [about(name, 'names another session or none, so the loop is paused')] }
      for (const order of ordersIn(found.file, loop, desk.home)) await told(held, name, order)
      return { notes: [] }
    }
  }
}

function about(face: string, what: string): Note {
  return { level: 'warning', text: `ralph: ${face} ${what}.` }
}

/** Words for the agent wait until a turn is asked for: the one under way has begun without them. */
function unsaid(store: LoopStore): LoopStore['told'] {
  return async (id) => {
    const fact = await store.told(id)
    return fact?.kind === 'told' && fact.order.kind === 'say' ? undefined : fact
  }
}

/** An order that is carried out at once. */
export function told({ visit }: Pick<Holding, 'visit'>, by: string, order: Order): Promise<Loop> {
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

/** Hands that are only loaded with the first check. */
export function later(load: () => CheckHands): CheckHands {
  let hands: CheckHands | undefined
  const loaded = () => (hands ??= load())
  return {
    check: (loop, next) => loaded().check(loop, next),
    prove: (loop, next) => loaded().prove(loop, next),
    leave: async (loop) => hands?.leave(loop),
  }
}

/** When the host gives its hook up, with some time to spare. */
function deadlineIn({ hookMinutes }: Host, { began }: Desk): number | undefined {
  return hookMinutes === undefined ? undefined : began + hookMinutes * 0.9 * 60_000
}

async function goOn(desk: Desk, held: Holding, tree: Tree, waits = false): Promise<Answer> {
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
  // Another turn would not be taken, and nobody would be told.
  const capped = host.cap?.sure && loop.next.kind === 'turn' && overCap(loop, held.armed.since, allowance(host, env))
  if (capped) await told(held, host.title, { kind: 'pause' })
  return settle(desk, held, verdicts, { before: tally, waits })
}
