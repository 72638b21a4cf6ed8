import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { escapeHtml, printReport, type ReportParts } from './report-html.ts'

const parts: ReportParts = {
  title: 'ralph: Make the tests pass',
  script: 'document.title = "hello"',
  css: 'body { margin: 0 }',
  hash: (text) => createHash('sha256').update(text).digest('base64'),
  summary: 'H4sIAAAA',
  details: [
    { iteration: 1, data: 'AAAA' },
    { iteration: 12, data: 'BB==' },
  ],
}

test('it is one file with the page and its data', () => {
  const html = printReport(parts)
  expect(html).toMatch(/^<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport"/)
  expect(html).toContain('<title>ralph: Make the tests pass</title>')
  expect(html).toContain('<template id="summary" data-encoding="gzip+base64">H4sIAAAA</template>')
  expect(html).toContain('<template id="detail-12" data-encoding="gzip+base64">BB==</template>')
  expect(html.indexOf('<template')).toBeLessThan(html.indexOf('<script>'))
  expect(html).toContain('<noscript>This report needs JavaScript.')
})

test('nothing runs but its own script and style, and nothing is loaded', () => {
  const html = printReport(parts)
  const [, policy = ''] = /Content-Security-Policy" content="([^"]*)"/.exec(html) ?? []
  expect(policy).toBe(
    `default-src 'none'; script-src 'sha256-${parts.hash(parts.script)}'; style-src 'sha256-${parts.hash(parts.css)}'; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'`,
  )
  expect(html).not.toMatch(/\b(?:src|href)=/)
})

test('a browser sees line feeds, and so does the hash', () => {
  const html = printReport({ ...parts, script: 'a()\r\nb()\rc()' })
  expect(html).toContain('<script>a()\nb()\nc()</script>')
  expect(html).toContain(`script-src 'sha256-${parts.hash('a()\nb()\nc()')}'`)
})

test('a title is only text', () => {
  expect(printReport({ ...parts, title: '</title><script>alert(1)</script>' })).toContain(
    '<title>&#60;/title&#62;&#60;script&#62;alert(1)&#60;/script&#62;</title>',
  )
  expect(escapeHtml(`a & "b" 'c'`)).toBe('a &#38; &#34;b&#34; &#39;c&#39;')
})

describe('what would end an element early is refused', () => {
  test.each<[what: string, wrong: Partial<ReportParts>, says: string]>([
    ['a script', { script: 'x = "</SCRIPT>"' }, 'The page of a report holds the end of its own script.'],
    ['a comment in a script', { script: 'x = "<!--"; y = "<script"' }, 'the end of its own script'],
    ['a style', { css: 'a { content: "</style>" }' }, 'the end of its own style'],
    ['a summary', { summary: '</template>' }, 'The data of summary is not base64.'],
    ['a detail', { details: [{ iteration: 3, data: '<' }] }, 'The data of detail-3 is not base64.'],
  ])('%s', (_, wrong, says) => {
    expect(() => printReport({ ...parts, ...wrong })).toThrow(says)
  })
})
