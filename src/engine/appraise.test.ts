/** Grades for everything that may be known about a loop: what must hold for each, and what never improves one. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Finding, FindingKind, Grade, Loop, Ran, Run, Spec, Tally, Trial } from './loop.ts'
import { appraise } from './proof.ts'
import { specOf, startedWith } from './stories.test-support.ts'

const CHECKS = ['unit', 'lint']
const anyResult = fc.constantFrom<Ran['result']>('pass', 'pass', 'fail', 'fail', 'broken', 'timeout')

/** How many tests a check runs, if it reports that. */
const anyCount = fc.constantFrom(undefined, undefined, 0, 1, 2)

function ranOf(results: readonly Ran['result'][], tests?: number): Ran[] {
  return results.map((result, at) => ({ check: CHECKS[at] ?? '', result, ...(tests === undefined ? {} : { tests }) }))
}

/** `count`: how many tests it says it ran. */
function anyTrial(count: fc.Arbitrary<number | undefined> = fc.constant(undefined)): fc.Arbitrary<Trial> {
  const results = fc.array(anyResult, { minLength: 2, maxLength: 2 })
  return fc.oneof(
    { weight: 6, arbitrary: fc.tuple(results, count).map(([all, tests]) => ({ ran: ranOf(all, tests) })) },
    { weight: 1, arbitrary: fc.constant<Trial>({ ran: [], why: 'no room' }) },
  )
}
const anyTrials: fc.Arbitrary<Record<Run, Trial>> = fc.record({
  start: anyTrial(),
  sealed: anyTrial(anyCount),
  reversed: anyTrial(),
  control: anyTrial(),
})

const KINDS: FindingKind[] = [
  'tests-changed',
  'tests-added',
  'tests-deleted',
  'tests-skipped',
  'means-changed',
  'means-added',
  'means-deleted',
  'may-change',
  'runner-changed',
  'not-separable',
  'unreadable',
  'inherited',
  'fewer-tests',
  'flaky',
  'noted',
]
const PATHS = ['a.test.ts', 'package.json', '']
const anyFinding: fc.Arbitrary<Finding> = fc.record({
  kind: fc.constantFrom(...KINDS),
  path: fc.constantFrom(...PATHS),
  words: fc.constant('noticed'),
})

/** Everything there is to know: what experiments would say if they ran. */
type World = { spec: Spec; tally: Partial<Tally>; trials: Record<Run, Trial>; findings: Finding[] }

const anyWorld: fc.Arbitrary<World> = fc
  .record({
    proof: fc.constantFrom<('off' | 'seal' | undefined)[]>(undefined, undefined, 'seal', 'off'),
    until: fc.boolean(),
    before: fc.tuple(fc.array(anyResult, { maxLength: 2 }), anyCount),
    flaky: fc.subarray(CHECKS),
    allowed: fc.subarray(PATHS.slice(0, 2)),
    findings: fc.array(anyFinding, { maxLength: 3 }),
    trials: anyTrials,
  })
  .map(({ proof, until, before, flaky, allowed, findings, trials }) => ({
    spec: specOf({ checks: CHECKS, until, ...(proof ? { proof } : {}) }),
    tally: { before: ranOf(...before), flaky, allowed: allowed.map((path) => ({ path, by: 'Ada' })) },
    findings,
    trials,
  }))

type Verdict = Grade | 'together' | 'bent'
type Judged = { verdict: Verdict; tried: Run[] }

/** Runs the requested experiments until there is a verdict. */
function judge({ spec, tally, trials, findings }: World): Judged {
  const { id, next, tally: counts } = startedWith(spec, 'pass')
  const tried: Run[] = []
  for (;;) {
    const kept = Object.fromEntries(tried.map((run) => [run, trials[run]]))
    const known: Tally = { ...counts, ...tally, findings, trials: { tree: counts.tree ?? '', ...kept } }
    const loop: Loop = { id, spec, next, tally: known }
    const found = appraise(loop)
    if (found.kind === 'graded') return { verdict: found.grade, tried }
    if (found.kind !== 'prove') return { verdict: found.kind, tried }
    expect(tried).not.toContain(found.next.run)
    tried.push(found.next.run)
  }
}

const RANKS: Record<Verdict, number> = { verified: 5, tested: 4, kept: 3, altered: 2, together: 2, bent: 1, claimed: 0 }

const hasPassed = ({ trials }: World, run: Run, check: string) =>
  trials[run].ran.some((ran) => ran.check === check && ran.result === 'pass')
const hasFailed = (world: World, run: Run, check: string) =>
  hasPassed(world, 'control', check) &&
  world.trials[run].ran.some((ran) => ran.check === check && /fail|broken/.test(ran.result))
const isExcused = ({ findings }: World) => findings.some(({ kind }) => kind === 'may-change')
const isTouched = ({ findings }: World) => findings.some(({ kind }) => /^(tests|means)-/.test(kind))
const isBlind = ({ findings, tally }: World) =>
  findings.some(
    ({ kind, path }) =>
      /^(runner-changed|not-separable|unreadable)$/.test(kind) && !tally.allowed?.some((one) => one.path === path),
  )

function always(holds: (world: World, judged: Judged) => void): void {
  fc.assert(
    fc.property(anyWorld, (world) => holds(world, judge(world))),
    { numRuns: 3_000 },
  )
}

describe('whatever is known of a loop', () => {
  test('verified means that a check was red before, or that the command is the task', () => {
    always((world, { verdict, tried }) => {
      if (verdict !== 'verified') return
      const { spec, tally } = world
      const wasRed = CHECKS.some((check) => {
        if (tally.flaky?.includes(check)) return false
        const before = tally.before?.find((ran) => ran.check === check)?.result
        if (before === 'pass' || before === 'fail') return before === 'fail'
        return tried.includes('start') && hasFailed(world, 'start', check)
      })
      expect(spec.until || wasRed).toBe(true)
    })
  })

  test('without a clear view of the means of proof, nothing better than altered is possible', () => {
    always((world, { verdict }) => {
      if (isBlind(world)) expect(RANKS[verdict]).toBeLessThanOrEqual(RANKS.altered)
    })
  })

  test('for changed means that were not sealed, nothing better than altered is possible', () => {
    always((world, { verdict, tried }) => {
      if (!isTouched(world) || RANKS[verdict] <= RANKS.altered) return
      expect(tried).toContain('sealed')
      for (const check of CHECKS) expect(hasPassed(world, 'sealed', check)).toBe(true)
    })
  })

  test('verified means that what --may-change allows fails without the work, for every check that was red', () => {
    always((world, { verdict, tried }) => {
      if (!isExcused(world) || verdict !== 'verified') return
      expect(tried).toContain('reversed')
      for (const check of CHECKS)
        if (
          !world.tally.flaky?.includes(check) &&
          world.tally.before?.some((ran) => ran.check === check && ran.result === 'fail')
        )
          expect(hasFailed(world, 'reversed', check)).toBe(true)
    })
  })

  test('what --may-change allows is never refused or questioned', () => {
    always((world, { verdict }) => {
      if (!isTouched(world)) expect(['bent', 'together']).not.toContain(verdict)
    })
  })

  test('with changed means, verified requires that the start fails in the same place, or as many tests ran', () => {
    always((world, { verdict, tried }) => {
      if (!isTouched(world) || verdict !== 'verified') return
      for (const { check, result, tests } of world.tally.before ?? []) {
        if (result !== 'fail' || world.tally.flaky?.includes(check)) continue
        const sealed = world.trials.sealed.ran.find((ran) => ran.check === check)?.tests ?? 0
        if (tests !== undefined && sealed > 0 && sealed >= tests) continue
        expect(tried).toContain('start')
        expect(world.trials.start.ran.some((ran) => ran.check === check && /fail|broken/.test(ran.result))).toBe(true)
      }
    })
  })

  test('tested means that tests of this loop fail without its work and pass with it', () => {
    always((world, { verdict, tried }) => {
      if (verdict !== 'tested') return
      expect(tried).toContain('reversed')
      expect(CHECKS.some((check) => hasFailed(world, 'reversed', check))).toBe(true)
      expect(world.findings.some(({ kind }) => kind === 'tests-added' || kind === 'tests-changed')).toBe(true)
    })
  })

  test('a bent check is always refused, unless it passed before', () => {
    always((world, { verdict }) => {
      const passed = (name: string) =>
        world.tally.before?.some(({ check, result }) => check === name && result === 'pass')
      const isBent = CHECKS.some(
        (check) => hasFailed(world, 'sealed', check) && hasPassed(world, 'reversed', check) && !passed(check),
      )
      if (isBent && isTouched(world) && world.spec.proof !== 'off') expect(verdict).toBe('bent')
      else expect(verdict).not.toBe('bent')
    })
  })

  test('another finding never improves the grade, except that new tests may be worth more than none', () => {
    fc.assert(
      fc.property(anyWorld, anyFinding, (world, finding) => {
        const before = judge(world).verdict
        const after = judge({ ...world, findings: [...world.findings, finding] }).verdict
        const isNewTest = finding.kind === 'tests-added' || finding.kind === 'tests-changed'
        if (isNewTest && before === 'kept' && after === 'tested') return
        expect(RANKS[after]).toBeLessThanOrEqual(RANKS[before])
      }),
      { numRuns: 5_000 },
    )
  })

  test('an experiment that cannot run never improves the grade', () => {
    fc.assert(
      fc.property(anyWorld, fc.constantFrom<Run[]>('start', 'sealed', 'reversed', 'control'), (world, run) => {
        const before = judge(world).verdict
        const after = judge({ ...world, trials: { ...world.trials, [run]: { ran: [], why: 'no room' } } }).verdict
        // What might be bent is at best altered; only what is known to be bent is refused.
        expect(RANKS[after]).toBeLessThanOrEqual(Math.max(RANKS[before], RANKS.altered))
      }),
      { numRuns: 5_000 },
    )
  })

  test('no experiment runs that cannot change the verdict', () => {
    const others: Trial[] = [
      { ran: ranOf(['fail', 'fail']) },
      { ran: ranOf(['pass', 'pass']) },
      { ran: [], why: 'no room' },
    ]
    always((world, { verdict, tried }) => {
      const { spec, trials } = world
      if (spec.proof === 'off') expect(tried).toEqual([])
      if (isExcused(world)) return // the baseline of one check comes first, and another may decide
      if (!tried.includes('start') || (spec.proof !== 'seal' && RANKS[verdict] > RANKS.altered)) return
      const verdicts = others.map((start) => judge({ ...world, trials: { ...trials, start } }).verdict)
      expect(new Set([verdict, ...verdicts]).size).toBeGreaterThan(1)
    })
  })
})
