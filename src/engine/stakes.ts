/** The checks that a "verified" would rest on, and what casts doubt on them. */
import type { Loop, Tally } from './loop.ts'
import { fewerTests } from './proof-words.ts'
import { allChecks } from './stages.ts'
import { excusedPaths, hasFailed, isTouched, ranOf, trialOf, wasRed } from './trials.ts'

/** Checks whose passing should prove something. */
function atStake(loop: Loop): string[] {
  const { spec, tally } = loop
  const checks = allChecks(spec)
  if (!spec.until) return checks.filter((check) => wasRed(tally, check))
  const open = checks.filter((check) => !passedAtStart(loop, check))
  return open.length > 0 ? open : checks
}

/** Checks that may have failed before and that --may-change may have turned green, including those that seem flaky. */
export function excusable(loop: Loop): string[] {
  const { spec, tally } = loop
  if (excusedPaths(tally).length === 0) return []
  if (spec.until) return atStake(loop)
  const beforeOf = (name: string) => tally.before?.find(({ check }) => check === name)?.result
  return allChecks(spec).filter((check) => {
    const before = beforeOf(check)
    return before === 'fail' || (before !== 'pass' && trialOf(tally, 'start', check) !== 'pass')
  })
}

/** Then nothing had to be bent to turn it green: a feature may have been removed together with its tests. */
export function passedAtStart({ spec, tally }: Loop, check: string): boolean {
  const isStart = spec.work.proofBase === undefined // it is measured against the files that the checks ran on
  return isStart && tally.before?.some((ran) => ran.check === check && ran.result === 'pass') === true
}

/** Paths that --may-change allows, if they may be the only reason why a check is green: they are never sealed. */
export function excusedAlone(loop: Loop): string[] {
  const { tally } = loop
  const isProven = (check: string) => trialOf(tally, 'reversed', check) === 'fail' && !tally.flaky?.includes(check)
  return excusable(loop).every(isProven) ? [] : excusedPaths(tally)
}

/** Checks that pass sealed but may do so with any files: what they need may be missing where experiments run. */
export function unconfirmed(loop: Loop): string[] {
  const { tally } = loop
  if (!isTouched(tally) || excusedAlone(loop).length > 0) return []
  return atStake(loop).filter((check) => !hasFailed(ranOf(tally, 'start', check)) && !ranAllTests(loop, check))
}

export function sealedFewer(tally: Tally): string | undefined {
  return fewerTests(tally, (check) => ranOf(tally, 'sealed', check), 'in the sealed run')
}

function ranAllTests({ spec, tally }: Loop, check: string): boolean {
  if (spec.work.proofBase !== undefined) return false // the checks before the loop did not run on the original files
  const before = tally.before?.find((ran) => ran.check === check)?.tests
  const sealed = ranOf(tally, 'sealed', check)?.tests ?? 0
  return before !== undefined && sealed > 0 && sealed >= before
}
