import { expect, test } from 'vitest'
import { readValues } from './query.ts'

const schema = {
  properties: {
    count: { type: 'integer' },
    share: { type: 'number' },
    all: { type: 'boolean' },
    name: { type: 'string' },
    either: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    names: { type: 'array', items: { type: 'string' } },
    counts: { type: 'array', items: { type: 'integer' } },
    limits: { type: 'object' },
  },
}

test.each<[query: string, values: object]>([
  ['count=7&share=-1.5e3&all=true', { count: 7, share: -1500, all: true }],
  ['name=7', { name: '7' }],
  ['name=true&all=false', { name: 'true', all: false }],
  ['either=null', { either: null }],
  ['either=3', { either: 3 }],
  ['names=a,b&counts=1,2', { names: ['a', 'b'], counts: [1, 2] }],
  ['names=a&names=b,c', { names: ['a', 'b,c'] }],
  ['names=%5B%22a,b%22%5D', { names: ['a,b'] }],
  ['names=%5Ba', { names: ['[a'] }],
  ['names=', { names: [''] }],
  ['names=[]', { names: [] }],
  ['limits={"minutes":1}', { limits: { minutes: 1 } }],
])('%s is %j', (query, values) => {
  expect(readValues([...new URLSearchParams(query)], schema)).toEqual(values)
})

test.each(['ten', '', '0x10', '1e', '1,000', ' 1', '１', 'Infinity'])(
  '"%s" is not a number, and stays a string',
  (text) => {
    expect(readValues([['count', text]], schema)).toEqual({ count: text })
  },
)

test('what is not in the schema also stays, under whatever name', () => {
  const values = readValues([...new URLSearchParams('__proto__=a&constructor=b&x=1&x=2')], schema)
  expect(Object.entries(values)).toEqual([
    ['__proto__', 'a'],
    ['constructor', 'b'],
    ['x', ['1', '2']],
  ])
})
