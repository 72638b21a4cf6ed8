import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Fact, type Loop, type Order, startLoop } from './loop.ts'
import { step } from './step.ts'
import { faultOfBeginning, faultOfFact, faultOfLoop, faultOfNext, readFact, readOrder } from './stored.ts'
import {
  cancel,
  checkedByTests,
  claims,
  everyNext,
  loopAfter,
  pause,
  resume,
  START,
  say,
  setLimits,
  specOf,
  unchecked,
  wantsPerson,
  works,
} from './stories.test-support.ts'

const ORDERS: Order[] = [
  { kind: 'cancel' },
  { kind: 'cancel', rejected: true }, // as an older version stored it
  { kind: 'cancel', rejected: {} },
  { kind: 'cancel', rejected: { why: 'No.' } },
  { kind: 'pause' },
  { kind: 'pause', why: 'The disk is full.' },
  { kind: 'resume' },
  { kind: 'say', words: '' },
  { kind: 'say', words: '\0\ud800"', comments: [1, 2] },
  { kind: 'limits', limits: {} },
  {
    kind: 'limits',
    limits: {
      iterations: 0,
      ceiling: 4,
      minutes: 0.5,
      tokens: 1,
      costUsd: 0.01,
      noProgress: 1,
      sameError: 1,
      cooldownMinutes: 0,
    },
  },
  { kind: 'edit' },
  { kind: 'edit', prompt: 'Other.', promise: '', signals: [] },
  { kind: 'done' },
  { kind: 'out-of-time' },
  { kind: 'rested', since: START },
  { kind: 'allow', paths: [] },
  { kind: 'allow', paths: ['a.test.ts'] },
  { kind: 'dropped', why: 'it is not JSON' },
]

test.each(ORDERS)('an order is read as it was given: %j', (order) => {
  expect(readOrder(JSON.stringify(order))).toEqual(order)
})

test.each<[json: string, why: string]>([
  ['{"kind":"edit","checks":["true"]}', '"checks" is an unknown field'],
  ['{"kind":"edit","until":false}', '"until" is an unknown field'],
  ['{"kind":"edit","work":{"dir":"/"}}', '"work" is an unknown field'],
  ['{"kind":"edit","__proto__":{"checks":[]}}', '"__proto__" is an unknown field'],
  ['{"kind":"edit","signals":["a",1]}', '"signals[1]" is not a string'],
  ['{"kind":"say"}', '"words" is missing'],
  ['{"kind":"say","words":null}', '"words" is not a string'],
  ['{"kind":"say","words":"x","by":"ralph"}', '"by" is an unknown field'],
  ['{"kind":"say","words":"x","comments":[null]}', '"comments[0]" is not a number of 0 or more'],
  ['{"kind":"limits","limits":{"iterations":-1}}', '"limits.iterations" is not a number of 0 or more'],
  ['{"kind":"limits","limits":{"iterations":null}}', '"limits.iterations" is not a number of 0 or more'],
  ['{"kind":"limits","limits":{"iterations":1e999}}', '"limits.iterations" is not a number of 0 or more'],
  ['{"kind":"limits","limits":{"turns":3}}', '"limits.turns" is an unknown field'],
  ['{"kind":"limits"}', '"limits" is missing'],
  ['{"kind":"cancel","rejected":{"why":1}}', '"rejected.why" is not a string'],
  ['{"kind":"allow"}', '"paths" is missing'],
  ['{"kind":"allow","paths":"a"}', '"paths" is not a list'],
  ['{"kind":"complete","proof":"verified"}', '"kind" is unknown'],
  ['{"kind":"constructor"}', '"kind" is unknown'],
  ['{"kind":["cancel"]}', '"kind" is unknown'],
  ['{}', '"kind" is unknown'],
  ['[]', 'it is not an object'],
  ['null', 'it is not an object'],
  ['"cancel"', 'it is not an object'],
  ['{"kind":"cancel"', 'it is not JSON'],
  ['', 'it is not JSON'],
  [`{"kind":"resume","${'x'.repeat(99)}":1}`, `"${'x'.repeat(59)}…" is an unknown field`],
])('%s is dropped, because %s', (json, why) => {
  expect(readOrder(json)).toEqual({ kind: 'dropped', why })
})

test('an order that was dropped moves nothing, wherever the loop is', () => {
  for (const facts of Object.values(everyNext)) {
    const loop = loopAfter(checkedByTests, ...facts)
    const fact: Fact = { kind: 'told', at: START, by: 'you', order: { kind: 'dropped', why: 'it is not JSON' } }
    expect(step(loop, fact)).toBe(loop)
  }
})

test('whatever is written there, reading it gives an order', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (json) => {
      expect(typeof readOrder(json).kind).toBe('string')
    }),
  )
})

describe('what ralph itself stores', () => {
  const told = [works, say('Go.'), setLimits({ iterations: 3 }), wantsPerson(), pause, resume, claims('clear'), cancel]

  test('is read as it is: every loop', () => {
    const loops: Loop[] = Object.values(everyNext).map((facts) => loopAfter(checkedByTests, ...facts))
    loops.push(loopAfter(unchecked, ...told), startLoop('q', specOf(), { at: START, queued: true }))
    for (const loop of loops) {
      const stored = JSON.parse(JSON.stringify(loop)) as Loop
      expect(faultOfLoop(stored)).toBe('')
      expect(faultOfNext(stored.next)).toBe('')
      const { id: _, ...whole } = stored
      expect(faultOfFact({ kind: 'adopted', at: START, loop: whole })).toBe('')
      expect(faultOfFact({ kind: 'asked', at: START, spec: stored.spec })).toBe('')
      expect(faultOfBeginning({ spec: stored.spec, at: START })).toBe('')
    }
  })

  test('is read as it is: every fact of a story', () => {
    let loop = startLoop('L1', checkedByTests, { at: START, tree: 'tree 0' })
    for (const happening of [...told, ...Object.values(everyNext).flat()]) {
      const fact = typeof happening === 'function' ? happening(loop) : happening
      const stored = JSON.parse(JSON.stringify(fact)) as Fact
      expect(faultOfFact(stored)).toBe('')
      expect(readFact(stored)).toEqual(stored)
      loop = step(loop, fact)
    }
  })
})

const { spec, tally, next } = loopAfter(checkedByTests, works)

test.each<[story: string, fact: object, fault: string]>([
  ['another kind', { kind: 'completed', at: 1 }, '"kind" is unknown'],
  ['no time', { kind: 'woke' }, '"at" is missing'],
  [
    'a spec with an extra field',
    { kind: 'asked', at: 1, spec: { ...spec, check: 'x' } },
    '"spec.check" is an unknown field',
  ],
  [
    'a spec with a missing field',
    { kind: 'asked', at: 1, spec: { ...spec, checks: undefined } },
    '"spec.checks" is not a list',
  ],
  [
    'work with an extra field',
    { kind: 'asked', at: 1, spec: { ...spec, work: { ...spec.work, sandbox: true, root: '/' } } },
    '"spec.work.root" is an unknown field',
  ],
  [
    'a place with an extra field',
    { kind: 'moved', at: 1, to: { dir: '/a', agent: 'b' } },
    '"to.agent" is an unknown field',
  ],
  [
    'a history with an extra field',
    {
      kind: 'adopted',
      at: 1,
      loop: { spec, tally, next: { kind: 'complete', proof: 'verified', sentence: '', by: 'me' } },
    },
    '"loop.next.by" is an unknown field',
  ],
  ['a turn without its claim', { kind: 'turned', at: 1, turn: { end: 'ok' } }, '"turn.claim" is missing'],
])('a fact with %s is not replayed', (_, fact, fault) => {
  expect(faultOfFact(fact)).toBe(fault)
})

test('extra fields of older or newer versions are accepted if they decide nothing', () => {
  const turn = { end: 'ok', claim: { kind: 'none' }, words: '', ranTests: false, tokens: 0, mood: 'good' }
  expect(faultOfFact({ kind: 'turned', at: 1, turn })).toBe('')
  expect(faultOfLoop({ spec, tally: { ...tally, findings: ['a sentence'], mood: 1 } as never, next })).toBe('')
})

test("an owner's own fields are not validated", () => {
  const owner = { kind: 'vault', path: '/vault', others: [1], any: { thing: true } }
  expect(faultOfFact({ kind: 'moved', at: 1, to: { dir: '/a', owner, faces: [] } })).toBe('')
  expect(faultOfFact({ kind: 'moved', at: 1, to: { dir: '/a', owner: { ...owner, kind: 'me' } } })).toContain(
    'owner.kind',
  )
})

test('a loop that continues on another machine has a worktree there', () => {
  const worktree = { from: '/m', path: '/a', branch: 'ralph/a', commit: 'c0' }
  expect(faultOfFact({ kind: 'moved', at: 1, to: { dir: '/a', gitDir: '/m/.git', worktree } })).toBe('')
  expect(faultOfFact({ kind: 'moved', at: 1, to: { dir: '/a', worktree: { ...worktree, path: 1 } } })).toContain('path')
})

test('an unreadable order is replayed as dropped', () => {
  const fact = { kind: 'told', at: 1, by: 'you', order: { kind: 'edit', checks: ['true'] } } as unknown as Fact
  expect(faultOfFact(fact)).toBe('')
  expect(readFact(fact)).toMatchObject({ order: { kind: 'dropped', why: '"checks" is an unknown field' } })
})
