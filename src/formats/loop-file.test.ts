import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type LoopFile, parseLoopFile, printLoopFile } from './loop-file.ts'

const FILE: LoopFile = {
  active: true,
  iteration: 3,
  maxIterations: 10,
  promise: 'ALL DONE',
  startedAt: '2026-11-16T06:08:03Z',
  sessionId: 's-1',
  loopId: '2vppj4jt',
  prompt: 'Build it\n---\ntwo',
}

const TEXT = `---
active: true
iteration: 3
max_iterations: 10
completion_promise: "ALL DONE"
started_at: "2026-11-16T06:08:03Z"
session_id: "s-1"
loop_id: "2vppj4jt"
---

Build it
---
two
`

test('is printed byte for byte', () => {
  expect(printLoopFile(FILE)).toBe(TEXT)
  expect(printLoopFile({ ...FILE, promise: '' })).toBe(TEXT.replace('"ALL DONE"', 'null'))
  expect(parseLoopFile(TEXT)).toEqual(FILE)
})

describe('edits by people and editors are still read', () => {
  test.each<[what: string, text: string, change: Partial<LoopFile>]>([
    ['a byte order mark', `\uFEFF${TEXT}`, {}],
    ['line ends of Windows', TEXT.replaceAll('\n', '\r\n'), {}],
    ['both', `\uFEFF${TEXT.replaceAll('\n', '\r\n')}`, {}],
    ['no line end at the end', TEXT.slice(0, -1), {}],
    [
      'blanks behind the lines of the head',
      TEXT.replace(/^---$/m, '---  ').replace('iteration: 3', 'iteration: 3 \t'),
      {},
    ],
    ['no blank behind a colon', TEXT.replace('iteration: 3', 'iteration:3'), {}],
    ['blanks before a key and around a colon', TEXT.replace('iteration: 3', '  iteration :  3'), {}],
    ['a number that looks octal', TEXT.replace('max_iterations: 10', 'max_iterations: 08'), { maxIterations: 8 }],
    ['a number in quotes', TEXT.replace('max_iterations: 10', 'max_iterations: "12"'), { maxIterations: 12 }],
    ['a counter that is no number', TEXT.replace('iteration: 3', 'iteration: three'), { iteration: 1 }],
    ['a promise without quotes', TEXT.replace('"ALL DONE"', 'SHIP IT'), { promise: 'SHIP IT' }],
    ['a promise in single quotes', TEXT.replace('"ALL DONE"', `'it''s "done"'`), { promise: `it's "done"` }],
    ['quotes nobody escaped', TEXT.replace('"ALL DONE"', '"say "done""'), { promise: 'say "done"' }],
    ['a colon in the promise', TEXT.replace('"ALL DONE"', 'a: b'), { promise: 'a: b' }],
    ['no promise: null', TEXT.replace('"ALL DONE"', 'null'), { promise: '' }],
    ['no promise: a tilde', TEXT.replace('"ALL DONE"', '~'), { promise: '' }],
    ['no promise: nothing', TEXT.replace(' "ALL DONE"', ''), { promise: '' }],
    ['no promise: an empty text', TEXT.replace('ALL DONE', ''), { promise: '' }],
    ['unknown keys', TEXT.replace('active', 'color: red\n# a comment\n- item\nactive'), {}],
    ['a pause', TEXT.replace('active: true', 'active: false'), { active: false }],
    ['no word about being active', TEXT.replace('active: true\n', ''), { active: true }],
    ['a prompt of another shape', TEXT.replace('\n\nBuild it', '\nBuild it'), {}],
    ['empty lines before the prompt', TEXT.replace('\n\nBuild', '\n\n\nBuild'), { prompt: `\n${FILE.prompt}` }],
  ])('%s', (_, text, change) => {
    expect(parseLoopFile(text)).toEqual({ ...FILE, ...change })
  })
})

test.each<[what: string, text: string]>([
  ['nothing', ''],
  ['any text', 'garbage'],
  ['a head that is never closed', '---\nmax_iterations: 3\n\nBuild it\n'],
  ['no limit', TEXT.replace('max_iterations: 10\n', '')],
  ['a limit that is no number', TEXT.replace('max_iterations: 10', 'max_iterations: ten')],
  ['a limit below nothing', TEXT.replace('max_iterations: 10', 'max_iterations: -1')],
  ['a limit with an exponent', TEXT.replace('max_iterations: 10', 'max_iterations: 1e3')],
  ['no prompt', '---\nmax_iterations: 3\n---\n'],
  ['no prompt and no line end', '---\nmax_iterations: 3\n---'],
  ['a prompt of blanks', '---\nmax_iterations: 3\n---\n\n \n\t\n'],
  ['a text before the head', `x\n${TEXT}`],
])('is not such a file: %s', (_, text) => {
  expect(parseLoopFile(text)).toBeUndefined()
})

const anyText = fc.string({ unit: 'binary', maxLength: 60 })
const tricky = fc
  .array(
    fc.constantFrom('---', '\n', '\r\n', '\r', ' ', '"', "'", ':', '\\', '\u2028', '\uFEFF', 'null', '~', 'a', '08'),
    {
      maxLength: 12,
    },
  )
  .map((parts) => parts.join(''))

test('what was printed is read back, whatever the prompt and the promise are', () => {
  const texts = fc.oneof(anyText, tricky)
  fc.assert(
    fc.property(texts, texts, fc.nat(999_999_999), fc.boolean(), (prompt, promise, maxIterations, active) => {
      fc.pre(prompt.trim() !== '')
      const file = { ...FILE, prompt, promise, maxIterations, active }
      expect(parseLoopFile(printLoopFile(file))).toEqual(file)
    }),
    { numRuns: 1_000 },
  )
})

test('no text makes it throw', () => {
  fc.assert(fc.property(fc.oneof(anyText, tricky), (text) => void parseLoopFile(`---\n${text}`)))
})
