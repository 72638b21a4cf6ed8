/** Grades over everything that may be known of a loop: what must hold for each, and what never makes one better. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Finding, FindingKind, Grade, Loop, Ran, Run, Spec, Tally, Trial } from './loop.ts'
import { appraise } from './proof.ts'
import { begunWith, specOf } from './stories.test-support.ts'

const CHECKS = ['unit', 'lint']
const anyResult = fc.constantFrom<Ran['result']>('pass', 'pass', 'fail', 'fail', 'broken', 'timeout')

function ranOf(results: readonly Ran['result'][]): Ran[] {
  return results.map((result, at) => ({ check: CHECKS[at] ?? '', result }))
}

const anyTrial: fc.Arbitrary<Trial> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(anyResult, { minLength: 2, maxLength: 2 }).map((results) => ({ ran: ranOf(results) })),
  },
  { weight: 1, arbitrary: fc.constant<Trial>({ ran: [], why: 'no room' }) },
)
const anyTrials: fc.Arbitrary<Record<Run, Trial>> = fc.record({
  start: anyTrial,
  sealed: anyTrial,
  reversed: anyTrial,
  control: anyTrial,
})

const KINDS: FindingKind[] = [
  'tests-changed',
  'tests-added',
  'tests-deleted',
  'tests-skipped',
  'means-changed',
  'means-added',
  'means-deleted',
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

/** All there is to know: what experiments would say, if they were run. */
type World = { spec: Spec; tally: Partial<Tally>; trials: Record<Run, Trial>; findings: Finding[] }

const anyWorld: fc.Arbitrary<World> = fc
  .record({
    proof: fc.constantFrom<('off' | 'seal' | undefined)[]>(undefined, undefined, 'seal', 'off'),
    until: fc.boolean(),
    before: fc.array(anyResult, { maxLength: 2 }),
    flaky: fc.subarray(CHECKS),
    allowed: fc.subarray(PATHS.slice(0, 2)),
    findings: fc.array(anyFinding, { maxLength: 3 }),
    trials: anyTrials,
  })
  .map(({ proof, until, before, flaky, allowed, findings, trials }) => ({
    spec: specOf({ checks: CHECKS, until, ...(proof ? { proof } : {}) }),
    tally: { before: ranOf(before), flaky, allowed: allowed.map((path) => ({ path, by: 'Ada' })) },
    findings,
    trials,
  }))

type Verdict = Grade | 'together' | 'bent'
type Judged = { verdict: Verdict; tried: Run[] }

/** Runs the experiments that are asked for, until there is a verdict. */
function judge({ spec, tally, trials, findings }: World): Judged {
  const { id, next, tally: counts } = begunWith(spec, 'pass')
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

  test('nothing better than altered is said without a clear sight of the means of proof', () => {
    always((world, { verdict }) => {
      if (isBlind(world)) expect(RANKS[verdict]).toBeLessThanOrEqual(RANKS.altered)
    })
  })

  test('nothing better than altered is said of touched means that were not sealed', () => {
    always((world, { verdict, tried }) => {
      if (!isTouched(world) || RANKS[verdict] <= RANKS.altered) return
      expect(tried).toContain('sealed')
      for (const check of CHECKS) expect(hasPassed(world, 'sealed', check)).toBe(true)
    })
  })

  test('tested means that tests of this loop fail without its work, where its work passes', () => {
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

  test('another finding never makes the grade better, except that new tests may be worth more than none', () => {
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

  test('an experiment that cannot be tried never makes the grade better', () => {
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

  test('no experiment is run that cannot change the verdict', () => {
    always(({ spec }, { verdict, tried }) => {
      if (spec.proof === 'off') expect(tried).toEqual([])
      if (spec.proof === 'seal') expect(tried).not.toContain('start')
      if (RANKS[verdict] <= RANKS.altered) expect(tried).not.toContain('start')
    })
  })
})
