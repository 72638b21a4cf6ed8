/** The story that runs while the user watches: a currency table that grows with every iteration. */
import type { Step } from '../../../formats/script.ts'
import type { Files } from './cart.ts'
import { mentions, type Story, source } from './story.ts'

/** Code, decimal digits, sign, and 1234.5 as printed. */
const CURRENCIES = [
  ['USD', 2, '$', '$1,234.50'],
  ['GBP', 2, '£', '£1,234.50'],
  ['JPY', 0, '¥', '¥1,235'],
  ['CHF', 2, 'CHF ', 'CHF 1,234.50'],
  ['CAD', 2, 'CA$', 'CA$1,234.50'],
  ['AUD', 2, 'A$', 'A$1,234.50'],
  ['SEK', 2, 'SEK ', 'SEK 1,234.50'],
  ['NOK', 2, 'NOK ', 'NOK 1,234.50'],
  ['DKK', 2, 'DKK ', 'DKK 1,234.50'],
  ['PLN', 2, 'zł', 'zł1,234.50'],
  ['CZK', 2, 'Kč', 'Kč1,234.50'],
  ['HUF', 2, 'Ft', 'Ft1,234.50'],
  ['RON', 2, 'lei ', 'lei 1,234.50'],
  ['TRY', 2, '₺', '₺1,234.50'],
  ['INR', 2, '₹', '₹1,234.50'],
  ['CNY', 2, 'CN¥', 'CN¥1,234.50'],
  ['KRW', 0, '₩', '₩1,235'],
  ['SGD', 2, 'S$', 'S$1,234.50'],
  ['HKD', 2, 'HK$', 'HK$1,234.50'],
  ['NZD', 2, 'NZ$', 'NZ$1,234.50'],
  ['ZAR', 2, 'R', 'R1,234.50'],
  ['BRL', 2, 'R$', 'R$1,234.50'],
  ['MXN', 2, 'MX$', 'MX$1,234.50'],
  ['THB', 2, '฿', '฿1,234.50'],
  ['KWD', 3, 'KD ', 'KD 1,234.500'],
  ['CLP', 0, 'CLP$', 'CLP$1,235'],
] as const

/** The table with the first `known` currencies; `wrong` gets the wrong number of digits. */
function table(known: number, wrong?: string): Files {
  const rows = CURRENCIES.slice(0, known).map(
    ([code, digits, sign]) => `  ${code}: { digits: ${code === wrong ? 1 : digits}, sign: '${sign}' },\n`,
  )
  return source('currency', `const TABLE = {\n${rows.join('')}}\n${FORMAT}`)
}

const FORMAT = `
export function format(amount, code) {
  const { digits, sign } = TABLE[code] ?? {}
  if (sign === undefined) throw new RangeError(\`The currency \${code} is not supported.\`)
  const [whole, rest] = amount.toFixed(digits).split('.')
  return sign + whole.replace(/\\B(?=(\\d{3})+$)/g, ',') + (rest ? \`.\${rest}\` : '')
}
`

const TESTS = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { format } from './currency.mjs'

const CASES = {
${CURRENCIES.map(([code, , , shown]) => `  ${code}: '${shown}',\n`).join('')}}

for (const [code, shown] of Object.entries(CASES)) test(\`prints \${code}\`, () => assert.equal(format(1234.5, code), shown))
`

const FIRST = 2

/** One iteration per currency, and now and then a slip that the next one fixes. */
const SLIPS: Readonly<Record<number, string>> = { 5: 'JPY', 9: 'GBP', 13: 'CHF', 17: 'DKK', 21: 'KRW', 24: 'SGD' }

function turnsOf(): Step[][] {
  const turns = CURRENCIES.slice(FIRST).flatMap(([code], at) => {
    const known = FIRST + at + 1
    const slip = SLIPS[known]
    const added = mentions(`Adding ${code} to the table.`, table(known, slip))
    if (slip === undefined) return [added]
    return [added, mentions(`The digits of ${slip} got lost in the last step. I restored them.`, table(known))]
  })
  return turns.map((steps, at) => slowly(steps, at < QUICK_ONES ? 2 : 7))
}

/** Fast at first, so that the user sees movement at once. */
const QUICK_ONES = 3

function slowly([first, ...rest]: Step[], seconds: number): Step[] {
  return [
    ...(first ? [first] : []),
    { sleep: seconds / 2 },
    { shell: ['node', '--test', 'src/currency.test.mjs'] },
    { sleep: seconds / 2 },
    ...rest,
  ]
}

export const LIVE: Story = {
  name: 'live',
  group: 'shop',
  agent: 'steady',
  hoursAgo: 0,
  fate: 'live',
  task: {
    title: 'Support 24 more currencies',
    description: 'Prices are only shown in dollars and pounds. The tests list the currencies that customers ask for.',
    type: 'feature',
    labels: ['catalog', 'checkout'],
    priority: 5,
    worktree: true,
    ralph_max_iterations: 40,
    limits: { cost_usd: 20 },
    checks: ['node test/run.mjs currency'],
  },
  files: { ...table(FIRST), 'src/currency.test.mjs': TESTS },
  turns: turnsOf(),
}
