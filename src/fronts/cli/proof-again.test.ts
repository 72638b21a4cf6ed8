import { expect, test } from 'vitest'
import type { Explained } from '../../drive/explain-proof.ts'
import type { Again } from '../../operations/repeat-proof.ts'
import { againSentence, whySentence } from './proof-again.ts'

const kept = { kind: 'graded', grade: 'kept', sentence: 'Nothing broke.' } as const

test.each<[again: Omit<Again, 'loop'>, sentence: string]>([
  [{ grade: 'kept', repeated: kept, isAsGood: true }, 'Same grade again: kept. Nothing broke.'],
  [{ grade: 'altered', repeated: kept, isAsGood: true }, 'Better grade: kept instead of altered. Nothing broke.'],
  [{ grade: 'verified', repeated: kept, isAsGood: false }, 'Weaker grade: kept instead of verified. Nothing broke.'],
  [{ repeated: kept, isAsGood: true }, 'The loop has no grade; these files would get "kept". Nothing broke.'],
  [
    { grade: 'altered', repeated: { kind: 'bent', paths: ['a.test.js'] }, isAsGood: false },
    'The checks pass only because of the changes to a.test.js: they also pass without the work, and fail without these changes.',
  ],
  [
    { grade: 'kept', repeated: { kind: 'fails', checks: ['npm test', 'make'] }, isAsGood: false },
    'npm test and make do not pass on these files in a clean worktree.',
  ],
  [{ repeated: { kind: 'stopped' }, isAsGood: false }, 'Interrupted. Nothing was changed.'],
  [{ repeated: { kind: 'cannot', why: 'git is gone' }, isAsGood: false }, 'The proof cannot be repeated: git is gone'],
])('the outcome of a repeated proof: %#', (again, sentence) => {
  expect(againSentence({ loop: 'a1', ...again })).toBe(sentence)
})

const found = { kind: 'found' as const, checks: ['npm test'], isSmallest: true }

test.each<[explained: Explained, sentence: string]>([
  [{ kind: 'untouched' }, 'No tests or check configuration were changed.'],
  [{ ...found, paths: ['a.test.js'] }, 'a.test.js alone makes npm test pass.'],
  [
    { ...found, paths: ['a.js', 'b.js', 'c.js'] },
    'a.js, b.js, and c.js together make npm test pass; none of them can be left out.',
  ],
  [
    { ...found, paths: ['a.js', 'b.js'], isSmallest: false },
    'npm test needs some of these changes, but there was no time to find out which: a.js, b.js',
  ],
  [{ kind: 'fails', checks: ['npm test'] }, 'npm test does not pass on these files in a clean worktree.'],
  [{ kind: 'cannot', why: 'git is gone' }, 'Cannot tell: git is gone'],
])('why a check is green: %#', (explained, sentence) => {
  expect(whySentence(explained)).toBe(sentence)
})
