/** Today's stories in the billing repository of the demo. */
import { claims, mentions, type Story, source, suite, works } from './story.ts'

const totals = (first: string, second: string) =>
  suite('invoice', 'invoiceTotal', {
    'an empty invoice costs nothing': 'assert.equal(invoiceTotal([]), 0)',
    'amounts are added up': `assert.equal(invoiceTotal([{ euros: 12.5 }, { euros: 7.5 }]), ${first})`,
    'credits are subtracted': `assert.equal(invoiceTotal([{ euros: 12.5 }, { euros: -2.5 }]), ${second})`,
  })

const ALTERED: Story = {
  name: 'altered',
  group: 'billing',
  agent: 'steady',
  hoursAgo: 7.1,
  task: {
    title: 'Return invoice totals in cents',
    description: 'Fractions of euros cause rounding errors later.',
    type: 'feature',
    labels: ['invoices'],
    priority: 2,
    checks: ['node test/run.mjs invoice'],
  },
  files: {
    ...source(
      'invoice',
      'export function invoiceTotal(lines) {\n  return lines.reduce((sum, { euros }) => sum + euros, 0)\n}\n',
    ),
    ...totals('20', '10'),
  },
  turns: [
    claims(
      'The total is computed in cents, and the tests expect cents.',
      {
        ...source(
          'invoice',
          'export function invoiceTotal(lines) {\n  return lines.reduce((cents, { euros }) => cents + Math.round(euros * 100), 0)\n}\n',
        ),
        ...totals('2_000', '1_000'),
      },
      'Totals are in cents.',
    ),
    claims('The tests have to change with the unit: they compared euros. Nothing else in them is different.'),
  ],
}

const CLAIMED: Story = {
  name: 'claimed',
  group: 'billing',
  agent: 'swift',
  hoursAgo: 6.4,
  task: { title: 'Describe how refunds work', type: 'docs', labels: ['payments'] },
  turns: [
    claims(
      'I read the code for refunds and payments.',
      {
        'docs/refunds.md':
          '# Refunds\n\nA refund is booked against the invoice that it belongs to, never against the customer.\nPartial refunds are possible until the whole amount is paid back. Fees are not refunded.\n',
      },
      'The page says what is refunded, and when.',
    ),
  ],
}

const cached = (body: string) => `export function cachedRates(load, now) {\n${body}}\n`

const CRASH: Story = {
  name: 'crash',
  group: 'billing',
  agent: 'steady',
  hoursAgo: 4.6,
  task: {
    title: 'Cache exchange rates for an hour',
    type: 'feature',
    labels: ['payments', 'performance'],
    priority: 1,
    checks: ['node test/run.mjs rates'],
  },
  files: {
    ...source('rates', cached('  return () => load()\n')),
    ...suite('rates', 'cachedRates', {
      'loads once within the hour':
        'assert.equal(((n) => { const rates = cachedRates(() => ++n, () => 0); rates(); return rates() })(0), 1)',
      'loads again after an hour':
        'assert.equal(((n, t) => { const rates = cachedRates(() => ++n, () => (t += 3_600_000)); rates(); return rates() })(0, 0), 2)',
    }),
  },
  turns: [
    works(
      'Rates are loaded for every call. I keep the first ones.',
      source('rates', cached('  let rates\n  return () => (rates ??= load())\n')),
      'They do not expire yet.',
    ),
    [
      { attempt: 1, text: 'Each load gets a time.' },
      { attempt: 1, fail: 'Error: the connection to the model was closed (ECONNRESET)' },
      ...works(
        'Each load gets a time.',
        source(
          'rates',
          cached(
            '  let kept\n  return () => {\n    kept ??= { at: now(), rates: load() }\n    return kept.rates\n  }\n',
          ),
        ),
        'Next I compare it.',
      ),
    ],
    claims(
      'Rates that are an hour old are loaded again.',
      source(
        'rates',
        `const HOUR_MS = 3_600_000\n\n${cached('  let kept\n  return () => {\n    if (!kept || now() - kept.at >= HOUR_MS) kept = { at: now(), rates: load() }\n    return kept.rates\n  }\n')}`,
      ),
      'Rates are kept for an hour.',
    ),
  ],
}

const amount = (body: string) => source('amount', `export function parseAmount(text) {\n${body}}\n`)

const REGRESSION: Story = {
  name: 'regression',
  group: 'billing',
  agent: 'swift',
  hoursAgo: 3.4,
  task: {
    title: 'Read amounts in every notation',
    description: 'Statements from other banks write amounts as 1.234,50 or 1 234,50 or (12.50).',
    type: 'feature',
    labels: ['import', 'payments'],
    priority: 3,
    worktree: true,
    ralph_max_iterations: 5,
    checks: ['node test/run.mjs amount'],
  },
  files: {
    ...amount('  return Number(text)\n'),
    ...suite('amount', 'parseAmount', {
      'reads 12.50': "assert.equal(parseAmount('12.50'), 12.5)",
      'reads 12,50': "assert.equal(parseAmount('12,50'), 12.5)",
      'reads 1,234.50': "assert.equal(parseAmount('1,234.50'), 1234.5)",
      'reads 1.234,50': "assert.equal(parseAmount('1.234,50'), 1234.5)",
      'reads 1 234,50': "assert.equal(parseAmount('1 234,50'), 1234.5)",
      'reads -12.50': "assert.equal(parseAmount('-12.50'), -12.5)",
      'reads (12.50) as a debit': "assert.equal(parseAmount('(12.50)'), -12.5)",
      'reads 12.50-': "assert.equal(parseAmount('12.50-'), -12.5)",
    }),
  },
  turns: [
    mentions(
      'Commas and spaces between thousands are left out.',
      amount("  return Number(text.replace(/[ ,](?=\\d{3})/g, ''))\n"),
    ),
    mentions(
      'The last separator is the decimal point, whichever it is.',
      amount(`  const at = text.search(/[.,]\\d\\d$/)
  return Number(text.slice(0, at).replace(/[ .,]/g, '') + '.' + text.slice(at + 1))
`),
    ),
    mentions(
      'Debits in parentheses are negative.',
      amount(`  const isDebit = text.startsWith('(')
  const plain = text.replace(/[()]/g, '')
  const at = plain.search(/[.,]\\d\\d$/)
  const value = Number(plain.slice(0, at).replace(/[ .,]/g, '') + '.' + plain.slice(at + 1))
  return isDebit ? -value : value
`),
    ),
    mentions(
      'A sign at the end is moved to the front. That is simpler without looking for separators.',
      amount(`  const signed = text.replace(/^(.*)-$/, '-$1')
  return Number(signed.replace(',', '.'))
`),
    ),
    mentions(
      'Parentheses are a sign too.',
      amount(`  const signed = text.replace(/^\\((.*)\\)$|^(.*)-$/, '-$1$2')
  return Number(signed.replace(',', '.'))
`),
    ),
  ],
}

const CANCELLED: Story = {
  name: 'cancelled',
  group: 'billing',
  agent: 'steady',
  hoursAgo: 2.2,
  fate: 'cancel',
  task: {
    title: 'Read statements from the old bank interface',
    type: 'feature',
    labels: ['import'],
    worktree: true,
    checks: ['node test/run.mjs statement'],
  },
  files: {
    ...source('statement', 'export const statement = () => []\n'),
    ...suite('statement', 'statement', {
      'reads a booking': "assert.equal(statement(':61:2601170117C12,50')[0].cents, 1250)",
    }),
  },
  turns: [
    works(
      'The bank will shut this interface down at the end of the quarter and offers JSON instead.',
      {},
      '<ask>The bank will shut its old interface down at the end of the quarter. Should I still finish this, or use the new one instead?</ask>',
    ),
  ],
}

export const BILLING_TODAY: readonly Story[] = [ALTERED, CLAIMED, CRASH, REGRESSION, CANCELLED]
