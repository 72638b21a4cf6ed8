import { expect, test } from 'vitest'
import { startLoop } from '../engine/loop.ts'
import { START, specOf } from '../engine/stories.test-support.ts'
import { openPurse } from './purse.ts'

/** A loop that has spent this much. */
function spent(id: string, costUsd: number) {
  const { tally } = startLoop(id, specOf(), { at: START, tree: 't' })
  return { id, tally: { ...tally, costUsd } }
}

test('counts what all loops spend, from when each is first seen', () => {
  const purse = openPurse(3)
  for (const [id, costUsd] of [
    ['old', 10],
    ['one', 0],
    ['one', 1],
    ['two', 0],
    ['old', 11],
    ['two', 0.5],
  ] as const)
    purse.saw(spent(id, costUsd))
  expect(purse.isSpent()).toBe(false)
  purse.saw(spent('two', 1))
  expect(purse.isSpent()).toBe(true)
})

test('a limit of 0 is used up', () => {
  expect(openPurse(0).isSpent()).toBe(true)
})
