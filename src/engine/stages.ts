/** Stages: named parts of done, passed in order, all checked again at the end. */
import { isAccepted } from './claim.ts'
import type { Claim, Spec, Stage, Tally, Verdict } from './loop.ts'

export function openStages(spec: Spec, tally: Tally): Stage[] {
  return spec.stages.filter((stage) => !tally.passed.includes(stage.name))
}

/**
 * The stage this claim covers alone: it is next in order and others follow. Otherwise the claim covers the whole loop.
 */
export function stageClaimed(spec: Spec, tally: Tally, claim: Claim): Stage | undefined {
  const open = openStages(spec, tally)
  return open.length > 1 && claim.stage === open[0]?.name ? open[0] : undefined
}

/** A claim for a stage that comes later. */
export function comesTooEarly(spec: Spec, tally: Tally, claim: Claim): boolean {
  const [first] = openStages(spec, tally)
  return claim.stage !== undefined && first !== undefined && claim.stage !== first.name
}

/** Every command that proves the whole loop, without duplicates. */
export function allChecks(spec: Spec): string[] {
  return [...new Set([...spec.stages.flatMap((stage) => stage.check ?? []), ...spec.checks])]
}

/**
 * The stages still open after these verdicts: a check closes its stage or reopens it, an accepted claim closes one
 * without a check.
 */
export function stillOpen(spec: Spec, tally: Tally, verdicts: readonly Verdict[], lastTurn = false): Stage[] {
  return spec.stages.filter((stage) => {
    const verdict = verdicts.find(({ check }) => check === stage.check)
    if (verdict) return verdict.result !== 'pass'
    const claimed =
      tally.claim.stage === stage.name && isAccepted(tally, lastTurn) && !comesTooEarly(spec, tally, tally.claim)
    return !tally.passed.includes(stage.name) && (stage.check !== undefined || !claimed)
  })
}
