import { expect, test } from 'vitest'
import type { Submitting } from './submit.ts'
import { mustBeLabels, mustBeSubmittable } from './submittable.ts'

const task: Submitting = { prompt: 'Build it.', submitter: 'ada@example.com', repo: 'git@example.com:shop.git' }

const refusal = (more: object): string | undefined => {
  try {
    mustBeSubmittable({ ...task, ...more })
    return undefined
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause)
  }
}

test.each<[object]>([
  [{}],
  [{ id: 'shop-T1.2_b' }],
  [{ base: 'feature/login-2' }],
  [{ labels: ['gpu', 'linux-6.1'], touches: ['src/**', 'docs/*.md'], depends_on: ['k3f9x2ab'] }],
  [{ priority: -5 }],
  [{ submitter: 'Ada Lovelace' }],
  [{ checks: ['npm test', 'auto'] }],
  [{ repo: '/srv/git/shop.git' }],
  [{ repo: undefined }],
])('%j can be submitted', (more) => {
  expect(refusal(more)).toBeUndefined()
})

test.each<[more: object, says: string]>([
  [{ prompt: ' \n' }, 'prompt is empty: say what to do.'],
  [
    { id: '../x' },
    'Task ../x: id "../x" is not a valid id: use up to 100 letters and digits, with . _ - between them.',
  ],
  [{ id: 'a.lock' }, 'is not a valid id'],
  [{ id: 'a..b' }, 'is not a valid id'],
  [{ id: 'a.' }, 'is not a valid id'],
  [{ id: 'ü' }, 'is not a valid id'],
  [{ id: 'x'.repeat(101) }, 'is not a valid id'],
  ...['', '-b', 'a b', 'a..b', 'a:b', '/a', 'a/', 'a//b', '.a', 'a/.b', 'a.lock', 'a.', '@', 'a@{1}', 'a\n', 'a~1'].map(
    (base): [object, string] => [{ base }, `base ${JSON.stringify(base)} is not a valid branch name.`],
  ),
  [{ base: 'ralph/k3f' }, 'base "ralph/k3f" is the branch of a task. Name the branch to start from.'],
  [{ repo: undefined, base: 'main' }, 'base needs a repository: set repo as well.'],
  [{ repo: 'ext::sh -c x' }, 'git would run a program to fetch it.'],
  [{ repo: './shop' }, 'a relative path means something else on each worker.'],
  [{ submitter: '*' }, 'submitter cannot be "*", which stands for every submitter.'],
  [{ submitter: '' }, 'submitter must not be empty.'],
  [{ submitter: 'a\u0007' }, 'submitter must not contain control characters, got "a\\u0007".'],
  [{ submitter: 'x'.repeat(201) }, 'submitter must have at most 200 characters, got 201.'],
  [{ title: 'a\nb' }, 'title must not contain control characters, got "a\\nb".'],
  [{ project: '' }, 'project must not be empty.'],
  [{ labels: ['ok', 'a,b'] }, 'labels: a label must not contain spaces or commas, got "a,b".'],
  [{ labels: ['ok', ''] }, 'labels: a label must not be empty.'],
  [{ touches: [''] }, 'touches: "" is empty.'],
  [{ checks: ['a | b'] }, 'checks: The command'],
  [{ depends_on: ['a/b'] }, 'depends_on: "a/b" is not a valid id'],
  [{ priority: 1.5 }, 'priority must be a whole number between -1000000 and 1000000, got 1.5.'],
  [{ priority: 2_000_000 }, 'priority must be'],
  [{ mcp: true }, 'mcp is not available in the fleet.'],
])('%j is refused: %s', (more, says) => {
  expect(refusal(more)).toContain(says)
})

test('the labels of a worker follow the same rules', () => {
  expect(() => mustBeLabels(['gpu', 'linux'])).not.toThrow()
  expect(() => mustBeLabels(['gpu', 'a b'])).toThrow('A label must not contain spaces or commas, got "a b".')
})
