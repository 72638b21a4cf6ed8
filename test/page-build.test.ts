/** The built page: its size, what it may load, and what its sources may import. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join, normalize } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

const WEB = 'dist/web'
const KB = 1_000

const packed = (file: string) => gzipSync(readFileSync(file), { level: 9 }).length

const scripts = () => globSync(`${WEB}/assets/*.js`)
/** Without the hash of its content. */
const nameOf = (file: string) => basename(file).replace(/-[\w-]{8}\.js$/, '')

test('the board loads at most 60 KB of compressed scripts', () => {
  const html = readFileSync(join(WEB, 'index.html'), 'utf8')
  const first = [...html.matchAll(/<(?:script|link)[^>]*(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map(
    ([, path = '']) => path,
  )
  expect(first.map(nameOf)).toEqual(['index'])
  const [entry = ''] = first
  // The first load is one file: a second one would be missing in the sum.
  expect(readFileSync(join(WEB, entry), 'utf8')).not.toMatch(
    /(?:^|[;}\s])import\s*(?:["'`]|[\w*{][^;]*?\bfrom\s*["'`])/,
  )
  expect(packed(join(WEB, entry))).toBeLessThanOrEqual(60 * KB)
})

/** The views that are loaded on demand, each with its size limit. */
const LATER: Readonly<Record<string, number>> = { fleet: 9 * KB, settings: 4 * KB }

test('each view that is loaded on demand has its own limit', () => {
  const later = scripts().filter((file) => nameOf(file) !== 'index')
  expect(later.map(nameOf).sort()).toEqual(Object.keys(LATER))
  const tooLarge = later.filter((file) => packed(file) > (LATER[nameOf(file)] ?? 0))
  expect(tooLarge.map((file) => `${nameOf(file)}: ${packed(file)}`)).toEqual([])
})

test('a report is at most 300 KB without its data', () => {
  const sizes = ['report.js', 'report.css'].map((file) => readFileSync(join(WEB, file)).length)
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(300 * KB)
})

test('the page has no inline script or style, and every file has compressed copies', () => {
  const html = readFileSync(join(WEB, 'index.html'), 'utf8')
  expect(html).not.toMatch(/<style|style=|\son\w+=|<script(?![^>]*\ssrc=)/)
  const files = [...html.matchAll(/(?:src|href)="\/([^"]+)"/g)].map(([, name = '']) => name)
  for (const file of files)
    for (const ending of ['', '.br', '.gz']) expect(existsSync(join(WEB, file + ending))).toBe(true)
})

/**
 * What of `src/` runs in the page: the client, and what is pure. Types may come from anywhere, as they do not reach the
 * bundle.
 */
const MAY_LOAD = /^src\/(?:error\.ts|fronts\/server\/client\.ts|(?:agents|analytics|engine|formats)\/)/

test("the page imports the server's client and pure modules, and nothing else of ralph", () => {
  const loads = globSync('web/**/*.{ts,tsx}').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?!type )[^']*? from '(\.[^']*)'$/gm)]
      .map(([, path = '']) => ({ file, used: normalize(join(file, '..', path)) }))
      .filter(({ used }) => used.startsWith('src/')),
  )
  expect(loads.filter(({ used }) => !MAY_LOAD.test(used))).toEqual([])
})

test('no text becomes HTML', () => {
  const unsafe = globSync('web/**/*.{ts,tsx}').filter((file) =>
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/i.test(readFileSync(file, 'utf8')),
  )
  expect(unsafe).toEqual([])
})

test('no file of the page is longer than 300 lines', () => {
  const long = globSync('web/**/*.{ts,tsx}').filter((file) => readFileSync(file, 'utf8').split('\n').length > 300)
  expect(long).toEqual([])
})
