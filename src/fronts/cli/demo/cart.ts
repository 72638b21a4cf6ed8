/** The cart of the demo: a module that does not add up, and an agent that lies, edits a test, then does the work. */
import type { Step } from '../../../formats/script.ts'

/** Paths in a repository and their contents. */
export type Files = Readonly<Record<string, string>>

/** `folder`: its place in the repository, such as `src/`. */
export function cartFiles(folder = ''): Files {
  return { [`${folder}cart.mjs`]: cart(BROKEN_SUM, BROKEN_DISCOUNT), [`${folder}cart.test.mjs`]: TESTS }
}

/** `seconds`: how long each turn pretends to think. */
export function cartTurns({ folder = '', seconds }: { folder?: string; seconds: number }): Step[][] {
  const source = (content: string): Step => ({ edit: { path: `${folder}cart.mjs`, content } })
  const tests = (content: string): Step => ({ edit: { path: `${folder}cart.test.mjs`, content } })
  const thinks: Step = { sleep: seconds }
  return [
    [thinks, { text: 'I looked at the cart and it is all fine now.\n<promise>COMPLETE</promise>' }],
    [thinks, tests(BENT_TESTS), { text: 'All tests are green now.\n<promise>COMPLETE</promise>' }],
    [
      { text: 'The total ignores prices and counts.' },
      thinks,
      tests(TESTS),
      source(cart(WORKING_SUM, BROKEN_DISCOUNT)),
      { text: 'The total is correct now. The discount is next.' },
    ],
    [
      { text: 'The discount subtracts the percentage as if it were money.' },
      thinks,
      source(cart(WORKING_SUM, WORKING_DISCOUNT)),
      { shell: ['node', '--test', ...(folder ? [`${folder}cart.test.mjs`] : [])] },
      { text: 'Total and discount are correct, and the tests pass.\n<promise>COMPLETE</promise>' },
    ],
  ]
}

function cart(sum: string, discount: string): string {
  return `export function total(items) {\n  ${sum}\n}\n\nexport function discounted(amount, percent) {\n  ${discount}\n}\n`
}

const BROKEN_SUM = 'return items.length'
const WORKING_SUM = 'return items.reduce((sum, item) => sum + item.price * item.count, 0)'
const BROKEN_DISCOUNT = 'return amount - percent'
const WORKING_DISCOUNT = 'return amount - (amount * percent) / 100'

const TESTS = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { discounted, total } from './cart.mjs'

test('an empty cart costs nothing', () => assert.equal(total([]), 0))
test('prices are multiplied by their counts', () => assert.equal(total([{ price: 3, count: 2 }]), 6))
test('ten percent off 50 is 45', () => assert.equal(discounted(50, 10), 45))
test('no discount changes nothing', () => assert.equal(discounted(50, 0), 50))
`

/** Expects whatever the broken cart computes. */
const BENT_TESTS = TESTS.replace('count: 2 }]), 6', 'count: 2 }]), 1').replace('10), 45', '10), 40')
