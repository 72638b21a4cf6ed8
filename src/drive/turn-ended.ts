/**
 * Turns the end of an agent's turn, seen by a process or a hook, into a fact: looks at what it left, judges it and
 * saves it.
 */
import type { Outcome } from '../agents/agent.ts'
import { toTurn } from '../agents/turn.ts'
import type { Diff, Fact, Loop, Turn } from '../engine/loop.ts'
import { allChecks, openStages } from '../engine/stages.ts'
import { hasWorked } from '../engine/tally.ts'
import { isRalphError } from '../error.ts'
import { mask as maskAny } from '../host/mask.ts'
import type { TurnRecords } from '../host/transcript.ts'
import type { Tree } from '../host/tree.ts'
import type { TurnNext } from './drive.ts'
import type { Show } from './hands.ts'

export type Looking = { tree: Tree; show: Show }

export type Seeing = Looking & {
  now: () => number
  /** How the owner of the loop judges a turn in which the agent finished. */
  judge?: Judge | undefined
}

export type Judge = (loop: Loop, turn: Turn) => Turn

/** `mask`: hides the secrets that this turn received. Absent: hides only others. */
export type Ending = { loop: Loop; next: TurnNext; prompt: string; outcome: Outcome; mask?: (text: string) => string }

export async function turnEnded(
  seeing: Seeing,
  { loop, next, prompt, outcome, mask = maskAny }: Ending,
): Promise<Extract<Fact, { kind: 'turned' }>> {
  const { tree: looker, now, judge } = seeing
  const { spec, tally } = loop
  const claimable = {
    promise: spec.promise,
    signals: spec.signals,
    stages: openStages(spec, tally).map(({ name }) => name),
  }
  const tree = await looker.look()
  const turned = toTurn(outcome, {
    prompt,
    claimable,
    mask,
    checks: allChecks(spec),
    ...(tree === undefined ? {} : { tree }),
  })
  const turn = judge && turned.end === 'ok' ? judge(loop, turned) : turned
  const diff = hasWorked(turn) ? await keepCheckpoint(seeing, loop, next.iteration) : undefined
  const session = turn.session && next.agent !== undefined ? { ...turn.session, agent: next.agent } : turn.session
  return { kind: 'turned', at: now(), turn: { ...turn, ...(diff ? { diff } : {}), ...(session ? { session } : {}) } }
}

/** For a turn that nobody observed while it ran. */
export function logTurn(
  records: Pick<TurnRecords, 'openTurn'>,
  { loop, next, prompt, outcome, mask = maskAny }: Ending,
  at: number,
): void {
  const log = records.openTurn(loop.id, next.iteration)
  log.write([{ at, attempt: next.attempt, prompt: mask(prompt), command: [] }, { out: mask(`${outcome.finalText}\n`) }])
  log.close()
}

export async function keepStart(looking: Looking, loop: Loop): Promise<void> {
  if ('none' in looking.tree.checkpoints) return
  if (!looking.tree.seen) await looking.tree.look()
  await keepCheckpoint(looking, loop, 0)
}

/** Saved before the turn, so that every iteration in the store has its checkpoint. Without one the loop continues. */
async function keepCheckpoint({ tree, show }: Looking, loop: Loop, n: number): Promise<Diff | undefined> {
  const { checkpoints } = tree
  if ('none' in checkpoints) return undefined
  const note = (text: string) => show({ kind: 'note', text }, loop)
  try {
    const diff = await checkpoints.keep(n)
    for (const path of checkpoints.large) note(`${path} is untracked and too large, so checkpoints leave it out.`)
    for (const sentence of checkpoints.noticed) note(sentence)
    return diff
  } catch (cause) {
    if (!isRalphError(cause)) throw cause
    note(`No checkpoint was saved, so \`ralph rollback\` cannot return to this point. ${cause.message}`)
    return undefined
  }
}
