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
  [{ id: '../x' }, 'Task ../x: id "../x" is not an id: use up to 100 letters, digits, and . _ - between them.'],
  [{ id: 'a.lock' }, 'is not an id'],
  [{ id: 'a..b' }, 'is not an id'],
  [{ id: 'a.' }, 'is not an id'],
  [{ id: 'ü' }, 'is not an id'],
  [{ id: 'x'.repeat(101) }, 'is not an id'],
  ...['', '-b', 'a b', 'a..b', 'a:b', '/a', 'a/', 'a//b', '.a', 'a/.b', 'a.lock', 'a.', '@', 'a@{1}', 'a\n', 'a~1'].map(
    (base): [object, string] => [{ base }, `base ${JSON.stringify(base)} is not the name of a branch.`],
  ),
  [{ base: 'ralph/k3f' }, 'base "ralph/k3f" is a branch of a task. Name the branch to begin at.'],
  [{ repo: undefined, base: 'main' }, 'base needs a repository: give repo, too.'],
  [{ repo: 'ext::sh -c x' }, 'git would run a program for it.'],
  [{ repo: './shop' }, 'a relative path leads elsewhere on each worker.'],
  [{ submitter: '*' }, 'submitter cannot be "*", which stands for every submitter.'],
  [{ submitter: '' }, 'submitter is empty.'],
  [{ submitter: 'a\u0007' }, 'submitter "a\\u0007" has a control character in it.'],
  [{ submitter: 'x'.repeat(201) }, 'submitter must have at most 200 characters, but has 201.'],
  [{ title: 'a\nb' }, 'title "a\\nb" has a control character in it.'],
  [{ project: '' }, 'project is empty.'],
  [{ labels: ['ok', 'a,b'] }, 'labels "a,b" has a space or a comma in it.'],
  [{ touches: [''] }, 'touches "" is empty.'],
  [{ checks: ['a | b'] }, 'checks The command'],
  [{ depends_on: ['a/b'] }, 'depends_on "a/b" is not an id'],
  [{ priority: 1.5 }, 'priority must be a whole number between -1000000 and 1000000, but is 1.5.'],
  [{ priority: 2_000_000 }, 'priority must be'],
  [{ mcp: true }, 'mcp is not available in the fleet.'],
])('%j is refused: %s', (more, says) => {
  expect(refusal(more)).toContain(says)
})

test('the labels of a worker are labels', () => {
  expect(() => mustBeLabels(['gpu', 'linux'])).not.toThrow()
  expect(() => mustBeLabels(['gpu', 'a b'])).toThrow('A label "a b" has a space or a comma in it.')
})
