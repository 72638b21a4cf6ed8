/** What it means for a task that its file has moved. */
import { ALLOW, type Fact, type Loop } from '../engine/loop.ts'
import { FAILED } from './place.ts'
import { reportedTurn } from './spec.ts'
import { vaultOf } from './vault-task.ts'
import { findFile, isAboutFile, judgeByPlace, whereIs } from './where.ts'

/** A lost turn, or a person meanwhile, moved the file: no agent starts on it. */
export function movedBefore(loop: Loop, at: number): Fact | undefined {
  const task = vaultOf(loop)
  const where = whereIs(task)
  if (where === 'open') return findFile(task) === `${FAILED}/${task.file}` ? movedByHand(loop, at) : undefined
  // If checks refused it, the file may stay there while work continues.
  if (where === 'done')
    return loop.tally.claim.kind === 'clear' ? undefined : { kind: 'told', at, by: 'ralph', order: { kind: 'done' } }
  const report = { action: 'The file was moved before the turn began.', result: where, seconds: 0 }
  return { kind: 'turned', at, turn: judgeByPlace(task, reportedTurn(report)) }
}

/** What the user says about a waiting task by moving its file. */
export function movedByHand(loop: Loop, at: number): Fact | undefined {
  const task = vaultOf(loop)
  const moved = { kind: 'told', at, by: 'you' } as const
  // A missing file may have been on a disk that is mounted again.
  const asked = isAboutFile(loop)
  switch (findFile(task)) {
    case `${task.done}/${task.file}`:
      // The agent moved it there, and the checks refused it.
      return loop.next.kind === 'wait' && loop.next.about === ALLOW ? undefined : { ...moved, order: { kind: 'done' } }
    case task.from:
      return asked ? { ...moved, order: { kind: 'say', words: 'Approved. Continue.' } } : undefined
    case `${FAILED}/${task.file}`:
      return { ...moved, by: `whoever moved it to ${FAILED}`, order: { kind: 'cancel' } }
    default:
      return undefined
  }
}
