import { expect, test } from 'vitest'
import { ALLOW, type Loop, type Next, startLoop } from '../engine/loop.ts'
import { START, specOf } from '../engine/stories.test-support.ts'
import { answersTo, approvalWords } from './answers.ts'
import { placeOf, type VaultTask } from './vault-task.ts'

function waiting(by: VaultTask['by'], about?: string): Loop {
  const next: Next = { kind: 'wait', why: 'person', question: 'Red?', ...(about === undefined ? {} : { about }) }
  const task = {
    kind: 'vault',
    id: 'b',
    path: '/V',
    file: 'b.md',
    from: 'Needs_Action/b.md',
    done: 'Done',
    by,
  } as const
  const work = { ...specOf().work, ...placeOf({ ...task, state: 'Ralph_State' }) }
  return { ...startLoop('a1', specOf({ work }), { at: START }), next }
}

const reject = 'ralph task reject --vault /V b'
const noted = "ralph task approve --vault /V --note '…' b"

test.each<[what: string, loop: Loop, answers: object]>([
  ['an approval', waiting('watch', 'approval'), { approve: 'ralph task approve --vault /V b', reject }],
  ['an answer', waiting('caller'), { approve: noted, reject }],
  ['changed tests', waiting('watch', ALLOW), { approve: 'ralph allow a1', instead: 'ralph steer a1 "…"', reject }],
  ['changed tests of a caller', waiting('caller', ALLOW), { approve: 'ralph allow a1', instead: noted, reject }],
])('a task that waits for %s', (_, loop, answers) => {
  expect(answersTo(loop)).toEqual(answers)
})

test('a note says that it is an approval, unless it says what to do instead', () => {
  expect(approvalWords(waiting('watch', 'approval'), undefined)).toBe('Approved. Continue.')
  expect(approvalWords(waiting('watch'), 'Blue.')).toBe('Approved: Blue.')
  expect(approvalWords(waiting('watch', ALLOW), 'Put it back.')).toBe('Put it back.')
  expect(() => approvalWords(waiting('watch', ALLOW), undefined)).toThrow(
    'Task b cannot be approved like this. Red? Allow it: ralph allow a1, or say what to do instead: ralph steer a1 "…".',
  )
})
