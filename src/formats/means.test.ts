import { expect, test } from 'vitest'
import { type Files, findMeans, type Means, type Proving, unionMeans } from './means.ts'

function filesOf(texts: Record<string, string>, links: string[] = []): Files {
  return { paths: new Set(Object.keys(texts)), links: new Set(links), read: async (path) => texts[path] }
}

type Asked = Partial<Proving> & { checks: string[] }

async function found(texts: Record<string, string>, asked: Asked, links?: string[]): Promise<Map<string, Means>> {
  return findMeans(filesOf(texts, links), { dir: '', top: '/home/somebody/project', ...asked })
}

/** The followed files and, of package.json and makefiles, what counts. */
async function followed(texts: Record<string, string>, ...checks: string[]): Promise<string[]> {
  return [...(await found(texts, { checks }))].flatMap(([path, { part }]) => {
    if (part === 'whole') return [path]
    if (part.kind === 'make') return part.targets.map((target) => `${path} ${target}`)
    return part.kind === 'json' ? part.keys.flatMap((key) => (key.length > 1 ? [`${path} ${key[1]}`] : [])) : []
  })
}

const manifest = (scripts: Record<string, string>) => JSON.stringify({ scripts })

test.each<[story: string, check: string, files: Record<string, string>, means: string[]]>([
  ['a script', './chk.sh', { 'chk.sh': '' }, ['chk.sh']],
  ['behind a shell', 'bash -e ci/x.sh', { 'ci/x.sh': '' }, ['ci/x.sh']],
  ['in a text for a shell', "sh -c 'cd ci && ./x.sh'", { 'ci/x.sh': '' }, ['ci/x.sh']],
  ['by its absolute path', '/home/somebody/project/chk.sh', { 'chk.sh': '' }, ['chk.sh']],
  ['outside of the repository', '/usr/bin/chk.sh', { 'chk.sh': '' }, []],
  ['node', 'node tools/x.mjs --all', { 'tools/x.mjs': '' }, ['tools/x.mjs']],
  ['python', 'python3 ci/check.py', { 'ci/check.py': '' }, ['ci/check.py']],
  ['a module of python', 'python -m checks', { 'checks/__main__.py': '' }, ['checks/__main__.py']],
  ['with variables', 'env CI=1 timeout 60 ./chk.sh', { 'chk.sh': '' }, ['chk.sh']],
  ['the program that is looked at', 'python3 main.py', { 'main.py': '' }, []],
  ['what is compared', 'grep -q done a.txt', { 'a.txt': '' }, []],
  ['what the output is compared with', "sh -c './app.sh | diff - five'", { 'app.sh': '', five: '' }, ['five']],
  [
    'a sourced helper',
    './chk.sh',
    { 'chk.sh': '. ./lib/helper.sh\n', 'lib/helper.sh': '' },
    ['chk.sh', 'lib/helper.sh'],
  ],
  [
    'a helper beside the script',
    'ci/chk.sh',
    { 'ci/chk.sh': 'HERE="$(cd "$(dirname "$0")" && pwd)"\nsource "$HERE/helper"\n', 'ci/helper': '' },
    ['ci/chk.sh', 'ci/helper'],
  ],
  [
    'scripts run by a script, to the end',
    'sh a-check.sh',
    { 'a-check.sh': './b.sh && node test-c.js', 'b.sh': 'python3 tools/d.py', 'test-c.js': '', 'tools/d.py': '' },
    ['a-check.sh', 'b.sh', 'test-c.js', 'tools/d.py'],
  ],
  [
    'the program whose output a script looks at',
    './chk.sh',
    {
      'chk.sh': 'out=$(./app.sh)\n./run.sh | grep -q 42\nnode app.js > out\npython calc.py\ndiff a.txt b.txt',
      'app.sh': '',
      'run.sh': '',
      'app.js': '',
      'calc.py': '',
      'a.txt': '',
    },
    ['chk.sh'],
  ],
  [
    'helpers of a script in another language',
    'node scripts/verify.mjs',
    {
      'scripts/verify.mjs':
        "import { a } from './lib.mjs'\nimport { b } from '../src/b.mjs'\nexecSync('sh ./more-checks.sh')",
      'scripts/lib.mjs': '',
      'src/b.mjs': '',
      'more-checks.sh': '',
    },
    ['scripts/verify.mjs', 'scripts/lib.mjs', 'more-checks.sh'],
  ],
  [
    'helpers of python',
    'python ci/check.py',
    {
      'ci/check.py': 'from helper import x\nimport subprocess\nsubprocess.run(["sh", "ci/y.sh"])',
      'ci/helper.py': '',
      'ci/y.sh': '',
    },
    ['ci/check.py', 'ci/helper.py', 'ci/y.sh'],
  ],
  ['scripts that run each other', './a.sh', { 'a.sh': './b.sh', 'b.sh': './a.sh' }, ['a.sh', 'b.sh']],
  ['test files that are named', 'node --test checks/a.js', { 'checks/a.js': "import '../a.js'" }, ['checks/a.js']],
  [
    'patterns of test files',
    "mocha 'checks/*.js'",
    { 'checks/a.js': "import '../a.js'", 'checks/b.js': "require('../a.js')" },
    ['checks/a.js', 'checks/b.js'],
  ],
  [
    'one test of a file',
    'pytest checks/a.py::test_b',
    { 'checks/a.py': 'import sums\n\ndef test_b(): pass', 'sums.py': '' },
    ['checks/a.py'],
  ],
  ['configuration that is named', 'npx vitest run --config=etc/v.ts', { 'etc/v.ts': '' }, ['etc/v.ts']],
  ['a module loaded first', 'node --import ./hooks.js --test', { 'hooks.js': '' }, ['hooks.js']],
  [
    'the project of tsc',
    'npx tsc -p etc/strict.json',
    { 'etc/strict.json': '', 'tsconfig.json': '' },
    ['etc/strict.json', 'tsconfig.json'],
  ],
])('follows %s: %s', async (_, check, files, means) => {
  expect((await followed(files, check)).sort()).toEqual([...means].sort())
})

test.each<[story: string, check: string, files: Record<string, string>, means: string[]]>([
  [
    'npm test',
    'npm test',
    { 'package.json': manifest({ test: 'node --test', lint: 'x' }) },
    ['pretest', 'test', 'posttest'],
  ],
  [
    'chains',
    'npm run all',
    {
      'package.json': manifest({ all: 'npm run a && pnpm b', a: 'sh ci/a.sh', b: 'yarn run c', c: 'x' }),
      'ci/a.sh': '',
    },
    ['preall', 'all', 'postall', 'prea', 'a', 'posta', 'preb', 'b', 'postb', 'prec', 'c', 'postc', 'ci/a.sh'],
  ],
  [
    'pre scripts',
    'npm t',
    { 'package.json': manifest({ test: 'x', pretest: './ci/pre.sh' }), 'ci/pre.sh': '' },
    ['pretest', 'test', 'posttest', 'ci/pre.sh'],
  ],
  [
    'arguments that are passed on',
    'npm test -- checks/a.js',
    { 'package.json': manifest({ test: 'node --test' }), 'checks/a.js': "import '../a.js'" },
    ['pretest', 'test', 'posttest', 'checks/a.js'],
  ],
  [
    'several at once',
    'run-s lint:*',
    { 'package.json': manifest({ 'lint:a': 'x', 'lint:b': 'y' }) },
    ['prelint:a', 'lint:a', 'postlint:a', 'prelint:b', 'lint:b', 'postlint:b'],
  ],
])('follows scripts of package.json: %s', async (_, check, files, means) => {
  const plain = (await followed(files, check)).map((name) => name.replace('package.json ', ''))
  expect(plain.sort()).toEqual([...means].sort())
})

test.each<[check: string]>([
  ['npm test -w lib'],
  ['npm --prefix packages/lib test'],
  ['yarn workspace lib test'],
  ['pnpm --filter lib test'],
])('follows %s into the workspace', async (check) => {
  const files = {
    'package.json': manifest({ test: 'x' }),
    'packages/lib/package.json': '{"name":"lib","scripts":{"test":"./go.sh"}}',
    'packages/lib/go.sh': '',
  }
  expect(await followed(files, check)).toEqual(
    expect.arrayContaining(['packages/lib/go.sh', 'packages/lib/package.json test']),
  )
})

test('follows the targets of make', async () => {
  const files = {
    Makefile:
      'include ci.mk\nT = ./ci/t.sh\nall: app\ntest: unit | app\nunit:\n\t@$(T) --all\n\t$(MAKE) more\nmore:\n\t@true\nclean:\n\trm -f x\n',
    'ci.mk': 'app:\n\t./build-it.sh\n',
    'ci/t.sh': '',
    'build-it.sh': '',
  }
  expect((await followed(files, 'make test')).sort()).toEqual(
    ['Makefile app', 'Makefile more', 'Makefile test', 'Makefile unit', 'build-it.sh', 'ci.mk', 'ci/t.sh'].sort(),
  )
  const parts = await found(files, { checks: ['make test'] })
  expect(parts.get('Makefile')?.part).toMatchObject({ variables: expect.arrayContaining(['T']) })
  expect(await followed({ Makefile: 'ifdef X\ntest:\n\t./t.sh\nendif\n', 't.sh': '' }, 'make test')).toEqual([
    'Makefile',
    't.sh',
  ])
  expect(await followed({ 'a/Makefile': 'go:\n\tx\nnot:\n\ty\n' }, 'make -C a')).toEqual(['a/Makefile go'])
})

test('the loop may be in a folder of the repository', async () => {
  const files = { 'app/chk.sh': '../ci/all.sh', 'ci/all.sh': '', 'chk.sh': '' }
  const means = await found(files, { checks: ['./chk.sh'], dir: 'app' })
  expect([...means.keys()].sort()).toEqual(['app/chk.sh', 'ci/all.sh'])
})

test('a link leads to what is run', async () => {
  const means = await found({ 'chk.sh': 'ci/real.sh', 'ci/real.sh': '' }, { checks: ['./chk.sh'] }, ['chk.sh'])
  expect([...means.keys()].sort()).toEqual(['chk.sh', 'ci/real.sh'].sort())
})

test('a person adds some; what may be changed counts only by what it is', async () => {
  const files = { 'golden/a.txt': '', 'a.test.ts': '', 'b.test.ts': '', 'b.ts': '', 'src/a.ts': '' }
  const means = await found(files, { checks: [], protect: ['golden', '*.ts'], mayChange: ['b.*'] })
  expect([...means].map(([path, { role }]) => [path, role])).toEqual([
    ['golden/a.txt', 'snapshot'],
    ['a.test.ts', 'test'],
    ['b.test.ts', 'test'],
    ['src/a.ts', 'protected'],
  ])
})

test('rules of linters count when a script uses them', async () => {
  const files = {
    'package.json': manifest({ test: 'npm run lint', lint: 'eslint .' }),
    'eslint.config.js': '',
    'biome.json': '',
  }
  const means = await found(files, { checks: ['npm test'] })
  expect([...means.keys()]).toEqual(['package.json', 'eslint.config.js'])
})

test('what counts in one state counts in both', async () => {
  const one = await found(
    { 'package.json': manifest({ test: 'npm run a', a: 'x' }), 'src/a.rs': '' },
    { checks: ['npm test'] },
  )
  const other = await found(
    { 'package.json': manifest({ test: 'npm run b', b: 'x' }), Makefile: 'a:\n\tx\n' },
    { checks: ['npm test', 'make a'] },
  )
  const union = unionMeans(one, other)
  const { part } = union.get('package.json') ?? {}
  expect(part).toMatchObject({ keys: expect.arrayContaining([['scripts', 'a'], ['scripts', 'b'], ['jest']]) })
  expect([...union.keys()]).toEqual(['package.json', 'src/a.rs', 'Makefile'])
})

test.each<[story: string, files: Record<string, string>, means: string[]]>([
  [
    'set-up files',
    {
      'vitest.config.ts': "export default { test: { setupFiles: ['./src/prepare.ts', 'other'] } }",
      'src/prepare.ts': '',
      'src/a.ts': '',
    },
    ['vitest.config.ts', 'src/prepare.ts'],
  ],
  [
    'in package.json',
    { 'package.json': '{"jest":{"setupFilesAfterEnv":["<rootDir>/src/env.js"]}}', 'src/env.js': '' },
    ['package.json', 'src/env.js'],
  ],
  [
    'what it builds on',
    { 'vite.config.ts': "import base from './etc/base'\nexport default base", 'etc/base.ts': '' },
    ['vite.config.ts', 'etc/base.ts'],
  ],
  [
    'tests with a name of their own',
    {
      'vitest.config.ts': "include: ['src/**/*.check.ts'], coverage: { include: ['src/**/*.ts'] }",
      'src/a.check.ts': '',
      'src/a.ts': '',
    },
    ['vitest.config.ts', 'src/a.check.ts'],
  ],
  [
    'those of pytest',
    { 'pytest.ini': '[pytest]\npython_files = check_*.py\n', 'a/check_b.py': '', 'a/b.py': '' },
    ['pytest.ini', 'a/check_b.py'],
  ],
])('follows what a configuration names: %s', async (_, files, means) => {
  expect([...(await found(files, { checks: ['npm test'] })).keys()].sort()).toEqual([...means].sort())
})

test('a file in the place of a target', async () => {
  const means = await found({ Makefile: 'test:\n\t./t.sh\n', test: '' }, { checks: ['make test'] })
  expect(means.get('test')?.role).toBe('shadow')
  const phony = await found({ Makefile: '.PHONY: test\ntest:\n\t./t.sh\n', test: '' }, { checks: ['make test'] })
  expect(phony.get('test')).toBeUndefined()
})

test('the recipes of just', async () => {
  expect((await followed({ justfile: 'test:\n  @sh ci/t.sh\n', 'ci/t.sh': '' }, 'just test')).sort()).toEqual([
    'ci/t.sh',
    'justfile',
  ])
})
