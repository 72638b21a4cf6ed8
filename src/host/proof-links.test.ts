import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from './place.test-support.ts'
import { everythingIn, openPlace, shown } from './proof-place.test-support.ts'
import { makeRepository, type TestRepository } from './repository.test-support.ts'

const IGNORED = 'node_modules\n.venv\nvenv\nvendor\ndist\n*.egg-info\n__pycache__\n'

function link(main: TestRepository, path: string, text: string): void {
  mkdirSync(dirname(join(main.dir, path)), { recursive: true })
  symlinkSync(text, join(main.dir, path))
}

const hasPytest = spawnSync('python3', ['-c', 'import pytest, venv']).status === 0

const treeOf = (main: TestRepository) => main.git('rev-parse', 'HEAD^{tree}')

test('packages are links in a real folder, and caches are not linked', async () => {
  const main = await makeRepository({ '.gitignore': IGNORED })
  for (const name of ['dep/index.js', '@scope/one/index.js', '.cache/x', '.vite/x', '.package-lock.json'])
    main.write(`node_modules/${name}`, 'theirs\n')
  link(main, 'node_modules/.bin/dep', '../dep/index.js')
  const dir = await shown(await openPlace(main), treeOf(main))
  const kinds = Object.fromEntries(
    ['', '/dep', '/@scope', '/@scope/one', '/.bin', '/.package-lock.json'].map((name) => {
      const stat = lstatSync(join(dir, `node_modules${name}`))
      return [name, stat.isSymbolicLink() ? 'link' : stat.isFile() ? 'file' : 'folder']
    }),
  )
  expect(kinds).toEqual({
    '': 'folder',
    '/dep': 'link',
    '/@scope': 'folder',
    '/@scope/one': 'link',
    '/.bin': 'folder',
    '/.package-lock.json': 'file',
  })
  expect(readdirSync(join(dir, 'node_modules')).sort()).toEqual(['.bin', '.package-lock.json', '@scope', 'dep'])
  expect(readFileSync(join(dir, 'node_modules/.bin/dep'), 'utf8')).toBe('theirs\n')
})

test('a check that writes wherever it likes touches nothing of the person', async () => {
  const main = await makeRepository({ '.gitignore': IGNORED, 'a.js': '' })
  for (const name of [
    'node_modules/dep/index.js',
    'node_modules/.cache/x',
    'node_modules/.package-lock.json',
    'dist/built.js',
  ])
    main.write(name, 'theirs\n')
  for (const name of [
    'pyvenv.cfg',
    'lib/python3.9/site-packages/six.py',
    'lib/python3.9/site-packages/pkg/__init__.py',
  ])
    main.write(`.venv/${name}`, 'theirs\n')
  main.write('node_modules/.prisma/client/index.js', 'generated\n')
  main.write('vendor/autoload.php', '<?php\n')
  main.write('vendor/composer/autoload_static.php', '<?php\n')
  const before = everythingIn(main.dir)
  const place = await openPlace(main)
  const writes = [
    'node_modules/.cache/x',
    'node_modules/.vite/deps/x',
    'node_modules/.package-lock.json',
    'node_modules/.prisma/client/index.js',
    'node_modules/new/index.js',
    'node_modules/@new/x/index.js',
    'dist/built.js',
    '.venv/pyvenv.cfg',
    '.venv/bin/tool',
    '.venv/lib/python3.9/__pycache__/x.pyc',
    '.venv/lib/python3.9/site-packages/__pycache__/six.pyc',
    '.venv/lib/python3.9/site-packages/six.py',
    'vendor/composer/autoload_static.php',
    'vendor/bin/tool',
    'a.js',
  ]
  const check = `sh -c 'for f in ${writes.join(' ')}; do mkdir -p $(dirname $f) && echo written > $f || exit 1; done'`
  expect(await place.run(treeOf(main), check)).toBe('pass')
  const dir = await shown(place, treeOf(main))
  expect(readFileSync(join(dir, 'node_modules/.cache/x'), 'utf8')).toBe('written\n') // a cache stays in the place
  expect(readFileSync(join(dir, 'node_modules/.prisma/client/index.js'), 'utf8')).toBe('generated\n')
  expect(existsSync(join(dir, 'node_modules/new'))).toBe(false)
  expect(readFileSync(join(dir, 'vendor/composer/autoload_static.php'), 'utf8')).toBe('<?php\n')
  expect(everythingIn(main.dir).filter((line) => !line.startsWith('.git/'))).toEqual(
    before.filter((line) => !line.startsWith('.git/')),
  )
  await place.remove()
  expect(everythingIn(main.dir)).toEqual(before)
})

test('workspaces point to the sources in the place', async () => {
  const main = await makeRepository({
    '.gitignore': IGNORED,
    'packages/lib/index.js': "export const value = 'one'\n",
    'packages/lib/package.json': '{"name":"@my/lib","type":"module","exports":"./index.js"}',
    'packages/app/test.mjs':
      "import { value } from '@my/lib'\nimport dep from 'dep'\nif (value !== 'one' || dep !== 1) process.exit(1)\n",
  })
  const start = treeOf(main)
  main.commit('Two', { 'packages/lib/index.js': "export const value = 'two'\n" })
  main.write('packages/app/node_modules/dep/package.json', '{"name":"dep","type":"module","exports":"./index.js"}')
  main.write('packages/app/node_modules/dep/index.js', 'export default 1\n')
  link(main, 'node_modules/@my/lib', '../../packages/lib')
  link(main, 'node_modules/absolute', join(main.dir, 'packages/lib'))
  link(main, 'node_modules/elsewhere', '../../somewhere/else')
  const place = await openPlace(main, { dir: join(main.dir, 'packages/app') })
  const check = `${process.execPath} test.mjs`
  expect(await place.run(start, check)).toBe('pass')
  expect(await place.run(treeOf(main), check)).toMatch(/^fail/)
  const top = join(await shown(place, start), '../..')
  expect(readlinkSync(join(top, 'node_modules/absolute'))).toBe(join(top, 'packages/lib'))
  expect(readlinkSync(join(top, 'node_modules/elsewhere'))).toBe(join(main.dir, '../somewhere/else'))
})

test("packages in pnpm's own store are found", async () => {
  const main = await makeRepository({ '.gitignore': IGNORED, 'test.cjs': "require('a')\n" })
  main.write('node_modules/.pnpm/a@1.0.0/node_modules/a/index.js', "require('b')\n")
  main.write('node_modules/.pnpm/b@1.0.0/node_modules/b/index.js', '')
  link(main, 'node_modules/.pnpm/a@1.0.0/node_modules/b', '../../b@1.0.0/node_modules/b')
  link(main, 'node_modules/.pnpm/node_modules/b', '../b@1.0.0/node_modules/b')
  link(main, 'node_modules/a', '.pnpm/a@1.0.0/node_modules/a')
  const place = await openPlace(main)
  expect(await place.run(treeOf(main), `${process.execPath} test.cjs`)).toBe('pass')
  expect(await place.run(treeOf(main), "sh -c 'mkdir node_modules/.pnpm/new && echo x > node_modules/.pnpm/x'")).toBe(
    'pass',
  )
  expect(main.read('node_modules/.pnpm/x')).toBeUndefined()
  expect(existsSync(join(main.dir, 'node_modules/.pnpm/new'))).toBe(false)
})

test('what is installed or removed meanwhile is seen the next time', async () => {
  const main = await makeRepository({ '.gitignore': IGNORED })
  main.write('node_modules/old/index.js', '')
  const place = await openPlace(main)
  const dir = await shown(place, treeOf(main))
  rmSync(join(main.dir, 'node_modules/old'), { recursive: true })
  main.write('node_modules/new/index.js', '')
  main.write('later/node_modules/x/index.js', '')
  await shown(place, treeOf(main))
  expect(readdirSync(join(dir, 'node_modules'))).toEqual(['new'])
  expect(existsSync(join(dir, 'later'))).toBe(false) // a folder that this tree does not have
})

test('what a tree contains is not replaced by what is installed', async () => {
  const main = await makeRepository({
    '.gitignore': 'dist\n',
    'vendor/lib.go': 'old\n',
    'node_modules/mine/index.js': 'old\n',
  })
  const start = treeOf(main)
  main.git('rm', '--quiet', '-r', '--cached', 'vendor')
  main.commit('Vendor is ignored', { '.gitignore': 'vendor\nnode_modules\n' })
  main.write('vendor/lib.go', 'new\n')
  main.write('node_modules/theirs/index.js', 'new\n')
  const place = await openPlace(main)
  const dir = await shown(place, start)
  expect(readFileSync(join(dir, 'vendor/lib.go'), 'utf8')).toBe('old\n')
  expect(readFileSync(join(dir, 'node_modules/mine/index.js'), 'utf8')).toBe('old\n')
  expect(lstatSync(join(dir, 'node_modules/theirs')).isSymbolicLink()).toBe(true)
  await shown(place, treeOf(main))
  expect(readFileSync(join(dir, 'vendor/lib.go'), 'utf8')).toBe('new\n')
})

test('no link is made behind a link in a tree', async () => {
  const main = await makeRepository({ '.gitignore': IGNORED, 'packages/app/x.js': '' })
  const outside = temporaryFolder()
  rmSync(join(main.dir, 'packages/app'), { recursive: true })
  link(main, 'packages/app', outside)
  main.commit('A link')
  const linked = treeOf(main)
  rmSync(join(main.dir, 'packages/app'))
  main.commit('A folder', { 'packages/app/x.js': '' })
  main.write('packages/app/node_modules/dep/index.js', '')
  const place = await openPlace(main)
  await shown(place, linked)
  expect(readdirSync(outside)).toEqual([])
})

test.runIf(hasPytest)(
  'a virtual environment works there, and an editable install points to the sources in the place',
  async () => {
    const main = await makeRepository({
      '.gitignore': IGNORED,
      'src/thing.py': "value = 'one'\n",
      'tests/test_thing.py': "from thing import value\n\ndef test_value():\n    assert value == 'one'\n",
    })
    const start = treeOf(main)
    main.commit('Two', { 'src/thing.py': "value = 'two'\n" })
    const python = (...args: string[]) => execFileSync('python3', args, { cwd: main.dir, encoding: 'utf8' }).trim()
    python('-m', 'venv', '--without-pip', '--system-site-packages', '.venv')
    const [site = ''] = readdirSync(join(main.dir, '.venv/lib')).map((name) => join('.venv/lib', name, 'site-packages'))
    main.write(join(site, 'thing.pth'), `${main.dir}/src\n`)
    main.write('.venv/bin/pytest', `#!${main.dir}/.venv/bin/python\nimport sys, pytest\nsys.exit(pytest.main())\n`)
    execFileSync('chmod', ['+x', join(main.dir, '.venv/bin/pytest')])
    const before = everythingIn(main.dir)
    const place = await openPlace(main)
    for (const check of ['.venv/bin/python -m pytest', '.venv/bin/pytest', `${main.dir}/.venv/bin/pytest`]) {
      expect(await place.run(start, check)).toBe('pass')
      expect(await place.run(treeOf(main), check)).toMatch(/^fail: .*'two' == 'one'/s)
    }
    await place.remove()
    expect(everythingIn(main.dir)).toEqual(before)
  },
)

test('a package folder that is a link becomes a real one', async () => {
  const main = await makeRepository({ '.gitignore': IGNORED })
  const shared = temporaryFolder()
  mkdirSync(join(shared, 'dep'))
  link(main, 'node_modules', shared)
  const dir = await shown(await openPlace(main), treeOf(main))
  expect(lstatSync(join(dir, 'node_modules')).isDirectory()).toBe(true)
  expect(realpathSync(join(dir, 'node_modules/dep'))).toBe(join(shared, 'dep'))
})
