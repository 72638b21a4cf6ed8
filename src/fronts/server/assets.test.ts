import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../host/place.test-support.ts'
import { openAssets } from './assets.ts'

const ask = (folder: string, path: string, headers: Record<string, string> = {}) =>
  openAssets(folder).answer(new Request(`http://127.0.0.1:4444${path}`, { headers }))

test('without a built page a short text says what this is', async () => {
  const answer = ask(join(temporaryFolder(), 'none'), '/')
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(await answer.text()).toContain('This is the ralph server')
})

describe('a built page', () => {
  function buildPage(): string {
    const folder = join(temporaryFolder(), 'web')
    mkdirSync(join(folder, 'assets'), { recursive: true })
    writeFileSync(join(folder, '..', 'secret.txt'), 'secret')
    writeFileSync(join(folder, 'index.html'), 'the page')
    writeFileSync(join(folder, 'assets', 'index-B3xk9a_Q.js'), 'plain')
    writeFileSync(join(folder, 'assets', 'index-B3xk9a_Q.js.br'), 'brotli')
    writeFileSync(join(folder, 'assets', 'index-B3xk9a_Q.js.gz'), 'gzip')
    writeFileSync(join(folder, 'apple-touch-icon.png'), 'icon')
    symlinkSync(join(folder, '..', 'secret.txt'), join(folder, 'link.txt'))
    return folder
  }

  test('is fetched each time, its files with a hash in their names only once', async () => {
    const folder = buildPage()
    const [page, script] = [ask(folder, '/'), ask(folder, '/assets/index-B3xk9a_Q.js')]
    expect([await page.text(), page.headers.get('cache-control')]).toEqual(['the page', 'no-cache'])
    expect([await script.text(), script.headers.get('cache-control'), script.headers.get('content-type')]).toEqual([
      'plain',
      'public, max-age=31536000, immutable',
      'text/javascript; charset=utf-8',
    ])
    expect(ask(folder, '/apple-touch-icon.png').headers.get('cache-control')).toBe('no-cache')
  })

  test('has no file that was removed since', async () => {
    const folder = buildPage()
    const assets = openAssets(folder)
    rmSync(folder, { recursive: true })
    expect(assets.answer(new Request('http://127.0.0.1:4444/assets/index-B3xk9a_Q.js')).status).toBe(404)
    expect(assets.answer(new Request('http://127.0.0.1:4444/')).status).toBe(404)
  })

  test.each([
    ['br, gzip', 'brotli', 'br'],
    ['gzip, deflate', 'gzip', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip', 'gzip'],
    ['identity', 'plain', null],
  ])('is compressed the way a browser can read it: %s', async (accepted, text, coding) => {
    const answer = ask(buildPage(), '/assets/index-B3xk9a_Q.js', { 'accept-encoding': accepted })
    expect([await answer.text(), answer.headers.get('content-encoding')]).toEqual([text, coding])
  })

  test('does its own routing from any path', async () => {
    expect(await ask(buildPage(), '/loops/abc').text()).toBe('the page')
    expect(ask(buildPage(), '/assets/gone.js').status).toBe(404)
  })

  test.each([
    '/../secret.txt',
    '/assets/../../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/%2fetc/passwd',
    '//etc/passwd',
    '/link.txt',
    '/assets',
    '/index.html%00.js',
  ])('leads nowhere else: %s', async (path) => {
    expect(await ask(buildPage(), path).text()).not.toMatch(/secret$|root:/)
  })
})
