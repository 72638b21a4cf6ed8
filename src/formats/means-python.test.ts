import { expect, test } from 'vitest'
import { findMeans } from './means.ts'
import { isOrdinaryModule } from './means-python.ts'

async function roleOf(path: string, check: string, files: Record<string, string> = {}, dir = '') {
  const texts: Record<string, string> = { ...files, [path]: '' }
  const state = { paths: new Set(Object.keys(texts)), read: async (one: string) => texts[one] }
  return (await findMeans(state, { checks: [check], dir, top: '/x' })).get(path)?.role
}

test.each<[path: string, check: string, files?: Record<string, string>, dir?: string]>([
  ['bdb.py', 'python3 -m pytest -q'],
  ['gettext.py', 'python3 -m unittest'],
  ['gettext/__init__.py', 'pytest'],
  ['_strptime.py', 'tox'],
  ['json.pyc', 'pytest'],
  ['_json.cpython-311-x86_64-linux-gnu.so', 'pytest'],
  ['src/bdb.py', 'uv run pytest'],
  ['api/bdb.py', 'pytest', {}, 'api'],
  ['api/bdb.py', "sh -c 'cd api && pytest'"],
  ['api/bdb.py', 'pytest api', { 'api/conftest.py': '' }],
  ['lib/bdb.py', 'env PYTHONPATH=lib pytest'],
  ['tools/bdb.py', 'python3 tools/check.py', { 'tools/check.py': '' }],
  ['bdb.py', './check.sh', { 'check.sh': '#!/bin/sh\npython3 -m pytest\n' }],
  ['bdb.py', 'somebodys-runner'],
])('shadows a Python module: %s, %s', async (path, check, files, dir) => {
  expect(await roleOf(path, check, files, dir)).toBe('shadow')
})

test.each<[path: string, check: string, files?: Record<string, string>]>([
  ['app/calendar.py', 'pytest'],
  ['app/calendar.py', 'pytest', { 'app/conftest.py': '', 'app/__init__.py': '' }],
  ['src/app/types.py', 'python3 -m pytest', { 'pyproject.toml': '' }],
  ['calendar.py', 'node --test'],
  ['calendars.py', 'pytest'],
  ['parser.py', 'pytest'],
  ['_version.py', 'pytest'],
])('is work: %s, %s', async (path, check, files) => {
  expect(await roleOf(path, check, files)).toBeUndefined()
})

test('a source may be part of the product, a compiled module or a runner may not', () => {
  expect(['types.py', 'json/__init__.py'].map(isOrdinaryModule)).toEqual([true, true])
  expect(['types.pyc', 'unittest.py', 'doctest.py', 'sums.py'].map(isOrdinaryModule)).toEqual([
    false,
    false,
    false,
    false,
  ])
})
