import { expect, test } from 'vitest'
import { type Fact, type Finding, startLoop } from '../engine/loop.ts'
import { step } from '../engine/step.ts'
import { specOf } from '../engine/stories.test-support.ts'
import { refusalsOf } from './refusals.ts'

const TURN = { end: 'ok', claim: { kind: 'clear' }, words: 'It is done.', ranTests: false, tokens: 0 } as const
const FINDINGS: Finding[] = [{ kind: 'tests-changed', path: 'a.test.ts', words: 'was changed' }]

const checked = (result: 'pass' | 'fail', tree: string): Fact => ({
  at: 0,
  kind: 'checked',
  verdicts: [{ check: 'npm test', result, tail: '' }],
  findings: result === 'pass' ? FINDINGS : [],
  tree,
})
const proved = (run: 'sealed' | 'control' | 'reversed', result: 'pass' | 'fail'): Fact => ({
  at: 0,
  kind: 'proved',
  run,
  ran: [{ check: 'npm test', result }],
})
const turned: Fact = { at: 0, kind: 'turned', turn: { ...TURN, tree: 'tree 1' } }

/** The second claim is refused by what the experiments on the same files said before. */
const BENT_TWICE: Fact[] = [
  checked('fail', 'tree 0'),
  turned,
  checked('pass', 'tree 1'),
  proved('sealed', 'fail'),
  proved('control', 'pass'),
  proved('reversed', 'pass'),
  turned,
  checked('pass', 'tree 1'),
]

test('every refused claim is listed with its reason, even one that needed no new experiment', () => {
  let loop = startLoop('k3f', specOf({ checks: ['npm test'] }), { at: 0, tree: 'tree 0' })
  const events = BENT_TWICE.map((fact) => {
    loop = step(loop, fact)
    return { fact, next: loop.next }
  })
  expect(loop.next.kind).toBe('wait')
  const refusals = refusalsOf(loop)
  for (const event of events) refusals.see(event)
  const words = 'refused: only its changes to a.test.ts make npm test pass'
  expect([0, 1, 2, 3].map((iteration) => refusals.of(iteration))).toEqual([undefined, words, words, undefined])
})
