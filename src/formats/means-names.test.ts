import { expect, test } from 'vitest'
import { meansByName } from './means-names.ts'

const role = (path: string, ...tools: string[]) => meansByName(path, new Set(tools))?.role

test.each([
  ...[
    'a.test.ts',
    'src/a.spec.jsx',
    'src/__tests__/a.js',
    'test/run.js',
    'tests/data.json',
    'e2e/login.ts',
    'cypress/x.js',
  ],
  ...['pkg/a_test.go', 'test_a.py', 'pkg/a_test.py', 'spec/a_spec.rb', 'src/test/java/a/ATest.java', 'ATests.cs'],
  ...[
    'UserTest.php',
    'AppTests.swift',
    'test/a_test.exs',
    'tests/it.rs',
    'src/tests.rs',
    'test.js',
    'test-a.mjs',
    'a.bats',
  ],
  ...[
    'pkg/testdata/x.txt',
    'a.cy.ts',
    'login.feature',
    'fixtures/cases.json',
    'a/test_fixtures/a.csv',
    'test-utils/same.js',
    'spec/models/user.rb',
    'TestUser.java',
    'a_test.cc',
    'a-test.js',
  ],
])('%s is a test', (path) => {
  expect(role(path)).toBe('test')
})

test.each([
  ...['src/a.ts', 'README.md', 'src/latest.ts', 'contest.py', 'attest.go', 'protest/a.ts', 'specs/001/spec.md', 'a.rb'],
  ...[
    'src/testing.ts',
    'src/expected.ts',
    'docs/tests.md',
    'Protest.java',
    'package-lock.json',
    'tsconfig.json',
    'eslint.config.js',
  ],
  ...['.prettierrc', 'mypy.ini', 'Makefile', 'check.sh', 'node_modules/a/a.test.js', 'vitest.md', 'src/config.ts'],
  ...['src/types.py', 'app/json/__init__.py', 'src/fixture.ts'],
])('%s is work', (path) => {
  expect(role(path)).toBeUndefined()
})

test.each<[role: string, paths: string[]]>([
  [
    'config',
    [
      'vitest.config.ts',
      'vite.config.mts',
      'jest.config.js',
      '.mocharc.json',
      'ava.config.js',
      'a/playwright.config.ts',
    ],
  ],
  ['config', ['karma.conf.js', 'pytest.ini', 'tox.ini', 'setup.cfg', '.nycrc', '.c8rc.json', 'codecov.yml', '.npmrc']],
  [
    'config',
    ['.cargo/config.toml', 'ralph.config.json', '.coveragerc', 'phpunit.xml', '.rspec', 'vitest.workspace.ts'],
  ],
  ['config', ['package.json', 'pyproject.toml', 'crates/a/Cargo.toml', 'pom.xml', 'build.gradle.kts']],
  [
    'setup',
    ['src/setupTests.ts', 'vitest.setup.ts', 'jest.setup.js', 'conftest.py', 'a/conftest.py', 'tests/__init__.py'],
  ],
  [
    'snapshot',
    ['expected.txt', 'expected/a.out', 'golden/a.json', 'a.golden', 'a.expected.txt', 'expected-output.txt'],
  ],
  ['setup', ['test/test_helper.rb', 'spec/spec_helper.rb', 'globalSetup.ts', '__mocks__/fs.js']],
  ['snapshot', ['src/__snapshots__/a.test.ts.snap', 'a.snap']],
  ['ci', ['.github/workflows/ci.yml', '.gitlab-ci.yml', '.circleci/config.yml', 'Jenkinsfile', '.ci/run']],
  [
    'shadow',
    ['pytest.py', 'unittest/__init__.py', 'sitecustomize.py', 'usercustomize.py', 'vitest.js', 'a/pytest.py', 'x.pth'],
  ],
  [
    'shadow',
    ['iniconfig.py', 'pluggy/__init__.py', 'pytest.pyc', 'a/pytest.cpython-311.so', 'node_modules/chai/index.js'],
  ],
])('%s: %j', (expected, paths) => {
  expect(paths.map((path) => `${path} ${role(path)}`)).toEqual(paths.map((path) => `${path} ${expected}`))
})

test.each<[tool: string, path: string]>([
  ['tsc', 'tsconfig.build.json'],
  ['eslint', '.eslintrc.cjs'],
  ['biome', 'biome.jsonc'],
  ['ruff', 'ruff.toml'],
  ['flake8', '.flake8'],
  ['mypy', 'mypy.ini'],
  ['clippy', 'clippy.toml'],
  ['just', 'Justfile'],
  ['knip', 'node_modules/knip/dist/cli.js'],
  ['knip', 'node_modules/.bin/knip'],
  ['pnpm', 'pnpm-workspace.yaml'],
  ['tsx', 'tsconfig.json'],
  ['bun', '.env.local'],
])('with %s its rules count: %s', (tool, path) => {
  expect(role(path)).toBeUndefined()
  expect(role(path, tool)).toBeDefined()
})

test('only a part of some files counts', () => {
  expect(meansByName('Cargo.toml', new Set(['clippy']))?.part).toMatchObject({
    tables: expect.arrayContaining(['lints']),
  })
  expect(meansByName('pyproject.toml', new Set())?.part).not.toMatchObject({
    tables: expect.arrayContaining(['tool.ruff']),
  })
  expect(meansByName('src/lib.rs', new Set())).toEqual({ role: 'test', part: { kind: 'rust' } })
  expect(meansByName('config.yaml', new Set())).toEqual({ role: 'config', part: { kind: 'ralph' } })
  expect(meansByName('test/config.yaml', new Set())).toEqual({ role: 'test', part: 'whole' })
  expect(meansByName('package.json', new Set(['eslint']))?.part).toMatchObject({
    keys: expect.arrayContaining([['eslintConfig']]),
  })
})
