import { expect, test } from 'vitest'
import { type Fact, type Loop, type Run, type Spec, startLoop, type Verdict } from '../../engine/loop.ts'
import { step } from '../../engine/step.ts'
import {
  checked,
  checkedByTests,
  checks,
  claims,
  cooling,
  crashes,
  type Happening,
  idles,
  isLimitedUntil,
  loopAfter,
  lost,
  MINUTE,
  START,
  specOf,
  times,
  unchecked,
  works,
} from '../../engine/stories.test-support.ts'
import { openScreen } from './screen.test-support.ts'
import { bypassLine, doingOf, type Found, openJsonView, openView, type View } from './view.ts'

const NONE: Found = { suggestion: undefined, checkpoints: { none: 'this is not a git repository' } }

/** Feeds a whole story to a view, as a driver does. */
function watch(view: View, spec: Spec, ...story: Happening[]): Loop {
  const work = { ...spec.work, agent: 'command:agent' }
  let loop: Loop = { ...loopAfter({ ...spec, work }), id: 'a1' }
  view.begin(loop, NONE)
  for (const happening of story) {
    if (loop.next.kind === 'turn') view.show({ kind: 'turn-start' }, loop)
    if (loop.next.kind === 'check') view.show({ kind: 'check-start' }, loop)
    const fact: Fact = typeof happening === 'function' ? happening(loop) : happening
    loop = step(loop, fact)
    view.saw(loop, fact)
  }
  view.end(loop)
  return loop
}

test('a loop is shown line by line: the start, each iteration, the result', () => {
  const { context, printed } = openScreen()
  watch(
    openView(context.out, context.now),
    checkedByTests,
    works,
    claims('clear'),
    checks('fail', 2),
    claims('clear'),
    checks('pass'),
  )
  expect(printed()).toMatchInlineSnapshot(`
    "ralph loop a1 · agent command:agent · up to 10 iterations
    check: npm test
    No checkpoints: this is not a git repository, so nothing can be rolled back.
      1 ·  worked: Step 1.1 is taken.  0:00
      2 ✗  claimed done; refused: npm test fails (2 failures)  0:00
      3 ✓  claimed done; verified: npm test passes  0:00
    ✓ complete, proof: verified, after 3 iterations. \`npm test\` failed before the loop began and passes now.
      Details: ralph show a1
    "
  `)
})

/** A loop from its first fact, as `ralph run` shows it. */
function shown(spec: Spec, ...story: Happening[]): string[] {
  const { context, lines } = openScreen()
  const view = openView(context.out, context.now)
  const work = { ...spec.work, agent: 'command:agent' }
  let loop = startLoop('a1', { ...spec, work }, { at: START, tree: 'tree 0' })
  view.begin(loop, NONE)
  for (const happening of story) {
    const fact: Fact = typeof happening === 'function' ? happening(loop) : happening
    loop = step(loop, fact)
    view.saw(loop, fact)
  }
  view.end(loop)
  return lines().slice(3)
}

test.each<[said: Verdict[], lines: string[]]>([
  [[{ check: 'npm test', result: 'fail', failures: 2, tail: '' }], ['before: npm test fails (2 failures)']],
  [
    [{ check: 'npm test', result: 'pass', tail: '' }],
    ['before: npm test passes, so it can only show that nothing broke'],
  ],
  [[{ check: 'npm test', result: 'broken', tail: '' }], ['before: npm test cannot be started yet']],
  [[{ check: 'npm test', result: 'timeout', tail: '' }], ['before: no result for npm test (stopped after 10 minutes)']],
  [[], ['before: no result for npm test (stopped after 10 minutes)']],
])('the baseline is one line per check: %j', (verdicts, lines) => {
  expect(shown(checkedByTests, checked(verdicts)).slice(0, -2)).toEqual(lines)
})

test('an --until command that already passes ends the loop without an iteration', () => {
  expect(shown(specOf({ checks: ['npm test'], until: true }), checks('pass'))).toEqual([
    '✓ complete, proof: verified. `npm test` already passes, so there was nothing to do. To check other work with it, use --verify.',
    '  Details: ralph show a1',
  ])
})

const trial = (run: Run, result: Verdict['result']): Fact => ({
  at: START,
  kind: 'proved',
  run,
  ran: [{ check: 'npm test', result }],
})
const passesWithChangedTests = checked(
  [{ check: 'npm test', result: 'pass', tail: '' }],
  [{ kind: 'tests-changed', path: 'test/a.test.js', words: 'was changed' }],
)

test('each experiment is one line, and a bent check refuses the claim', () => {
  const bend = [trial('sealed', 'fail'), trial('control', 'pass'), trial('reversed', 'pass')]
  const story = [checks('fail'), claims('clear'), passesWithChangedTests, ...bend]
  expect(shown(checkedByTests, ...story).slice(1)).toEqual([
    '    ·  sealed: npm test fails with the original tests',
    '    ·  control: npm test passes in a clean copy',
    "    ·  reversed: npm test passes without the agent's work",
    '  1 ✗  claimed done; refused: only its changes to test/a.test.js make npm test pass  0:00',
    '… running after 1 iteration in ..',
    '  ! changed tests: test/a.test.js',
    '  Watch it: ralph show a1 --follow',
  ])
})

test('the agent is asked once about tests and work that changed together', () => {
  const together = [trial('sealed', 'fail'), trial('control', 'pass'), trial('reversed', 'fail')]
  const story = [checks('fail'), claims('clear'), passesWithChangedTests, ...together]
  expect(shown(checkedByTests, ...story)[4]).toBe(
    '  1 ✗  claimed done; asked whether its changes to test/a.test.js are needed  0:00',
  )
})

test('a proof that is weaker than required refuses the claim', () => {
  const spec = specOf({ checks: ['npm test'], require: 'verified' })
  expect(shown(spec, checks('pass'), claims('clear'), checks('pass'))[1]).toBe(
    '  1 ✗  claimed done; refused: its proof is weaker than "verified"  0:00',
  )
})

test('a missing check is mentioned at the start and at the end', () => {
  const { context, printed } = openScreen()
  watch(openView(context.out, context.now), unchecked, claims('clear'))
  expect(printed()).toMatchInlineSnapshot(`
    "ralph loop a1 · agent command:agent · up to 10 iterations
    No check: nothing proves the agent's claim. Add one with --verify "npm test".
    No checkpoints: this is not a git repository, so nothing can be rolled back.
      1 ✓  claimed done; there is no check  0:00
    ✓ complete, proof: claimed, after 1 iteration. There is no check, so the agent is taken at its word.
      Next time: --verify "npm test"
    "
  `)
})

test('a turn that does not count has no number', () => {
  const { context, lines } = openScreen()
  watch(openView(context.out, context.now), unchecked, crashes('Boom'), lost)
  expect(lines().slice(3, 5)).toEqual([
    '    !  failed: Boom  0:00',
    '    ·  this attempt was interrupted; its iteration is not counted',
  ])
})

test('a wait shows how long it takes and how to try now', () => {
  const { context, printed } = openScreen()
  watch(openView(context.out, context.now), unchecked, isLimitedUntil(6))
  expect(printed()).toMatch(
    / {4}… {2}waiting until .* \(6:00\) for the agent's limit to reset; to try now: ralph resume a1/,
  )
})

test('an open breaker shows why, when the next try is, and how to try now', () => {
  const { context, printed } = openScreen()
  watch(openView(context.out, context.now), cooling(), ...times(3, idles))
  expect(printed()).toMatch(
    / {4}… {2}3 iterations in a row changed nothing\. The breaker is open; one more try at .* \(30:00\); to try now: ralph resume a1/,
  )
})

test.each<[what: string, spec: Spec, story: Happening[], fields: object]>([
  ['a cooldown', cooling(), times(3, idles), { waits_for: 'cooldown', waits_until: '2026-01-05T09:30:00.000Z' }],
  ['a limit', unchecked, [isLimitedUntil(6)], { waits_for: 'limit', waits_until: '2026-01-05T09:06:00.000Z' }],
])('the JSON of %s has a time', (_, spec, story, fields) => {
  const { context, lines } = openScreen()
  watch(openJsonView(context.out), spec, ...story)
  expect(JSON.parse(lines().at(-1) ?? '')).toMatchObject({
    type: 'loop-end',
    status: 'waiting',
    reason: null,
    ...fields,
  })
})

test('a note is printed once', () => {
  const { context, lines } = openScreen()
  const view = openView(context.out, context.now)
  for (const text of ['mind the gap', 'mind the gap']) view.show({ kind: 'note', text }, loopAfter(unchecked))
  expect(lines()).toEqual(['    !  mind the gap'])
})

test('in a terminal, one live line shows what the agent does, cut to fit, and disappears at the end', () => {
  const { context, printed } = openScreen({ columns: 60, now: () => START + 2 * MINUTE })
  const view = openView(context.out, context.now)
  const loop = { ...loopAfter(specOf({}, { iterations: 10 }), works), id: 'a1' }
  view.show({ kind: 'agent', event: { kind: 'tool', name: 'Bash', summary: 'npm test '.repeat(20) } }, loop)
  const shown = printed().split('\r\u001b[2K').at(-1) ?? ''
  expect(shown).toMatch(/^⠋ iteration 2\/10 · 2:00 · Bash: npm test .*…$/)
  expect(shown.length).toBeLessThanOrEqual(60)
  view.end(loop)
  expect(printed()).toContain('\r\u001b[2K… running')
})

test('a program gets one JSON object per line', () => {
  const { context, lines } = openScreen()
  watch(openJsonView(context.out), checkedByTests, claims('clear'), checks('pass'))
  const told = lines().map((line) => JSON.parse(line))
  expect(told.map(({ type }) => type)).toEqual([
    'loop-start',
    'iteration-start',
    'iteration-end',
    'check-start',
    'check-end',
    'loop-end',
  ])
  expect(told[0]).toMatchObject({ loop_id: 'a1', checkpoints: false, checks: ['npm test'] })
  expect(told.at(-1)).toMatchObject({ status: 'completed', proof: 'verified', reason: null, iterations: 1 })
})

test.each<[agents: string[], permissions: 'bypass' | 'ask', says: RegExp | undefined]>([
  [
    ['claude'],
    'bypass',
    /^permissions: bypassed with --dangerously-skip-permissions; use --permissions ask to restrict the agent$/,
  ],
  [['claude', 'claude'], 'bypass', /^permissions: bypassed with --dangerously-skip-permissions; /],
  [['claude'], 'ask', undefined],
  [['command:true'], 'bypass', undefined],
])('%j with permissions %s', (agents, permissions, says) => {
  if (says) expect(bypassLine(agents, permissions)).toMatch(says)
  else expect(bypassLine(agents, permissions)).toBeUndefined()
})

test.each([
  [{ kind: 'tool', name: 'Edit', summary: 'a.ts' } as const, 'Edit: a.ts'],
  [{ kind: 'text', text: 'Hm.' } as const, 'Hm.'],
  [{ kind: 'retry', why: '529' } as const, 'the agent retries: 529'],
])('%j is what the agent does', (event, doing) => {
  expect(doingOf(event)).toBe(doing)
})
