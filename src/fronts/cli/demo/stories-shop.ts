/** Today's stories in the shop repository of the demo. */
import { cartFiles, cartTurns } from './cart.ts'
import { claims, type Story, source, suite, works } from './story.ts'

const VERIFIED: Story = {
  name: 'verified',
  group: 'shop',
  agent: 'steady',
  hoursAgo: 7.5,
  task: {
    title: 'Fix the totals and discounts of the cart',
    description:
      'Totals ignore prices and counts, and discounts are subtracted as money. The tests say what is expected.',
    type: 'bug',
    labels: ['cart', 'checkout'],
    priority: 3,
    checks: ['node test/run.mjs cart'],
  },
  files: cartFiles('src/'),
  turns: cartTurns({ folder: 'src/', seconds: 0 }),
}

const QUICK: Story = {
  name: 'quick',
  group: 'shop',
  agent: 'swift',
  hoursAgo: 6.2,
  task: {
    title: 'Fix the rounding in the cart',
    description: 'Prices with half a cent are rounded down.',
    type: 'bug',
    labels: ['cart'],
    priority: 2,
    checks: ['node test/run.mjs rounding'],
  },
  files: {
    ...source('rounding', 'export function toCents(amount) {\n  return Math.floor(amount * 100)\n}\n'),
    ...suite('rounding', 'toCents', {
      'whole amounts stay whole': 'assert.equal(toCents(12), 1200)',
      'half a cent is rounded up': 'assert.equal(toCents(1.005), 101)',
      'binary fractions cause no errors': 'assert.equal(toCents(4.35), 435)',
      'refunds are rounded the same way': 'assert.equal(toCents(-1.005), -101)',
    }),
  },
  turns: [
    claims(
      'Amounts are cut off instead of rounded.',
      source('rounding', 'export function toCents(amount) {\n  return Math.round(amount * 100)\n}\n'),
      'Amounts are rounded now.',
    ),
    claims(
      'The product 1.005 * 100 is a little less than 100.5. Shifting the decimal point as text is exact.',
      source(
        'rounding',
        `
export function toCents(amount) {
  const cents = Math.round(Number(\`\${Math.abs(amount)}e2\`))
  return amount < 0 ? -cents : cents
}
`,
      ),
      'Half a cent is rounded up, for refunds too.',
    ),
  ],
}

const SHIPPING_CASES = {
  'an empty cart ships for free': 'assert.equal(shipping(0), 0)',
  'a small order pays for shipping': 'assert.equal(shipping(20), 4.9)',
}

const TESTED: Story = {
  name: 'tested',
  group: 'shop',
  agent: 'steady',
  hoursAgo: 5.1,
  task: {
    title: 'Ship orders above 50 euros for free',
    type: 'feature',
    labels: ['checkout'],
    priority: 1,
    checks: ['node test/run.mjs shipping'],
  },
  files: {
    ...source('shipping', 'export function shipping(total) {\n  return total === 0 ? 0 : 4.9\n}\n'),
    ...suite('shipping', 'shipping', SHIPPING_CASES),
  },
  turns: [
    works(
      'Orders of 50 euros or more ship for free.',
      source(
        'shipping',
        'const FREE_FROM = 50\n\nexport function shipping(total) {\n  return total === 0 || total >= FREE_FROM ? 0 : 4.9\n}\n',
      ),
      'Tests for this are next.',
    ),
    claims(
      'The tests cover the limit and the amount just below it.',
      suite('shipping', 'shipping', {
        ...SHIPPING_CASES,
        'an order of 50 euros ships for free': 'assert.equal(shipping(50), 0)',
        'an order just below that does not': 'assert.equal(shipping(49.99), 4.9)',
      }),
      'Free shipping works and has tests.',
    ),
  ],
}

const KEPT: Story = {
  name: 'kept',
  group: 'shop',
  agent: 'steady',
  hoursAgo: 3.9,
  task: {
    title: 'Split the order summary into small functions',
    type: 'refactoring',
    labels: ['orders'],
    checks: ['node test/run.mjs summary'],
  },
  files: {
    ...source(
      'summary',
      `
export function summary(order) {
  let text = ''
  for (const line of order.lines) {
    text += line.count + ' x ' + line.name
    if (line.gift) text += ' (gift)'
    text += '\\n'
  }
  let total = 0
  for (const line of order.lines) if (!line.gift) total += line.count * line.price
  return text + 'Total: ' + total.toFixed(2)
}
`,
    ),
    ...suite('summary', 'summary', {
      'names each line': "assert.match(summary({ lines: [{ name: 'teapot', count: 2, price: 9 }] }), /^2 x teapot$/m)",
      'adds up': "assert.match(summary({ lines: [{ name: 'teapot', count: 2, price: 9 }] }), /Total: 18.00$/)",
      'gifts are free':
        "assert.match(summary({ lines: [{ name: 'card', count: 1, price: 3, gift: true }] }), /Total: 0.00$/)",
    }),
  },
  turns: [
    claims(
      'Two loops and one string do three things. I give each of them a name.',
      source(
        'summary',
        `
export function summary({ lines }) {
  return [...lines.map(lineText), \`Total: \${totalOf(lines).toFixed(2)}\`].join('\\n')
}

function lineText({ count, name, gift }) {
  return \`\${count} x \${name}\${gift ? ' (gift)' : ''}\`
}

function totalOf(lines) {
  return lines.filter(({ gift }) => !gift).reduce((sum, { count, price }) => sum + count * price, 0)
}
`,
      ),
      'The summary now has three small functions, and its tests still pass.',
    ),
  ],
}

const STALLED: Story = {
  name: 'stalled',
  group: 'shop',
  agent: 'swift',
  hoursAgo: 2.8,
  task: {
    title: 'Find products by parts of their name',
    type: 'feature',
    labels: ['search'],
    priority: 1,
    worktree: true,
    checks: ['node test/run.mjs search'],
  },
  files: {
    ...source('search', 'export const search = (term, names) => names.filter((name) => name === term)\n'),
    ...suite('search', 'search', {
      'finds a whole name': "assert.deepEqual(search('teapot', ['teapot', 'kettle']), ['teapot'])",
      'finds the beginning of a name': "assert.deepEqual(search('tea', ['teapot', 'kettle']), ['teapot'])",
      'finds the end of a name': "assert.deepEqual(search('pot', ['teapot', 'kettle']), ['teapot'])",
    }),
  },
  turns: [
    works('I read src/search.mjs. It compares whole names, which explains both failures.'),
    works('An index of all parts of a name would be fast, but large. I am weighing that against a plain scan.'),
    works('For a catalog of this size a plain scan is fast enough. The index can come later.'),
  ],
}

const PAIRS_CASES = {
  'counts products bought together':
    "assert.deepEqual(pairs([['tea', 'pot'], ['pot', 'tea'], ['cup', 'pot']])[0], ['pot', 'tea', 2])",
  'leaves out pairs bought only once': "assert.deepEqual(pairs([['tea', 'pot']]), [])",
  'ignores orders with a single product': "assert.deepEqual(pairs([['tea'], ['tea']]), [])",
}

const LIMITED: Story = {
  name: 'limited',
  group: 'shop',
  agent: 'steady',
  hoursAgo: 0.5,
  task: {
    title: 'Recommend products that are bought together',
    type: 'feature',
    labels: ['catalog', 'recommendations'],
    priority: 2,
    worktree: true,
    checks: ['node test/run.mjs pairs'],
  },
  files: { ...source('pairs', 'export const pairs = () => []\n'), ...suite('pairs', 'pairs', PAIRS_CASES) },
  turns: [
    works(
      'First I count the pairs of each order.',
      source(
        'pairs',
        `
export function pairs(orders) {
  const counts = new Map()
  for (const order of orders) counts.set(order.join(), (counts.get(order.join()) ?? 0) + 1)
  return [...counts]
}
`,
      ),
      'Pairs in a different order are still counted separately. That is next.',
    ),
    [
      { attempt: 1, 'rate-limit': { resetsInSeconds: 9_000, message: 'You have reached your usage limit.' } },
      ...claims(
        'Names are sorted within a pair, so that their order does not matter.',
        source(
          'pairs',
          `
export function pairs(orders) {
  const counts = new Map()
  for (const order of orders)
    for (const [a, b] of pairsIn(order)) counts.set(\`\${a},\${b}\`, (counts.get(\`\${a},\${b}\`) ?? 0) + 1)
  return [...counts].filter(([, count]) => count > 1).map(([key, count]) => [...key.split(','), count])
}

function pairsIn(order) {
  const names = [...new Set(order)].sort()
  return names.flatMap((a, at) => names.slice(at + 1).map((b) => [a, b]))
}
`,
        ),
        'Products that are bought together at least twice are recommended.',
      ),
    ],
  ],
}

export const SHOP_TODAY: readonly Story[] = [VERIFIED, QUICK, TESTED, KEPT, STALLED, LIMITED]
