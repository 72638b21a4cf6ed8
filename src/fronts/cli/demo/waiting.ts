/** Stories that wait for the user: one asks a question, one needs permission to change its tests. */
import { claims, type Story, source, suite, works } from './story.ts'

const renewal = (text: string) => source('renewal', text)

const QUESTION: Story = {
  name: 'question',
  group: 'billing',
  agent: 'steady',
  hoursAgo: 0.8,
  task: {
    title: 'Renew subscriptions at the end of the month',
    description: 'A plan that starts on the 31st must renew on the last day of shorter months.',
    type: 'bug',
    labels: ['subscriptions'],
    priority: 4,
    worktree: true,
    checks: ['node test/run.mjs renewal'],
  },
  files: {
    ...renewal(`
export function renewal(start, months) {
  const date = new Date(start)
  date.setUTCMonth(date.getUTCMonth() + months)
  return date.toISOString().slice(0, 10)
}
`),
    ...suite('renewal', 'renewal', {
      'renews on the same day': "assert.equal(renewal('2026-01-15', 1), '2026-02-15')",
      'renews on the last day of February': "assert.equal(renewal('2026-01-31', 1), '2026-02-28')",
      'renews on the last day of April': "assert.equal(renewal('2026-03-31', 1), '2026-04-30')",
      'knows leap years': "assert.equal(renewal('2028-01-31', 1), '2028-02-29')",
    }),
  },
  turns: [
    works(
      'Dates overflow into the next month. First I find the last day of the month.',
      renewal(`
export function renewal(start, months) {
  const [year, month, day] = start.split('-').map(Number)
  const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate()
  return new Date(Date.UTC(year, month - 1 + months, day)).toISOString().slice(0, 10)
}
`),
      'The tests do not cover yearly plans that start on a leap day.\n<ask>A yearly plan started on 29 February. In other years, should it renew on 28 February or on 1 March? The contract allows both.</ask>',
    ),
    [
      { sleep: 0.8 },
      ...claims(
        'Thank you. The day is a constant, so it is easy to find and change.',
        renewal(`
/** When a plan that started on a leap day renews in other years. */
export const LEAP_DAY = { month: 2, day: 28 }

export function renewal(start, months) {
  const [year, month, day] = start.split('-').map(Number)
  const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate()
  const at = new Date(Date.UTC(year, month - 1 + months, Math.min(day, last)))
  if (start.endsWith('-02-29') && months % 12 === 0 && last < 29)
    at.setUTCMonth(LEAP_DAY.month - 1, LEAP_DAY.day)
  return at.toISOString().slice(0, 10)
}
`),
        'Plans renew on the last day of shorter months.',
      ),
    ],
  ],
}

const vatCases = (rate: string, amount: string) =>
  suite('vat', 'vatOf, withVat', {
    [`the rate is ${rate} percent`]: `assert.equal(vatOf(100), ${rate})`,
    'tax is added to the net amount': `assert.equal(withVat(100), ${amount})`,
    'zero stays zero': 'assert.equal(withVat(0), 0)',
  })

const ALLOW: Story = {
  name: 'allow',
  group: 'billing',
  agent: 'swift',
  hoursAgo: 1.3,
  task: {
    title: 'Make the VAT tests pass again',
    type: 'bug',
    labels: ['invoices', 'tax'],
    priority: 3,
    worktree: true,
    checks: ['node test/run.mjs vat'],
  },
  files: {
    ...source(
      'vat',
      'const RATE = 19\n\nexport const vatOf = (net) => (net * RATE) / 100\n\nexport const withVat = (net) => net + vatOf(net)\n',
    ),
    ...vatCases('16', '116'),
  },
  turns: [
    claims(
      'The 16 percent rate was temporary. The source has the correct rate, but the tests expect the old one.',
      vatCases('19', '119'),
      'The tests now expect 19 percent.',
    ),
    claims(
      'The source is correct: the rate has been 19 percent since 2021. Only the tests are out of date, so only they can change.',
    ),
  ],
}

export const WAITING: readonly Story[] = [QUESTION, ALLOW]
