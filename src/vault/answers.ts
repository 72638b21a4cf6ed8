/** The commands that answer a task that waits for a person. */
import { ALLOW, type Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { taskCommand } from '../formats/task-command.ts'
import { vaultOf } from './vault-task.ts'
import { isAboutFile } from './where.ts'

/** `instead`: continues with other instructions, if approval alone does not say how. */
export type Answers = { approve: string; reject: string; instead?: string }

export function answersTo(loop: Loop): Answers {
  const { id, path } = vaultOf(loop)
  const reject = taskCommand('reject', id, path)
  const bent = bentAnswers(loop)
  if (bent) return { ...bent, reject }
  return { approve: taskCommand('approve', id, path, ...(isAboutFile(loop) ? [] : ['--note', '…'])), reject }
}

export type BentAnswers = { approve: string; instead: string }

/** For a task whose checks pass only because of changed tests or configuration: approving its file does not allow these. */
export function bentAnswers(loop: Loop): BentAnswers | undefined {
  const { next, id: loopId } = loop
  if (next.kind !== 'wait' || next.about !== ALLOW) return undefined
  const { id, path, by } = vaultOf(loop)
  // Its caller takes the turns, so none can start here.
  const instead = by === 'caller' ? taskCommand('approve', id, path, '--note', '…') : `ralph steer ${loopId} "…"`
  return { approve: `ralph allow ${loopId}`, instead }
}

/** What the agent sees of an approval. A bare one is refused if it would change nothing: the checks would still be bent. */
export function approvalWords(loop: Loop, note: string | undefined): string {
  const advice = bentAdvice(loop)
  if (advice === undefined) return note ? `Approved: ${note}` : 'Approved. Continue.'
  if (note) return note
  const question = loop.next.kind === 'wait' ? (loop.next.question ?? '') : ''
  throw new RalphError('usage', `Task ${vaultOf(loop).id} cannot be approved like this. ${question} ${advice}`)
}

/** What the user can do about a task whose checks were bent. */
export function bentAdvice(loop: Loop): string | undefined {
  const bent = bentAnswers(loop)
  return bent && `Allow it: ${bent.approve}, or say what to do instead: ${bent.instead}.`
}
