import { describe, expect, test } from 'vitest'
import type { Fact } from './loop.ts'
import {
  cancel,
  checks,
  claims,
  crashes,
  type Happening,
  idles,
  isUnusable,
  loopAfter,
  lost,
  pause,
  play,
  resume,
  say,
  specOf,
  works,
} from './stories.test-support.ts'

const restored: Fact = { at: 0, kind: 'restored' }
const best = specOf({ checks: ['npm test'], until: true, onHalt: 'best' }, { iterations: 4 })
const restore = specOf({ onHalt: 'restore' }, { iterations: 2 })

function fails(failures: number): Happening[] {
  return [works, checks('fail', failures)]
}

describe('a loop that halts', () => {
  test.each<[story: string, facts: Happening[], asked: string]>([
    [
      'leaves the state with the fewest failures',
      [...fails(5), ...fails(2), ...fails(4), ...fails(3)],
      'restore 2 max-iterations',
    ],
    ['leaves the last of equals', [...fails(5), ...fails(2), ...fails(2), ...fails(3)], 'restore 3 max-iterations'],
    [
      'leaves the very last state if it is the best',
      [...fails(5), ...fails(4), ...fails(3), ...fails(2)],
      'restore 4 max-iterations',
    ],
    ['leaves it even when cancelled', [...fails(2), ...fails(4), cancel], 'restore 1 cancelled'],
    ['restores nothing if nothing was ever checked', [works, cancel], 'halt cancelled'],
  ])('with best: %s', (_, facts, asked) => {
    expect(play(best, ...facts).at(-1)).toBe(asked)
  })

  test('with best: keeps the last state if no check ran', () => {
    const unchecked = specOf({ onHalt: 'best' }, { iterations: 1 })
    expect(play(unchecked, works).at(-1)).toBe('halt max-iterations')
  })

  test('with best: a passed stage is better than everything before it', () => {
    const staged = specOf(
      {
        stages: [
          { name: 'TESTS', check: 'npm test' },
          { name: 'LINT', check: 'npm run lint' },
        ],
        onHalt: 'best',
      },
      { iterations: 3 },
    )
    const story = [claims('clear', 'TESTS'), checks('fail', 1), claims('clear', 'TESTS'), checks('pass')]
    expect(play(staged, ...story, works, checks('fail', 9)).at(-1)).toBe('restore 3 max-iterations')
    expect(loopAfter(staged, ...story).tally.bestAt).toBe(2)
  })

  test.each<[story: string, facts: Happening[], asked: string]>([
    ['leaves the start', [works, works], 'restore 0 max-iterations'],
    ['leaves everything alone if nothing was changed', [idles, idles], 'halt max-iterations'],
    [
      'leaves the start even when the agent becomes unusable',
      [works, isUnusable('No credit.')],
      'restore 0 agent-unusable',
    ],
    ['undoes what a crashed attempt left', [works, crashes(), crashes(), crashes()], 'restore 0 agent-failed'],
  ])('with restore: %s', (_, facts, asked) => {
    expect(play(restore, ...facts).at(-1)).toBe(asked)
  })

  test('says what is left', () => {
    expect(loopAfter(restore, works, works, restored).next).toEqual({
      kind: 'halt',
      reason: 'max-iterations',
      sentence: 'Reached the limit of 2 iterations. The files were restored to their state before the loop began.',
    })
    expect(loopAfter(best, ...fails(1), ...fails(2), ...fails(2), ...fails(2), restored).next).toMatchObject({
      sentence:
        'Reached the limit of 4 iterations. The files were restored to their state after iteration 1, the best so far.',
    })
  })

  test('says if the files could not be restored', () => {
    const trouble: Fact = { at: 0, kind: 'restored', trouble: 'The checkpoint is gone.' }
    expect(loopAfter(restore, works, works, trouble).next).toMatchObject({
      kind: 'halt',
      sentence: 'Reached the limit of 2 iterations. The files could not be restored: The checkpoint is gone.',
    })
  })

  test.each<[what: string, fact: Fact]>([
    ['a cancel', cancel],
    ['a pause', pause],
    ['a resume', resume],
    ['words', say('Go on.')],
    ['a loss', lost],
  ])('is not kept from restoring the files by %s', (_, fact) => {
    expect(play(restore, works, works, fact, restored).slice(-2)).toEqual([
      'restore 0 max-iterations',
      'halt max-iterations',
    ])
  })

  test('that completes keeps everything', () => {
    expect(play(restore, claims('clear')).at(-1)).toBe('complete claimed')
  })
})
