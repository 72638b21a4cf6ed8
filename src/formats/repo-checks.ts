/** Finds a repository's own checks from the files at its root. */
import { isObject, jsonIn, valueAt } from './json-file.ts'

/** `names` are the entries of the root folder; `read` gives the text of one. */
export type Root = { names: readonly string[]; read: (name: string) => string }

/** Check commands for the first project type that matches. */
export function findRepoChecks(root: Root): string[] {
  for (const kind of [node, rust, go, python, jvm, make]) {
    const checks = kind(root)
    if (checks.length > 0) return checks
  }
  return []
}

function node(root: Root): string[] {
  if (!root.names.includes('package.json')) return []
  const scripts = scriptsIn(root.read('package.json'))
  const runner = RUNNERS.find(([lock]) => root.names.includes(lock))?.[1] ?? 'npm'
  const has = (name: string) => typeof scripts[name] === 'string' && !/no test specified/.test(scripts[name])
  return [
    ...(has('test') ? [runner === 'bun' ? 'bun run test' : `${runner} test`] : []),
    ...['typecheck', 'lint'].filter(has).map((name) => `${runner} run ${name}`),
  ]
}

const RUNNERS = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
] as const

/** The scripts of a package.json. */
export function scriptsIn(text: string): Record<string, unknown> {
  const scripts = valueAt(jsonIn(text), ['scripts']) // a package.json that is not JSON offers nothing
  return isObject(scripts) ? { ...scripts } : {}
}

function rust({ names }: Root): string[] {
  return names.includes('Cargo.toml') ? ['cargo test'] : []
}

function go({ names }: Root): string[] {
  return names.includes('go.mod') ? ['go test ./...'] : []
}

function python(root: Root): string[] {
  const { names, read } = root
  const configured =
    names.includes('pytest.ini') ||
    names.includes('conftest.py') ||
    (names.includes('pyproject.toml') && /\[tool\.pytest/.test(read('pyproject.toml')))
  const project = ['pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt'].some((name) => names.includes(name))
  return configured || (project && (names.includes('tests') || names.includes('test'))) ? ['python3 -m pytest'] : []
}

function jvm({ names }: Root): string[] {
  if (names.includes('pom.xml')) return [names.includes('mvnw') ? './mvnw test' : 'mvn test']
  if (!names.includes('build.gradle') && !names.includes('build.gradle.kts')) return []
  return [names.includes('gradlew') ? './gradlew test' : 'gradle test']
}

function make(root: Root): string[] {
  const file = ['GNUmakefile', 'makefile', 'Makefile'].find((name) => root.names.includes(name))
  if (!file) return []
  const target = ['test', 'check'].find((name) => new RegExp(`^${name}\\s*:(?!=)`, 'm').test(root.read(file)))
  return target ? [`make ${target}`] : []
}
