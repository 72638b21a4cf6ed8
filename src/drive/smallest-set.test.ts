import { expect, test } from 'vitest'
import { findSmallest } from './smallest-set.ts'

const names = (count: number) => Array.from({ length: count }, (_, at) => `f${at}`)

/** Works if it contains all of these; counts how often it was asked. */
function needs(...needed: string[]): { works(items: readonly string[]): Promise<boolean>; tries(): number } {
  let tries = 0
  return {
    async works(items) {
      tries++
      return needed.every((item) => items.includes(item))
    },
    tries: () => tries,
  }
}

test.each([1, 2, 3, 8, 9, 40])('one of %i is found', async (count) => {
  for (const needed of ['f0', `f${count - 1}`]) {
    const { works, tries } = needs(needed)
    expect(await findSmallest(names(count), works)).toEqual({ items: [needed], isSmallest: true })
    expect(tries()).toBeLessThanOrEqual(Math.max(8, 4 * Math.ceil(Math.log2(count))))
  }
})

test.each([2, 5, 8, 9, 40])('two of %i are found', async (count) => {
  const needed = ['f0', `f${count - 1}`]
  expect(await findSmallest(names(count), needs(...needed).works)).toEqual({ items: needed, isSmallest: true })
})

test('if all are needed, all are named', async () => {
  expect(await findSmallest(names(5), needs(...names(5)).works)).toEqual({ items: names(5), isSmallest: true })
  expect(await findSmallest(names(20), needs(...names(20)).works)).toEqual({ items: names(20), isSmallest: true })
})

test('when the time is used up, the result is marked as unfinished', async () => {
  let tries = 0
  const works = async (items: readonly string[]) => (++tries > 1 ? undefined : items.includes('f19'))
  expect(await findSmallest(names(20), works)).toEqual({ items: names(20).slice(10), isSmallest: false })
  expect(await findSmallest(names(3), async () => undefined)).toEqual({ items: names(3), isSmallest: false })
})
