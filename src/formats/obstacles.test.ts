import { expect, test } from 'vitest'
import { printObstacles, readObstacles } from './obstacles.ts'

const SAMPLE = `{
  "obstacles": [
    {
      "id": "O1",
      "task_id": "T2",
      "message": "Missing dependency: 'httpx' not installed",
      "resolved": false,
      "iteration": 3
    }
  ]
}
`

test('obstacles are printed as they were read', () => {
  const read = readObstacles(`\uFEFF${SAMPLE}`)
  expect('obstacles' in read && printObstacles(read.obstacles)).toBe(SAMPLE)
})

test('none is an empty list', () => {
  expect(readObstacles('{"obstacles":[]}')).toEqual({ obstacles: [] })
  expect(JSON.parse(printObstacles([]))).toEqual({ obstacles: [] })
})

test('missing or extra fields are not an error', () => {
  const text = '{"obstacles":[{"message":"m"},{"id":7,"task_id":null,"message":"n","resolved":true,"kind":"net"}]}'
  expect(readObstacles(text)).toEqual({
    obstacles: [
      { id: '', task_id: '', message: 'm', resolved: false, iteration: 0 },
      { id: '7', task_id: '', message: 'n', resolved: true, iteration: 0, kind: 'net' },
    ],
  })
})

test.each<[story: string, text: string, problems: string[]]>([
  ['a list', '[]', ['it must be an object with a list of "obstacles".']],
  ['no list', '{"obstacles":{}}', ['it must be an object with a list of "obstacles".']],
  ['an obstacle that is none', '{"obstacles":["x"]}', ['obstacle 1 must be an object, got "x".']],
  [
    'every field',
    '{"obstacles":[{"message":" ","resolved":"yes","iteration":1.5}]}',
    [
      'obstacle 1: message must be a string, got " ".',
      'obstacle 1: resolved must be true or false, got "yes".',
      'obstacle 1: iteration must be a whole number, got 1.5.',
    ],
  ],
])('reports what is wrong: %s', (_, text, problems) => {
  expect(readObstacles(text)).toEqual({ problems })
})

test('reports text that is not JSON', () => {
  expect(readObstacles('{"obstacles":[')).toEqual({ problems: [expect.stringMatching(/^it is not valid JSON/)] })
})
