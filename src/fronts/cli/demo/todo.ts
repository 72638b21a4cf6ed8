/** Tasks of the demo board that have not started. Their scripts work, so that the user can start them. */
import type { BoardPatch } from '../../../formats/board-task.ts'
import type { Step } from '../../../formats/script.ts'
import { claims, type Story, source, suite, type TodoName, works } from './story.ts'

const thinks: Step = { sleep: 1.5 }

function todo(
  name: TodoName,
  {
    task,
    ...story
  }: Omit<Story, 'name' | 'agent' | 'fate' | 'turns'> & { turns: Step[][]; task: BoardPatch & { title: string } },
): Story {
  return { agent: 'steady', ...story, name, fate: 'todo', task, turns: story.turns.map((steps) => [thinks, ...steps]) }
}

const PLAIN = todo('plain', {
  group: 'shop',
  hoursAgo: 5.5,
  task: {
    title: 'Show delivery dates in the checkout',
    description: 'Customers ask when their order arrives. Parcels take two working days.',
    type: 'feature',
    labels: ['checkout'],
    priority: 2,
    checks: ['node test/run.mjs delivery'],
  },
  files: {
    ...source('delivery', 'export const delivery = (day) => day\n'),
    ...suite('delivery', 'delivery', {
      'takes two days': "assert.equal(delivery('2026-01-13'), '2026-01-15')",
      'does not count the weekend': "assert.equal(delivery('2026-01-16'), '2026-01-20')",
    }),
  },
  turns: [
    works('First I add two days.', source('delivery', deliveryIn('from + 2 * DAY_MS')), 'Weekends are next.'),
    claims(
      'Weekends are skipped.',
      source('delivery', deliveryIn('workingDay(workingDay(from))')),
      'The dates are correct.',
    ),
  ],
})

function deliveryIn(when: string): string {
  const skip = when.startsWith('working')
    ? '\nfunction workingDay(at) {\n  const next = at + DAY_MS\n  return new Date(next).getUTCDay() % 6 ? next : workingDay(next)\n}\n'
    : ''
  return `const DAY_MS = 86_400_000\n\nexport function delivery(day) {\n  const from = Date.parse(day)\n  return new Date(${when}).toISOString().slice(0, 10)\n}\n${skip}`
}

const STAGES = todo('stages', {
  group: 'billing',
  hoursAgo: 4.2,
  task: {
    title: 'Import bank statements',
    description: 'Read a statement, then match its bookings with open invoices.',
    type: 'feature',
    labels: ['import', 'payments'],
    priority: 3,
    stages: [
      { name: 'read', check: 'node test/run.mjs bookings' },
      { name: 'match', check: 'node test/run.mjs matching' },
    ],
  },
  files: {
    ...source('bookings', 'export const bookings = () => []\n'),
    ...suite('bookings', 'bookings', {
      'reads a line':
        "assert.deepEqual(bookings('2026-01-15;12.50;R-7'), [{ day: '2026-01-15', cents: 1250, text: 'R-7' }])",
    }),
    ...source('matching', 'export const match = () => undefined\n'),
    ...suite('matching', 'match', {
      'finds the invoice in the text': "assert.equal(match({ text: 'payment R-7' }, ['R-6', 'R-7']), 'R-7')",
      'does not guess': "assert.equal(match({ text: 'thank you' }, ['R-6', 'R-7']), undefined)",
    }),
  },
  turns: [
    works(
      'Each line has a day, an amount and a text.',
      source(
        'bookings',
        `
export function bookings(text) {
  return text.split('\\n').map((line) => {
    const [day, amount, about] = line.split(';')
    return { day, cents: Math.round(Number(amount) * 100), text: about }
  })
}
`,
      ),
      'Statements are read.\n<promise>read</promise>',
    ),
    claims(
      'Bookings name their invoice somewhere in the text.',
      source(
        'matching',
        "export const match = ({ text }, invoices) => invoices.find((id) => text.split(' ').includes(id))\n",
      ),
      'Bookings are matched.\n<promise>match</promise>',
    ),
  ],
})

const DEPENDENT = todo('dependent', {
  group: 'billing',
  hoursAgo: 4.1,
  after: 'stages',
  task: {
    title: 'Remind customers of unpaid invoices',
    description: 'Needs the imported statements, so that customers who have paid get no reminder.',
    type: 'feature',
    labels: ['invoices'],
    priority: 1,
    checks: ['node test/run.mjs overdue'],
  },
  files: {
    ...source('overdue', 'export const overdue = (invoices) => invoices\n'),
    ...suite('overdue', 'overdue', {
      'leaves out paid invoices':
        "assert.deepEqual(overdue([{ id: 1, paid: true, due: '2026-01-01' }], '2026-01-31'), [])",
      'leaves out invoices that are not due yet':
        "assert.deepEqual(overdue([{ id: 1, due: '2026-02-01' }], '2026-01-31'), [])",
    }),
  },
  turns: [
    claims(
      'An invoice is overdue when it is unpaid and past its due date.',
      source(
        'overdue',
        'export const overdue = (invoices, today) => invoices.filter(({ paid, due }) => !paid && due < today)\n',
      ),
      'Only unpaid invoices get a reminder.',
    ),
  ],
})

const ADAPTIVE = todo('adaptive', {
  group: 'billing',
  hoursAgo: 2.6,
  task: {
    title: 'Merge duplicate customers',
    description:
      'Customers with the same e-mail address are one customer.\n\n1. compare addresses without case\n2. keep the oldest customer',
    type: 'bug',
    labels: ['customers'],
    ralph_max_iterations: 20,
    limits: { adaptive: true, cost_usd: 5 },
    checks: ['node test/run.mjs customers'],
  },
  files: {
    ...source('customers', 'export const merged = (customers) => customers\n'),
    ...suite('customers', 'merged', {
      'keeps one of two':
        "assert.equal(merged([{ id: 2, mail: 'a@b.example' }, { id: 1, mail: 'A@b.example' }]).length, 1)",
      'keeps the oldest':
        "assert.equal(merged([{ id: 2, mail: 'a@b.example' }, { id: 1, mail: 'A@b.example' }])[0].id, 1)",
    }),
  },
  turns: [
    works(
      'Addresses are compared in lower case.',
      source(
        'customers',
        'export const merged = (customers) => [...new Map(customers.map((one) => [one.mail.toLowerCase(), one])).values()]\n',
      ),
      'Which of two is kept depends on their order. That is next.',
    ),
    claims(
      'The oldest comes last, so that it is the one that stays.',
      source(
        'customers',
        `
export function merged(customers) {
  const newestFirst = customers.toSorted((a, b) => b.id - a.id)
  return [...new Map(newestFirst.map((one) => [one.mail.toLowerCase(), one])).values()]
}
`,
      ),
      'The oldest customer is kept.',
    ),
  ],
})

const ONCE = todo('once', {
  group: 'shop',
  hoursAgo: 1.9,
  task: {
    title: 'Write the release notes',
    description: 'What has changed for customers since the last release, in a few sentences.',
    type: 'docs',
    labels: ['release'],
    use_ralph_wiggum: false,
  },
  turns: [
    works(
      'I read the commits since the last release.',
      {
        'docs/release-notes.md':
          '# Release notes\n\nDiscounts and totals are correct, and orders above 50 euros ship for free.\n',
      },
      'The notes are in docs/release-notes.md.',
    ),
  ],
})

export const TODO: readonly Story[] = [PLAIN, STAGES, DEPENDENT, ADAPTIVE, ONCE]
