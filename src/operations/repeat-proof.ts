/** Repeats the proof of a loop here and now, whatever process runs it; the loop does not change. */
import { type Explained, type Explaining, explainProof } from '../drive/explain-proof.ts'
import { type Repeated, type Repeating, repeatProof } from '../drive/repeat-proof.ts'
import { GRADES, type Grade, type Loop } from '../engine/loop.ts'
import { allChecks } from '../engine/stages.ts'
import { RalphError } from '../error.ts'
import { given } from '../request/given.ts'
import { findLoop } from './find-loop.ts'
import { lastSeen } from './get-proof.ts'
import type { Context } from './operation.ts'
import { ownerOf } from './owners.ts'
import { isGitTree } from './statement.ts'

/** `isAsGood`: it reaches the grade of the loop, or a better one. */
export type Again = { loop: string; grade?: Grade; repeated: Repeated; isAsGood: boolean }

/** Runs the checks and experiments again, in a clean place, on the files that the last checks saw. */
export async function proveAgain(
  context: Context,
  name: string | undefined,
  watching: Pick<Repeating, 'signal' | 'saw'>,
): Promise<Again> {
  const found = await findSeen(context, name)
  const { id, next } = found.loop
  const grade = next.kind === 'complete' ? next.proof : undefined
  const { home, env, now } = context
  const repeated = await repeatProof(found, { home, env, now, ...watching })
  return { loop: id, ...given({ grade }), repeated, isAsGood: isAsGood(repeated, grade) }
}

/** Finds which changed tests and configuration files turn the checks green. */
export async function explainGreen(
  context: Context,
  name: string | undefined,
  watching: Pick<Explaining, 'signal' | 'saw'>,
): Promise<{ loop: string; explained: Explained }> {
  const found = await findSeen(context, name)
  const { home, env, now } = context
  return { loop: found.loop.id, explained: await explainProof(found, { home, env, now, ...watching }) }
}

async function findSeen(context: Context, name: string | undefined): Promise<{ loop: Loop; seen: string }> {
  const store = context.store()
  const id = await findLoop(context, name)
  const loop = await store.load(id)
  const refusal = ownerOf(loop).refuses?.(loop, { kind: 'prove' })
  if (refusal) throw refusal
  if (allChecks(loop.spec).length === 0)
    throw new RalphError('usage', `Loop ${id} has no check, so there is nothing to run again.`)
  const { at, seen } = lastSeen(loop, await store.events(0, id))
  if (at === undefined) throw new RalphError('usage', `The checks of loop ${id} have not run yet.`)
  if (seen === undefined || !isGitTree(seen.split(' ')[0] ?? ''))
    throw new RalphError(
      'usage',
      `Loop ${id} did not run in a git repository, so the files that its checks saw cannot be restored.`,
    )
  return { loop, seen }
}

function isAsGood(repeated: Repeated, grade: Grade | undefined): boolean {
  if (repeated.kind !== 'graded') return false
  return grade === undefined || GRADES.indexOf(repeated.grade) <= GRADES.indexOf(grade)
}
