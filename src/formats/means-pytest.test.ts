import { expect, test } from 'vitest'
import { findMeans } from './means.ts'

async function partsIn(texts: Record<string, string>, check: string): Promise<string[]> {
  const state = { paths: new Set(Object.keys(texts)), read: async (path: string) => texts[path] }
  const means = await findMeans(state, { checks: [check], dir: '', top: '/x' })
  return [...means].flatMap(([path, { part }]) =>
    typeof part === 'object' && (part.kind === 'mixed' || part.kind === 'examples') ? [`${path} ${part.kind}`] : [],
  )
}

test.each<[story: string, check: string, files: Record<string, string>]>([
  ['on the command line', 'python3 -m pytest -q -p plug', {}],
  ['without a blank', 'pytest -pplug', {}],
  ['in a variable', 'env PYTEST_ADDOPTS="-p plug" pytest', {}],
  ['in a variable of a script', './check.sh', { 'check.sh': '#!/bin/sh\nexport PYTEST_ADDOPTS="-p plug"\npytest\n' }],
  ['in pytest.ini', 'pytest', { 'pytest.ini': '[pytest]\naddopts =\n    -q\n    -p plug\n' }],
  ['in pyproject.toml', 'pytest', { 'pyproject.toml': '[tool.pytest.ini_options]\naddopts = "-q -p plug"\n' }],
  ['in a list', 'pytest', { 'pyproject.toml': '[tool.pytest.ini_options]\naddopts = ["-p", "plug"]\n' }],
  ['in tox.ini', 'tox', { 'tox.ini': '[testenv]\ncommands = pytest -p plug\n' }],
  ['in conftest.py', 'pytest', { 'tests/conftest.py': 'pytest_plugins = ["plug"]\n' }],
  ['in conftest.py, alone', 'pytest', { 'conftest.py': "pytest_plugins = 'plug'\n" }],
])('a plugin of the project that is named %s', async (_, check, files) => {
  expect(await partsIn({ ...files, 'plug.py': '', 'other.py': '' }, check)).toEqual(['plug.py mixed'])
})

test('plugins that plugins name, in packages and below src', async () => {
  const files = { 'src/a/plug.py': 'pytest_plugins = ("b",)\n', 'src/b/__init__.py': '' }
  expect(await partsIn(files, 'pytest -p a.plug')).toEqual(['src/a/plug.py mixed', 'src/b/__init__.py mixed'])
})

test.each(['pytest -p no:plug', 'pytest', "sh -c 'mkdir -p plug && pytest'"])('loads no plugin: %s', async (check) => {
  expect(await partsIn({ 'plug.py': '' }, check)).toEqual([])
})

test('examples in every source, or in documents', async () => {
  const files = { 'sums.py': '', 'README.md': '', 'docs/a.md': '' }
  expect(await partsIn(files, 'pytest --doctest-modules')).toEqual(['sums.py examples'])
  expect(await partsIn(files, "pytest --doctest-glob='*.md'")).toEqual(['README.md examples', 'docs/a.md examples'])
  const configured = { ...files, 'setup.cfg': '[tool:pytest]\naddopts = --doctest-modules --doctest-glob=README.md\n' }
  expect((await partsIn(configured, 'pytest')).sort()).toEqual(['README.md examples', 'sums.py examples'])
})
