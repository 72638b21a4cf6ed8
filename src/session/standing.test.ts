import { describe, expect, test } from 'vitest'
import { atCap } from '../engine/limits.ts'
import { ALLOW, type Loop } from '../engine/loop.ts'
import {
  at,
  cancel,
  checkedByTests,
  checks,
  claims,
  cooling,
  idles,
  isLimited,
  loopAfter,
  pause,
  specOf,
  times,
  unchecked,
  wantsPerson,
  works,
} from '../engine/stories.test-support.ts'
import { allowance, HOSTS, type HostName } from './hosts.ts'
import { capNote, checkWords, findingNotes, standing } from './standing.ts'

const { claude, codex } = HOSTS

describe('the state of a loop', () => {
  test.each<[loop: Loop, level: string, text: string]>([
    [loopAfter(unchecked), 'info', 'ralph: iteration 1 of 10'],
    [loopAfter(specOf({}, { iterations: 0 }), works), 'info', 'ralph: iteration 2'],
    [
      loopAfter(checkedByTests, claims('clear'), checks('pass')),
      'info',
      'ralph: done after 1 iteration, proof: verified. `npm test` failed before the loop began and passes now.',
    ],
    [
      loopAfter(unchecked, works, claims('clear')),
      'warning',
      "ralph: done after 2 iterations, on the agent's word alone",
    ],
    [loopAfter(unchecked, cancel), 'info', 'ralph: cancelled after 0 iterations. Cancelled by Ada.'],
    [loopAfter(specOf({}, { iterations: 1 }), works), 'warning', 'ralph: stopped after 1 iteration (max-iterations).'],
    [loopAfter(unchecked, wantsPerson('Tabs?')), 'warning', 'the agent asks: Tabs? Answer here'],
    [
      loopAfter(unchecked, isLimited),
      'info',
      'ralph: waiting for the agent after 0 iterations; /ralph:resume retries now. You hit your limit.',
    ],
    [
      loopAfter(cooling(), ...times(3, idles)),
      'warning',
      'ralph: 3 iterations in a row changed nothing. The breaker is open after 3 iterations and waits before one more try; /ralph:resume retries now.',
    ],
    [
      loopAfter(unchecked, works, pause),
      'info',
      'Resume here with /ralph:resume, or without a session with `ralph resume L1`',
    ],
    [loopAfter(checkedByTests, claims('clear')), 'warning', '/ralph:resume runs them again'],
  ])('%#', (loop, level, text) => {
    expect(standing(loop, claude)).toEqual({ level, text: expect.stringContaining(text) })
  })

  test("is shown with this host's commands", () => {
    expect(standing(loopAfter(unchecked, pause), codex).text).toContain('$ralph-resume')
  })
})

test('check results are shown in words', () => {
  const verdict = (check: string, result: 'pass' | 'fail' | 'broken' | 'timeout') => ({ check, result, tail: '' })
  const all = [verdict('a', 'pass'), verdict('b', 'fail'), verdict('c', 'broken'), verdict('d', 'timeout')]
  const loop = loopAfter(checkedByTests)
  expect(checkWords(all, loop, loop.tally)).toBe('b fails, c cannot be started, d timed out')
  expect(checkWords([verdict('a', 'pass')], loop, loop.tally)).toBe('a passes')
})

test('a refused claim says what failed, in one line', () => {
  const { tally, ...loop } = loopAfter(checkedByTests, claims('clear'))
  const verdicts = [
    { check: 'npm test', result: 'fail' as const, failures: 1, tail: 'not ok 1 - one.txt is missing\n# fail 1\n' },
  ]
  expect(checkWords(verdicts, { ...loop, tally }, tally)).toBe('refused: npm test fails: not ok 1 - one.txt is missing')
})

test('a claim refused because of bent checks says what the user can type', () => {
  const loop = loopAfter(checkedByTests, claims('clear'), checks('fail'))
  const findings = [{ kind: 'tests-changed' as const, path: 'a.test.js', words: 'was changed' }]
  const refused = { ...loop, tally: { ...loop.tally, findings, bent: 1 } }
  const words = checkWords([{ check: 'npm test', result: 'pass', tail: '' }], refused, loop.tally)
  expect(words).toContain('npm test passes · refused: only its changes to a.test.js make the checks pass.')
  expect(words).toContain('`ralph allow L1` in a terminal')
  const noticed = [{ level: 'warning', text: 'ralph noticed: changed tests: a.test.js' }]
  expect(findingNotes(refused, loop.tally)).toEqual(noticed)
  expect(findingNotes(refused, refused.tally)).toEqual([])
  const over = loopAfter(checkedByTests, claims('clear'), checks('pass'))
  expect(findingNotes({ ...over, tally: refused.tally }, refused.tally)).toEqual(noticed)
})

test('a loop that waits because its checks were bent says how to accept that', () => {
  const next = { kind: 'wait', why: 'person', question: 'Only a.test.js makes them pass.', about: ALLOW } as const
  expect(standing({ ...loopAfter(unchecked), next }, claude).text).toBe(
    'ralph: Only a.test.js makes them pass. Allow it: ralph allow L1 in a terminal. Or answer here: the agent gets your answer and the loop continues.',
  )
})

describe('the cap of a host', () => {
  const grown = (turns: number) => loopAfter(specOf({}, { iterations: 0 }), ...times(turns, works))

  test.each<[host: HostName, turns: number, env: Record<string, string>, since: number, notes: number]>([
    ['claude', 7, {}, 0, 0],
    ['claude', 8, {}, 0, 1],
    ['claude', 9, {}, 0, 0],
    ['claude', 8, {}, 3, 0],
    ['claude', 11, {}, 3, 1],
    ['claude', 3, { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '3' }, 0, 1],
    ['claude', 8, { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '3' }, 0, 0],
    ['claude', 8, { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '0' }, 0, 0],
    ['claude', 8, { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '' }, 0, 1],
    ['claude', 8, { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '-1' }, 0, 1],
    ['qwen', 7, { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '3' }, 0, 1],
    ['qwen', 11, { QWEN_CODE_STOP_HOOK_BLOCK_CAP: '12' }, 0, 1],
    ['qwen', 7, { QWEN_CODE_STOP_HOOK_BLOCK_CAP: '0' }, 0, 0],
    ['copilot', 8, { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '0' }, 0, 1],
    ['codex', 8, {}, 0, 0],
    ['droid', 8, {}, 0, 0],
    ['gemini', 8, {}, 0, 0],
  ])('%s after %i turns with %j, counted from %i', (host, turns, env, since, expected) => {
    expect(atCap(grown(turns), since, allowance(HOSTS[host], env))).toBe(expected === 1)
  })

  test('says what can be done about it', () => {
    expect(capNote(grown(8), claude, {}).text).toContain('CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0 lifts it')
    expect(capNote(grown(8), HOSTS.copilot, {}).text).toMatch(
      /Copilot lets a hook keep it going 8 times in a row, and this is the last one/,
    )
  })
})

test('a wait that has ended is still shown as a wait', () => {
  expect(standing(loopAfter(unchecked, at(1, isLimited)), claude).text).toContain('waiting for the agent')
})
