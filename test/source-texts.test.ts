/** The texts of a source file are found, whatever surrounds them. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the sources are data
import { expect, test } from 'vitest'
import { sourceTexts } from './source-texts.ts'

test.each<[what: string, source: string, texts: string[]]>([
  ['both kinds of quotes', `say('one two', "it's")`, ['one two', "it's"]],
  ['escaped quotes', String.raw`say('it\'s')`, [String.raw`it\'s`]],
  ['templates, with what is inserted left out', 'say(`a ${b + 1} c`)', ['a … c']],
  ['texts inside a template', "say(`a ${b ? 'x y' : `${c} z`}`)", ['a …', 'x y', '… z']],
  ['objects inside a template', "say(`${f({ a: 'b' })} c`)", ['… c', 'b']],
  ['no comments', "// it's no text\n/* 'nor this' */ say('this')", ['this']],
  ['no regular expressions', "x.replace(/['\"`]/g, 'y')\nif (/a'b/.test(z)) say('c')", ['y', 'c']],
  ['a division is not one', "const a = b / c + 'd' / e", ['d']],
  ['an address is no comment', "open('http://a.b') // really", ['http://a.b']],
])('%s', (_, source, texts) => {
  expect(sourceTexts(source).map(({ text }) => text)).toEqual(texts)
})

test('the text between tags, with apostrophes and next to attributes', () => {
  const source = `const a = <p class="big">Don't stop {count(n, 'loop')} now</p>`
  expect(sourceTexts(source, { jsx: true }).map(({ text }) => text)).toEqual(['big', "Don't stop ", 'loop', ' now'])
})

test('each text knows its line', () => {
  expect(sourceTexts("\nsay('a')\n\nsay(`b\n${c}`)").map(({ line }) => line)).toEqual([2, 4])
})
