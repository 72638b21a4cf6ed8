/** Past work in the billing repository of the demo. */
import type { Past } from './history.ts'

export const BILLING: readonly Past[] = [
  {
    title: 'Pad invoice numbers to six digits',
    type: 'bug',
    labels: ['invoices'],
    daysAgo: 11.5,
    agent: 'swift',
    module: 'numbering',
    was: "export const invoiceNumber = (year, n) => year + '-' + n\n",
    names: 'invoiceNumber',
    cases: {
      'has six digits': "assert.equal(invoiceNumber(2026, 17), '2026-000017')",
      'keeps longer numbers': "assert.equal(invoiceNumber(2026, 1234567), '2026-1234567')",
    },
    turns: [
      [
        'The number is padded with zeros.',
        "export const invoiceNumber = (year, n) => year + '-' + String(n).padStart(6, '0')\n",
      ],
    ],
  },
  {
    title: 'Validate IBANs',
    type: 'feature',
    labels: ['payments'],
    daysAgo: 10.6,
    module: 'iban',
    was: 'export const isIban = () => true\n',
    names: 'isIban',
    cases: {
      'accepts a valid IBAN': "assert.equal(isIban('GB82 WEST 1234 5698 7654 32'), true)",
      'rejects a wrong digit': "assert.equal(isIban('GB82 WEST 1234 5698 7654 33'), false)",
      'rejects other text': "assert.equal(isIban('hello'), false)",
    },
    turns: [
      ['IBANs are validated.'],
      [
        'The form is checked: a country, two digits, and up to 30 more characters.',
        "export const isIban = (text) => /^[A-Z]{2}\\d{2}[A-Z0-9]{11,30}$/.test(text.replaceAll(' ', ''))\n",
      ],
      [
        'The check digits are verified too.',
        `export function isIban(text) {
  const iban = text.replaceAll(' ', '')
  if (!/^[A-Z]{2}\\d{2}[A-Z0-9]{11,30}$/.test(iban)) return false
  const digits = (iban.slice(4) + iban.slice(0, 4)).replace(/[A-Z]/g, (letter) => letter.charCodeAt(0) - 55)
  return BigInt(digits) % 97n === 1n
}
`,
      ],
    ],
  },
  {
    title: 'Count working days until a due date',
    type: 'feature',
    labels: ['invoices'],
    daysAgo: 9.4,
    module: 'due',
    was: 'export const workingDays = (from, to) => (Date.parse(to) - Date.parse(from)) / 86_400_000\n',
    names: 'workingDays',
    cases: {
      'counts the days of a week': "assert.equal(workingDays('2026-01-05', '2026-01-09'), 4)",
      'leaves out the weekend': "assert.equal(workingDays('2026-01-09', '2026-01-12'), 1)",
    },
    turns: [
      [
        'Weekends are left out.',
        `export function workingDays(from, to) {
  let days = 0
  for (let at = Date.parse(from); at < Date.parse(to); at += 86_400_000) if (new Date(at).getUTCDay() % 6) days++
  return days
}
`,
      ],
    ],
  },
  {
    title: 'Split the names of payers',
    type: 'bug',
    labels: ['payments'],
    daysAgo: 8.2,
    module: 'payer',
    was: 'export const payer = (text) => ({ name: text })\n',
    names: 'payer',
    cases: {
      'finds the company': "assert.equal(payer('ACME LTD LONDON').company, 'ACME LTD')",
      'finds the town': "assert.equal(payer('ACME LTD LONDON').town, 'LONDON')",
    },
    turns: [
      ['Statements do not say where a name ends and a town begins.'],
      ['A list of legal forms would help, but the repository has none.'],
      ['Without such a list every rule breaks one of the samples.'],
    ],
    gaveUp: 'stalled',
  },
  {
    title: 'Group bookings by month',
    type: 'feature',
    labels: ['reports'],
    daysAgo: 7.1,
    module: 'months',
    was: 'export const byMonth = (bookings) => ({ all: bookings })\n',
    names: 'byMonth',
    cases: {
      'has a list for each month':
        "assert.deepEqual(Object.keys(byMonth([{ day: '2026-01-31' }, { day: '2026-02-01' }])), ['2026-01', '2026-02'])",
      'the oldest comes first':
        "assert.deepEqual(Object.keys(byMonth([{ day: '2026-02-01' }, { day: '2026-01-31' }])), ['2026-01', '2026-02'])",
    },
    turns: [
      [
        'Bookings are grouped by the first seven characters of their day.',
        'export const byMonth = (bookings) => Object.groupBy(bookings, ({ day }) => day.slice(0, 7))\n',
      ],
      [
        'Months are sorted now.',
        `export const byMonth = (bookings) =>
  Object.groupBy(
    bookings.toSorted((a, b) => a.day.localeCompare(b.day)),
    ({ day }) => day.slice(0, 7),
  )
`,
      ],
    ],
  },
  {
    title: 'Simplify the fee calculation',
    type: 'refactoring',
    labels: ['payments'],
    daysAgo: 6.3,
    module: 'fees',
    was: 'export function fee(amount) {\n  let fee = amount * 0.02\n  if (fee < 0.5) {\n    fee = 0.5\n  }\n  if (fee > 20) {\n    fee = 20\n  }\n  return fee\n}\n',
    names: 'fee',
    cases: {
      'is two percent': 'assert.equal(fee(100), 2)',
      'is at least half a euro': 'assert.equal(fee(1), 0.5)',
      'is at most twenty euros': 'assert.equal(fee(5_000), 20)',
    },
    turns: [
      [
        'The two conditions are a minimum and a maximum.',
        'export const fee = (amount) => Math.min(20, Math.max(0.5, amount * 0.02))\n',
      ],
    ],
  },
  {
    title: 'Read the dates of bank statements',
    type: 'feature',
    labels: ['payments', 'import'],
    daysAgo: 5.2,
    module: 'dates',
    was: 'export const day = (text) => text\n',
    names: 'day',
    cases: {
      'reads 260117': "assert.equal(day('260117'), '2026-01-17')",
      'reads 17.01.2026': "assert.equal(day('17.01.2026'), '2026-01-17')",
      'reads 17 Jan 2026': "assert.equal(day('17 Jan 2026'), '2026-01-17')",
      'rejects other text': "assert.throws(() => day('soon'))",
    },
    turns: [
      ['Six digits first.', "export const day = (text) => text.replace(/^(\\d\\d)(\\d\\d)(\\d\\d)$/, '20$1-$2-$3')\n"],
      [
        'Dates with full stops are next.',
        "export const day = (text) =>\n  text.replace(/^(\\d\\d)(\\d\\d)(\\d\\d)$/, '20$1-$2-$3').replace(/^(\\d\\d)\\.(\\d\\d)\\.(\\d{4})$/, '$3-$2-$1')\n",
      ],
      ['All dates are read now.'],
      [
        'Month names were missing, and invalid dates were accepted.',
        `const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

export function day(text) {
  const plain = text.replace(/^(\\d\\d) (\\w{3}) /, (_, d, m) => \`\${d}.\${String(MONTHS.indexOf(m) + 1).padStart(2, '0')}.\`)
  const found = plain.replace(/^(\\d\\d)(\\d\\d)(\\d\\d)$/, '20$1-$2-$3').replace(/^(\\d\\d)\\.(\\d\\d)\\.(\\d{4})$/, '$3-$2-$1')
  if (!/^\\d{4}-\\d\\d-\\d\\d$/.test(found)) throw new RangeError(\`"\${text}" is not a date.\`)
  return found
}
`,
      ],
    ],
  },
  {
    title: 'Explain the dunning levels',
    type: 'docs',
    labels: ['invoices'],
    daysAgo: 4.1,
    module: 'docs/dunning.md',
    was: '',
    names: '',
    cases: {},
    turns: [
      [
        'The page explains the three levels and their fees.',
        '# Dunning\n\nA reminder is sent 7 days after the due date, a second one with a fee of 5 euros after 21 days.\nAfter 35 days the claim is handed to the collection agency.\n',
      ],
    ],
  },
  {
    title: 'Convert amounts at the daily rate',
    type: 'feature',
    labels: ['payments'],
    daysAgo: 3.1,
    agent: 'swift',
    module: 'conversion',
    was: 'export const convert = (amount) => amount\n',
    names: 'convert',
    cases: {
      'multiplies by the rate': 'assert.equal(convert(10, 1.1), 11)',
      'rounds to cents': 'assert.equal(convert(10, 1.23456), 12.35)',
      'rounds half a cent up': 'assert.equal(convert(1.005, 1), 1.01)',
    },
    turns: [
      ['Amounts are multiplied by the rate.', 'export const convert = (amount, rate) => amount * rate\n'],
      [
        'The result is rounded to two digits.',
        'export const convert = (amount, rate) => Number((amount * rate).toFixed(2))\n',
      ],
      [
        'A small amount is added before rounding.',
        'export const convert = (amount, rate) => Math.floor(amount * rate * 100 + 0.5) / 100\n',
      ],
    ],
    gaveUp: 'spent',
  },
  {
    title: 'Escape names in reminders',
    type: 'bug',
    labels: ['invoices', 'security'],
    daysAgo: 2.3,
    agent: 'swift',
    module: 'reminder',
    was: "export const greeting = (name) => '<p>Dear ' + name + ',</p>'\n",
    names: 'greeting',
    cases: {
      'greets by name': "assert.equal(greeting('customer'), '<p>Dear customer,</p>')",
      'escapes tags': "assert.equal(greeting('<b>'), '<p>Dear &#60;b&#62;,</p>')",
    },
    turns: [
      [
        'Names are escaped before they become part of the page.',
        `const escaped = (text) => text.replace(/[<>&"]/g, (char) => '&#' + char.charCodeAt(0) + ';')

export const greeting = (name) => '<p>Dear ' + escaped(name) + ',</p>'
`,
      ],
    ],
  },
]
