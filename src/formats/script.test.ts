import { expect, test } from 'vitest'
import { parseScript, type Step } from './script.ts'

const EVERY_STEP: Step[] = [
  { text: 'hello\nworld' },
  { edit: { path: 'a.ts', content: '' } },
  { shell: ['npm', 'test'] },
  { sleep: 0 },
  { usage: { tokens: 5 } },
  { usage: { tokens: 5, costUsd: 0.1 } },
  { denied: 'Bash' },
  { fail: 'boom' },
  { fail: 'boom', exit: 3 },
  { 'rate-limit': {} },
  { 'rate-limit': { resetsInSeconds: 3, message: 'slow down' } },
  { attempt: 2, text: 'again' },
]

test('every step is accepted', () => {
  const turns = [EVERY_STEP, [], [{ text: 'last' }]]
  expect(parseScript(JSON.stringify({ turns }), 'script.json').turns).toEqual(turns)
})

test.each<[what: string, text: string, says: string]>([
  ['no JSON', '{', 'not valid JSON'],
  ['no object', '[]', 'a list of turns'],
  ['no turns', '{}', 'a list of turns'],
  ['an empty list', '{"turns": []}', 'a list of turns'],
  ['steps without a turn', '{"turns": [{"text": "a"}]}', 'a list of turns'],
  ['an unknown step', '{"turns": [[], [{"text": "a"}, {"txt": "b"}]]}', 'step 2 of turn 2'],
  ['a step of the wrong kind', '{"turns": [[{"text": 3}]]}', 'step 1 of turn 1'],
  ['a step that does two things', '{"turns": [[{"text": "a", "sleep": 1}]]}', 'step 1 of turn 1'],
  ['an empty step', '{"turns": [[{}]]}', 'step 1 of turn 1'],
  ['no step', '{"turns": [[null]]}', 'step 1 of turn 1'],
  ['a command line for words', '{"turns": [[{"shell": "npm test"}]]}', 'step 1 of turn 1'],
  ['a command of nothing', '{"turns": [[{"shell": []}]]}', 'step 1 of turn 1'],
  ['a nap into the past', '{"turns": [[{"sleep": -1}]]}', 'step 1 of turn 1'],
])('%s is refused by place', (_, text, says) => {
  expect(() => parseScript(text, 'my/script.json')).toThrow(
    expect.objectContaining({
      code: 'input-invalid',
      message: expect.stringMatching(new RegExp(`^my/script\\.json: .*${says}.*"turns"`)),
    }),
  )
})
