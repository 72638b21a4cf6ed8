import { expect, test } from 'vitest'
import { findMeans, type Part, unionMeans } from './means.ts'

async function meansIn(texts: Record<string, string>, check: string) {
  const state = { paths: new Set(Object.keys(texts)), read: async (path: string) => texts[path] }
  return findMeans(state, { checks: [check], dir: '', top: '/x' })
}

const kindOf = (part: Part | undefined) => (typeof part === 'object' ? part.kind : part)

const WORK = 'def add(a, b):\n    return a - b\n'
const TEST = 'def test_add():\n    assert add(2, 3) == 5\n'
const SCRIPT = "import { test } from 'node:test'\nexport const sum = (a, b) => a - b\ntest('adds', () => {})\n"

test.each<[check: string, path: string, text: string, part: string | undefined]>([
  ['pytest -q sums.py', 'sums.py', WORK + TEST, 'mixed'],
  ['pytest -q check_digit.py', 'check_digit.py', WORK + TEST, 'mixed'],
  ['pytest --doctest-modules sums.py', 'sums.py', WORK, 'examples'],
  ['pytest --doctest-modules sums.py', 'sums.py', WORK + TEST, 'mixed'],
  ['python3 -m doctest sums.py', 'sums.py', WORK, 'examples'],
  ['python3 -m doctest -v README.md', 'README.md', '', 'examples'],
  ['python3 -m unittest sums.py', 'sums.py', WORK, 'mixed'],
  ['node --test lib.js', 'lib.js', SCRIPT, 'mixed'],
  ['node --test test.js', 'test.js', SCRIPT, 'whole'],
  ['node --test checks/sum.js', 'checks/sum.js', "import { sum } from '../lib.js'\n", 'whole'],
  ["node --test 'src/*.js'", 'src/sum.js', SCRIPT, 'mixed'],
  ['npx vitest run src/sum.ts', 'src/sum.ts', 'export const sum = 1\n', undefined],
  ['npx vitest run src/sum.ts', 'src/sum.ts', 'if (import.meta.vitest) import.meta.vitest.it("adds")\n', 'mixed'],
  ['npx jest --findRelatedTests src/sum.js', 'src/sum.js', 'module.exports = 1\n', undefined],
  ['python3 sums.py', 'sums.py', WORK, 'mixed'],
  ['node sums.mjs', 'sums.mjs', '', 'mixed'],
  ['node main.mjs', 'main.mjs', '', undefined],
  ['node run-checks.mjs', 'run-checks.mjs', '', 'whole'],
  ['python3 -m coverage run -m pytest sums.py', 'sums.py', WORK + TEST, 'mixed'],
  ['bats smoke', 'smoke', '@test "adds" { true; }\n', 'whole'],
])('%s: of %s counts', async (check, path, text, part) => {
  expect(kindOf((await meansIn({ [path]: text }, check)).get(path)?.part)).toBe(part)
})

test('what a package.json script runs is not work', async () => {
  const files = { 'package.json': '{"scripts":{"pretest":"node build.js","test":"x"}}', 'build.js': '' }
  expect((await meansIn(files, 'npm test')).get('build.js')?.part).toBe('whole')
})

test('a source stays mixed when tests are added or removed', async () => {
  const check = 'pytest --doctest-modules sums.py'
  const [without, having] = await Promise.all([WORK, WORK + TEST].map((text) => meansIn({ 'sums.py': text }, check)))
  if (!without || !having) throw new Error('Both are there.')
  expect(unionMeans(without, having).get('sums.py')?.part).toEqual({ kind: 'mixed' })
  expect(unionMeans(having, without).get('sums.py')?.part).toEqual({ kind: 'mixed' })
})
