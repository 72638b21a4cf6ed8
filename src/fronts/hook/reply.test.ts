import { describe, expect, test } from 'vitest'
import type { Loop } from '../../engine/loop.ts'
import {
  cancel,
  claims,
  loopAfter,
  pause,
  specOf,
  threeTurns,
  unchecked,
  wantsPerson,
  works,
} from '../../engine/stories.test-support.ts'
import { NOTHING, say } from '../../session/answer.ts'
import { HOSTS, type HostName } from '../../session/hosts.ts'
import type { From } from './payload.ts'
import { neutral, printStop } from './reply.ts'

function fromHost(host: HostName, shim = false): From {
  return { host, shim, during: 'stop', session: 's', dir: '/p' }
}

const answerTo = (host: HostName, answer: Parameters<typeof printStop>[0]) => {
  const { out } = printStop(answer, fromHost(host))
  return out === undefined ? undefined : (JSON.parse(out) as unknown)
}

const hosts = Object.keys(HOSTS) as HostName[]
const said = { show: [{ level: 'info', text: 'iteration 2' }] } as const
const another = { prompt: 'Go on.\n', show: [...said.show] }

describe('the answer to a turn that ended', () => {
  test.each(hosts)('nothing lets %s stop', (host) => {
    expect(answerTo(host, NOTHING)).toBeUndefined()
  })

  test.each(hosts.filter((host) => host !== 'cursor' && host !== 'droid'))('another turn in %s', (host) => {
    expect(answerTo(host, another)).toEqual({ decision: 'block', reason: 'Go on.\n', systemMessage: 'iteration 2' })
  })

  test('Droid shows what a hook prints: notes, and the prompt of the next turn once', () => {
    expect(answerTo('droid', another)).toEqual({
      decision: 'block',
      reason: 'iteration 2\n\nGo on.\n',
      suppressOutput: true,
    })
    expect(printStop({ show: [...said.show] }, fromHost('droid'))).toEqual({ out: 'iteration 2' })
  })

  test('another turn in Cursor', () => {
    expect(answerTo('cursor', another)).toEqual({ followup_message: 'Go on.\n' })
  })

  test('another turn in a Claude Code that takes it as feedback, unless it would be truncated', () => {
    const from = { ...fromHost('claude'), feedback: true } as const
    expect(JSON.parse(printStop(another, from).out ?? '')).toEqual({
      hookSpecificOutput: { hookEventName: 'Stop', additionalContext: 'Go on.\n' },
      systemMessage: 'iteration 2',
    })
    const long = { ...another, prompt: 'x'.repeat(10_001) }
    expect(JSON.parse(printStop(long, from).out ?? '')).toMatchObject({ decision: 'block', reason: long.prompt })
  })

  test('only Gemini is told to forget', () => {
    const fresh = { ...another, fresh: true }
    expect(answerTo('gemini', fresh)).toMatchObject({
      hookSpecificOutput: { hookEventName: 'AfterAgent', clearContext: true },
    })
    for (const host of hosts.filter((name) => name !== 'gemini'))
      expect(answerTo(host, fresh)).not.toHaveProperty('hookSpecificOutput')
  })

  test('notes for the user alone', () => {
    expect(answerTo('claude', { show: [...say('one').show, ...say('two').show] })).toEqual({
      systemMessage: 'one\ntwo',
    })
    expect(answerTo('cursor', say('one'))).toBeUndefined()
  })
})

describe('the answer to a shim', () => {
  const facts = (loop: Loop) => ({
    loop: 'L1',
    cost_usd: 0,
    tokens: 0,
    show: [],
    max_iterations: loop.spec.limits.iterations,
  })

  test('without a loop', () => {
    expect(JSON.parse(printStop(NOTHING, fromHost('pi', true)).out ?? '')).toEqual({
      next: 'none',
      status: 'none',
      show: [],
    })
  })

  test('with a turn', () => {
    const loop = loopAfter(threeTurns, works)
    expect(neutral({ loop, prompt: 'Go on.', context: 'same', verdicts: [], show: [] })).toEqual({
      ...facts(loop),
      next: 'turn',
      prompt: 'Go on.',
      fresh: false,
      context: 'same',
      checks: [],
      status: 'running',
      iteration: 2,
      promise: 'COMPLETE',
    })
  })

  test('with a wait', () => {
    expect(neutral({ loop: loopAfter(unchecked, works), waitMs: 5, show: [] })).toMatchObject({
      next: 'wait',
      wait_ms: 5,
    })
  })

  test.each<[what: string, loop: Loop, answer: object]>([
    ['paused', loopAfter(threeTurns, works, pause), { status: 'paused', iteration: 1 }],
    ['asking', loopAfter(threeTurns, wantsPerson()), { status: 'needs-input', iteration: 1 }],
    ['done', loopAfter(threeTurns, claims('clear')), { status: 'completed', iteration: 1, proof: 'claimed' }],
    [
      'cancelled',
      loopAfter(threeTurns, cancel),
      { status: 'cancelled', reason: 'cancelled', sentence: 'Cancelled by Ada.' },
    ],
    [
      'used up',
      loopAfter(threeTurns, works, works, works),
      { status: 'halted', reason: 'max-iterations', iteration: 3 },
    ],
    ['without a limit', loopAfter(specOf({ promise: '' }, { iterations: 0 }), pause), { max_iterations: 0 }],
  ])('with a loop that is %s', (_, loop, answer) => {
    expect(neutral({ loop, show: [] })).toMatchObject({ next: 'none', ...answer })
    if (!loop.spec.promise) expect(neutral({ loop, show: [] })).not.toHaveProperty('promise')
  })

  test('with the check results, and no more', () => {
    const verdicts = [{ check: 'npm test', result: 'fail', tail: 'secret', failures: 2 }] as const
    expect(neutral({ verdicts, show: [] })).toMatchObject({ checks: [{ check: 'npm test', result: 'fail' }] })
    expect(JSON.stringify(neutral({ verdicts, show: [] }))).not.toContain('secret')
  })
})

test('what a host shows the user contains no terminal escapes; what it gives the agent is unchanged', () => {
  const answer = {
    prompt: 'Fix \u001b[31mthis',
    show: [{ level: 'info' as const, text: 'said \u001b]0;x\u0007\u202e✓' }],
  }
  const { out = '' } = printStop(answer, { host: 'claude', session: 's', during: 'stop', shim: false } as never)
  expect(JSON.parse(out)).toMatchObject({ reason: 'Fix \u001b[31mthis', systemMessage: 'said ✓' })
  const shim = printStop(answer, { host: 'claude', session: 's', during: 'stop', shim: true } as never)
  expect(JSON.parse(shim.out ?? '')).toMatchObject({ show: [{ level: 'info', text: 'said ✓' }] })
})
