import { expect, test } from 'vitest'
import { type Answer, parseAnswer } from './answer.ts'
import { drafts, renderCard, turnCard } from './card.ts'
import type { Theme } from './host.ts'

const PLAIN: Theme = { fg: (_, text) => text, bg: (_, text) => text }
const told = parseAnswer(
  JSON.stringify({ next: 'turn', status: 'running', prompt: 'Build it.', iteration: 2, max_iterations: 5 }),
) as Answer

function render(content: string, { expanded = false, width = 40 } = {}): string[] {
  const message = { role: 'custom', content, details: { kind: 'turn', heading: 'Ralph iteration 2/5', mark: '↻' } }
  return renderCard(message, { expanded, outputPad: 1 }, PLAIN).render(width)
}

test('shows a heading and the first lines, the rest when expanded', () => {
  const text = 'One\n\nTwo\nThree\nFour\nFive'
  expect(render(text).map((line) => line.trim())).toEqual([
    '↻ Ralph iteration 2/5',
    'One',
    'Two',
    'Three',
    '… 3 more lines',
  ])
  expect(render(text, { expanded: true }).map((line) => line.trim())).toEqual([
    '↻ Ralph iteration 2/5',
    ...text.split('\n'),
  ])
})

test('shows what the user asked for, and not what ralph adds', () => {
  expect(render('Build it.\n\n---\n\nThis is iteration 2.').map((line) => line.trim())).toEqual([
    ...['↻ Ralph iteration 2/5', 'Build it.', '… 4 more lines'],
  ])
})

test('a reminder of the task is one line until it is expanded', () => {
  const reminder = 'This is iteration 2 of the loop.\n\nOutcome of the last iteration:'
  const message = { role: 'custom', ...turnCard({ ...told, prompt: reminder }) }
  const rows = (expanded: boolean) =>
    renderCard(message, { expanded, outputPad: 1 }, PLAIN)
      .render(60)
      .map((line) => line.trim())
  expect(rows(false)).toEqual(['↻ Ralph iteration 2/5'])
  expect(rows(true)).toEqual(['↻ Ralph iteration 2/5', ...reminder.split('\n')])
})

test('fills every line to the width, for its background', () => {
  expect(new Set(render('One\nTwo', { width: 33 }).map((line) => line.length))).toEqual(new Set([33]))
})

test.each([
  ['long words', 'x'.repeat(300)],
  ['wide letters', '漢字仮名交じり文'.repeat(20)],
  ['emoji', '👩‍👩‍👧‍👦🎉'.repeat(30)],
  ['letters that became emoji', '1️⃣©️↔️✔️'.repeat(30)],
  ['colors and other terminal escapes', '\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b[2J\ta\rb'],
  ['tabs', '\t\t\t\t\t\t\tdeep'],
])('%s never make a line too wide', (_, text) => {
  for (const width of [12, 20, 80])
    for (const line of render(text, { expanded: true, width })) expect(columns(line)).toBeLessThanOrEqual(width)
})

test('no text controls the terminal', () => {
  const [, line = ''] = render('\x1b[2J\x1b]0;x\x07a\x1b[31mb\x07')
  expect(line.trim()).toBe('ab')
})

test('a terminal that is too narrow gets nothing', () => {
  expect(render('text', { width: 6 })).toEqual([])
})

test('a fresh turn starts after a compaction that keeps nothing', () => {
  expect(drafts(told)).toEqual([{ type: 'custom_message', ...turnCard(told) }])
  expect(drafts({ ...told, fresh: true })).toMatchObject([
    { type: 'compaction', firstKeptEntryId: null },
    { type: 'custom_message', content: 'Build it.' },
  ])
})

/** As a terminal counts: wide letters and emoji take two. */
function columns(line: string): number {
  const wide = /^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\uff60]|^\p{Extended_Pictographic}|\ufe0f/u
  return [...new Intl.Segmenter().segment(line)].reduce((sum, { segment }) => sum + (wide.test(segment) ? 2 : 1), 0)
}

test('its heading says why the previous turn was refused', () => {
  const answer = { next: 'turn', status: 'running', prompt: 'Go on', iteration: 2, max_iterations: 5 }
  const told = parseAnswer(JSON.stringify({ ...answer, checked: 'refused: npm test fails: not ok 1' }))
  if (!told) throw new Error('no answer')
  expect(turnCard(told).details).toMatchObject({ heading: 'Ralph iteration 2/5 · refused: npm test fails: not ok 1' })
})
