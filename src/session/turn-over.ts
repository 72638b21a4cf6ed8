/** A turn of an agent in a person's session has ended: step the loop, run what it asks for, and say how it goes on. */
import type { Outcome } from '../agents/agent.ts'
import { drive } from '../drive/drive.ts'
import { keepCheckpoint, lookAt } from '../drive/look.ts'
import { overCap } from '../engine/limits.ts'
import { ended, type Fact, type Loop, type Verdict } from '../engine/loop.ts'
import { step } from '../engine/step.ts'
import { hasWorked } from '../engine/tally.ts'
import { maskSecrets } from '../formats/secrets.ts'
import type { Held, Lease, LoopStore } from '../host/store.ts'
import { openTree, type Tree } from '../host/tree.ts'
import { type Answer, NOTHING, type Note, promptOf, say } from './answer.ts'
import { type Armed, arm, disarm, loadArmed, typedAt } from './armed.ts'
import type { Desk, Holding } from './desk.ts'
import { nameOf, ordersIn, putAside, readFace, writeFace } from './face.ts'
import { allowance, HOSTS } from './hosts.ts'
import { settle } from './settle.ts'

/** `aborted`: a person stopped the agent. `heard`: what it has said so far, where the host repeats all of it. */
export type TurnOver = {
  session: string
  outcome: Outcome | 'aborted'
  /** Something the agent started still runs; the host takes another turn when it ends. */
  background?: boolean
  /** A command of the person waits for the end of this turn, and comes right behind it. */
  toBeTold?: boolean
  heard?: Armed['heard']
  /** When this was, where the host tells it. */
  at?: string
}

export async function turnOver(desk: Desk, over: TurnOver): Promise<Answer> {
  return withLoop(desk, over.session, async (held) => {
    if (over.toBeTold || isOver(held.lease, desk)) return NOTHING
    if (over.background)
      return say('ralph: something still runs in the background; the loop goes on when that has ended.')
    if (over.outcome === 'aborted') {
      const paused = await told(desk, held, 'you', { kind: 'pause' })
      return settle(desk, { ...held, loop: paused }, [])
    }
    if (over.at !== undefined && over.at === held.armed.stopped) return NOTHING
    const { heard = held.armed.heard, at } = over
    if (over.heard || at !== undefined)
      arm(desk.home, over.session, {
        ...held.armed,
        ...(heard ? { heard } : {}),
        ...(at === undefined ? {} : { stopped: at }),
      })
    const { loop } = held
    if (loop.next.kind === 'wait') return settle(desk, held, [])
    const tree = await openTree({ ...loop.spec.work, home: desk.home, loop: loop.id })
    const counted = await countTurn(desk, { ...held, tree, outcome: over.outcome })
    return goOn(desk, { ...held, loop: counted }, tree)
  })
}

/** A second hook tells of a turn that the first has counted: the next one was asked for when this call had begun. */
function isOver({ movedAt }: Lease, { began }: Desk): boolean {
  return movedAt > began && movedAt < began + 10_000 // a clock may have been set back
}

/** The time of a wait has come, or a person wants to go on. */
export async function goOnNow(desk: Desk, session: string, fact: Fact): Promise<Answer> {
  return withLoop(
    desk,
    session,
    async (held) => {
      const loop = step(held.loop, fact)
      await desk.store().save(held.lease, loop, fact)
      const tree = await openTree({ ...loop.spec.work, home: desk.home, loop: loop.id })
      return goOn(desk, { ...held, loop }, tree)
    },
    fact.kind === 'told' ? 'person' : 'host',
  )
}

/** A person typed something else: that is the answer to a question, or else the loop rests. */
export async function otherPrompt(desk: Desk, session: string, words: string): Promise<Answer> {
  return withLoop(desk, session, async (held) => {
    const { loop, armed } = held
    if (loop.next.kind === 'turn' || loop.next.kind === 'check') {
      // Some hosts tell a hook's own words as if a person had typed them, and two hooks may tell the same answer.
      const prompt = promptOf(loop, armed.context)
      if (words.trim() === prompt.trim() || hasHeard(loop, words)) return NOTHING
      return settle(desk, { ...held, loop: await told(desk, held, 'you', { kind: 'pause' }) }, [])
    }
    if (loop.next.kind !== 'wait' || loop.next.why !== 'person') return NOTHING
    const answered = await told(desk, held, 'you', { kind: 'say', words })
    arm(desk.home, session, typedAt(armed, answered))
    return settle(desk, { ...held, loop: answered }, [])
  })
}

function hasHeard({ next }: Loop, words: string): boolean {
  return next.kind === 'turn' && next.feedback.includes(`A person says: ${words}`)
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
  const store = desk.store()
  const lease = await leaseOf(store, armed.loop)
  if (!lease) {
    disarm(desk.home, session)
    return say(`ralph: loop ${armed.loop} is not known any more; this session is free.`, 'warning')
  }
  if ('heldBy' in lease) return say(`ralph: loop ${armed.loop} is driven by ${lease.heldBy} now; this session is free.`)
  try {
    const held = { session, armed, lease, loop: await store.load(armed.loop) }
    const { loop, notes, release } = await obeyOrders(desk, held, asked)
    const answer = release ? NOTHING : ended(loop) ? settle(desk, { ...held, loop }, []) : await work({ ...held, loop })
    return { ...answer, show: [...notes, ...answer.show] }
  } finally {
    await lease.release()
  }
}

/** Undefined for a loop that is gone, as when the home was cleared. */
async function leaseOf(store: LoopStore, loop: string): Promise<Lease | Held | undefined> {
  try {
    return await store.lease(loop)
  } catch (cause) {
    // No matter of which of the two programs the class is.
    if (cause instanceof Error && 'code' in cause && cause.code === 'loop-unknown') return undefined
    throw cause
  }
}

/** What a person told the loop from elsewhere, and what they wrote into its face. */
async function obeyOrders(
  desk: Desk,
  held: Holding,
  asked: 'host' | 'person',
): Promise<{ loop: Loop; notes: Note[]; release?: true }> {
  const { armed, session } = held
  let loop = await drive(held.loop, held.lease, unsaid(desk.store()), {})
  if (ended(loop) || !armed.face) return { loop, notes: [] }
  const found = readFace(armed.face)
  const name = nameOf(loop.spec.work.dir, armed.face)
  switch (found.kind) {
    case 'gone':
      return { loop: await told(desk, { ...held, loop }, `deleting ${name}`, { kind: 'cancel' }), notes: [] }
    case 'strange':
      return { loop, notes: [about(name, `is left alone: ${found.why}`)] }
    case 'broken': {
      const aside = putAside(armed.face, desk.now())
      writeFace(armed.face, { loop, session })
      return { loop, notes: [about(name, `was damaged; it is ${aside} now, and made anew`)] }
    }
    case 'file': {
      if (found.file.sessionId !== session && asked === 'host')
        return {
          loop,
          release: true,
          notes: [about(name, 'names another session, or none, so the loop rests')],
        }
      for (const order of ordersIn(found.file, loop)) loop = await told(desk, { ...held, loop }, name, order)
      return { loop, notes: [] }
    }
  }
}

function about(face: string, what: string): Note {
  return { level: 'warning', text: `ralph: ${face} ${what}.` }
}

/** Words for the agent wait until a turn is asked for: the one under way has begun without them. */
function unsaid(store: LoopStore): Pick<LoopStore, 'save' | 'told'> {
  return {
    save: store.save,
    told: async (id) => {
      const fact = await store.told(id)
      return fact?.kind === 'told' && fact.order.kind === 'say' ? undefined : fact
    },
  }
}

/** An order that is carried out at once. */
export async function told(
  desk: Desk,
  { loop, lease }: Pick<Holding, 'loop' | 'lease'>,
  by: string,
  order: Extract<Fact, { kind: 'told' }>['order'],
): Promise<Loop> {
  const fact: Fact = { kind: 'told', at: desk.now(), by, order }
  const next = step(loop, fact)
  await desk.store().save(lease, next, fact)
  return next
}

type Ended = Holding & { tree: Tree; outcome: Outcome }

async function countTurn(desk: Desk, { loop, lease, armed, tree, outcome }: Ended): Promise<Loop> {
  if (loop.next.kind !== 'turn') return loop
  const store = desk.store()
  const { iteration, attempt } = loop.next
  const prompt = promptOf(loop, armed.context)
  const log = store.transcripts.openTurn(loop.id, iteration)
  log.write([
    { at: desk.now(), attempt, prompt: maskSecrets(prompt), command: [] },
    { out: maskSecrets(`${outcome.finalText}\n`) },
  ])
  log.close()
  const turn = await lookAt({ tree, show: desk.show }, loop, prompt, outcome)
  const diff = hasWorked(turn) ? await keepCheckpoint({ tree, show: desk.show }, loop, iteration) : undefined
  const fact: Fact = { kind: 'turned', at: desk.now(), turn: { ...turn, ...(diff ? { diff } : {}) } }
  const next = step(loop, fact)
  await store.save(lease, next, fact)
  return next
}

async function goOn(desk: Desk, held: Holding, tree: Tree): Promise<Answer> {
  const store = desk.store()
  const verdicts: Verdict[] = []
  const { env, now, stop, show } = desk
  const loop = await drive(held.loop, held.lease, store, {
    check: (asked, next) => desk.checker({ tree, env, now, stop, show })(asked, next),
    saw: (_, fact) => fact.kind === 'checked' && verdicts.push(...fact.verdicts),
  })
  const host = HOSTS[held.armed.host]
  // Another turn would not be taken, and nobody would be told.
  const capped = host.cap?.sure && loop.next.kind === 'turn' && overCap(loop, held.armed.since, allowance(host, env))
  const rested = capped ? await told(desk, { ...held, loop }, host.title, { kind: 'pause' }) : loop
  return settle(desk, { ...held, loop: rested }, verdicts)
}
