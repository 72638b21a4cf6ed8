import { expect, test } from 'vitest'
import { type Fact, type Loop, type Spec, startLoop } from '../engine/loop.ts'
import { step } from '../engine/step.ts'
import { restFacts } from './moving.ts'
import type { VaultTask } from './vault-task.ts'

const START = Date.UTC(2026, 0, 15, 10)
const HOUR = 3_600_000

const loopOf = (by: VaultTask['by']): Loop => {
  const owner: VaultTask = {
    kind: 'vault',
    path: '/vault',
    id: 'a',
    file: 'a.md',
    from: 'Needs_Action/a.md',
    done: 'Done',
    state: 'Ralph_State',
    by,
  }
  const spec: Spec = {
    prompt: 'x',
    promise: '',
    signals: [],
    checks: ['true'],
    until: false,
    stages: [],
    limits: { iterations: 10, minutes: 30, noProgress: 3, sameError: 5 },
    work: {
      dir: '/vault',
      agent: 'claude',
      agentArgs: [],
      permissions: 'bypass',
      context: 'fresh',
      silenceMinutes: 10,
      checkMinutes: 10,
      owner,
    },
  }
  return startLoop('l', spec, { at: START })
}

const movedAt = (at: number) => ({ movedAt: at })

const claims: Fact = {
  kind: 'turned',
  at: START + 60_000,
  turn: { end: 'ok', claim: { kind: 'clear' }, words: '', ranTests: false, tokens: 0 },
}

test.each<[what: string, loop: Loop]>([
  ['in a turn', loopOf('watch')],
  ['in its checks', step(loopOf('watch'), claims)],
])('the clock of a task that was left %s was stopped', (_, loop) => {
  const now = START + 10 * HOUR
  const after = restFacts(loop, movedAt(START + 120_000), now).reduce(step, loop)
  expect(after.next.kind).toBe(loop.next.kind)
  expect(after.tally.restedMs).toBe(now - START - 120_000)
})

test('it is one fact: a kill cannot leave it paused', () => {
  expect(restFacts(loopOf('watch'), movedAt(START), START + HOUR)).toHaveLength(1)
})

test('that of a caller was not: the caller was there', () => {
  expect(restFacts(loopOf('caller'), movedAt(START), START + HOUR)).toEqual([])
})
