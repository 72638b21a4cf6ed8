import { expect, test } from 'vitest'
import type { Fact, Loop, Spec } from '../../engine/loop.ts'
import { step } from '../../engine/step.ts'
import {
  checkedByTests,
  checks,
  claims,
  crashes,
  type Happening,
  isLimitedUntil,
  loopAfter,
  lost,
  MINUTE,
  START,
  specOf,
  unchecked,
  works,
} from '../../engine/stories.test-support.ts'
import { openScreen } from './screen.test-support.ts'
import { bypassLine, doingOf, type Found, openJsonView, openView, type View } from './view.ts'

const NONE: Found = { suggestion: undefined, checkpoints: { none: 'this is not a git repository' } }

/** Shows a whole story to a view, as a driver does. */
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

test('a loop is told line by line: where it stands, each iteration, the end', () => {
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
      2 ✗  said it is done; refused: npm test fails (2 failures)  0:00
      3 ✓  said it is done; proven: npm test passes  0:00
    ✓ complete, proof: verified, after 3 iterations.
      Its story: ralph show a1
    "
  `)
})

test('what nothing checks is said before it begins and after it has ended', () => {
  const { context, printed } = openScreen()
  watch(openView(context.out, context.now), unchecked, claims('clear'))
  expect(printed()).toMatchInlineSnapshot(`
    "ralph loop a1 · agent command:agent · up to 10 iterations
    No check: the agent is taken at its word. --verify "npm test" would prove it.
    No checkpoints: this is not a git repository, so nothing can be rolled back.
      1 ✓  said it is done; nothing to check it with  0:00
    ✓ complete, proof: claimed, after 1 iteration. Nothing checked the agent's word.
      Next time: --verify "npm test"
    "
  `)
})

test('what costs no iteration has no number', () => {
  const { context, lines } = openScreen()
  watch(openView(context.out, context.now), unchecked, crashes('Boom'), lost)
  expect(lines().slice(3, 5)).toEqual([
    '    !  failed: Boom  0:00',
    '    ·  this attempt was interrupted; its iteration is not counted',
  ])
})

test('a wait tells how long, and how to try at once', () => {
  const { context, printed } = openScreen()
  watch(openView(context.out, context.now), unchecked, isLimitedUntil(6))
  expect(printed()).toMatch(
    / {4}… {2}waiting until .* \(6:00\) for the agent's limit to reset; ralph resume a1 tries at once/,
  )
})

test('a note is told once', () => {
  const { context, lines } = openScreen()
  const view = openView(context.out, context.now)
  for (const text of ['mind the gap', 'mind the gap']) view.show({ kind: 'note', text }, loopAfter(unchecked))
  expect(lines()).toEqual(['    !  mind the gap'])
})

test('in a terminal one line moves: what the agent does, cut to fit, and is gone at the end', () => {
  const { context, printed } = openScreen({ columns: 60, now: () => START + 2 * MINUTE })
  const view = openView(context.out, context.now)
  const loop = { ...loopAfter(specOf({}, { iterations: 10 }), works), id: 'a1' }
  view.show({ kind: 'agent', event: { kind: 'tool', name: 'Bash', summary: 'npm test '.repeat(20) } }, loop)
  const shown = printed().split('\r\u001b[2K').at(-1) ?? ''
  expect(shown).toMatch(/^⠋ iteration 2\/10 · 2:00 · Bash: npm test .*…$/)
  expect(shown.length).toBeLessThanOrEqual(60)
  view.end(loop)
  expect(printed()).toContain('\r\u001b[2K… under way')
})

test('a program gets one object a line', () => {
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
  [['claude'], 'bypass', /^permissions: bypassed with --dangerously-skip-permissions; --permissions ask replaces it$/],
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
