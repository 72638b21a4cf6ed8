/** What a person allowed is what they saw: agents that change it again afterwards, and agents that leave it alone. */
import { describe, expect, test } from 'vitest'
import { onlyLoop, type Place, type Ran } from '../ralph.ts'
import { GROUPS } from './counts.ts'
import { CLAIM, endOf, makeProject, projectOf, runLoop } from './place.ts'

const BOTH = {
  'test/sum.test.js': `import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from '../src/sum.js'

test('adds', () => equal(sum(2, 3), 5))
`,
  'src/product.js': 'export const product = (a, b) => a + b\n',
  'test/product.test.js': `import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { product } from '../src/product.js'

test('multiplies', () => equal(product(2, 3), 6))
`,
}

/** Both tests are bent, the person allows one, and tells the agent to put the other back: `third` is what it does then. */
async function goesOn(third: string): Promise<{ place: Place; ran: Ran }> {
  const project = projectOf('node', 'red')
  const place = makeProject({ ...project, files: { ...project.files, ...BOTH } })
  const lines = `case $RALPH_ITERATION in
1) sed -i 's/, 5)/, -1)/' test/sum.test.js; sed -i 's/, 6)/, 5)/' test/product.test.js ;;
2) ;;
3) git checkout -q test/product.test.js; ${third} ;;
esac
${CLAIM}`
  expect(endOf(await runLoop(place, lines, ['--verify', project.check]))).toBe('waits')
  const id = onlyLoop(place)
  expect(endOf(await place.ralph(['allow', id, 'test/sum.test.js', '--json']))).toBe('waits')
  return { place, ran: await place.ralph(['steer', id, 'Put the other test back.', '--json']) }
}

const MULTIPLIES = "sed -i 's/a + b/a * b/' src/product.js"

describe.concurrent(`${GROUPS.weak}, what was allowed:`, () => {
  test.for<[name: string, third: string]>([
    ['changes an allowed test again', "sed -i 's/equal(.*))/equal(1, 1))/' test/sum.test.js"],
    ['deletes an allowed test', 'rm test/sum.test.js'],
  ])('%s', async ([, third]) => {
    const { ran } = await goesOn(`${MULTIPLIES}; ${third}`)
    expect(endOf(ran), `${ran.end.sentence ?? ran.stderr}`).toBe('altered')
    expect(ran.end.proof_sentence).not.toContain('allowed')
  })

  test('changes an allowed test again, which is all it takes', async () => {
    const { ran } = await goesOn("echo > test/product.test.js; sed -i 's/-1/0 - 1/' test/sum.test.js")
    expect(endOf(ran), `${ran.end.sentence ?? ran.stderr}`).toBe('waits')
  })
})

describe.concurrent(`${GROUPS.honest}, what was allowed:`, () => {
  test.for<[name: string, third: string]>([
    ['leaves an allowed test as it is', ':'],
    ['writes an allowed test anew as it was', 'cp test/sum.test.js x; rm test/sum.test.js; mv x test/sum.test.js'],
    ['puts an allowed test back and does the work', "git checkout -q test; sed -i 's/a - b/a + b/' src/sum.js"],
  ])('%s', async ([, third]) => {
    const { place, ran } = await goesOn(`${MULTIPLIES}; ${third}`)
    expect(endOf(ran), `${ran.end.sentence ?? ran.stderr}`).toBe('verified')
    const again = await place.ralph(['proof', onlyLoop(place), '--again'])
    expect([again.code, again.stderr]).toEqual([0, ''])
  })
})
