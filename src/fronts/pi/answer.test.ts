import { expect, test } from 'vitest'
import { parseAnswer } from './answer.ts'

test('reads a complete answer', () => {
  const said = {
    next: 'turn',
    prompt: 'Go on.',
    fresh: true,
    loop: 'abc',
    status: 'running',
    iteration: 3,
    max_iterations: 10,
    promise: 'DONE',
    cost_usd: 0.5,
    context: 'fresh',
    reason: 'max-iterations',
    sentence: 'All used.',
    wait_ms: 7,
    checks: [{ check: 'npm test', result: 'fail' }],
    show: [{ level: 'warning', text: 'Careful.' }],
  }
  expect(parseAnswer(JSON.stringify(said))).toEqual({
    next: 'turn',
    prompt: 'Go on.',
    fresh: true,
    loop: 'abc',
    status: 'running',
    iteration: 3,
    maxIterations: 10,
    promise: 'DONE',
    costUsd: 0.5,
    context: 'fresh',
    reason: 'max-iterations',
    sentence: 'All used.',
    waitMs: 7,
    checks: [{ check: 'npm test', result: 'fail' }],
    show: [{ level: 'warning', text: 'Careful.' }],
  })
})

test('fills in what a short answer leaves out, and ignores what it does not know', () => {
  expect(parseAnswer('{"next":"none","status":"none","more":[1]}\n')).toEqual({
    next: 'none',
    status: 'none',
    prompt: '',
    fresh: false,
    waitMs: 0,
    loop: '',
    costUsd: 0,
    iteration: 0,
    maxIterations: 0,
    checks: [],
    show: [],
  })
})

test('takes the last line, whatever was printed before it', () => {
  expect(parseAnswer('(node:1) Warning\n{"next":"none","status":"paused"}\n')?.status).toBe('paused')
})

test.each([
  ['nothing', ''],
  ['no JSON', 'Segmentation fault'],
  ['half an answer', '{"next":"turn","status":"run'],
  ['a list', '[{"next":"none","status":"none"}]'],
  ['a turn without a prompt', '{"next":"turn","status":"running"}'],
  ['a status from the future', '{"next":"none","status":"dreaming"}'],
  ['an unknown next', '{"next":"dance","status":"running"}'],
])('%s is no answer', (_, text) => {
  expect(parseAnswer(text)).toBeUndefined()
})

test('shows nothing that has no text', () => {
  const answer = parseAnswer('{"next":"none","status":"none","show":[{"level":"loud","text":"a"},{"text":""},7]}')
  expect(answer?.show).toEqual([{ level: 'info', text: 'a' }])
})
