/** Everything requested seems to be done: how strong is the proof, and is it enough? */
import { isAccepted } from './claim.ts'
import { continueLoop } from './continue-loop.ts'
import { claimAdvice } from './feedback.ts'
import { spent } from './limits.ts'
import { ALLOW, type Fact, type Loop } from './loop.ts'
import { halt, rest, withFeedback } from './moves.ts'
import { type Appraisal, alteredTogether, appraise, isBelow } from './proof.ts'
import { changesTo, listed, proofAdvice } from './proof-words.ts'
import { allChecks } from './stages.ts'
import { excusedPaths, trialsOf } from './trials.ts'

/** The loop completes with the grade it has earned, or runs an experiment first. */
export function conclude(loop: Loop, at: number): Loop {
  const { spec, tally } = loop
  const isLast = spent(loop, at) !== undefined
  const found = allChecks(spec).length === 0 ? UNCHECKED : appraise(loop)
  if (found.kind === 'prove') return { ...loop, next: found.next }
  if (found.kind === 'bent') return refuseBent(loop, found.paths, at)
  if (found.kind === 'together' && !tally.questioned && !isLast) return questionChanges(loop, found.paths, at)
  const { grade, sentence } = found.kind === 'graded' ? found : alteredTogether(loop, found.paths)
  // A weaker proof needs the agent's claim, as it would without checks.
  if (grade !== 'verified' && !spec.until && !isAccepted(tally, isLast))
    return continueLoop(withFeedback(loop, claimAdvice(spec, loop)), at)
  if (!spec.require || !isBelow(grade, spec.require))
    return { ...loop, next: { kind: 'complete', proof: grade, sentence } }
  return refuseWeak(loop, { grade, sentence }, at)
}

const UNCHECKED: Graded = {
  kind: 'graded',
  grade: 'claimed',
  sentence: 'There is no check, so the agent is taken at its word.',
}

/** The checks pass only because of this loop's changes to the means of proof. */
function refuseBent(loop: Loop, paths: readonly string[], at: number): Loop {
  // Results of bent checks are no measure for later work, and no state worth returning to.
  const { best: _, bestAt: __, ...tally } = loop.tally
  const isClaimed = tally.claim.kind !== 'none'
  const bent = (tally.bent ?? 0) + 1
  const counted = { ...loop, tally: { ...tally, bent, falseClaims: tally.falseClaims + (isClaimed ? 1 : 0) } }
  const refused = withFeedback(counted, [
    ...(isClaimed ? ['You said you were done, but you are not.'] : []),
    `With the original tests and configuration, the checks fail; with yours, they pass even without your other changes. Only your changes to ${listed(paths)} make them pass. Revert those and do the actual work.`,
  ])
  if (bent === 1 && !spent(loop, at)) return continueLoop(refused, at)
  const question = `The checks pass only because of the agent's changes to ${listed(paths)}.`
  return { ...refused, tally: rest(refused.tally, at), next: { kind: 'wait', why: 'person', question, about: ALLOW } }
}

function questionChanges(loop: Loop, paths: readonly string[], at: number): Loop {
  const words = `The checks pass, but only with ${changesTo(loop.tally, paths, 'you')}. If that is needed (a rename, a new interface, the first tests) and you are done, say ${loop.tally.claim.kind === 'none' ? 'so' : 'so again'}. Otherwise, undo it.`
  return continueLoop(withFeedback({ ...loop, tally: { ...loop.tally, questioned: true } }, [words]), at)
}

const ADVISED = 2

function refuseWeak(loop: Loop, { grade, sentence }: Pick<Graded, 'grade' | 'sentence'>, at: number): Loop {
  const unproven = (loop.tally.unproven ?? 0) + 1
  const refused = { ...loop, tally: { ...loop.tally, unproven } }
  const required = loop.spec.require ?? 'claimed'
  if (unproven > ADVISED || spent(loop, at))
    return halt(refused, {
      reason: 'unproven',
      sentence: `The proof is "${grade}", but "${required}" is required. ${sentence}`,
    })
  return continueLoop(
    withFeedback(refused, [proofAdvice({ grade, sentence }, required, excusedPaths(loop.tally).length > 0)]),
    at,
  )
}

type Graded = Extract<Appraisal, { kind: 'graded' }>

export function afterProof(loop: Loop, { run, ran, why, ms = 0 }: Extract<Fact, { kind: 'proved' }>, at: number): Loop {
  const trial = { ran, ...(why === undefined ? {} : { why }) }
  const trials = { ...trialsOf(loop.tally), [run]: trial }
  return conclude({ ...loop, tally: { ...loop.tally, trials, proofMs: (loop.tally.proofMs ?? 0) + ms } }, at)
}
