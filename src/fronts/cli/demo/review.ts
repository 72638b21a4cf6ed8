/** A story whose work waits for review: an export in several files, in its own worktree. */
import { README } from './repository.ts'
import { claims, type Story, source, suite, works } from './story.ts'

const ORDERS = `
export const orders = [
  { id: 1001, day: '2026-01-15', customer: 'Blue Door Café', total: 4250 },
  { id: 1002, day: '2026-01-16', customer: 'Harbour, Sons & Co.', total: 1999 },
]

export function ordersOf(day) {
  return orders.filter((order) => order.day === day)
}
`

const CSV = `
/** Rows as CSV, as RFC 4180 describes it: fields with commas, quotes or line breaks are quoted. */
export function toCsv(rows, columns) {
  const lines = [columns.map(({ title }) => title), ...rows.map((row) => columns.map((column) => cellOf(row, column)))]
  return lines.map((cells) => cells.map(quoted).join(',')).join('\\r\\n') + '\\r\\n'
}

function cellOf(row, { field, print = String }) {
  const value = row[field]
  return value === undefined || value === null ? '' : print(value)
}

function quoted(text) {
  return /[",\\r\\n]/.test(text) ? \`"\${text.replaceAll('"', '""')}"\` : text
}
`

const EXPORT = `
import { toCsv } from './csv.mjs'
import { ordersOf } from './orders.mjs'

const COLUMNS = [
  { field: 'id', title: 'Order' },
  { field: 'day', title: 'Day' },
  { field: 'customer', title: 'Customer' },
  { field: 'total', title: 'Total', print: (cents) => (cents / 100).toFixed(2) },
]

/** The orders of some days as a file for a spreadsheet, the oldest day first. */
export function exportOrders(days) {
  return toCsv(days.toSorted().flatMap(ordersOf), COLUMNS)
}
`

const ORDERS_BY_DAY = ORDERS.replace(
  `export function ordersOf(day) {
  return orders.filter((order) => order.day === day)
}`,
  `const byDay = Map.groupBy(orders, ({ day }) => day)

/** The orders of a day, in order. */
export function ordersOf(day) {
  return (byDay.get(day) ?? []).toSorted((a, b) => a.id - b.id)
}`,
)

const README_WITH_EXPORT = `${README.shop}
## Export

\`exportOrders(['2026-01-15', '2026-01-16'])\` returns the orders of these days as CSV, with a header
line. Totals are in euros. Names with commas or quotes are quoted, so that every spreadsheet reads them.
`

export const REVIEW: Story = {
  name: 'review',
  group: 'shop',
  agent: 'steady',
  hoursAgo: 1.6,
  task: {
    title: 'Add CSV export',
    description:
      'The office wants the orders of some days as a file for a spreadsheet.\n\n- one line per order, with a header\n- totals in euros\n- names with commas must survive',
    type: 'feature',
    labels: ['orders', 'export'],
    priority: 4,
    worktree: true,
    checks: ['node test/run.mjs export'],
  },
  files: {
    ...source('orders', ORDERS),
    ...source(
      'export',
      'export const exportOrders = () => {\n  throw new Error("The export is not written yet.")\n}\n',
    ),
    ...suite('export', 'exportOrders', {
      'has a header line': 'assert.match(exportOrders([]), /^Order,Day,Customer,Total\\r\\n$/)',
      'has one line per order': "assert.equal(exportOrders(['2026-01-15', '2026-01-16']).split('\\r\\n').length, 4)",
      'prints totals in euros': "assert.match(exportOrders(['2026-01-15']), /,42\\.50\\r\\n/)",
      'quotes names with commas': 'assert.match(exportOrders([\'2026-01-16\']), /,"Harbour, Sons & Co\\.",/)',
      'the oldest day comes first': "assert.match(exportOrders(['2026-01-16', '2026-01-15']), /1001[\\s\\S]*1002/)",
    }),
  },
  turns: [
    works(
      'I start with CSV itself, because exports most often get the quoting wrong.',
      source('csv', CSV),
      'The export of orders is next.',
    ),
    claims(
      'The export maps orders to columns. Looking up the orders of a day goes through all of them each time, so I group them once.',
      {
        ...source('export', EXPORT.replace('days.toSorted().flatMap', 'days.flatMap')),
        ...source('orders', ORDERS_BY_DAY),
      },
      'Orders are exported as CSV.',
    ),
    claims(
      'Days were exported in the order they were given. I sort them and document the export in the README.',
      { ...source('export', EXPORT), 'README.md': README_WITH_EXPORT },
      'The export is complete and documented.',
    ),
  ],
}
