import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { breakerState, oneLine } from './breaker.ts'
import { readAsk, readClaim, withoutEcho } from './claim.ts'
import { errorFingerprint } from './fingerprint.ts'
import { graphProblem, readyTasks } from './graph.ts'
import {
  ended,
  type Fact,
  type Finding,
  type Limits,
  type Loop,
  type Run,
  type Spec,
  startLoop,
  type Turn,
  type Verdict,
} from './loop.ts'
import { allChecks } from './stages.ts'
import { step } from './step.ts'
import { MINUTE, nameOf, START, specOf } from './stories.test-support.ts'

/** Any number that could come from a broken clock, a broken agent, or arithmetic on one. */
const anyNumber = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, -0, 0, Number.MAX_VALUE, START),
)

const oddities = [
  '',
  ' ',
  '\0',
  '\ud800',
  '__proto__',
  '<promise>',
  '<promise>COMPLETE</promise>',
  '```',
  '.*',
  '$&',
  'é\r\n',
]
const anyText = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.constantFrom(...oddities, 'x'.repeat(3_000)))
const anyCheck = fc.constantFrom('npm test', 'npm run lint', 'make', '')
const anyStage = fc.constantFrom('TESTS', 'LINT', 'DOCS', 'toString')
const optionalNumber = fc.option(anyNumber, { nil: undefined })

/** Drops undefined values, as the types require. */
function defined<Value extends object>(value: Value): { [Key in keyof Value]: Exclude<Value[Key], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as never
}

const anyTurnFields = {
  end: fc.constantFrom('ok', 'ok', 'ok', 'limited', 'overloaded', 'unusable', 'context-full', 'failed'),
  claim: fc
    .record({
      kind: fc.constantFrom('none', 'weak', 'clear'),
      stage: fc.option(anyStage, { nil: undefined }),
    })
    .map(defined),
  words: anyText,
  ask: fc.option(fc.record({ kind: fc.constantFrom('question', 'person', 'permission'), words: anyText }), {
    nil: undefined,
  }),
  error: fc.option(anyText, { nil: undefined }),
  tree: fc.option(fc.constantFrom('a', 'b', 'c', 'd'), { nil: undefined }),
  ranTests: fc.boolean(),
  tokens: anyNumber,
  costUsd: optionalNumber,
  resetsAt: optionalNumber,
}
const anyTurn = fc.record(anyTurnFields).map(defined) as fc.Arbitrary<Turn>

const anyVerdicts = fc.array(
  fc
    .record({
      check: anyCheck,
      result: fc.constantFrom('pass', 'pass', 'fail', 'timeout', 'broken'),
      failures: optionalNumber,
      tail: anyText,
    })
    .map(defined),
  { maxLength: 4 },
)

const anyLimits = fc
  .record({
    iterations: fc.option(anyNumber, { nil: undefined }),
    ceiling: optionalNumber,
    minutes: optionalNumber,
    tokens: optionalNumber,
    costUsd: optionalNumber,
    noProgress: optionalNumber,
    sameError: optionalNumber,
    cooldownMinutes: optionalNumber,
  })
  .map(defined)

const anyOrder = fc.oneof(
  fc.record({ kind: fc.constantFrom('cancel', 'pause', 'resume', 'done', 'out-of-time') }),
  fc.record({ kind: fc.constant('rested'), since: fc.integer({ min: 0, max: START }) }),
  fc.record({ kind: fc.constant('say'), words: anyText }),
  fc.record({ kind: fc.constant('limits'), limits: anyLimits }),
  fc.record({ kind: fc.constant('allow'), paths: fc.subarray(['a.test.ts', 'package.json', '']) }),
)

const anyRun = fc.constantFrom('start', 'sealed', 'reversed', 'control')
const anyFinding: fc.Arbitrary<Finding> = fc.record({
  kind: fc.constantFrom('tests-changed', 'tests-added', 'means-changed', 'unreadable', 'not-separable', 'inherited'),
  path: fc.constantFrom('a.test.ts', 'package.json'),
  words: fc.constant('was changed'),
})

const anyFact = fc.oneof(
  { weight: 4, arbitrary: fc.record({ at: anyNumber, kind: fc.constant('turned'), turn: anyTurn }) },
  {
    weight: 3,
    arbitrary: fc.record({
      at: anyNumber,
      kind: fc.constant('checked'),
      verdicts: anyVerdicts,
      findings: fc.array(anyFinding, { maxLength: 2 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({
        at: anyNumber,
        kind: fc.constant('proved'),
        run: anyRun,
        ran: anyVerdicts,
        why: fc.option(anyText, { nil: undefined }),
        ms: optionalNumber,
      })
      .map(defined),
  },
  { weight: 2, arbitrary: fc.record({ at: anyNumber, kind: fc.constant('woke') }) },
  {
    weight: 1,
    arbitrary: fc
      .record({ at: anyNumber, kind: fc.constant('restored'), trouble: fc.option(anyText, { nil: undefined }) })
      .map(defined),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ at: anyNumber, kind: fc.constant('lost'), tokens: optionalNumber, costUsd: optionalNumber })
      .map(defined),
  },
  { weight: 2, arbitrary: fc.record({ at: anyNumber, kind: fc.constant('told'), by: anyText, order: anyOrder }) },
) as fc.Arbitrary<Fact>

const anySpec: fc.Arbitrary<Spec> = fc
  .record({
    promise: fc.constantFrom('COMPLETE', '', '.*'),
    checks: fc.uniqueArray(anyCheck, { maxLength: 2 }),
    until: fc.boolean(),
    stages: fc.uniqueArray(fc.record({ name: anyStage, check: fc.option(anyCheck, { nil: undefined }) }).map(defined), {
      maxLength: 3,
      selector: ({ name }) => name,
    }),
    onHalt: fc.option(fc.constantFrom('best', 'restore'), { nil: undefined }),
    proof: fc.option(fc.constantFrom('off', 'seal'), { nil: undefined }),
    require: fc.option(fc.constantFrom('verified', 'tested', 'kept'), { nil: undefined }),
    iterations: fc.integer({ min: 1, max: 4 }),
    ceiling: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
    minutes: fc.option(fc.integer({ min: 1, max: 600 }), { nil: undefined }),
    tokens: fc.option(fc.integer({ min: 1, max: 1_000 }), { nil: undefined }),
    noProgress: fc.integer({ min: 1, max: 4 }),
    sameError: fc.integer({ min: 1, max: 6 }),
    cooldownMinutes: fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined }),
  })
  .map(({ promise, checks, until, stages, onHalt, proof, require, ...limits }) =>
    specOf(
      defined({ promise, checks, until, stages, onHalt, proof, require }) as Partial<Spec>,
      defined(limits) as Partial<Limits>,
    ),
  )

const anyLoop = fc
  .record({ spec: anySpec, tree: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }) })
  .map(({ spec, tree }) => startLoop('L1', spec, { at: START, ...(tree === undefined ? {} : { tree }) }))

/** An answer to whatever the loop asks for: its checks run, its waits end, a person answers. */
const anyAnswer = fc.record({
  turn: anyTurn,
  result: fc.constantFrom<Verdict['result']>('pass', 'fail', 'fail', 'timeout'),
  failures: fc.integer({ min: 1, max: 9 }),
  findings: fc.array(anyFinding, { maxLength: 2 }),
  lost: fc.boolean(),
  minutes: fc.integer({ min: 0, max: 20 }),
})
type Answer = typeof anyAnswer extends fc.Arbitrary<infer Value> ? Value : never

function answer(loop: Loop, { turn, result, failures, findings = [], lost, minutes }: Answer, before: number): Fact {
  const at = before + minutes * MINUTE
  switch (loop.next.kind) {
    case 'turn':
      return lost && turn.end === 'failed' ? { at, kind: 'lost' } : { at, kind: 'turned', turn }
    case 'check': {
      const verdicts = loop.next.checks.map((check) => ({ check, result, failures, tail: `${failures}` }))
      return { at, kind: 'checked', verdicts, findings }
    }
    case 'prove':
      return {
        at,
        kind: 'proved',
        run: loop.next.run,
        ran: loop.next.checks.map((check) => ({ check, result: (failures % 2 === 0) === lost ? 'pass' : result })),
      }
    case 'wait':
      if (loop.next.until !== undefined) return { at: loop.next.until, kind: 'woke' }
      if (loop.next.about === 'allow' && minutes > 10)
        return { at, kind: 'told', by: 'Ada', order: { kind: 'allow', paths: [] } }
      return { at, kind: 'told', by: 'Ada', order: lost ? { kind: 'say', words: 'Go on.' } : { kind: 'resume' } }
    case 'restore':
      return { at, kind: 'restored' }
    default:
      return { at, kind: 'woke' }
  }
}

/** Every loop on the way, including the first. */
function fold(start: Loop, facts: Iterable<Fact>): Loop[] {
  const loops = [start]
  for (const fact of facts) loops.push(step(loops.at(-1) ?? start, fact))
  return loops
}

function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null)
    for (const field of Object.values(Object.freeze(value))) freeze(field)
  return value
}

describe('whatever happens', () => {
  const anyStory = fc.array(anyFact, { maxLength: 25 })

  test('step does not throw and does not modify its input', () => {
    fc.assert(
      fc.property(anyLoop, anyStory, (start, facts) => {
        let loop = freeze(start)
        for (const fact of facts) {
          const copy = structuredClone({ loop, fact })
          const next = step(loop, freeze(fact))
          expect({ loop, fact }).toEqual(copy)
          loop = freeze(next)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('step is deterministic', () => {
    fc.assert(
      fc.property(anyLoop, anyStory, (start, facts) => {
        expect(fold(structuredClone(start), structuredClone(facts))).toEqual(fold(start, facts))
      }),
    )
  })

  test('a loop that was stored and loaded continues as if it had not been', () => {
    fc.assert(
      fc.property(anyLoop, fc.array(anyAnswer, { maxLength: 20 }), (start, answers) => {
        let kept = start
        let stored = start
        for (const given of answers) {
          const fact = answer(kept, given, START)
          kept = step(kept, fact)
          stored = JSON.parse(JSON.stringify(step(stored, fact))) as Loop
          expect(stored).toEqual(JSON.parse(JSON.stringify(kept)))
        }
      }),
    )
  })

  test('an ended loop never changes, and has one reason and a sentence', () => {
    fc.assert(
      fc.property(anyLoop, anyStory, (start, facts) => {
        const loops = fold(start, facts)
        const end = loops.find(ended)
        if (!end) return
        expect(loops.at(-1)).toBe(end)
        if (end.next.kind === 'halt') {
          expect(end.next.reason).toMatch(/^[a-z-]+$/)
          expect(end.next.sentence.trim()).not.toBe('')
          expect(Object.keys(end.next).sort()).toEqual(['kind', 'reason', 'sentence'])
        } else expect(nameOf(end.next)).toMatch(/^complete (verified|tested|kept|altered|claimed)$/)
      }),
      { numRuns: 500 },
    )
  })

  test('only a turn that could work is an iteration', () => {
    fc.assert(
      fc.property(anyLoop, anyStory, (start, facts) => {
        const loops = fold(start, facts)
        for (const [at, fact] of facts.entries()) {
          const [before, after] = [loops[at] ?? start, loops[at + 1] ?? start]
          const worked = fact.kind === 'turned' && /ok|context-full/.test(fact.turn.end) && before.next.kind === 'turn'
          expect(after.tally.iteration - before.tally.iteration).toBe(worked ? 1 : 0)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('no loop is proven unless all its checks passed in the last fact', () => {
    fc.assert(
      fc.property(anyLoop, anyStory, (start, facts) => {
        const loops = fold(start, facts)
        const end = loops.findIndex(ended)
        expectSound(loops[end] ?? start)
        const { spec, next } = loops[end] ?? start
        if (next.kind !== 'complete') return
        const asked = [...spec.checks, ...spec.stages.flatMap(({ check }) => check ?? [])]
        expect(next.proof === 'claimed').toBe(asked.length === 0)
        expect(next.sentence).toMatch(/[.!?]$/)
        const last = facts.slice(0, end).findLast((fact) => fact.kind === 'checked')
        const passed = (last?.kind === 'checked' ? last.verdicts : []).filter(({ result }) => result === 'pass')
        for (const check of asked) expect(passed.map((verdict) => verdict.check)).toContain(check)
      }),
      { numRuns: 500 },
    )
  })
})

/** What the engine remembers is enough for the grade it gave. */
function expectSound({ spec, tally, next }: Loop): void {
  if (next.kind !== 'complete') return
  const { trials, allowed = [], findings } = tally
  const open = findings.filter(({ path, mark }) => !allowed.some((one) => one.path === path && one.mark === mark))
  const ran = (run: Run, check: string) => trials?.[run]?.ran.find((one) => one.check === check)?.result
  const fails = (run: Run, check: string) =>
    /fail|broken/.test(ran(run, check) ?? '') && ran('control', check) === 'pass'
  const checks = allChecks(spec)
  const wasRed = (check: string) =>
    !tally.flaky?.includes(check) &&
    (tally.before?.some((one) => one.check === check && one.result === 'fail') || fails('start', check))
  const isTouched = findings.some(({ kind }) => /^(tests|means)-/.test(kind))
  if (next.proof === 'verified') expect(spec.until || checks.some(wasRed)).toBe(true)
  if (next.proof === 'tested') expect(checks.some((check) => fails('reversed', check))).toBe(true)
  if (next.proof === 'altered' || next.proof === 'claimed') return
  expect(open.map(({ kind }) => kind)).not.toContain('unreadable')
  expect(open.map(({ kind }) => kind)).not.toContain('not-separable')
  if (!isTouched) return
  expect(trials?.tree).toBe(tally.tree ?? '')
  for (const check of checks) expect(ran('sealed', check)).toBe('pass')
}

describe('a loop that gets answers', () => {
  const steps = 4_000

  function playOut(start: Loop, answers: Iterable<Answer>): Loop[] {
    const loops = [start]
    let at = START
    for (const given of answers) {
      const loop = loops.at(-1) ?? start
      if (ended(loop) || loops.length > steps) break
      const fact = answer(loop, given, at)
      at = Math.max(at, fact.at)
      loops.push(step(loop, fact))
    }
    return loops
  }

  test('with a limit of iterations ends', () => {
    fc.assert(
      fc.property(anyLoop, fc.infiniteStream(anyAnswer), (start, answers) => {
        const loops = playOut(start, answers)
        expect(loops.length).toBeLessThanOrEqual(steps)
        expect(loops.at(-1)).toSatisfy(ended)
      }),
      { numRuns: 300 },
    )
  })

  test('completes with a grade it has earned', () => {
    fc.assert(
      fc.property(anyLoop, fc.infiniteStream(anyAnswer), (start, answers) => {
        expectSound(playOut(start, answers).at(-1) ?? start)
      }),
      { numRuns: 2_000 },
    )
  })

  test('never completes with a check that its own tests bend', () => {
    const bends = (loop: Loop, at: number): Fact => {
      if (loop.next.kind !== 'prove') return { at, kind: 'woke' }
      const result = loop.next.run === 'sealed' ? 'fail' : 'pass'
      const ran = loop.next.checks.map((check) => ({ check, result }) as const)
      return { at, kind: 'proved', run: loop.next.run, ran }
    }
    const bent: Finding = { kind: 'tests-changed', path: 'a.test.ts', words: 'was changed' }
    const checkedLoop = anyLoop.filter(
      ({ spec }) => spec.proof !== 'off' && (spec.checks.length > 0 || spec.stages.some(({ check }) => check)),
    )
    fc.assert(
      fc.property(checkedLoop, fc.array(anyAnswer, { maxLength: 60 }), (start, answers) => {
        let loop = step(start, answer(start, { ...(answers[0] as Answer), result: 'fail', findings: [] }, START))
        for (const given of answers) {
          const findings = [bent, ...given.findings]
          const fact = answer(loop, { ...given, findings, minutes: Math.min(given.minutes, 10) }, START)
          loop = step(loop, loop.next.kind === 'prove' ? bends(loop, START) : fact)
          expect(loop.next.kind).not.toBe('complete')
        }
      }),
      { numRuns: 300 },
    )
  })

  test('ends without one too if nothing changes and nothing new is said', () => {
    const still = anyAnswer.map((given) => {
      const { tree: _, ...turn } = given.turn
      return { ...given, result: 'fail', failures: 3, turn: { ...turn, words: 'As before.', claim: { kind: 'none' } } }
    }) as fc.Arbitrary<Answer>
    const sameTree = (given: Answer): Answer => ({ ...given, turn: { ...given.turn, tree: 'a' } })
    const nobodyAnswers = (loop: Loop) => ended(loop) || (loop.next.kind === 'wait' && loop.next.why === 'person')
    fc.assert(
      fc.property(anyLoop, fc.infiniteStream(still), fc.boolean(), (start, answers, seen) => {
        const spec = specOf(start.spec, { ...start.spec.limits, iterations: 0 })
        let loop = startLoop('L1', spec, { at: START, ...(seen ? { tree: 'a' } : {}) })
        let left = steps
        for (const given of answers) {
          if (nobodyAnswers(loop) || left-- === 0) break
          loop = step(loop, answer(loop, seen ? sameTree(given) : given, START))
        }
        expect(nobodyAnswers(loop)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  test('halts by the breaker only after its one retry, if it may cool down', () => {
    const reasons = ['agent-failed', 'same-error', 'test-only', 'no-progress']
    const cooling = anyLoop.map(({ spec, tally }) => {
      const limits = { ...spec.limits, iterations: 1_000, cooldownMinutes: 30 }
      const { minutes: _, tokens: __, ceiling: ___, ...endless } = limits
      return startLoop('L1', { ...spec, limits: endless }, { at: START, ...(tally.tree ? { tree: tally.tree } : {}) })
    })
    fc.assert(
      fc.property(cooling, fc.infiniteStream(anyAnswer), (start, answers) => {
        const loops = playOut(start, answers)
        const end = loops.at(-1) ?? start
        if (end.next.kind !== 'halt' || !reasons.includes(end.next.reason)) return
        const opened = loops.findLastIndex(({ next }) => next.kind === 'wait' && next.why === 'cooldown')
        expect(opened).toBeGreaterThan(0)
        const since = loops.slice(opened + 1).filter(({ next }) => next.kind === 'turn')
        expect(since.length).toBeGreaterThan(0)
        expect(since.every(({ tally }) => tally.retry)).toBe(true)
        expect(breakerState(end)).toBe('open')
      }),
      { numRuns: 300 },
    )
  })

  test('and whose checks fail is never completed, whatever is said', () => {
    const failing = anyAnswer.map((given) => ({
      ...given,
      result: given.result === 'pass' ? 'fail' : given.result,
    })) as fc.Arbitrary<Answer>
    const checkedLoop = anyLoop.filter(({ spec }) => spec.checks.length > 0 || spec.stages.some(({ check }) => check))
    fc.assert(
      fc.property(checkedLoop, fc.infiniteStream(failing), (start, answers) => {
        expect(playOut(start, answers).at(-1)?.next.kind).toBe('halt')
      }),
      { numRuns: 200 },
    )
  })

  test('and is done on its last allowed turn completes', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        fc.boolean(),
        fc.constantFrom('clear', 'none'),
        (last, checked, kind) => {
          fc.pre(checked || kind === 'clear')
          const spec = specOf(
            { checks: checked ? ['npm test'] : [] },
            { iterations: last, tokens: last, minutes: last },
          )
          let loop = startLoop('L1', spec, { at: START, tree: '0' })
          if (checked) loop = step(loop, answer(loop, { result: 'fail', minutes: 0 } as Answer, START))
          for (let n = 1; n <= last; n++) {
            const claim = { kind: n === last ? kind : ('none' as const) }
            const turn: Turn = { end: 'ok', claim, words: `${n}`, tree: `${n}`, ranTests: false, tokens: 1 }
            loop = step(loop, { at: START + n * MINUTE, kind: 'turned', turn })
          }
          if (checked) loop = step(loop, answer(loop, { result: 'pass', minutes: 99 } as Answer, START))
          expect(nameOf(loop.next)).toBe(checked ? 'complete verified' : 'complete claimed')
        },
      ),
    )
  })

  test('and is paused, rate-limited, crashed or lost in between ends the same way', () => {
    const worked = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 4, maxLength: 8 })
    const faults = fc.array(fc.constantFrom('pause', 'limit', 'overload', 'crash', 'loss', 'none'), {
      minLength: 8,
      maxLength: 8,
    })
    const fault = (loop: Loop, name: string, tree: string): Loop => {
      const failed = (end: Turn['end']): Fact => ({
        at: START,
        kind: 'turned',
        turn: { end, claim: { kind: 'none' }, words: end, tree, ranTests: false, tokens: 0 },
      })
      const told = (kind: 'pause' | 'resume'): Fact => ({ at: START, kind: 'told', by: 'Ada', order: { kind } })
      const woke: Fact = { at: START, kind: 'woke' }
      const facts: Record<string, Fact[]> = {
        pause: [told('pause'), told('resume')],
        limit: [failed('limited'), woke],
        overload: [failed('overloaded'), woke],
        crash: [failed('failed')],
        loss: [{ at: START, kind: 'lost' }],
      }
      return fold(loop, facts[name] ?? []).at(-1) ?? loop
    }
    fc.assert(
      fc.property(worked, faults, (trees, between) => {
        let smooth = startLoop('L1', specOf({}, { iterations: 5 }), { at: START, tree: 'a' })
        let rough = smooth
        for (const [at, tree] of trees.entries()) {
          const turn: Turn = { end: 'ok', claim: { kind: 'none' }, words: tree, tree, ranTests: false, tokens: 0 }
          const fact: Fact = { at: START, kind: 'turned', turn }
          rough = step(fault(rough, between[at] ?? 'none', rough.tally.tree ?? ''), fact)
          smooth = step(smooth, fact)
          expect(nameOf(rough.next)).toBe(nameOf(smooth.next))
        }
      }),
      { numRuns: 300 },
    )
  })

  test('remembers no more after hundreds of iterations than after a few', () => {
    const forever = { iterations: 0, noProgress: 1e9, sameError: 1e9 }
    const failure = { result: 'fail', failures: 1, findings: [], lost: true, minutes: 0 } satisfies Partial<Answer>
    const anyWork = fc
      .record({ ...anyTurnFields, end: fc.constantFrom('ok', 'context-full') })
      .map(defined) as fc.Arbitrary<Turn>
    fc.assert(
      fc.property(anySpec, fc.array(anyWork, { minLength: 1, maxLength: 4 }), (spec, turns) => {
        let loop = startLoop('L1', { ...spec, checks: ['npm test'], limits: forever }, { at: START, tree: 'a' })
        const sizes: number[] = []
        for (let n = 0; n < 400 && !ended(loop); n++) {
          const turn = { ...(turns[n % turns.length] as Turn), tokens: 1, ranTests: false }
          for (const end of ['limited', turn.end, turn.end] as const) {
            loop = step(loop, answer(loop, { ...failure, turn: { ...turn, end } }, START))
            sizes.push(JSON.stringify(loop.tally).length)
          }
        }
        expect(loop.tally.iteration).toBeGreaterThan(100)
        const most = (some: number[]) => some.reduce((size, other) => Math.max(size, other), 0)
        expect(most(sizes)).toBeLessThan(most(sizes.slice(0, 200)) + 50)
      }),
      { numRuns: 20 },
    )
  })
})

describe('any text', () => {
  const pieces = [
    '<promise>',
    '</promise>',
    'COMPLETE',
    '<ask>',
    '</ask>',
    '\n',
    '\r\n',
    '```',
    '> ',
    ' ',
    '. ',
    '?',
    ':',
    'not',
    '**',
    'TASK',
  ]
  const anyWords = fc.oneof(
    anyText,
    fc.array(fc.oneof(fc.constantFrom(...pieces), anyText), { maxLength: 30 }).map((all) => all.join('')),
  )
  const anyClaimable = fc.record({
    promise: anyText,
    signals: fc.array(anyText, { maxLength: 3 }),
    stages: fc.array(anyText, { maxLength: 3 }),
  })

  test('is read without a complaint', () => {
    fc.assert(
      fc.property(anyWords, anyWords, anyClaimable, (words, prompt, claimable) => {
        const claim = readClaim(words, claimable)
        if (claim.stage !== undefined) expect(claimable.stages).toContain(claim.stage)
        expect(['none', 'weak', 'clear']).toContain(claim.kind)
        expect(claim.form !== undefined).toBe(claim.kind === 'weak')
        expect(readClaim(`${words}\n`, claimable)).toEqual(claim)
        expect(readAsk(words)?.words).not.toBe('')
        expect(withoutEcho(words, prompt).length).toBeLessThanOrEqual(words.length)
        expect(errorFingerprint(words).length).toBeLessThanOrEqual(500)
        expect(oneLine(words).trim()).not.toBe('')
      }),
      { numRuns: 500 },
    )
  })

  test('claims a promise when it ends in its tag, whatever the promise', () => {
    const anyPromise = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((text) => /\S/.test(text) && !/[`~>]/.test(text))
    fc.assert(
      fc.property(anyPromise, (promise) => {
        const claimable = { promise, signals: [], stages: [] }
        expect(readClaim(`I fixed it.\n<promise>${promise}</promise>\n`, claimable).kind).toBe('clear')
        expect(readClaim(`I will not say <promise>${promise}</promise> yet.`, claimable).form).toBe('mentioned')
        expect(readClaim(`\`\`\`\n<promise>${promise}</promise>\n\`\`\``, claimable).form).toBe('stated')
      }),
    )
  })

  test('claims nothing without the promise, a signal or a phrase', () => {
    fc.assert(
      fc.property(anyWords, (words) => {
        const claimable = { promise: 'a promise nobody says', signals: ['A_SIGNAL_NOBODY_GIVES'], stages: [] }
        expect(readClaim(words, claimable)).toEqual({ kind: 'none' })
      }),
    )
  })

  test('is its own echo', () => {
    fc.assert(
      fc.property(anyWords, (words) => {
        expect(withoutEcho(words, words).trim()).toBe('')
        expect(withoutEcho(words, '')).toBe(words)
      }),
    )
  })
})

describe('any graph', () => {
  const anyTasks = fc.array(
    fc.record({
      id: fc.constantFrom('A', 'B', 'C', 'D', 'E'),
      dependsOn: fc.array(fc.constantFrom('A', 'B', 'C', 'D', 'E', 'X'), { maxLength: 3 }),
      status: fc.constantFrom('open', 'blocked', 'completed'),
    }),
    { maxLength: 6 },
  )

  test('that is sound can be completed, and one that is not names its problem', () => {
    fc.assert(
      fc.property(anyTasks, (tasks) => {
        const problem = graphProblem(tasks)
        let left = tasks.map((task) => ({ ...task, status: 'open' as 'open' | 'completed' }))
        for (let ready = readyTasks(left); ready.length > 0; ready = readyTasks(left)) {
          const ids = ready.map(({ id }) => id)
          left = left.map((task) => (ids.includes(task.id) ? { ...task, status: 'completed' } : task))
        }
        const stuck = left.some(({ status }) => status === 'open')
        if (problem === undefined) expect(stuck).toBe(false)
        if (stuck) expect(problem).toMatch(/task/)
      }),
      { numRuns: 500 },
    )
  })

  test('offers only what is open and waits for nothing', () => {
    fc.assert(
      fc.property(anyTasks, (tasks) => {
        const completed = tasks.filter(({ status }) => status === 'completed').map(({ id }) => id)
        for (const { status, dependsOn } of readyTasks(tasks)) {
          expect(status).toBe('open')
          for (const id of dependsOn) expect(completed).toContain(id)
        }
      }),
    )
  })
})
