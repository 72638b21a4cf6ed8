import { describe, expect, test } from 'vitest'
import { type Loop, startLoop } from '../engine/loop.ts'
import { cancel, claims, loopAfter, MINUTE, START, specOf, works } from '../engine/stories.test-support.ts'
import type { CrewAgent, PaneRecord } from './crew.ts'
import type { PaneFacts } from './pane-facts.ts'
import { standing } from './standing.ts'

const agent: CrewAgent = {
  ...{ name: 'api', number: 2, agent: 'claude', dir: '/p', worktree: false, permissions: 'ask' },
  ...{ args: [], checks: [], config: {}, enabled: true },
}
const UP: PaneFacts = { up: true, dir: '/p' }
const BEGUN = startLoop('a1', specOf(), { at: START, tree: 't' })
const stalled = { mark: { loop: 'a1', iteration: 1, attempt: 1 }, text: 'x', at: 1, times: 2, stalled: true } as const

type Known = Partial<PaneRecord>

const standingOf = (facts: PaneFacts, loop?: Loop, known: Known = {}, typing = false) => {
  const { state, words, until } = standing({ agent, facts, ...known }, loop, { typing })
  return `${state}${until === undefined ? '' : ` until ${until}`}: ${words}`
}

/** A loop that asks for this next. */
const asking = (next: Loop['next']): Loop => ({ ...BEGUN, next })
const waiting = (why: 'limit' | 'overload' | 'person' | 'paused', more: object = {}) =>
  asking({ kind: 'wait', why, ...more })

describe('without a task', () => {
  test.each<[story: string, facts: PaneFacts, known: Known, stands: string]>([
    ['it is up', UP, {}, 'READY: '],
    ['it is starting', { dir: '/p' }, {}, 'READY: Starting up.'],
    [
      'it has a worktree per task',
      {},
      { agent: { ...agent, worktree: true } },
      'READY: It will start with its next task.',
    ],
    [
      'it has ended',
      { dir: '/p', ended: { code: 1 } },
      {},
      'READY: It has exited and will restart with its next task.',
    ],
    ['the user works with it', { ...UP, at: { kind: 'theirs' } }, {}, 'WORKING: Working on what you typed.'],
    ['it got its task once', { ...UP, at: { kind: 'ours', mark: stalled.mark } }, {}, 'WORKING: Working on its task.'],
    ['it asks', { ...UP, asks: 'May I\nrun rm?' }, {}, 'BLOCKED: It asks: May I run rm?'],
    ['its task cannot start', UP, { paused: { trouble: 'No money' } }, 'NEEDS YOU: No money.'],
    [
      'its task did not arrive',
      { ...UP, sent: { ...stalled, mark: { ...stalled.mark, loop: '' } } },
      {},
      'STALLED: Its prompt did not arrive. Look at it with "attach 2", then resend it with "retry 2".',
    ],
  ])('%s', (_, facts, known, stands) => {
    expect(standingOf(facts, undefined, known)).toBe(stands)
  })
})

describe('with a loop', () => {
  const trip = { reason: 'no-progress', sentence: '3 iterations changed nothing.' } as const
  test.each<[story: string, loop: Loop, known: Known, stands: string]>([
    ['it begins', BEGUN, {}, 'WORKING: Starting task'],
    ['it has worked', loopAfter(specOf(), works), {}, 'WORKING: Step 1.1 is taken.'],
    [
      'checks run',
      asking({ kind: 'check', checks: ['npm test', 'npm run lint'], because: 'claim' }),
      {},
      'WORKING: Running checks: npm test, npm run lint',
    ],
    [
      'an experiment runs',
      asking({ kind: 'prove', run: 'sealed', checks: [], allowed: [], ms: 1 }),
      {},
      'WORKING: Testing the proof.',
    ],
    ['its limit is reached', waiting('limit', { until: 7 }), {}, 'WAITING until 7: Rate limit reached.'],
    ['its service is overloaded', waiting('overload', { until: 7 }), {}, 'WAITING until 7: The service is overloaded.'],
    ['with no known end', waiting('limit'), {}, 'NEEDS YOU: It is paused. Continue with "resume 2".'],
    ['it asks', waiting('person', { question: 'Which\ndatabase?' }), {}, 'NEEDS YOU: It asks: Which database?'],
    [
      'the breaker is open',
      asking({ kind: 'wait', why: 'cooldown', since: 1, until: 7, stop: trip }),
      {},
      'STUCK until 7: The breaker is open: 3 iterations changed nothing. Retry now with "resume 2".',
    ],
    ['the user paused it', waiting('paused'), {}, 'NEEDS YOU: It is paused. Continue with "resume 2".'],
    [
      'the user typed',
      waiting('paused'),
      { paused: 'typed' },
      'NEEDS YOU: You typed in its pane. Continue with "resume 2".',
    ],
    [
      'its pane was closed',
      waiting('paused'),
      { paused: 'closed' },
      'NEEDS YOU: Its pane was closed. Continue with "resume 2".',
    ],
    [
      'it was interrupted',
      waiting('paused'),
      { paused: 'stopped' },
      'NEEDS YOU: It was interrupted. Continue with "resume 2".',
    ],
    [
      'it could not be started',
      waiting('paused'),
      { paused: { trouble: 'claude was not\nfound' } },
      'NEEDS YOU: claude was not found. Continue with "resume 2".',
    ],
  ])('%s', (_, loop, known, stands) => {
    expect(standingOf(UP, loop, known)).toBe(stands)
  })

  test('typing holds it up, but a question or a lost prompt comes first', () => {
    const typing = (facts: PaneFacts) => standingOf(facts, BEGUN, {}, true)
    expect(typing(UP)).toBe('NEEDS YOU: Somebody is typing in its pane. It continues when the input line is empty.')
    expect(typing({ ...UP, asks: 'Trust?' })).toBe('BLOCKED: It asks: Trust?')
    expect(typing({ ...UP, sent: stalled })).toMatch(/^STALLED: /)
  })
})

describe('after its loop', () => {
  const done = loopAfter(specOf(), claims('clear'), claims('clear'))
  const halted = asking({ kind: 'halt', reason: 'max-iterations', sentence: 'Reached the limit of 10 iterations.' })

  test.each<[story: string, loop: Loop, known: Known, stands: RegExp]>([
    ['it is done', done, {}, /^DONE: claimed\. ./],
    ['it halted', halted, {}, /^STUCK: max-iterations: Reached the limit of 10 iterations\.$/],
    ['it was cancelled', loopAfter(specOf(), works, cancel), {}, /^READY: $/],
    ['the user has seen that it is done', done, { seen: true }, /^READY: $/],
    ['the user has seen that it halted', halted, { seen: true }, /^READY: $/],
  ])('%s', (_, loop, known, stands) => {
    expect(standingOf(UP, loop, known)).toMatch(stands)
  })

  test("the user's own work comes before the news of its task", () => {
    expect(standingOf({ ...UP, at: { kind: 'theirs' } }, done)).toBe('WORKING: Working on what you typed.')
  })

  test('a prompt that never arrived no longer matters', () => {
    expect(standingOf({ ...UP, sent: stalled }, { ...done, id: 'a1' })).toMatch(/^DONE: /)
  })
})

test('a wait ends when it ends', () => {
  expect(standing({ agent, facts: UP }, waiting('limit', { until: START + MINUTE })).until).toBe(START + MINUTE)
})
