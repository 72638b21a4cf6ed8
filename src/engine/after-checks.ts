/** Records what the checks said. Whether the loop is then done is for `step` to judge. */
import { oneLine } from './breaker.ts'
import { conclude } from './conclude.ts'
import { beforeSentence } from './feedback.ts'
import type { Fact, Finding, Loop, Ran, Tally, Verdict } from './loop.ts'
import { again, halt } from './moves.ts'
import { alreadyDone, fewerTests } from './proof-words.ts'
import { allChecks, stageClaimed, stillOpen } from './stages.ts'
import { countChecks, doubted } from './tally.ts'
import { changesIn, isUntouched, ofStart } from './trials.ts'

export type Checked = Pick<Extract<Fact, { kind: 'checked' }>, 'verdicts' | 'findings' | 'tree' | 'ms' | 'marks'>

/** The baseline feeds only the first prompt and the proof, not the breaker, the best state or the clock. */
export function afterBaseline(loop: Loop, { verdicts, tree, findings, marks }: Checked, at: number): Loop {
  const { spec } = loop
  const checks = allChecks(spec)
  const tally: Tally = {
    ...loop.tally,
    restedMs: Math.max(0, at - loop.tally.startedAt),
    before: verdicts.map(ranOf),
    findings,
    ...(marks === undefined ? {} : { marks }),
    ...(tree === undefined ? {} : { tree, ...failedOn(tree, verdicts) }),
    feedback: verdicts.filter(({ result }) => result === 'fail' || result === 'broken').map(beforeSentence),
  }
  const counted = { ...loop, tally }
  const passed = checks.every((check) => verdicts.some((one) => one.check === check && one.result === 'pass'))
  const isDoneAlready = spec.until && passed && stillOpen(spec, tally, verdicts).length === 0
  // Measured against an earlier state, the tests behind the command may have been changed.
  if (isDoneAlready && !isUntouched(tally)) return conclude(counted, at)
  if (isDoneAlready) return { ...counted, next: { kind: 'complete', proof: 'verified', sentence: alreadyDone(checks) } }
  return again(counted, at)
}

function ranOf({ tail: _, ...ran }: Verdict): Ran {
  return ran
}

function failedOn(tree: string, verdicts: readonly Verdict[]): Pick<Tally, 'failed'> {
  const checks = verdicts.filter(({ result }) => result === 'fail').map(({ check }) => check)
  return checks.length > 0 ? { failed: { tree, checks } } : {}
}

/** `judged`: nothing is left to judge, because the checks must run again or cannot. */
export function afterChecks(loop: Loop, checked: Checked): { loop: Loop; judged: boolean } {
  const slowBefore = loop.tally.slow
  const tally = { ...countChecks(loop.tally, checked.verdicts, checked.tree), ...rememberRound(loop, checked) }
  const refused = isClaimRefused(loop, checked.verdicts)
  const counted = { ...loop, tally: { ...tally, falseClaims: tally.falseClaims + (refused ? 1 : 0) } }
  const broken = checked.verdicts.find(({ result }) => result === 'broken')
  if (broken)
    return judged(
      halt(counted, {
        reason: 'verifier-broken',
        sentence: `The check "${broken.check}" cannot be started: ${oneLine(broken.tail)}`,
      }),
    )
  const slow = tally.slow.find((check) => slowBefore.includes(check))
  if (slow)
    return judged(
      halt(counted, { reason: 'verifier-broken', sentence: `The check "${slow}" timed out twice in a row.` }),
    )
  const again = failedBefore(loop, checked)
  if (again.length > 0 && loop.next.kind === 'check' && loop.next.because !== 'flaky')
    return judged({ ...counted, next: { ...loop.next, because: 'flaky' } })
  return { loop: again.length > 0 ? withFlaky(counted, again) : counted, judged: false }
}

function judged(loop: Loop): { loop: Loop; judged: true } {
  return { loop, judged: true }
}

function rememberRound({ spec, tally }: Loop, { verdicts, findings: found, tree, ms }: Checked): Partial<Tally> {
  const isWhole = allChecks(spec).every((check) => verdicts.some((verdict) => verdict.check === check))
  const fewer = fewerTests(tally, (check) =>
    verdicts.find((verdict) => verdict.check === check && verdict.result === 'pass'),
  )
  const findings: Finding[] = [
    ...tally.findings.filter(({ kind }) => kind === 'inherited'),
    ...found,
    ...(fewer ? [{ kind: 'fewer-tests' as const, path: '', words: fewer.replace(/\.$/, '') }] : []),
  ]
  const isSame = changesIn(findings) === changesIn(tally.findings)
  return {
    findings,
    ...(isSame || !tally.trials ? {} : { trials: ofStart(tally.trials) }),
    ...(isWhole ? { after: verdicts.map(ranOf) } : {}),
    ...(ms === undefined ? {} : { checkMs: ms }),
    ...(tree === undefined ? {} : failedOn(tree, verdicts)),
  }
}

/** Checks that pass now and failed before on the same files. */
function failedBefore({ tally }: Loop, { verdicts, tree }: Checked): string[] {
  if (tree === undefined || tally.failed?.tree !== tree) return []
  return tally.failed.checks.filter((name) => verdicts.some(({ check, result }) => check === name && result === 'pass'))
}

function withFlaky(loop: Loop, checks: readonly string[]): Loop {
  const { spec, tally } = loop
  const findings: Finding[] = checks.map((check) => ({
    kind: 'flaky',
    path: '',
    words: `\`${check}\` failed and then passed on the same files`,
  }))
  const flaky = [...new Set([...(tally.flaky ?? []), ...checks])]
  return { ...loop, tally: doubted(spec, { ...tally, flaky, findings: [...tally.findings, ...findings] }) }
}

function isClaimRefused({ spec, tally, next }: Loop, verdicts: readonly Verdict[]): boolean {
  const stage = stageClaimed(spec, tally, tally.claim)
  const failed = verdicts.filter(({ result }) => result === 'fail' || result === 'timeout')
  const concerned = stage ? failed.filter(({ check }) => check === stage.check) : failed
  // An agent that only mentions the tag may mean the opposite.
  if (tally.claim.kind === 'none' || tally.claim.form === 'mentioned') return false
  const isClaimed = next.kind === 'check' && (next.because === 'claim' || next.because === 'flaky')
  return isClaimed && concerned.length > 0
}
