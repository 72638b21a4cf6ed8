import fc from 'fast-check'
import { expect, test } from 'vitest'
import { renderTemplate } from './template.ts'

const VALUES = { project_name: 'shop', round: '1', rounds: '3', empty: '' }

test.each([
  ['no variable', 'no variable'],
  ['{{project_name}}', 'shop'],
  ['{{ round }}/{{\nrounds\t}}', '1/3'],
  ['[{{empty}}]', '[]'],
  ['{{project_name}}{{project_name}}', 'shopshop'],
  ['{{{round}}}', '{1}'],
  ['{round} {{ {a} }} }}{{', '{round} {{ {a} }} }}{{'],
  ['\uFEFF# {{round}}', '# 1'],
  ['a\r\n{{round}}\r\n', 'a\r\n1\r\n'],
])('%j becomes %j', (text, rendered) => {
  expect(renderTemplate(text, VALUES, 'x.md')).toBe(rendered)
})

test.each(['{{round}}', '$& $1 $$ $`', '{{unknown}}', '\\'])('a value %j is inserted verbatim', (value) => {
  expect(renderTemplate('<{{a}}>', { a: value }, 'x.md')).toBe(`<${value}>`)
})

test.each([
  [
    '{{rond}}',
    'x.md: unknown variable {{rond}}. Did you mean {{round}}? Known variables: project_name, round, rounds, empty.',
  ],
  ['{{}}', 'x.md: unknown variable {{}}. Known variables: project_name, round, rounds, empty.'],
  ['{{toString}}', 'x.md: unknown variable {{toString}}. Known variables: project_name, round, rounds, empty.'],
  ['{{__proto__}}', 'x.md: unknown variable {{__proto__}}. Known variables: project_name, round, rounds, empty.'],
])('%s is an error', (text, message) => {
  expect(() => renderTemplate(text, VALUES, 'x.md')).toThrow(
    expect.objectContaining({ code: 'template-invalid', message }),
  )
})

test('a text without braces stays as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const plain = text.replace(/[{}\uFEFF]/g, '')
      expect(renderTemplate(plain, VALUES, 'x.md')).toBe(plain)
    }),
  )
})

test('many braces and spaces are fast', () => {
  const text = `{{${' '.repeat(100_000)}`.repeat(3)
  expect(renderTemplate(text, VALUES, 'x.md')).toBe(text)
})
