import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addEntry, addField, readLooseJson, removeEntries, whyUnusable } from './json-text.ts'

const at = ['hooks', 'Stop']
const own = { command: 'ralph' }
const isOwn = (item: unknown) =>
  typeof item === 'object' && item !== null && 'command' in item && item.command === 'ralph'
const add = (text: string) => addEntry(text, { at, item: own }, 'settings.json')

describe('an entry is added', () => {
  test.each<[story: string, before: string, after: string]>([
    [
      'an empty text',
      '',
      '{\n  "hooks": {\n    "Stop": [\n      {\n        "command": "ralph"\n      }\n    ]\n  }\n}\n',
    ],
    [
      'an empty object without a line break',
      '{}',
      '{\n  "hooks": {\n    "Stop": [\n      {\n        "command": "ralph"\n      }\n    ]\n  }\n}',
    ],
    [
      'a list with others, in the indentation of the file',
      '{\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t1\n\t\t]\n\t}\n}\n',
      '{\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t1,\n\t\t\t{\n\t\t\t\t"command": "ralph"\n\t\t\t}\n\t\t]\n\t}\n}\n',
    ],
    ['what is on one line', '{"hooks":{"Stop":[1]},"a":1.0}', '{"hooks":{"Stop":[1, {"command":"ralph"}]},"a":1.0}'],
    [
      'lines that end the way of Windows',
      '{\r\n  "a": 1\r\n}\r\n',
      '{\r\n  "a": 1,\r\n  "hooks": {\r\n    "Stop": [\r\n      {\r\n        "command": "ralph"\r\n      }\r\n    ]\r\n  }\r\n}\r\n',
    ],
    [
      'the last of two fields of one name, which is the one that counts',
      '{"hooks":{"Stop":[0]},"hooks":{"Stop":[1]}}',
      '{"hooks":{"Stop":[0]},"hooks":{"Stop":[1, {"command":"ralph"}]}}',
    ],
    [
      'a text with a byte order mark',
      '\uFEFF{"hooks":{"Stop":[1]}}',
      '\uFEFF{"hooks":{"Stop":[1, {"command":"ralph"}]}}',
    ],
  ])('into %s', (_, before, after) => {
    expect(add(before)).toBe(after)
  })

  test('numbers, escapes and brackets in strings keep their bytes', () => {
    const text = '{\n "n": 12345678901234567890.10,\n "s": "a\\u00e9\\"]}{[,//",\n "hooks": { "Stop": [] }\n}'
    expect(add(text)).toContain('12345678901234567890.10,\n "s": "a\\u00e9\\"]}{[,//",')
    expect(JSON.parse(add(text)).hooks.Stop).toEqual([own])
  })

  test.each([
    ['{"hooks":[]}', '"hooks" must be an object'],
    ['{"hooks":{"Stop":{}}}', '"hooks.Stop" must be a list'],
  ])('not into %s', (text, sentence) => {
    expect(() => add(text)).toThrow(`settings.json: ${sentence}`)
  })
})

test('a field is added once', () => {
  expect(addField('{"a":1}', 'version', 1)).toBe('{"a":1, "version": 1}')
  expect(addField('{"version":2}', 'version', 1)).toBe('{"version":2}')
})

describe('entries are removed', () => {
  test.each<[story: string, before: string, after: string]>([
    [
      'the only one, with the list and the object around it',
      '{"a":1,"hooks":{"Stop":[{"command":"ralph"}]}}',
      '{"a":1}',
    ],
    [
      'the first of two',
      '{"hooks":{"Stop":[{"command":"ralph"},{"command":"x"}]}}',
      '{"hooks":{"Stop":[{"command":"x"}]}}',
    ],
    ['the last of two', '{"hooks":{"Stop":[1 , {"command":"ralph"} ]}}', '{"hooks":{"Stop":[1 ]}}'],
    [
      'a group with its matcher, when no other hook is in it',
      '{"hooks":{"Stop":[{"matcher":"","hooks":[{"command":"ralph"}]},2]}}',
      '{"hooks":{"Stop":[2]}}',
    ],
    [
      'one of a group that somebody else also uses',
      '{"hooks":{"Stop":[{"hooks":[{"command":"x"},{"command":"ralph"}]}]}}',
      '{"hooks":{"Stop":[{"hooks":[{"command":"x"}]}]}}',
    ],
    ['all, wherever they are', '{"a":[{"command":"ralph"}],"b":[0,{"command":"ralph"}]}', '{"b":[0]}'],
    ['none', '{"hooks": {"Stop": []}}', '{"hooks": {"Stop": []}}'],
    ['everything', '{"a":[{"command":"ralph"}]}', '{}'],
  ])('%s', (_, before, after) => {
    expect(removeEntries(before, isOwn)).toBe(after)
  })

  test('adding and removing restores the file byte for byte if the list existed', () => {
    const value = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 })
    const space = fc.constantFrom(undefined, 1, 2, 4, '\t')
    fc.assert(
      fc.property(value, fc.array(fc.jsonValue(), { minLength: 1, maxLength: 3 }), space, (others, list, indent) => {
        const text = JSON.stringify({ ...others, hooks: { Stop: list } }, undefined, indent)
        expect(JSON.parse(add(text)).hooks.Stop).toEqual([...JSON.parse(text).hooks.Stop, own])
        expect(removeEntries(add(text), isOwn)).toBe(text)
      }),
    )
  })

  test('adding and removing never changes the meaning of the file', () => {
    const value = fc.dictionary(
      fc.string().filter((key) => key !== 'hooks'),
      fc.jsonValue(),
    )
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 2, '\t'), (others, indent) => {
        const text = JSON.stringify(others, undefined, indent)
        expect(JSON.parse(removeEntries(add(text), isOwn))).toEqual(JSON.parse(text))
      }),
    )
  })
})

describe('comments and trailing commas', () => {
  const put = (before: string) => add(before).replace(/\{\s*"command":\s*"ralph"\s*\}/, 'OURS')

  test.each<[story: string, before: string, after: string]>([
    [
      'next to the last value',
      '{\n  "hooks": {\n    "Stop": [\n      1 // mine\n    ]\n  }\n}\n',
      '{\n  "hooks": {\n    "Stop": [\n      1, // mine\n      OURS\n    ]\n  }\n}\n',
    ],
    [
      'below the last value',
      '{"hooks": {"Stop": [\n  1\n  // the end\n]}}',
      '{"hooks": {"Stop": [\n  1,\n  OURS\n  // the end\n]}}',
    ],
    ['in a list without values', '{"hooks": {"Stop": [ /* none */ ]}}', '{"hooks": {"Stop": [ /* none */\n  OURS\n]}}'],
    ['a last comma', '{"hooks": {"Stop": [1,],},}', '{"hooks": {"Stop": [1, OURS,],},}'],
    [
      'a last comma and a comment',
      '{"hooks": {"Stop": [\n  1, // one\n],}}',
      '{"hooks": {"Stop": [\n  1, // one\n  OURS,\n],}}',
    ],
    ['a comment on one line', '{"hooks": {"Stop": [1 /* one */]}}', '{"hooks": {"Stop": [1, /* one */ OURS]}}'],
    ['a comment that ends its line', '{"hooks": {"Stop": [1 // one\n]}}', '{"hooks": {"Stop": [1, // one\n  OURS\n]}}'],
  ])('stay, %s', (_, before, after) => {
    expect(put(before)).toBe(after)
    expect(readLooseJson(removeEntries(add(before), isOwn))).toEqual(readLooseJson(before))
    for (const [comment] of before.matchAll(/\/\/.*|\/\*.*?\*\//g))
      expect(removeEntries(add(before), isOwn)).toContain(comment)
  })

  test.each<[before: string, after: string]>([
    ['{"a": [ {"command": "ralph"}, // ours\n 2 ]}', '{"a": [ // ours\n 2 ]}'],
    ['{"a": [ 1, // one\n {"command": "ralph"}]}', '{"a": [ 1 // one\n]}'],
    ['{"a": [ 1, {"command": "ralph"}, ]}', '{"a": [ 1, ]}'],
    ['{ // all of it\n "a": [ {"command": "ralph"}, ], }', '{ // all of it\n }'],
    ['{"b": 1, "a": [ /* why */ {"command": "ralph"} ]}', '{"b": 1, "a": [ /* why */ ]}'],
  ])('stay when entries go: %s', (before, after) => {
    expect(removeEntries(before, isOwn)).toBe(after)
  })
})

test.each([
  ['[]', 'must contain a JSON object'],
  ['// nothing\n[]', 'must contain a JSON object'],
  ['{"a": "/* no */"', 'it is not valid JSON'],
  [`{"a":${'['.repeat(300)}${']'.repeat(300)}}`, 'nested more than 200 levels'],
])('says why %j cannot be changed', (text, sentence) => {
  expect(whyUnusable(text, 'f')).toContain(sentence)
})

test.each(['', '{}', '{ // mine\n "a": "http://x" }', '{"a": [1,],}'])('says that %j can be changed', (text) => {
  expect(whyUnusable(text, 'f')).toBeUndefined()
})
