import fc from 'fast-check'
import { expect, test } from 'vitest'
import { printGraph } from './mermaid.ts'
import type { Task } from './tasks.ts'

function task(id: string, more: Partial<Task> = {}): Task {
  const rest = { title: 'a title', description: '', status: 'pending', dependencies: [], attempts: 0 } as const
  return { ...rest, dependencies: [], id, max_attempts: 3, blocked: false, ...more }
}

function linesOf(...tasks: Task[]): string[] {
  return printGraph(tasks)
    .split('\n')
    .filter((line) => !line.includes('classDef'))
}

test('a graph has one node per task and one edge per dependency', () => {
  const tasks = [
    task('T1', { status: 'completed' }),
    task('T2', { status: 'in_progress', dependencies: ['T1'] }),
    task('T3', { dependencies: ['T1', 'T1'] }),
    task('T4', { dependencies: ['T2', 'T3'] }),
    task('T5', { status: 'blocked', blocked: true }),
  ]
  expect(linesOf(...tasks)).toEqual([
    'flowchart LR',
    '  n0["T1: a title"]:::completed',
    '  n1["T2: a title"]:::in_progress',
    '  n2["T3: a title"]:::ready',
    '  n3["T4: a title"]:::waiting',
    '  n4["T5: a title"]:::blocked',
    '  n0 --> n1',
    '  n0 --> n2',
    '  n1 --> n3',
    '  n2 --> n3',
    '',
  ])
})

test('every class of a node is defined', () => {
  const defined = [...printGraph([]).matchAll(/^ {2}classDef (\w+) /gm)].map(([, name]) => name)
  expect(defined).toEqual(['completed', 'in_progress', 'ready', 'waiting', 'blocked'])
})

test('an edge to a missing task is left out', () => {
  expect(linesOf(task('T1', { dependencies: ['T9'] }))).toEqual(['flowchart LR', '  n0["T1: a title"]:::waiting', ''])
})

test.each([
  ['say "hi"', 'say #34;hi#34;'],
  ['a[b]{c}(d)', 'a#91;b#93;#123;c#125;#40;d#41;'],
  ['fix #12; end', 'fix #35;12#59; end'],
  ['%%{init}%% a --> b', '#37;#37;#123;init#125;#37;#37; a --#62; b'],
  ['`code` <b> & *x* _y_', '#96;code#96; #60;b#62; #38; #42;x#42; #95;y#95;'],
  ['two\nlines\r\n\u0000', 'two lines'],
  ['🦉 Größe, 日本', '🦉 Größe, 日本'],
  ["it's src/a-b.ts: done?!", "it's src/a-b.ts: done?!"],
])('a title %j is the label %j', (title, label) => {
  expect(linesOf(task('T1', { title }))[1]).toBe(`  n0["T1: ${label}"]:::ready`)
})

test('a long title is cut, never inside a character', () => {
  expect(linesOf(task('T1', { title: '🦉'.repeat(100) }))[1]).toBe(`  n0["T1: ${'🦉'.repeat(55)}…"]:::ready`)
})

test('no text leaves its label', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (titles) => {
      const lines = linesOf(...titles.map((title, n) => task(`T${n}`, { title })))
      expect(lines).toHaveLength(titles.length + 2)
      for (const line of lines.slice(1, -1)) expect(line).toMatch(/^ {2}n\d+\["(?:[^"#]|#\d+;)*"\]:::ready$/)
    }),
  )
})
