import { describe, expect, test } from 'vitest'
import { type Fact, startLoop } from './loop.ts'
import { step } from './step.ts'
import {
  checked,
  checkedByTests,
  claims,
  type Happening,
  isLimited,
  loopAfter,
  START,
  say,
  unchecked,
  works,
} from './stories.test-support.ts'
import { upgradeLoop, upgradeStory } from './upgrade.ts'

describe('a loop that an older version stored', () => {
  const { id: _, ...loop } = startLoop('L1', unchecked, { at: START })
  const vault = { path: '/v', id: 'a', file: 'a.md', from: 'Needs_Action/a.md', done: 'Done', state: 'S', by: 'watch' }

  function stored(change: object): Parameters<typeof upgradeLoop>[0] {
    return { ...loop, ...change } as Parameters<typeof upgradeLoop>[0]
  }

  test('stays as it is if it is current', () => {
    const today = loopAfter(unchecked, works, isLimited, say('Hello.'))
    expect(upgradeLoop(today)).toEqual({ spec: today.spec, tally: today.tally, next: today.next })
  })

  test.each<[string, object, object]>([
    ['a vault', { vault }, { owner: { ...vault, kind: 'vault' }, faces: ['/v/S'] }],
    [
      'a project',
      { project: { name: 'shop', task: 'T1', folder: '/p/.artefacts/shop' } },
      { owner: { name: 'shop', task: 'T1', folder: '/p/.artefacts/shop', kind: 'project' }, faces: ['/p/.artefacts'] },
    ],
  ])('belongs to %s', (_, before, after) => {
    const { work } = loop.spec
    const upgraded = upgradeLoop(stored({ spec: { ...loop.spec, work: { ...work, ...before } } }))
    expect(upgraded.spec.work).toEqual({ ...work, ...after })
  })

  test('knows who said what', () => {
    const tally = { ...loop.tally, said: ['A person says: Use tabs.', 'Nobody is here.'] }
    expect(upgradeLoop(stored({ tally })).tally.said).toEqual([
      { by: 'person', words: 'Use tabs.' },
      { by: 'ralph', words: 'Nobody is here.' },
    ])
  })

  test.each([
    ['a.md waits in Pending_Approval for your approval.', 'approval'],
    ['a.md is in no folder of the vault any more.', 'gone'],
    ['Which one?', undefined],
  ])('waits for a person: %s', (question, about) => {
    const spec = { ...loop.spec, work: { ...loop.spec.work, vault } }
    const { next } = upgradeLoop(stored({ spec, next: { kind: 'wait', why: 'person', question } }))
    expect(next).toEqual({ kind: 'wait', why: 'person', question, ...(about ? { about } : {}) })
  })

  test.each([
    ['verified', 'All checks passed; an older version of ralph did not run them before the loop began.'],
    ['claimed', 'There was no check, so the agent was taken at its word.'],
  ])('completed as %s', (proof, sentence) => {
    const next = { kind: 'complete', proof }
    expect(upgradeLoop(stored({ next })).next).toEqual({ ...next, sentence, older: true })
    const held = upgradeLoop(stored({ tally: { ...loop.tally, held: next } })).tally.held
    expect(held).toEqual({ ...next, sentence, older: true })
  })

  test('completed with a current grade keeps it, however often it is upgraded', () => {
    const next = { kind: 'complete', proof: 'kept', sentence: 'Nothing broke.' }
    expect(upgradeLoop(stored({ next })).next).toEqual(next)
    const once = upgradeLoop(stored({ next: { kind: 'complete', proof: 'verified' } }))
    expect(upgradeLoop(once)).toEqual(once)
  })

  test('noticed something, as a plain sentence', () => {
    const today = { kind: 'tests-deleted', path: 'a.test.ts', words: 'was deleted' }
    const tally = { ...loop.tally, findings: ['a test is gone', today] }
    expect(upgradeLoop(stored({ tally })).tally.findings).toEqual([
      { kind: 'noted', path: '', words: 'a test is gone' },
      today,
    ])
  })

  test('noticed nothing, because it could not yet', () => {
    const { findings: _, ...tally } = loop.tally
    expect(upgradeLoop(stored({ tally })).tally.findings).toEqual([])
  })

  function happens(happening: Happening): Fact {
    const today = startLoop('L1', unchecked, { at: START, tree: 'tree 0' })
    return typeof happening === 'function' ? happening(today) : happening
  }

  test('is replayed without the checks and experiments that it never had', () => {
    const verdicts = [{ check: 'npm test', result: 'pass', tail: '' }]
    const old = { at: START, kind: 'checked', verdicts, findings: ['a test is gone'] } as unknown as Fact
    const facts = [happens(works), happens(claims('clear')), old]
    const story = upgradeStory({ spec: checkedByTests, facts })
    const begun = startLoop('L1', story.spec, { at: START, tree: 'tree 0' })
    const end = story.facts.reduce(step, begun)
    expect(end.next).toMatchObject({ kind: 'complete', proof: 'kept' })
    expect(end.tally.findings).toEqual([{ kind: 'noted', path: '', words: 'a test is gone' }])
  })

  test('of the current version is replayed as it was', () => {
    const facts: Fact[] = [checked([]), happens(works)]
    expect(upgradeStory({ spec: checkedByTests, facts, graded: true })).toEqual({ spec: checkedByTests, facts })
  })

  test('was rejected', () => {
    const next = { kind: 'halt', reason: 'cancelled', sentence: 'Cancelled by you, who rejected it.' }
    expect(upgradeLoop(stored({ next })).next).toEqual({ ...next, rejected: true })
  })
})
