import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseWhyNote, printWhyNote } from './why-note.ts'

const NOTE = { kind: 'refused', from: 'Needs_Action/a.md', why: 'priority is wrong.' } as const
const TEXT = `---
ralph: refused
from: "Needs_Action/a.md"
---

# a.md was not started

priority is wrong.

- iterations: 1

Move it back.
`

test('has frontmatter for ralph and text for people', () => {
  const printed = printWhyNote({
    ...NOTE,
    title: 'a.md was not started',
    facts: ['iterations: 1'],
    advice: 'Move it back.',
  })
  expect(printed).toBe(TEXT)
  expect(parseWhyNote(TEXT)).toEqual(NOTE)
})

test('is read whatever the file name', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.constantFrom('', 'So.'), (from, why) => {
      const text = printWhyNote({ kind: 'failed', from, why, title: 'x', facts: ['y'] })
      expect(parseWhyNote(text)).toEqual({ kind: 'failed', from, why })
    }),
  )
})

test.each<[what: string, text: string, why: string]>([
  ['saved by an editor of Windows', TEXT.replaceAll('\n', '\r\n'), NOTE.why],
  ['with a title of a person', TEXT.replace('a.md was not started', 'Mine'), NOTE.why],
  ['with keys of another program', TEXT.replace('from:', 'tags: [x]\nfrom:'), NOTE.why],
  ['without its text', TEXT.slice(0, TEXT.indexOf('#')), ''],
])('is the same %s', (_, text, why) => {
  expect(parseWhyNote(text)).toEqual({ ...NOTE, why })
})

test.each([
  ['without a head', '# a.md was not started\n\npriority is wrong.\n'],
  ['with a head of its own', '---\ntags: x\n---\n\n# a was not completed\n'],
  ['of an unknown kind', TEXT.replace('refused', 'perhaps')],
  ['that does not say from where', TEXT.replace(/from: .*\n/, '')],
  ['empty', ''],
])("is not ralph's: text %s", (_, text) => {
  expect(parseWhyNote(text)).toBeUndefined()
})
