import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findVersion, retryDelayMs, wayOf } from './version.ts'

const folder = mkdtempSync(join(tmpdir(), 'ralph-pi-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each([
  ['0.73.1', 'end'],
  ['0.80.3', 'end'],
  ['0.80.4', 'settled'],
  ['0.86.9', 'settled'],
  ['0.87.0', 'boundary'],
  ['0.100.0', 'boundary'],
  ['1.5.0', 'boundary'],
  [undefined, 'boundary'],
])('Pi %s reports the end of a turn by its %s', (version, way) => {
  expect(wayOf(version)).toBe(way)
})

test('finds the version from the running program, through links and past other packages', () => {
  const own = join(folder, 'node_modules', '@earendil-works', 'pi-coding-agent')
  mkdirSync(join(own, 'dist', 'bundle'), { recursive: true })
  writeFileSync(
    join(own, 'package.json'),
    JSON.stringify({ name: '@earendil-works/pi-coding-agent', version: '1.5.0' }, null, 2),
  )
  writeFileSync(join(own, 'dist', 'package.json'), '{"type":"module"}')
  writeFileSync(join(own, 'dist', 'bundle', 'cli.js'), '')
  symlinkSync(join(own, 'dist', 'bundle', 'cli.js'), join(folder, 'pi'))
  expect(findVersion(join(folder, 'pi'), process.execPath)).toBe('1.5.0')
  expect(findVersion(undefined, join(own, 'dist', 'bundle', 'cli.js'))).toBe('1.5.0')
  expect(findVersion('/nowhere/pi', join(folder, 'nothing'))).toBeUndefined()
})

test('knows how long Pi waits before it retries by itself, and when it has given up', () => {
  expect([1, 2, 3, 4].map((attempt) => retryDelayMs([], attempt))).toEqual([2_000, 4_000, 8_000, undefined])
  const settings = join(folder, 'settings.json')
  writeFileSync(settings, JSON.stringify({ retry: { maxRetries: 1, baseDelayMs: 100 } }, null, 2))
  expect([1, 2].map((attempt) => retryDelayMs([join(folder, 'none.json'), settings], attempt))).toEqual([
    100,
    undefined,
  ])
  writeFileSync(settings, '{"retry":{"enabled":false}}')
  expect(retryDelayMs([settings], 1)).toBeUndefined()
  writeFileSync(settings, 'not JSON')
  expect(retryDelayMs([settings], 1)).toBe(2_000)
})
