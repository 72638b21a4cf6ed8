import { expect, test } from 'vitest'
import { type Files, findMeans, type Means, type Proving, unionMeans } from './means.ts'
import { followChecks } from './means-follow.ts'
import { isUnclear } from './means-unclear.ts'

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
  ['options of a shell', 'bash -eo pipefail x.sh', { 'x.sh': '', pipefail: '' }, ['x.sh']],
  ['a script that is only read', 'sh -n x.sh', { 'x.sh': '' }, []],
  ['a source that is only read', 'node --check x.js', { 'x.js': '' }, []],
  ['options of a wrapper', 'env -u CI timeout -s KILL 60 ./x.sh', { 'x.sh': '' }, ['x.sh']],
  ['behind a lock', 'flock -w 5 x.lock sh x.sh', { 'x.sh': '', 'x.lock': '' }, ['x.sh']],
  ['after an unknown program', 'taskset -c 0 strange --all sh x.sh', { 'x.sh': '' }, ['x.sh']],
  ['a script that is piped to a shell', "sh -c 'cat x.sh | sh'", { 'x.sh': '' }, ['x.sh']],
  ['a script that a shell reads', "sh -c 'sh < x.sh'", { 'x.sh': '' }, ['x.sh']],
  ['words behind the text', 'sh -c \'sh "$0" && "$@"\' x.sh ./y', { 'x.sh': '', y: '' }, ['x.sh', 'y']],
  ['a main program that is no product', 'python3 harness/main.py', { 'harness/main.py': '' }, ['harness/main.py']],
  [
    'a loop over a pattern',
    './chk.sh',
    { 'chk.sh': 'for f in cases/*.sh; do sh "$f"; done', 'cases/a.sh': '', 'cases/a.txt': '' },
    ['chk.sh', 'cases/a.sh'],
  ],
  [
    'a loop over a list',
    './chk.sh',
    {
      'chk.sh': 'ALL="a b"\nfor f in $ALL; do ./cases/$f.sh; done',
      'cases/a.sh': '',
      'cases/b.sh': '',
      'cases/c.sh': '',
    },
    ['chk.sh', 'cases/a.sh', 'cases/b.sh'],
  ],
  [
    'a loop over who knows what',
    './chk.sh',
    { 'chk.sh': 'for f in $(list-them); do ./cases/$f.sh; done', 'cases/a.sh': '', 'other.sh': '' },
    ['chk.sh', 'cases/a.sh'],
  ],
  [
    'what find lists',
    './chk.sh',
    {
      'chk.sh': 'find cases -type f -name "*.sh" | sort | xargs -n1 sh',
      'cases/b/a.sh': '',
      'cases/x': '',
      'a.sh': '',
    },
    ['chk.sh', 'cases/b/a.sh'],
  ],
  [
    'what find runs',
    './chk.sh',
    {
      'chk.sh': 'find cases -type f -exec sh {} \\;\nls more | while read f; do sh "more/$f"; done',
      'cases/a': '',
      'more/b': '',
    },
    ['chk.sh', 'cases/a', 'more/b'],
  ],
  [
    'what a function runs',
    './chk.sh',
    {
      'chk.sh': '. ./lib.sh\nrun ./cases/a\ngives ./app.sh 5',
      'lib.sh': 'run() { shift 0; timeout 5 "$@"; }\ngives() { [ "$("$1")" = "$2" ]; }',
      'cases/a': '',
      'app.sh': '',
    },
    ['chk.sh', 'lib.sh', 'cases/a'],
  ],
  [
    'a script from its own folder',
    'ci/chk.sh',
    { 'ci/chk.sh': 'cd "$(dirname "$0")"\nfor f in cases/*; do sh "$f"; done', 'ci/cases/a': '', 'cases/b': '' },
    ['ci/chk.sh', 'ci/cases/a'],
  ],
  [
    'a script from the folder above its own',
    'ci/chk.sh',
    { 'ci/chk.sh': 'HERE=$(cd "$(dirname "$0")" && pwd)\ncd "$(dirname "$0")/.."\n./cases/b', 'cases/b': '' },
    ['ci/chk.sh', 'cases/b'],
  ],
  [
    'a script after a subshell in another folder',
    './chk.sh',
    {
      'chk.sh': '(cd cases && ./a)\n./cases/b\nx=$(cd cases && pwd)\ncd "$ROOT" && sh cases/c',
      'cases/a': '',
      'cases/b': '',
      'cases/c': '',
    },
    ['chk.sh', 'cases/a', 'cases/b', 'cases/c'],
  ],
  [
    'words that a script is given',
    './chk.sh',
    { 'chk.sh': './run-one cases/a\n./run-one cases/b', 'run-one': 'sh "$1"', 'cases/a': '', 'cases/b': '' },
    ['chk.sh', 'run-one', 'cases/a', 'cases/b'],
  ],
  [
    'programs in a folder of PATH',
    './chk.sh',
    { 'chk.sh': 'export PATH="$PWD/cases:$PATH"\nsame 1 2', 'cases/same': '', 'cases/other': '' },
    ['chk.sh', 'cases/same'],
  ],
  [
    'the program that code looks at',
    'node verify.mjs',
    {
      'verify.mjs': "const got = execFileSync('./app.sh', ['2'])\nexecFileSync('./more.sh', ['2'])",
      'app.sh': '',
      'more.sh': '',
    },
    ['verify.mjs', 'more.sh'],
  ],
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
    'a helper next to the script',
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

test.each<[story: string, files: Record<string, string>, means: string[]]>([
  [
    'variables in prerequisites',
    {
      Makefile: 'CASES = a\nCASES += b\ntest: $(CASES:%=%.ok)\n%.ok: cases/%.sh\n\tsh $<\n',
      'cases/a.sh': '',
      'cases/b.sh': '',
      'cases/c.sh': '',
    },
    ['Makefile test', 'Makefile %.ok', 'Makefile a.ok', 'Makefile b.ok', 'cases/a.sh', 'cases/b.sh'],
  ],
  [
    'functions in prerequisites',
    { Makefile: 'test: $(patsubst %.sh,%.ok,$(wildcard cases/*.sh))\n%.ok: %.sh\n\tsh $<\n', 'cases/a.sh': '' },
    ['Makefile %.ok', 'Makefile test', 'Makefile cases/a.ok', 'cases/a.sh'],
  ],
  [
    'functions in a variable',
    { Makefile: 'ALL = $(wildcard cases/*.sh)\ntest: $(ALL:.sh=.ok)\n%.ok: %.sh\n\tsh $<\n', 'cases/a.sh': '' },
    ['Makefile %.ok', 'cases/a.sh'],
  ],
  ['prerequisites that nobody understands', { Makefile: 'test: $(shell ls)\n\ttrue\n' }, ['Makefile']],
  [
    'targets by a variable',
    { Makefile: 'ALL = a b\ntest: b\n$(ALL):\n\tsh cases/$@.sh\n', 'cases/a.sh': '', 'cases/b.sh': '' },
    ['Makefile $(ALL)', 'cases/b.sh'],
  ],
  ['an older pattern', { Makefile: 'test: a.ok\n.sh.ok:\n\tsh $<\n', 'a.sh': '' }, ['Makefile .sh.ok', 'a.sh']],
  [
    'an include by a variable',
    { Makefile: 'TOP = .\ninclude $(TOP)/x.mk\n', 'x.mk': 'test:\n\t./t.sh\n', 't.sh': '' },
    ['x.mk', 't.sh'],
  ],
  [
    'an include by who knows what',
    { Makefile: 'include $(dir $(X))/x.mk\n', 'x.mk': 'test:\n\t./t.sh\n', 't.sh': '' },
    ['x.mk', 't.sh'],
  ],
  ['a loop in a recipe', { Makefile: 'test:\n\tfor c in a; do sh cases/$$c; done\n', 'cases/a': '' }, ['cases/a']],
])('follows make through %s', async (_, files, means) => {
  expect(await followed(files, 'make test')).toEqual(expect.arrayContaining(means))
})

test("the flags of make's built-in rules count", async () => {
  const variables = async (Makefile: string) =>
    (await found({ Makefile }, { checks: ['make test'] })).get('Makefile')?.part
  expect(await variables('test: sum_test\n\t./sum_test\n')).toMatchObject({
    variables: expect.arrayContaining(['CFLAGS', 'CC']),
  })
  expect(await variables('test:\n\t./t.sh\n')).toMatchObject({ variables: [] })
})

test.each<[story: string, check: string, files: Record<string, string>, unclear: string[]]>([
  ['an exit code', './chk.sh', { 'chk.sh': 'node same.mjs "$(./a.sh)" 5', 'same.mjs': '', 'a.sh': '' }, ['same.mjs']],
  ['a folder of both', './chk.sh', { 'chk.sh': 'bin/same 1 2', 'bin/same': '', 'bin/other': '' }, ['bin/same']],
  [
    'what one of them runs in turn',
    './chk.sh',
    { 'chk.sh': 'bin/all', 'bin/all': 'sh cases/a; sh b-test.sh', 'cases/a': '', 'b-test.sh': '' },
    ['b-test.sh', 'bin/all', 'cases/a'],
  ],
  ['the check itself', 'bin/all', { 'bin/all': 'sh cases/a', 'cases/a': '' }, []],
  ['a main program anywhere', 'python3 odd/main.py', { 'odd/main.py': '' }, ['odd/main.py']],
  ['a main program of a part', 'python3 backend/main.py', { 'backend/main.py': '' }, []],
  ['an unknown program', 'strange --with=cases/a x.py', { 'cases/a': '', 'x.py': '', 'y.py': '' }, ['cases/a', 'x.py']],
  ['a folder for one', 'run-parts cases', { 'cases/a': '', 'cases/a.txt': '', b: '' }, ['cases/a']],
  ['a pattern for one', "sh -c 'strange cases/*.py'", { 'cases/a.py': '', 'cases/b/a.py': '' }, ['cases/a.py']],
  ['a variable for one', "sh -c 'strange cases/$X'", { 'cases/a.py': '', 'a.py': '' }, ['cases/a.py']],
  ['inline code', 'python3 -c "…" ./cases/a', { 'cases/a': '' }, ['cases/a']],
  ['data for one', 'strange data.json README.md', { 'data.json': '', 'README.md': '' }, []],
  ['sources for one', 'strange src/a.py lib/b', { 'src/a.py': '', 'lib/b': '' }, []],
  ['what is read', "sh -c 'grep -q x a.py && wc -l a.py && [ -x b ]'", { 'a.py': '', b: '' }, []],
  ['what is compiled', "sh -c 'cc -o x x.c && esbuild a.js'", { 'x.c': '', 'a.js': '', x: '' }, []],
  ['what a linter reads', "sh -c 'for f in *.py; do ruff check $f; done; black --check .'", { 'a.py': '' }, []],
  ['what is captured', "sh -c 'strange a.py | grep 5; x=$(strange a.py)'", { 'a.py': '' }, []],
  ['what a judge is given', 'python3 judge.py a.py', { 'judge.py': '', 'a.py': '' }, []],
  [
    'a helper of code',
    'python3 verify.py',
    { 'verify.py': 'from helpers import eq', 'helpers/eq.py': '' },
    ['helpers/eq.py'],
  ],
  ['one that exits', 'node verify.mjs', { 'verify.mjs': "import './x.mjs'", 'x.mjs': 'process.exit(1)' }, ['x.mjs']],
  [
    'the library that code looks at',
    'python3 verify.py',
    { 'verify.py': 'import a, b.c', 'a.py': '', 'b/c.py': '' },
    [],
  ],
])('says that it cannot tell: %s', async (_, check, texts, unclear) => {
  const files = filesOf(texts)
  const followed = await followChecks(files, { checks: [check], dir: '', top: '/home/somebody/project' })
  const left = Object.keys(texts).filter((path) => !followed.files.has(path))
  expect(left.filter((path) => isUnclear(followed.unclear, path, false)).sort()).toEqual([...unclear].sort())
})

const manyScripts = (count: number, text = '') =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`cases/c${at}.sh`, text]))
const isCut = async (texts: Record<string, string>, check = './chk.sh') =>
  (await followChecks(filesOf(texts), { checks: [check], dir: '', top: '/home/somebody/project' })).isCut

test.each([
  'for f in cases/*.sh; do sh "$f"; done',
  'for f in $(find cases -name "*.sh"); do sh "$f"; done',
  'ls cases/*.sh | xargs -n1 sh',
  'find cases -name "*.sh" -exec sh {} \\;',
  'for a in 1 2 3; do for f in cases/*.sh; do sh $f $a; done; done',
  'for n in $LEVEL; do sh cases/$n.sh; done',
])('every script of a long list counts: %s', async (text) => {
  const files = { ...manyScripts(900), 'chk.sh': text, 'a.sh': '' }
  expect(await followed(files, './chk.sh')).toHaveLength(901)
  expect(await isCut(files)).toBe(false)
})

test.each<[text: string, cut: boolean]>([
  ['for f in cases/*.sh; do sh "$f"; done', true],
  ['for f in cases/*.sh; do shellcheck "$f"; done', false],
  ['find . -name "*.sh" | xargs grep -n TODO', false],
  ['git ls-files cases | xargs -n1 cat', false],
  ['find . -name "*.sh" -exec chmod +x {} +', false],
  ['sh cases/c1.sh', false],
])('says when there is more than it follows: %s', async (text, cut) => {
  expect(await isCut({ ...manyScripts(30_000), 'chk.sh': text })).toBe(cut)
})

test('of more scripts than it reads, each counts', async () => {
  const files = { ...manyScripts(3000), 'chk.sh': 'for f in cases/*.sh; do sh "$f"; done' }
  expect(await followed(files, './chk.sh')).toHaveLength(3001)
  expect(await isCut(files)).toBe(true)
})

test('a script that runs for every source is not a long list', async () => {
  const files = { ...manyScripts(2000), 'chk.sh': 'for f in cases/*; do ./one.sh $f; done', 'one.sh': 'grep -q a "$1"' }
  expect(await isCut(files)).toBe(false)
})

test('an endless loop in a script does no harm', async () => {
  const text = `f() { ${'f "$@" x; '.repeat(50)} }\nfor a in $(echo ${'b '.repeat(400)}); do for c in $a $a; do f $a $c; done; done\n`
  expect(await followed({ 'chk.sh': `${text}./cases/a`, 'cases/a': '' }, './chk.sh')).toContain('chk.sh')
})

test('follows a script outside the repository, and what is next to it', async () => {
  const outside: Record<string, string> = {
    '/home/somebody/checks/all.sh': '. "$(dirname "$0")/lib.sh"\n./inside.sh',
    '/home/somebody/checks/lib.sh': '',
  }
  const files = { ...filesOf({ 'inside.sh': '' }), readOutside: async (path: string) => outside[path] }
  const proving = { dir: '', top: '/home/somebody/project' }
  for (const checks of [['/home/somebody/checks/all.sh'], ['sh ../checks/all.sh']]) {
    const followed = await followChecks(files, { ...proving, checks })
    expect([...followed.outside]).toEqual(Object.keys(outside))
    expect([...followed.files.keys()]).toEqual(['inside.sh'])
  }
})

test('the loop may be in a folder of the repository', async () => {
  const files = { 'app/chk.sh': '../ci/all.sh', 'ci/all.sh': '', 'chk.sh': '' }
  const means = await found(files, { checks: ['./chk.sh'], dir: 'app' })
  expect([...means.keys()].sort()).toEqual(['app/chk.sh', 'ci/all.sh'])
})

test('a link leads to what runs', async () => {
  const means = await found({ 'chk.sh': 'ci/real.sh', 'ci/real.sh': '' }, { checks: ['./chk.sh'] }, ['chk.sh'])
  expect([...means.keys()].sort()).toEqual(['chk.sh', 'ci/real.sh'].sort())
})

test('the user adds some; files that may change still count as what they are', async () => {
  const files = { 'golden/a.txt': '', 'a.test.ts': '', 'b.test.ts': '', 'b.ts': '', 'src/a.ts': '' }
  const means = await found(files, { checks: [], protect: ['golden', '*.ts'], mayChange: ['b.*'] })
  expect([...means].map(([path, { role }]) => [path, role])).toEqual([
    ['golden/a.txt', 'snapshot'],
    ['a.test.ts', 'test'],
    ['b.test.ts', 'test'],
    ['src/a.ts', 'protected'],
  ])
})

test('linter configuration counts when a script uses the linter', async () => {
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

test('what replaces a runner in both states is one means', () => {
  const shadow = new Map<string, Means>([['node_modules/.bin/vitest', { role: 'shadow', part: 'whole' }]])
  expect(unionMeans(shadow, shadow)).toEqual(shadow)
})
