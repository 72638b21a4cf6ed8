/** Advice on how to get a better grade next time. */
import type { Finding, Loop, Trial } from '../engine/loop.ts'
import { proveNext } from '../engine/proof.ts'
import { listed } from '../engine/proof-words.ts'
import { allChecks } from '../engine/stages.ts'
import { unconfirmed } from '../engine/stakes.ts'
import { excusedPaths, hasFailed, openFindings, ranOf, trialOf, trialsOf } from '../engine/trials.ts'
import { ownerOf } from './owners.ts'

/** Undefined if there is none, or the loop is not complete. */
export function adviceFor(loop: Loop): string | undefined {
  const { id, next } = loop
  if (next.kind !== 'complete') return undefined
  if (next.older)
    return `An older ralph graded it by weaker rules. Run the current experiments: ralph proof ${id} --again`
  switch (next.proof) {
    case 'verified':
      return undefined
    case 'tested':
      return 'For "verified", give a command that fails until the task is done: --until CMD.'
    case 'kept':
      return 'For a better grade, write a test that fails without the change, or give a command that fails until the task is done: --until CMD. For docs and refactoring, "kept" is fine.'
    case 'altered':
      return alteredAdvice(loop)
    case 'claimed':
      return `For a better grade, add a check: ${ownerOf(loop).hints?.(loop).check ?? '--verify "npm test"'}`
  }
}

/** Findings about the original state, or that repeat others, did not cause the grade. */
const ASIDE: ReadonlySet<Finding['kind']> = new Set(['inherited', 'noted', 'flaky', 'fewer-tests'])

function alteredAdvice(loop: Loop): string {
  const untried = untriedAdvice(loop)
  if (untried) return untried
  const findings = openFindings(loop.tally).filter(({ kind, path }) => path && !ASIDE.has(kind))
  const paths = [...new Set(findings.map(({ path }) => path))]
  if (paths.length === 0) return 'For a better grade, make sure the checks run all the tests they ran before.'
  const areNew = findings.every(({ kind }) => kind === 'tests-added' || kind === 'means-added')
  if (areNew)
    return `For a better grade, start with the tests that the work must pass, or say up front that the agent should write them: --may-change GLOB. For now, review ${listed(paths)}.`
  const better = `For a better grade, restore ${listed(paths)} and make the checks pass without changing ${paths.length === 1 ? 'it' : 'them'}`
  return excusedPaths(loop.tally).length > 0
    ? `${better}.`
    : `${better}, or allow the change up front: --may-change GLOB.`
}

/** If the checks could not run with the original tests, the place of the experiments must change. */
function untriedAdvice(loop: Loop): string | undefined {
  const { spec, tally } = loop
  const fails = allChecks(spec).some(
    (check) => trialOf(tally, 'sealed', check) === 'untried' && hasFailed(ranOf(tally, 'control', check)),
  )
  if (fails) return `For a better grade, make sure the checks pass in a clean copy of the files. ${PLACE}`
  if (unconfirmed(loop).some((check) => ranOf(tally, 'start', check)?.result === 'pass'))
    return `For a better grade, make sure the checks find everything they need in a clean copy of the files. ${PLACE}`
  if (spec.proof === 'off') return 'For a better grade, let ralph run experiments: omit --proof off.'
  if (wasTooSlow(loop)) return 'For a better grade, give the experiments more time: --proof-minutes MIN.'
  if (spec.work.gitDir === undefined && triedOf(loop).some(({ why }) => why !== undefined))
    return 'For a better grade, work in a git repository (git init), where ralph can also run the checks with the original tests.'
  return undefined
}

const PLACE =
  'In ralph.config.json, "worktree_files" lists ignored files that they need, such as .env, and "proof_setup" is a command that installs or builds what they need.'

function wasTooSlow(loop: Loop): boolean {
  const isSpent = proveNext(loop, 'sealed').ms === 0
  return triedOf(loop).some(
    ({ ran, why }) => ran.some(({ result }) => result === 'timeout') || (why !== undefined && isSpent),
  )
}

function triedOf({ tally }: Loop): Trial[] {
  const { sealed, reversed, start } = trialsOf(tally)
  return [sealed, reversed, start].filter((trial) => trial !== undefined)
}
