/** What npm would publish: installed on its own, its command runs, its library loads, its types are valid. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'ralph-package-'))
const installed = join(folder, 'node_modules', 'ralphloop')

beforeAll(() => {
  // Scripts are skipped because `npm test` has built dist/ and other tests are using it.
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder])
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', join(folder, `ralphloop-${version}.tgz`), '-C', installed, '--strip-components=1'])
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the command runs from the package alone', () => {
  const help = execFileSync(process.execPath, [join(installed, 'bin', 'ralph.cjs'), 'help'], { encoding: 'utf8' })
  expect(help).toContain('until the task is proven done')
})

test('the example config.yaml is included', () => {
  expect(readFileSync(join(installed, 'config', 'config.yaml.example'), 'utf8')).toMatch(/^ralph:$/m)
})

test('the licenses of everything bundled are included, even of packages inside a bundled package', () => {
  const licenses = readFileSync(join(installed, 'dist', 'licenses.txt'), 'utf8').split('\n')
  const files = readFileSync(join(installed, 'dist', 'server.mjs'), 'utf8').matchAll(/^\/\/ (node_modules\/.*)$/gm)
  const packages = [...files].flatMap(([, file = '']) => [file, ...sourcesOf(`${file}.map`)].flatMap(packageOf))
  expect(new Set(packages).size).toBeGreaterThan(8)
  for (const name of new Set(packages)) expect(licenses).toContain(name)
})

function sourcesOf(map: string): string[] {
  return existsSync(map) ? (JSON.parse(readFileSync(map, 'utf8')) as { sources: string[] }).sources : []
}

function packageOf(path: string): string[] {
  return [...path.matchAll(/node_modules\/((?:@[^/]+\/)?[^./][^/]*)/g)].slice(-1).map(([, name = '']) => name)
}

test('the library can be imported by name', () => {
  writeFileSync(
    join(folder, 'use.mjs'),
    `import { step, wrapPrompt } from 'ralphloop'\nconsole.log(typeof step, wrapPrompt('x', { maxIterations: 3, promise: 'P' }).length)`,
  )
  expect(execFileSync(process.execPath, [join(folder, 'use.mjs')], { encoding: 'utf8' })).toMatch(/^function \d+\n$/)
})

test('the operations can be imported by name, and refuse wrong input', () => {
  writeFileSync(
    join(folder, 'call.mjs'),
    `import { call, openContext, OPERATIONS, RalphError, SCHEMAS } from 'ralphloop/operations'
     const context = openContext({ home: process.argv[2] })
     const error = await call(context, 'get_loop', { lop: 1 }).catch((cause) => cause)
     console.log(error instanceof RalphError, error.message)
     console.log(Object.keys(OPERATIONS).every((name) => SCHEMAS[name].input.toJSONSchema().type === 'object'))
     console.log((await call(context, 'list_loops', {})).loops.length)
     await context.close()`,
  )
  const home = mkdtempSync(join(folder, 'home-'))
  const printed = execFileSync(process.execPath, [join(folder, 'call.mjs'), home], { encoding: 'utf8' })
  expect(printed).toBe('true get_loop has no field "lop". Did you mean "loop"? It takes loop, brief.\ntrue\n0\n')
})

test('the client can be imported by name, needs nothing from Node, and gets clear errors', () => {
  writeFileSync(
    join(folder, 'ask.mjs'),
    `import { createClient, RalphError, readLive } from 'ralphloop/client'
     const refuse = async () => Response.json({ error: { code: 'loop-unknown', message: 'No.', help: '' } }, { status: 404 })
     const client = createClient({ url: 'http://127.0.0.1:1/', token: 't', fetch: refuse })
     const error = await client.call('get_loop', { loop: 'a' }).catch((cause) => cause)
     console.log(error instanceof RalphError, error.code, typeof readLive)`,
  )
  expect(execFileSync(process.execPath, [join(folder, 'ask.mjs')], { encoding: 'utf8' })).toBe(
    'true loop-unknown function\n',
  )
  expect(readFileSync(join(installed, 'dist', 'client.js'), 'utf8')).not.toMatch(/node:|require\(|ZodError/)
})

test('zod is only in the operations and the server', () => {
  const programs = readdirSync(join(installed, 'dist')).filter((name) => /\.(cjs|mjs|js)$/.test(name))
  const checking = programs.filter((name) => readFileSync(join(installed, 'dist', name), 'utf8').includes('ZodError'))
  const later = ['git', 'checks', 'settings', 'secrets', 'keep', 'words'].map((name) => `hook-${name}.cjs`)
  const hook = ['hook.cjs', 'hook-more.cjs', ...later]
  expect(programs).toEqual(expect.arrayContaining(['cli.cjs', ...hook, 'pi.mjs', 'index.js']))
  expect(checking.sort()).toEqual(['operations.js', 'server.mjs'])
})

describe('a task file with a list in brackets is read', () => {
  const task = '---\nverify: ["ls a, b", "true"]\n---\n\nDo it.\n'
  const env = () => ({ ...process.env, RALPH_HOME: mkdtempSync(join(folder, 'home-')) })
  const checks = (vault: string) => readFileSync(join(vault, 'Ralph_State', '.hook', 'a'), 'utf8')

  function makeVault(): string {
    const vault = mkdtempSync(join(folder, 'vault-'))
    mkdirSync(join(vault, 'Needs_Action'))
    writeFileSync(join(vault, 'Needs_Action', 'a.md'), task)
    return vault
  }

  test('by the command', () => {
    const vault = makeVault()
    const call = [join(installed, 'bin', 'ralph.cjs'), 'task', 'start', 'Needs_Action/a.md', '--vault', vault]
    execFileSync(process.execPath, call, { env: env(), cwd: vault })
    expect(checks(vault)).toMatch(/^a\.md\nchecks\n/)
  })

  test('by the library', () => {
    const vault = makeVault()
    writeFileSync(
      join(folder, 'start.mjs'),
      `import { RalphWiggum } from 'ralphloop'\nawait new RalphWiggum({ vaultPath: process.argv[2] }).startTask({ task_file: 'Needs_Action/a.md' })`,
    )
    execFileSync(process.execPath, [join(folder, 'start.mjs'), vault], { env: env() })
    expect(checks(vault)).toMatch(/^a\.md\nchecks\n/)
  })
})

test("the README's install command provides the types of everything that can be imported", () => {
  const [, line] = /^## Install$[\s\S]*?^```sh\n(.*)\n/m.exec(readFileSync('README.md', 'utf8')) ?? []
  const { exports, scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  // `npm test` has done what `npm run build` does, and nothing else.
  expect([line, scripts.test]).toEqual(['npm ci && npm run build && npm link', 'npm run build && vitest run'])
  const types = Object.values<{ types?: string }>(exports).flatMap((entry) => entry.types ?? [])
  expect(types).toHaveLength(3)
  for (const path of types) expect(readFileSync(path, 'utf8')).toContain('export ')
})

test('its types are valid in a strict project', () => {
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(
    join(folder, 'use.ts'),
    `import { type Loop, step } from 'ralphloop'\nexport const go = (loop: Loop): Loop => step(loop, { kind: 'woke', at: 1 })\n// @ts-expect-error a fact of this kind does not exist\nexport const wrong = (loop: Loop): Loop => step(loop, { kind: 'nothing', at: 1 })\n`,
  )
  writeFileSync(
    join(folder, 'call.ts'),
    `import { type Context, OPERATIONS, SCHEMAS } from 'ralphloop/operations'\nexport const find = async (context: Context): Promise<string> => (await OPERATIONS.get_loop.run(context, { loop: 'a' })).status\nexport const read = (value: unknown): boolean => SCHEMAS.undo.input.safeParse(value).success\n// @ts-expect-error it needs a name\nexport const wrong = (context: Context): unknown => OPERATIONS.undo.run(context, {})\n`,
  )
  writeFileSync(
    join(folder, 'ask.ts'),
    `import { createClient } from 'ralphloop/client'\nconst client = createClient({ url: 'http://127.0.0.1:4444', token: 't' })\nexport const find = async (): Promise<string | undefined> => (await client.call('list_loops', { limit: 1 })).loops[0]?.status\n// @ts-expect-error a limit is a number\nexport const wrong = (): unknown => client.call('list_loops', { limit: 'one' })\n`,
  )
  const examples = [...readFileSync('docs/task-api.md', 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)]
  const names = examples.map(([, example = ''], n) => {
    writeFileSync(join(folder, `task-api-${n}.mts`), example)
    return `task-api-${n}.mts`
  })
  expect(names).toHaveLength(2)
  const options = [
    '--strict',
    '--noEmit',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--types',
    'node',
    '--typeRoots',
    resolve('node_modules/@types'),
  ]
  expect(() =>
    execFileSync(resolve('node_modules/.bin/tsc'), [...options, 'use.ts', 'call.ts', 'ask.ts', ...names], {
      cwd: folder,
      encoding: 'utf8',
      stdio: 'pipe',
    }),
  ).not.toThrow()
})

test('only the program, its licence and its notes are published, and it needs no other package', () => {
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  expect(dependencies).toBeUndefined()
  const files = execFileSync('npm', ['pack', '--ignore-scripts', '--dry-run', '--json'], { encoding: 'utf8' })
  expect(files).not.toMatch(/\.test\.|fixtures|src\//)
})
