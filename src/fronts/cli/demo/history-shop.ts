/** Past work in the shop repository of the demo. */
import type { Past } from './history.ts'

export const SHOP: readonly Past[] = [
  {
    title: 'Reject quantities below one',
    type: 'bug',
    labels: ['cart'],
    daysAgo: 11.8,
    module: 'quantity',
    was: 'export const quantity = (text) => Number(text)\n',
    names: 'quantity',
    cases: {
      'reads a number': "assert.equal(quantity('3'), 3)",
      'rejects zero': "assert.throws(() => quantity('0'))",
      'rejects fractions': "assert.throws(() => quantity('0.5'))",
    },
    turns: [
      [
        'Quantities are never checked.',
        `export function quantity(text) {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1) throw new RangeError(\`"\${text}" is not a quantity.\`)
  return count
}
`,
      ],
    ],
  },
  {
    title: 'Mask card numbers in the log',
    type: 'bug',
    labels: ['checkout', 'security'],
    daysAgo: 9.9,
    module: 'masking',
    was: 'export const masked = (line) => line\n',
    names: 'masked',
    cases: {
      'keeps the last four digits': "assert.equal(masked('card 4111111111111111'), 'card ************1111')",
      'masks every card in a line':
        "assert.equal(masked('4111111111111111 5500005555555559').match(/\\*{12}/g).length, 2)",
      'leaves order numbers alone': "assert.equal(masked('order 20260117'), 'order 20260117')",
    },
    turns: [
      ['Card numbers are masked before they are logged.'],
      [
        'Nothing was masked yet. A pattern replaces all but the last four of sixteen digits.',
        "export const masked = (line) => line.replace(/\\b\\d{12}(?=\\d{4}\\b)/g, '*'.repeat(12))\n",
      ],
    ],
  },
  {
    title: 'Generate slugs for product pages',
    type: 'feature',
    labels: ['catalog'],
    daysAgo: 8.7,
    module: 'slug',
    was: 'export const slug = (name) => name\n',
    names: 'slug',
    cases: {
      'is lowercase': "assert.equal(slug('Teapot'), 'teapot')",
      'has hyphens between words': "assert.equal(slug('Blue Teapot'), 'blue-teapot')",
      'has no accents': "assert.equal(slug('Café Crème'), 'cafe-creme')",
      'starts and ends with a letter': "assert.equal(slug(' (Sale) '), 'sale')",
    },
    turns: [
      ['Lower case first.', 'export const slug = (name) => name.toLowerCase()\n'],
      ['Words are joined by hyphens.', "export const slug = (name) => name.toLowerCase().replace(/[^a-z]+/g, '-')\n"],
      [
        'Accents are removed, and so are hyphens at both ends.',
        `export const slug = (name) =>
  name
    .normalize('NFD')
    .replace(/\\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
`,
      ],
    ],
  },
  {
    title: 'Suggest spellings for search terms',
    type: 'feature',
    labels: ['search'],
    daysAgo: 7.6,
    agent: 'swift',
    module: 'spelling',
    was: 'export const suggest = () => []\n',
    names: 'suggest',
    cases: {
      'finds a swapped pair of letters': "assert.deepEqual(suggest('taepot', ['teapot', 'kettle']), ['teapot'])",
      'finds a missing letter': "assert.deepEqual(suggest('ketle', ['teapot', 'kettle']), ['kettle'])",
      'suggests nothing for other words': "assert.deepEqual(suggest('chair', ['teapot', 'kettle']), [])",
    },
    turns: [
      [
        'Words with the same letters are suggested.',
        "const letters = (word) => [...word].sort().join('')\nexport const suggest = (term, words) => words.filter((word) => letters(word) === letters(term))\n",
      ],
      [
        'Words that start alike are suggested too.',
        'export const suggest = (term, words) => words.filter((word) => word.slice(0, 2) === term.slice(0, 2))\n',
      ],
      [
        'Words of about the same length are suggested.',
        'export const suggest = (term, words) => words.filter((word) => Math.abs(word.length - term.length) < 2)\n',
      ],
    ],
    gaveUp: 'spent',
  },
  {
    title: 'Move the tax rates into a table',
    type: 'refactoring',
    labels: ['checkout'],
    daysAgo: 6.8,
    module: 'tax',
    was: "export const tax = (kind) => (kind === 'book' ? 7 : kind === 'food' ? 7 : 19)\n",
    names: 'tax',
    cases: {
      'books have the reduced rate': "assert.equal(tax('book'), 7)",
      'everything else has the full rate': "assert.equal(tax('lamp'), 19)",
    },
    turns: [
      [
        'The nested conditions become a table.',
        'const RATES = { book: 7, food: 7 }\n\nexport const tax = (kind) => RATES[kind] ?? 19\n',
      ],
    ],
  },
  {
    title: 'Limit a voucher to one use',
    type: 'bug',
    labels: ['cart', 'checkout'],
    daysAgo: 5.4,
    module: 'voucher',
    was: 'export const openVouchers = () => ({ redeem: () => true })\n',
    names: 'openVouchers',
    cases: {
      'a voucher is accepted once': "assert.equal(openVouchers().redeem('A1'), true)",
      'it is not accepted twice':
        "assert.deepEqual(((v) => [v.redeem('A1'), v.redeem('A1')])(openVouchers()), [true, false])",
      'upper and lower case are the same':
        "assert.deepEqual(((v) => [v.redeem('a1'), v.redeem('A1')])(openVouchers()), [true, false])",
      'an empty code is not accepted': "assert.equal(openVouchers().redeem(' '), false)",
    },
    turns: [
      ['A voucher is remembered once it is redeemed.'],
      [
        'I had not saved the file. Codes are kept in a set now.',
        'export function openVouchers() {\n  const used = new Set()\n  return { redeem: (code) => !used.has(code) && !!used.add(code) }\n}\n',
      ],
      [
        'Codes are compared in upper case.',
        'export function openVouchers() {\n  const used = new Set()\n  return {\n    redeem(text) {\n      const code = text.toUpperCase()\n      return !used.has(code) && !!used.add(code)\n    },\n  }\n}\n',
      ],
      [
        'Spaces are trimmed, and an empty code is refused.',
        "export function openVouchers() {\n  const used = new Set()\n  return {\n    redeem(text) {\n      const code = text.trim().toUpperCase()\n      return code !== '' && !used.has(code) && !!used.add(code)\n    },\n  }\n}\n",
      ],
    ],
  },
  {
    title: 'Describe the order webhook',
    type: 'docs',
    labels: ['api'],
    daysAgo: 4.3,
    agent: 'swift',
    module: 'docs/webhook.md',
    was: '',
    names: '',
    cases: {},
    turns: [
      [
        'The page describes every field of the webhook.',
        '# Order webhook\n\nEvery paid order is sent as JSON: `id`, `total` in cents, `currency`, and `lines`.\nA response other than 2xx is retried after 1, 5 and 30 minutes.\n',
      ],
    ],
  },
  {
    title: 'Page through the catalog',
    type: 'feature',
    labels: ['catalog', 'api'],
    daysAgo: 3.2,
    agent: 'swift',
    module: 'paging',
    was: 'export const page = (items) => ({ items })\n',
    names: 'page',
    cases: {
      'has the requested number of items': 'assert.deepEqual(page([1, 2, 3], { size: 2 }).items, [1, 2])',
      'says where the next page starts': 'assert.equal(page([1, 2, 3], { size: 2 }).next, 2)',
      'the last page has no next one': 'assert.equal(page([1, 2, 3], { size: 2, from: 2 }).next, undefined)',
    },
    turns: [
      [
        'Pages have a size.',
        'export const page = (items, { size, from = 0 }) => ({ items: items.slice(from, from + size), next: from + size })\n',
      ],
      [
        'The last page has no next one.',
        `export function page(items, { size, from = 0 }) {
  const next = from + size
  return { items: items.slice(from, next), ...(next < items.length ? { next } : {}) }
}
`,
      ],
    ],
  },
  {
    title: 'Trim search terms',
    type: 'bug',
    labels: ['search'],
    daysAgo: 2.1,
    module: 'terms',
    was: "export const terms = (text) => text.split(' ')\n",
    names: 'terms',
    cases: {
      'splits at spaces': "assert.deepEqual(terms('blue teapot'), ['blue', 'teapot'])",
      'leaves out empty terms': "assert.deepEqual(terms('  blue  teapot '), ['blue', 'teapot'])",
    },
    turns: [
      ['Empty terms come from double spaces.', 'export const terms = (text) => text.split(/\\s+/).filter(Boolean)\n'],
    ],
  },
  {
    title: 'Group order lines by warehouse',
    type: 'feature',
    labels: ['orders'],
    daysAgo: 1.2,
    module: 'warehouse',
    was: 'export const byWarehouse = (lines) => ({ all: lines })\n',
    names: 'byWarehouse',
    cases: {
      'has one list per warehouse':
        "assert.deepEqual(Object.keys(byWarehouse([{ from: 'north' }, { from: 'south' }, { from: 'north' }])), ['north', 'south'])",
      'lines without a warehouse come last':
        "assert.deepEqual(Object.keys(byWarehouse([{}, { from: 'north' }])), ['north', 'none'])",
    },
    turns: [
      [
        'Lines are grouped by where they come from.',
        "export const byWarehouse = (lines) => Object.groupBy(lines, ({ from }) => from ?? 'none')\n",
      ],
      [
        'Lines without a warehouse come last.',
        `export function byWarehouse(lines) {
  const { none, ...groups } = Object.groupBy(lines, ({ from }) => from ?? 'none')
  return { ...groups, ...(none ? { none } : {}) }
}
`,
      ],
    ],
  },
]
