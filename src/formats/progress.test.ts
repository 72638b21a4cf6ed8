import { expect, test } from 'vitest'
import { printProgress, readProgress } from './progress.ts'

const SAMPLE = `[
  {
    "iteration": 1,
    "task_id": "T1",
    "status": "completed",
    "summary": "Implemented CLI skeleton in cli.py",
    "files_modified": [
      "ralph/cli.py"
    ],
    "obstacles": []
  },
  {
    "iteration": 2,
    "task_id": "T2",
    "status": "attempted",
    "summary": "Attempted auth module, hit missing dependency",
    "files_modified": [],
    "obstacles": [
      "missing_dep_O1"
    ]
  }
]
`

function entriesOf(text: string): object[] {
  const read = readProgress(text)
  if ('problems' in read) throw new Error(read.problems.join(' '))
  return read.entries
}

test('entries are printed as they were read', () => {
  const read = readProgress(`\uFEFF${SAMPLE}`)
  expect('entries' in read && printProgress(read.entries)).toBe(SAMPLE)
})

test('no entry is an empty list', () => {
  expect(readProgress('[]')).toEqual({ entries: [] })
  expect(printProgress([])).toBe('[]\n')
})

test('missing or extra fields are not an error', () => {
  const entry = { iteration: 3, task_id: 'T1', status: 'gave up', summary: 7, minutes: 5 }
  expect(entriesOf(JSON.stringify([entry]))).toEqual([
    { iteration: 3, task_id: 'T1', status: 'attempted', summary: '', files_modified: [], obstacles: [], minutes: 5 },
  ])
})

test.each<[story: string, text: string, problems: string[]]>([
  ['an object', '{}', ['it must be a list of entries, got {}.']],
  ['an entry that is none', '[5]', ['entry 1 must be an object, got 5.']],
  [
    'every field',
    '[{}, {"iteration":-1,"task_id":1,"status":true,"files_modified":"a","obstacles":[1]}]',
    [
      'entry 1: iteration must be a whole number, got nothing.',
      'entry 1: task_id must be the id of a task, got nothing.',
      'entry 1: status must be completed or attempted, got nothing.',
      'entry 2: iteration must be a whole number, got -1.',
      'entry 2: task_id must be the id of a task, got 1.',
      'entry 2: status must be completed or attempted, got true.',
      'entry 2: files_modified must be a list of paths, got "a".',
      'entry 2: obstacles must be a list of ids, got [1].',
    ],
  ],
])('reports what is wrong: %s', (_, text, problems) => {
  expect(readProgress(text)).toEqual({ problems })
})

test.each(['', 'oops', '[{]'])('%j is not JSON', (text) => {
  expect(readProgress(text)).toEqual({ problems: [expect.stringMatching(/^it is not valid JSON/)] })
})
