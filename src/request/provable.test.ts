import { expect, test } from 'vitest'
import type { Grade, Spec } from '../engine/loop.ts'
import { specOf } from '../engine/stories.test-support.ts'
import { mustBeProvable } from './provable.ts'

const checked = specOf({ checks: ['npm test'] })
const off = { ...checked, proof: 'off' } as const
const seal = { ...checked, proof: 'seal' } as const
const unseen = (spec: Spec): Spec => ({ ...spec, work: { ...spec.work, baselineMinutes: 0 } })

function refusal(spec: Spec, require: Grade): string {
  try {
    mustBeProvable({ ...spec, require })
    return 'It is taken.'
  } catch (cause) {
    expect(cause).toMatchObject({ code: 'usage' })
    return cause instanceof Error ? cause.message : ''
  }
}

test.each<[what: string, spec: Spec, grade: Grade]>([
  ['with checks', checked, 'verified'],
  ['with a check of a stage', specOf({ stages: [{ name: 'A', check: 'npm test' }] }), 'tested'],
  ['by a check that fails first, without experiments', off, 'verified'],
  ['as it was, without experiments', off, 'kept'],
  ['by the command that is the task', { ...off, until: true }, 'tested'],
  ['by experiments alone', unseen(checked), 'verified'],
  ['as it was, with nothing known about the start', unseen(off), 'kept'],
])('a grade can be reached %s', (_, spec, grade) => {
  expect(refusal(spec, grade)).toBe('It is taken.')
})

test.each<[spec: Spec, grade: Grade, sentence: string]>([
  [specOf(), 'kept', '--require kept needs a check: add one with --verify "npm test".'],
  [
    off,
    'tested',
    'The proof must be "tested", which only experiments can show: leave out --proof off, or require "kept".',
  ],
  [
    seal,
    'tested',
    'The proof must be "tested", which only experiments can show: leave out --proof seal, or require "kept".',
  ],
  [
    unseen(seal),
    'verified',
    'The proof must be "verified", but the checks do not run before the work here, so only experiments can show it: leave out --proof seal.',
  ],
])('a grade out of reach is refused: $1', (spec, grade, sentence) => {
  expect(refusal(spec, grade)).toBe(sentence)
})

test('the sentence names what cannot be proven, and how to give a check there', () => {
  const how = { whose: 'Task T1', check: '"verify" in tasks.json' }
  expect(() => mustBeProvable({ ...specOf(), require: 'kept' }, how)).toThrow(
    'Task T1: the required proof "kept" needs a check: add one with "verify" in tasks.json.',
  )
})

test('without a required grade nothing is refused', () => {
  expect(() => mustBeProvable(specOf({ proof: 'off' }))).not.toThrow()
})
