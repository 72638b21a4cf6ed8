/** What a turn left behind: what it means to the engine, and the checkpoint that is kept of it. */
import type { Outcome } from '../agents/agent.ts'
import { toTurn } from '../agents/turn.ts'
import type { Diff, Loop, Turn } from '../engine/loop.ts'
import { allChecks, openStages } from '../engine/stages.ts'
import { RalphError } from '../error.ts'
import type { Tree } from '../host/tree.ts'
import { judgeTurn } from '../host/vault.ts'
import type { Show } from './hands.ts'

export type Looking = { tree: Tree; show: Show }

export async function lookAt(
  { tree: looker }: Looking,
  { spec, tally }: Loop,
  prompt: string,
  outcome: Outcome,
): Promise<Turn> {
  const claimable = {
    promise: spec.promise,
    signals: spec.signals,
    stages: openStages(spec, tally).map(({ name }) => name),
  }
  const tree = await looker.look()
  const turn = toTurn(outcome, { prompt, claimable, checks: allChecks(spec), ...(tree === undefined ? {} : { tree }) })
  return spec.work.vault && turn.end === 'ok' ? judgeTurn(spec.work.vault, turn) : turn
}

export async function keepStart(bench: Looking, loop: Loop): Promise<void> {
  if ('none' in bench.tree.checkpoints) return
  if (!bench.tree.seen) await bench.tree.look()
  await keepCheckpoint(bench, loop, 0)
}

/** Kept before the turn is saved, so that every iteration the store knows has its checkpoint. Without one the loop goes on. */
export async function keepCheckpoint({ tree, show }: Looking, loop: Loop, n: number): Promise<Diff | undefined> {
  const { checkpoints } = tree
  if ('none' in checkpoints) return undefined
  const note = (text: string) => show({ kind: 'note', text }, loop)
  try {
    const diff = await checkpoints.keep(n)
    for (const path of checkpoints.large) note(`${path} is untracked and too large: checkpoints leave it out.`)
    return diff
  } catch (cause) {
    if (!(cause instanceof RalphError)) throw cause
    note(`No checkpoint was kept, so \`ralph rollback\` cannot come back here. ${cause.message}`)
    return undefined
  }
}
