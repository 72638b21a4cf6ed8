/** What it says about a task that its file lies somewhere else now. */
import { ALLOW, type Fact, type Loop } from '../engine/loop.ts'
import { FAILED } from './place.ts'
import { toldTurn } from './spec.ts'
import { vaultOf } from './vault-task.ts'
import { findFile, isAboutFile, judgeByPlace, whereIs } from './where.ts'

/** A turn that was lost, or a person meanwhile, has moved the file: no agent is set to work on it. */
export function movedBefore(loop: Loop, at: number): Fact | undefined {
  const task = vaultOf(loop)
  const where = whereIs(task)
  if (where === 'open') return findFile(task) === `${FAILED}/${task.file}` ? movedByHand(loop, at) : undefined
  // With checks that have refused it, the file may stay there while the work goes on.
  if (where === 'done')
    return loop.tally.claim.kind === 'clear' ? undefined : { kind: 'told', at, by: 'ralph', order: { kind: 'done' } }
  const told = { action: 'The file was moved before the turn began.', result: where, seconds: 0 }
  return { kind: 'turned', at, turn: judgeByPlace(task, toldTurn(told)) }
}

/** What a person says about a task that waits for them, by moving its file. */
export function movedByHand(loop: Loop, at: number): Fact | undefined {
  const task = vaultOf(loop)
  const told = { kind: 'told', at, by: 'you' } as const
  // One that could not be found may have been on a disk that is back now.
  const asked = isAboutFile(loop)
  switch (findFile(task)) {
    case `${task.done}/${task.file}`:
      // The agent put it there, and its checks were refused with it.
      return loop.next.kind === 'wait' && loop.next.about === ALLOW ? undefined : { ...told, order: { kind: 'done' } }
    case task.from:
      return asked ? { ...told, order: { kind: 'say', words: 'Approved. Continue.' } } : undefined
    case `${FAILED}/${task.file}`:
      return { ...told, by: `whoever moved it to ${FAILED}`, order: { kind: 'cancel' } }
    default:
      return undefined
  }
}
