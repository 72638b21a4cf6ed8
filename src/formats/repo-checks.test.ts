import { expect, test } from 'vitest'
import { findRepoChecks } from './repo-checks.ts'

function found(files: Record<string, string>): string[] {
  return findRepoChecks({ names: Object.keys(files), read: (name) => files[name] ?? '' })
}

const scripts = (entries: object) => JSON.stringify({ scripts: entries })

test.each<[story: string, files: Record<string, string>, checks: string[]]>([
  ['an npm project', { 'package.json': scripts({ test: 'vitest', build: 'x' }) }, ['npm test']],
  [
    'its types and lint as well',
    { 'package.json': scripts({ lint: 'x', typecheck: 'y', test: 'z' }) },
    ['npm test', 'npm run typecheck', 'npm run lint'],
  ],
  [
    'the placeholder npm writes is no test',
    { 'package.json': scripts({ test: 'echo "Error: no test specified" && exit 1' }) },
    [],
  ],
  ['pnpm', { 'package.json': scripts({ test: 'x' }), 'pnpm-lock.yaml': '' }, ['pnpm test']],
  ['yarn', { 'package.json': scripts({ test: 'x' }), 'yarn.lock': '' }, ['yarn test']],
  ['bun', { 'package.json': scripts({ test: 'x' }), 'bun.lock': '' }, ['bun run test']],
  [
    'a broken package.json falls through to the Makefile',
    { 'package.json': '{', Makefile: 'test:\n\tx\n' },
    ['make test'],
  ],
  ['a package.json that is null', { 'package.json': 'null' }, []],
  ['rust', { 'Cargo.toml': '' }, ['cargo test']],
  ['go', { 'go.mod': '' }, ['go test ./...']],
  ['pytest by its own file', { 'pytest.ini': '' }, ['python3 -m pytest']],
  ['pytest in pyproject.toml', { 'pyproject.toml': '[tool.pytest.ini_options]' }, ['python3 -m pytest']],
  ['a python project with a folder of tests', { 'setup.py': '', tests: '' }, ['python3 -m pytest']],
  ['a python project without tests', { 'pyproject.toml': '' }, []],
  ['maven', { 'pom.xml': '' }, ['mvn test']],
  ['maven with its wrapper', { 'pom.xml': '', mvnw: '' }, ['./mvnw test']],
  ['gradle', { 'build.gradle.kts': '', gradlew: '' }, ['./gradlew test']],
  ['gradle without a wrapper', { 'build.gradle': '' }, ['gradle test']],
  ['make check', { Makefile: 'all: x\ncheck : y\n' }, ['make check']],
  ['a variable is no target', { Makefile: 'test := 1\n' }, []],
  ['an empty folder', {}, []],
])('%s', (_, files, checks) => {
  expect(found(files)).toEqual(checks)
})
