import { expect, test } from 'vitest'
import { answerKey } from './recorded.ts'

test('the order of fields does not change the key', () => {
  const key = 'get_diff {"against":"start","iteration":3,"loop":"k3f9x2ma"}'
  expect(answerKey('get_diff', { loop: 'k3f9x2ma', iteration: 3, against: 'start' })).toBe(key)
  expect(answerKey('get_diff', { against: 'start', loop: 'k3f9x2ma', iteration: 3 })).toBe(key)
})

test('absent fields are not in the key, and lists keep their order', () => {
  expect(answerKey('get_analytics', { dir: undefined })).toBe('get_analytics {}')
  expect(answerKey('a', { list: [2, 1, { z: 1, b: null }] })).toBe('a {"list":[2,1,{"b":null,"z":1}]}')
})
