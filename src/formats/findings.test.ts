import { expect, test } from 'vitest'
import { readFindings } from './findings.ts'

type Change = [status: string, path: string, added?: string]

test('a changed script of package.json is one when a check runs it', () => {
  const manifest = {
    before: '{"scripts":{"test":"vitest","lint":"biome"}}',
    after: '{"scripts":{"test":"true","lint":"biome","new":"x"},"version":"2"}',
  }
  const changes = { files: [{ status: 'M', path: 'package.json' }], added: new Map(), manifest }
  expect(readFindings(changes, ['npm test'])).toEqual(['scripts of package.json were changed: test'])
  expect(readFindings(changes, ['make test'])).toEqual([])
  const broken = { ...changes, manifest: { ...manifest, after: '{' } }
  expect(readFindings(broken, ['yarn test'])).toEqual(['scripts of package.json were changed: test, lint'])
})

function found(changes: Change[], checks: string[]): string[] {
  return readFindings(
    {
      files: changes.map(([status, path]) => ({ status, path })),
      added: new Map(changes.map(([, path, added = '']) => [path, added.split('\n')])),
    },
    checks,
  )
}

test.each<[story: string, changes: Change[], checks: string[], findings: string[]]>([
  ['work on the code is none', [['M', 'src/a.ts', 'x = 1']], ['npm test'], []],
  ['a new test is none', [['A', 'src/a.test.ts', 'test("a")']], ['npm test'], []],
  ['a changed check script', [['M', 'chk.sh']], ['./chk.sh'], ['what the checks run was changed: chk.sh']],
  [
    'a check script behind an interpreter',
    [['T', 'ci/check.py']],
    ['python3 ci/check.py --all'],
    ['what the checks run was changed: ci/check.py'],
  ],
  ['the Makefile of make', [['M', 'Makefile']], ['make test'], ['what the checks run was changed: Makefile']],
  ['a file that a check only looks at', [['M', 'a.txt']], ['grep -q done a.txt'], []],
  ['the Makefile of others', [['M', 'Makefile']], ['npm test'], []],
  ['a deleted test', [['D', 'test/a.js']], ['npm test'], ['tests were deleted: test/a.js']],
  ['a changed test', [['M', 'pkg/a_test.go']], ['go test ./...'], ['tests were changed: pkg/a_test.go']],
  [
    'a skipped test',
    [['M', 'a.spec.ts', 'it.skip("x")']],
    [],
    ['tests were changed: a.spec.ts', 'tests are newly skipped: a.spec.ts'],
  ],
  [
    'a skip in python',
    [['M', 'test_a.py', '@pytest.mark.skip']],
    [],
    ['tests were changed: test_a.py', 'tests are newly skipped: test_a.py'],
  ],
  ['an ignored test in rust', [['M', 'src/lib.rs', '#[ignore]']], [], ['tests are newly skipped: src/lib.rs']],
  [
    'many are counted',
    Array.from({ length: 7 }, (_, n): Change => ['D', `tests/${n}`]),
    [],
    ['tests were deleted: tests/0, tests/1, tests/2, tests/3, tests/4 and 2 more'],
  ],
])('%s', (_, changes, checks, findings) => {
  expect(found(changes, checks)).toEqual(findings)
})
