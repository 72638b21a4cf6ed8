import { expect, test } from 'vitest'
import type { Turn } from './loop.ts'
import { applyReports, type Report } from './report.ts'

const TURN: Turn = { end: 'ok', claim: { kind: 'none' }, words: 'I worked.', ranTests: false, tokens: 0 }
const stage = (name?: string): Report => ({
  at: 1,
  kind: 'stage',
  evidence: 'npm test passes',
  ...(name === undefined ? {} : { stage: name }),
})
const question: Report = { at: 2, kind: 'question', question: 'Red or blue?' }
const blocked: Report = { at: 3, kind: 'blocked', reason: 'No key for the API.' }
const person = (words: string) => ({ kind: 'person', words })

test.each<[story: string, reports: Report[], claim: object, ask: object | undefined]>([
  ['the whole loop is claimed', [stage()], { kind: 'clear' }, undefined],
  ['a stage is claimed', [stage('DOCS')], { kind: 'clear', stage: 'DOCS' }, undefined],
  ['the first open one of several stages is claimed', [stage('DOCS'), stage('TESTS')], { stage: 'TESTS' }, undefined],
  ['a question is for a person', [question], { kind: 'none' }, person('Red or blue?')],
  ['so is what blocks it', [blocked], { kind: 'none' }, person('The agent is blocked: No key for the API.')],
  ['a question wins over a claim', [question, stage()], { kind: 'none' }, person('Red or blue?')],
  ['the last question counts', [blocked, question], { kind: 'none' }, person('Red or blue?')],
])('%s', (_, reports, claim, ask) => {
  const turn = applyReports(TURN, reports, ['TESTS', 'DOCS'])
  expect(turn).toMatchObject({ claim, reports })
  expect(turn.ask).toEqual(ask)
})

test('without a report the turn stays as it is', () => {
  expect(applyReports(TURN, [], [])).toBe(TURN)
})

test('a claim overrides a question in the last words, but a denied permission stays', () => {
  const asks = (kind: 'question' | 'permission'): Turn => ({ ...TURN, ask: { kind, words: 'May I?' } })
  expect(applyReports(asks('question'), [stage()], [])).not.toHaveProperty('ask')
  expect(applyReports(asks('permission'), [stage()], [])).toMatchObject({ ask: { kind: 'permission' } })
})

test('an agent that asks for a person in words claims nothing', () => {
  const turn: Turn = { ...TURN, ask: { kind: 'person', words: 'Which one?' } }
  expect(applyReports(turn, [stage()], [])).toMatchObject({ claim: { kind: 'none' }, ask: { words: 'Which one?' } })
})
