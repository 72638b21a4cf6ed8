import { expect, test } from 'vitest'
import type { Part } from './means.ts'
import { extractPart, mix } from './means-parts.ts'

const lines = (...all: string[]) => all.map((line) => `${line}\n`).join('')

const scripts: Part = { kind: 'json', keys: [['scripts', 'test'], ['scripts', 'pretest'], ['jest']] }
const start = `{
  "name": "a",
  "scripts": {
    "test": "vitest",
    "dev": "vite"
  },
  "jest": {
    "bail": 1
  }
}
`

test.each<[story: string, rest: string | undefined, means: string | undefined, mixed: unknown]>([
  ['another script is work', start.replace('vite"', 'vite 2"'), start, { text: start.replace('vite"', 'vite 2"') }],
  ['a changed script comes back', start.replace('vitest', 'true'), start, { text: start }],
  ['a new one goes', start.replace('"dev"', '"pretest": "x",\n    "dev"'), start, { text: start }],
  ['a new section goes', '{"a":1,"jest":{}}', '{"a":2}', { text: '{"a":1}' }],
  ['other writing stays as it was', '{ "a" : 1 }', '{}', { text: '{ "a" : 1 }' }],
  [
    'no file at the start',
    '{"type":"module","scripts":{"test":"x"}}\n',
    undefined,
    { text: '{"type":"module","scripts":{}}\n' },
  ],
  [
    'no file now',
    undefined,
    '{"type":"module","scripts":{"test":"x"}}',
    { text: lines('{', '  "scripts": {', '    "test": "x"', '  }', '}') },
  ],
  ['nothing that counts', undefined, '{"type":"module"}', 'absent'],
  ['no JSON', '{', start, 'not-separable'],
  ['no JSON on both sides', '{', '{', { text: '{' }],
  ['no object', '[]', start, 'not-separable'],
])('package.json: %s', (_, rest, means, mixed) => {
  expect(mix(scripts, { rest, means })).toEqual(mixed)
})

const pytest: Part = { kind: 'toml', tables: ['tool.pytest', 'tool.coverage'] }

test.each<[story: string, rest: string, means: string, mixed: unknown]>([
  [
    'dependencies are work',
    lines('[project]', 'dependencies = [', '  "a[b]",', ']', '[tool.pytest.ini_options]', 'x = 1'),
    lines('[project]', '[tool.pytest.ini_options]', 'x = 1'),
    { text: lines('[project]', 'dependencies = [', '  "a[b]",', ']', '[tool.pytest.ini_options]', 'x = 1') },
  ],
  [
    'options come back',
    lines('[project]', 'a = 1', '[tool.pytest.ini_options]', 'addopts = "-k nothing"', '[tool.x]', 'b = 2'),
    lines('[project]', '[tool.pytest.ini_options]', 'addopts = """', '[no header]', '"""', 'y = 2'),
    {
      text: lines(
        '[project]',
        'a = 1',
        '[tool.x]',
        'b = 2',
        '[tool.pytest.ini_options]',
        'addopts = """',
        '[no header]',
        '"""',
        'y = 2',
      ),
    },
  ],
  ['a new table goes', lines('a = 1', '[tool.coverage.run]', 'omit = ["*"]'), 'a = 0\n', { text: 'a = 1\n' }],
  [
    'dotted keys',
    lines('[tool]', 'pytest.x = 1', 'y = 2'),
    lines('[tool]', 'pytest.x = 2'),
    { text: lines('[tool]', 'y = 2', 'pytest.x = 2') },
  ],
  ['a text that is never closed', 'a = "', 'a = 1', 'not-separable'],
])('pyproject.toml: %s', (_, rest, means, mixed) => {
  expect(mix(pytest, { rest, means })).toEqual(mixed)
})

test('Cargo.toml: keys inside tables', () => {
  const cargo: Part = { kind: 'toml', tables: ['test', 'lib.test', 'bin.test'] }
  const rest = lines(
    '[package]',
    'name = "a"',
    '[lib]',
    'test = false',
    'path = "x.rs"',
    '[[bin]]',
    'name = "b"',
    'test = false',
    '[[bin]]',
    'name = "c"',
  )
  const means = lines(
    '[lib]',
    'path = "y.rs"',
    '[[bin]]',
    'name = "c"',
    'test = true',
    '[[bin]]',
    'name = "d"',
    'test = true',
  )
  expect(mix(cargo, { rest, means })).toEqual({
    text: lines(
      '[package]',
      'name = "a"',
      '[lib]',
      'path = "x.rs"',
      '[[bin]]',
      'name = "b"',
      '[[bin]]',
      'name = "c"',
      'test = true',
    ),
  })
  expect(mix(cargo, { rest: '[package]\n', means: '[lib]\ntest = false\n' })).toEqual({
    text: '[package]\n[lib]\ntest = false\n',
  })
})

const make: Part = { kind: 'make', targets: ['test', 'unit'], variables: ['T'] }

test.each<[story: string, rest: string | undefined, means: string | undefined, mixed: unknown]>([
  [
    'another target is work',
    'T = a\nall:\n\tcc b.c\n\ntest: unit\n\t$(T)\n',
    'T = a\nall:\n\tcc\n\ntest: unit\n\t$(T)\n',
    { text: 'T = a\nall:\n\tcc b.c\n\ntest: unit\n\t$(T)\n' },
  ],
  [
    'a recipe comes back',
    'all:\n\tnew\ntest:\n\ttrue\nx:\n',
    'all:\n\told\ntest:\n\tcheck \\\n\t  all\n',
    { text: 'all:\n\tnew\ntest:\n\tcheck \\\n\t  all\nx:\n' },
  ],
  [
    'a variable comes back',
    'T := true\ntest:\n\t$(T)\n',
    'T := check\ntest:\n\t$(T)\n',
    { text: 'T := check\ntest:\n\t$(T)\n' },
  ],
  ['another shell goes', 'SHELL = /bin/true\ntest:\n\tx\n', 'test:\n\tx\n', { text: 'test:\n\tx\n' }],
  [
    'an include behind the rules comes behind them',
    'test:\n\tx\n',
    'test:\n\tx\ninclude x.mk\n',
    { text: 'test:\n\tx\ninclude x.mk\n' },
  ],
  ['an include goes', 'include x.mk\ntest:\n\tx\n', 'test:\n\tx\n', { text: 'test:\n\tx\n' }],
  [
    'a target that is gone comes back',
    'all:\n\tx',
    'first:\n\ty\ntest:\n\tz\nunit:\n\tu\n',
    { text: 'test:\n\tz\nall:\n\tx\nunit:\n\tu\n' },
  ],
  ['a new makefile goes as a whole', 'all:\n\tx\ntest:\n\ty\n', undefined, 'absent'],
  ['and comes as a whole', undefined, 'all:\n\tx\ntest:\n\ty\n', { text: 'all:\n\tx\ntest:\n\ty\n' }],
  ['conditions', 'ifdef A\ntest:\n\ty\nendif\n', 'test:\n\ty\n', 'not-separable'],
])('Makefile: %s', (_, rest, means, mixed) => {
  expect(mix(make, { rest, means })).toEqual(mixed)
})

const rust: Part = { kind: 'rust' }
const tests = (body: string) => `#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() { ${body} }\n}`

test.each<[story: string, rest: string, means: string, mixed: unknown]>([
  [
    'work is kept',
    `fn a() { 2 }\n\n${tests('x')}\n`,
    `fn a() { 1 }\n\n${tests('x')}\n`,
    { text: `fn a() { 2 }\n\n${tests('x')}\n` },
  ],
  [
    'tests come back',
    `fn a() { 2 }\n\n${tests('y')}\n`,
    `fn a() { 1 }\n\n${tests('x')}\n`,
    { text: `fn a() { 2 }\n\n${tests('x')}\n` },
  ],
  [
    'tests that are gone come back',
    'fn a() { 2 }\n',
    `fn a() { 1 }\n\n${tests('x')}\n`,
    { text: `fn a() { 2 }\n\n${tests('x')}\n` },
  ],
  ['new tests go', `fn a() {}\n\n${tests('x')}\n`, 'fn b() {}\n', { text: 'fn a() {}\n\n\n' }],
  [
    'braces in texts',
    `const A: &str = "{";\nconst B: char = '{'; // }\n/* { /* */ */\nlet r = r#"}"#; fn b<'a>() {}\n${tests('"}"')}\n`,
    `${tests('x')}\n`,
    expect.objectContaining({
      text: expect.stringContaining("fn b<'a>() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() { x }"),
    }),
  ],
  [
    'a test outside of a module',
    '#[test]\nfn a() { assert!(true) }\nfn b() {}\n',
    '#[test]\nfn a() { assert_eq!(b(), 1) }\nfn b() {}\n',
    { text: '#[test]\nfn a() { assert_eq!(b(), 1) }\nfn b() {}\n' },
  ],
  ['a module in a file of its own', '#[cfg(test)]\nmod tests;\nfn b() {}\n', 'fn b() {}\n', { text: '\nfn b() {}\n' }],
  ['a brace too many', `fn a() {}}\n${tests('y')}\n`, `${tests('x')}\n`, 'not-separable'],
])('Rust: %s', (_, rest, means, mixed) => {
  expect(mix(rust, { rest, means })).toEqual(mixed)
})

test('lines about tests are compared, not moved', () => {
  const part: Part = { kind: 'lines' }
  expect(mix(part, { rest: '<dep>b</dep>\n<skipTests/>', means: '<dep>a</dep>\n<skipTests/>' })).toEqual({
    text: '<dep>b</dep>\n<skipTests/>',
  })
  expect(mix(part, { rest: '<skipTests>true', means: '' })).toBe('not-separable')
})

test('a whole file', () => {
  expect(mix('whole', { rest: 'a', means: 'b' })).toEqual({ text: 'b' })
  expect(mix('whole', { rest: 'a', means: undefined })).toBe('absent')
  expect(extractPart('whole', 'a')).toBe('a')
})

const section: Part = { kind: 'ralph' }
const own = lines(
  'app: 1',
  '',
  '# how loops run',
  'ralph:',
  '  verify:',
  '  - npm test',
  '',
  '  proof: full',
  'other:',
  '- 2',
)

test.each<[story: string, rest: string | undefined, means: string | undefined, mixed: unknown]>([
  ['another program', 'app: 2\n', 'app: 1\n', { text: 'app: 2\n' }],
  ['keys of another program', own.replace('app: 1', 'app: 2'), own, { text: own.replace('app: 1', 'app: 2') }],
  [
    'a changed check comes back',
    lines('ralph:', '  verify: ["true"]', 'app: 2'),
    lines('app: 1', 'ralph:', '  verify: [npm test]'),
    { text: lines('app: 2', 'ralph:', '  verify: [npm test]') },
  ],
  ['a list at the margin is part of it', lines('ralph:', '- x', 'app: 2'), 'app: 1\n', { text: 'app: 2\n' }],
  ['a key in quotes', lines('app: 2', '"ralph" :', '  proof: off'), 'app: 1\n', { text: 'app: 2\n' }],
  [
    'a section deeper down is no such section',
    'app:\n  ralph: 2\n',
    'app:\n  ralph: 1\n',
    { text: 'app:\n  ralph: 2\n' },
  ],
  ['no file at the start', 'ralph:\n  proof: off\n', undefined, { text: '' }],
  ['no file now', undefined, 'app: 1\nralph:\n  proof: off\n', { text: 'ralph:\n  proof: off\n' }],
  ['nothing that counts', undefined, 'app: 1\n', 'absent'],
])('config.yaml: %s', (_, rest, means, mixed) => {
  expect(mix(section, { rest, means })).toEqual(mixed)
})
