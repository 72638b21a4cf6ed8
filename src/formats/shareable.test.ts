import { expect, test } from 'vitest'
import { shareable } from './shareable.ts'

const BODY = 'Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7j'
const KEY = [`-----BEGIN OPENSSH PRIVATE ${'KEY-----'}`, BODY, BODY, `-----END OPENSSH PRIVATE ${'KEY-----'}`]

test('every string is changed, wherever it is, and nothing else', () => {
  const value = { n: 3, is: true, none: null, words: 'a', list: ['a', { words: ['a', 4] }] }
  expect(shareable(value, () => 'b')).toEqual({
    n: 3,
    is: true,
    none: null,
    words: 'b',
    list: ['b', { words: ['b', 4] }],
  })
})

test('secrets are masked by default', () => {
  expect(shareable({ words: `the key is sk-${BODY}` })).toEqual({ words: 'the key is sk-…masked…' })
})

test('field names stay; data used as keys does not', () => {
  const edit = (text: string) => text.replace(/alice|kind/g, 'X')
  expect(shareable({ kind: 'an alice', '/home/alice/check.sh': 1 }, edit)).toEqual({
    kind: 'an X',
    '/home/X/check.sh': 1,
  })
})

test("ralph's own words stay, so that a page knows what a value is", () => {
  const edit = (text: string) => text.replaceAll('pass', 'X')
  const verdict = { check: 'pass', result: 'pass', reason: 'you shall not pass' }
  expect(shareable(verdict, edit)).toEqual({ check: 'X', result: 'pass', reason: 'you shall not X' })
})

test('a private key in a diff is masked in the text and line by line', () => {
  const lines = ['const a = 1', ...KEY, 'const b = 2'].map((text, n) => ({ kind: 'added', new: n + 1, text }))
  const diff = { text: lines.map(({ text }) => `+${text}\n`).join(''), files: [{ path: 'id', hunks: [{ lines }] }] }
  const masked = shareable(diff)
  expect(JSON.stringify(masked)).not.toContain(BODY.slice(0, 8))
  expect(masked.files[0]?.hunks[0]?.lines.map(({ text }) => text)).toEqual([
    'const a = 1',
    KEY[0],
    'A…masked…',
    'A…masked…',
    KEY[3],
    'const b = 2',
  ])
  expect(masked.text).toMatch(/^\+const a = 1\n[\s\S]*\n\+const b = 2\n$/)
})

test('a private key whose end was cut off is masked, and what follows another mention is not', () => {
  const cut = ['+first', ...KEY.slice(0, 2).map((line) => `+${line}`)].join('\n')
  expect(shareable(cut)).toBe(`+first\n+${KEY[0]}\n+…masked…`)
  const mention = `if (text.includes('${KEY[0]}'))\n  return "a text"\nend`
  expect(shareable(mention)).toBe(mention)
})
