import { expect, onTestFinished, test } from 'vitest'
import { openPool } from './connect.ts'

const URL = 'postgres://ralph@db.example.com/ralph'

function mostOf(more: string): number {
  const pool = openPool({ url: `${URL}${more}` })
  onTestFinished(() => pool.end())
  return pool.options.max
}

test('a URL says how many connections a process may use', () => {
  expect([mostOf(''), mostOf('?connections=3'), mostOf('?schema=other&connections=20')]).toEqual([8, 3, 20])
})

test.each(['0', '1', '1000', 'many', ''])('?connections=%s is refused with a sentence', (text) => {
  expect(() => openPool({ url: `${URL}?connections=${text}` })).toThrow(
    `?connections= in the database URL must be a number from 2 to 999, got "${text}".`,
  )
})
