import { describe, expect, test } from 'vitest'
import { fieldTrouble, isName } from './board-fields.ts'
import { BOARD_DEFAULTS, type BoardPatch } from './board-task.ts'

describe('the fields of a task', () => {
  test.each<[what: string, patch: BoardPatch]>([
    ['an empty title', { title: ' ' }],
    ['a title of two lines', { title: 'a\nb' }],
    ['a title with an escape', { title: 'a\u001b[31m' }],
    ['a title without end', { title: 'x'.repeat(501) }],
    ['a description without end', { description: 'x'.repeat(200_001) }],
    ['an empty type', { type: '' }],
    ['an empty label', { labels: ['a', ''] }],
    ['an empty promise', { ralph_completion_promise: '' }],
    ['a stage without a name', { stages: [{ name: '', check: 'true' }] }],
    ['a stage with an empty check', { stages: [{ name: 'A', check: '' }] }],
    ['an empty check', { checks: [''] }],
    ['no agent', { agent: '' }],
  ])('cannot be %s', (_, patch) => {
    expect(fieldTrouble(patch)).toMatchObject({ field: Object.keys(patch)[0] })
  })

  test('can be their defaults, or absent', () => {
    expect(fieldTrouble({ ...BOARD_DEFAULTS, title: 'A title 🦉' })).toBeUndefined()
    expect(fieldTrouble({ type: null, labels: null, agent: null })).toBeUndefined()
  })
})

test.each([
  ['shop', true],
  ['../x', false],
  ['a/b', false],
  ['.git', false],
  ['', false],
])('%s is a name: %s', (text, isOne) => {
  expect(isName(text)).toBe(isOne)
})
