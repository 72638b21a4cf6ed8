import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type HistoryEntry, parseTaskState, printTaskState, TASK_STATUSES, type TaskState } from './task-state.ts'

const TEXT = `{
  "task_id": "task_client_proposal_20260115",
  "task_file": "/Vault/Needs_Action/task_client_proposal_20260115.md",
  "status": "in_progress",
  "iteration": 3,
  "max_iterations": 10,
  "started_at": "2026-01-15T10:00:00Z",
  "last_updated": "2026-01-15T10:05:30Z",
  "timeout_at": "2026-01-15T10:30:00Z",
  "progress": {
    "steps_total": 5,
    "steps_completed": 2,
    "current_step": "Writing proposal sections",
    "percentage": 40
  },
  "iterations_history": [
    {
      "iteration": 1,
      "timestamp": "2026-01-15T10:00:00Z",
      "action": "Read task requirements",
      "result": "success",
      "duration_seconds": 45.2
    },
    {
      "iteration": 2,
      "timestamp": "2026-01-15T10:03:00Z",
      "action": "Draft proposal outline",
      "result": "success",
      "duration_seconds": 120.5
    }
  ]
}
`

const SAMPLE: TaskState = JSON.parse(TEXT)

describe('a printed state', () => {
  test('has the fields of the format, in its order', () => {
    expect(printTaskState(SAMPLE)).toBe(TEXT)
    expect(parseTaskState(TEXT)).toEqual(SAMPLE)
  })

  test('has one order and nothing else, whatever the input', () => {
    const { progress, iterations_history, ...head } = SAMPLE
    const turned = {
      more: 1,
      iterations_history: iterations_history.map(backwards),
      progress: backwards(progress),
      ...backwards(head),
    }
    expect(printTaskState(turned)).toBe(TEXT)
  })

  test('is read back the same, whatever the strings are', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 })
    const name = text.map((some) => `x${some}`)
    const amount = fc.double({ min: 0, max: 1e9, noNaN: true }).filter((number) => !Object.is(number, -0))
    const time = fc
      .date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
      .map((date) => date.toISOString().replace(/\.\d+Z$/, 'Z'))
    const state: fc.Arbitrary<TaskState> = fc.record({
      task_id: name,
      task_file: name,
      status: fc.constantFrom(...TASK_STATUSES),
      iteration: fc.nat(),
      max_iterations: fc.nat(),
      started_at: time,
      last_updated: time,
      timeout_at: time,
      progress: fc.record({ steps_total: fc.nat(), steps_completed: fc.nat(), current_step: text, percentage: amount }),
      iterations_history: fc.array(
        fc.record({ iteration: fc.nat(), timestamp: time, action: text, result: text, duration_seconds: amount }),
        { maxLength: 20 },
      ),
    })
    fc.assert(
      fc.property(state, (one) => {
        expect(parseTaskState(printTaskState(one))).toEqual(one)
      }),
    )
  })

  test.each<[what: string, text: string]>([
    ['short', 'success'],
    ['long', 'a lot of words '.repeat(1_000)],
    ['full of emoji', '👩‍🚀🚀'.repeat(500)],
    ['full of quotes', '"\\'.repeat(500)],
    ['full of control characters', '\u0001'.repeat(500)],
    ['full of halves of letters', '\uD83D'.repeat(500)],
  ])('of 1000 iterations stays below 48 KB and keeps the newest: %s', (_, text) => {
    const history = Array.from({ length: 1_000 }, (_, index) => entry(index + 1, text))
    const printed = printTaskState({ ...SAMPLE, iteration: 1_000, iterations_history: history })
    expect(Buffer.byteLength(printed)).toBeLessThanOrEqual(48 * 1024)
    expect(Buffer.byteLength(printed)).toBeGreaterThan(40 * 1024)
    const kept = (parseTaskState(printed)?.iterations_history ?? []).map(({ iteration }) => iteration)
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => 1_001 - kept.length + index))
  })

  test('stays below 48 KB even if every string is huge, and still says what came last', () => {
    const endless = '\u0001'.repeat(100_000)
    const printed = printTaskState({
      ...SAMPLE,
      task_id: endless,
      task_file: endless,
      progress: { ...SAMPLE.progress, current_step: endless },
      iterations_history: [entry(1, endless), entry(2, endless)],
    })
    expect(Buffer.byteLength(printed)).toBeLessThanOrEqual(48 * 1024)
    expect(parseTaskState(printed)?.iterations_history.at(-1)?.iteration).toBe(2)
  })

  test('marks cuts in long strings, never inside a character', () => {
    const long = '🚀'.repeat(301)
    const printed = parseTaskState(printTaskState({ ...SAMPLE, iterations_history: [entry(1, long)] }))
    expect(printed?.iterations_history[0]?.action).toBe(`${'🚀'.repeat(299)}…`)
  })
})

describe('a state that others edited is still read', () => {
  const { progress: _, timeout_at: __, ...old } = SAMPLE
  test.each<[what: string, value: object, change: Partial<TaskState>]>([
    ['unknown keys', { ...SAMPLE, owner: 'me' }, {}],
    [
      'no progress and no time limit',
      old,
      { progress: { steps_total: 0, steps_completed: 0, current_step: '', percentage: 0 } },
    ],
    ['no history', without('iterations_history'), { iterations_history: [] }],
    ['a history that is none', { ...SAMPLE, iterations_history: 'none' }, { iterations_history: [] }],
    ['no limit', without('max_iterations'), { max_iterations: 10 }],
    ['no last update', without('last_updated'), { last_updated: SAMPLE.started_at }],
    ['numbers as texts', { ...SAMPLE, iteration: '3', max_iterations: ' 10 ' }, {}],
    ['times with milliseconds', { ...SAMPLE, started_at: '2026-01-15T10:00:00.123Z' }, {}],
    ['times with microseconds and no zone', { ...SAMPLE, started_at: '2026-01-15T10:00:00.123456' }, {}],
    ['times of another zone', { ...SAMPLE, started_at: '2026-01-15T12:00:00+02:00' }, {}],
    ['times as numbers', { ...SAMPLE, started_at: Date.parse(SAMPLE.started_at) + 7 }, {}],
    ['names in camelCase', camelCase(SAMPLE), {}],
    [
      'progress without its share',
      { ...SAMPLE, progress: { steps_total: 3, steps_completed: 2 } },
      { progress: { steps_total: 3, steps_completed: 2, current_step: '', percentage: 66.7 } },
    ],
    [
      'entries that are half there',
      { ...SAMPLE, iterations_history: [{ action: 'Read' }, 7, { iteration: '4', duration_seconds: '1.5' }] },
      {
        iterations_history: [
          { ...entry(1, ''), action: 'Read', duration_seconds: 0 },
          { ...entry(4, ''), duration_seconds: 1.5 },
        ],
      },
    ],
  ])('%s', (_, value, change) => {
    expect(parseTaskState(JSON.stringify(value))).toEqual({ ...SAMPLE, ...change })
  })

  test('a byte order mark and other line ends', () => {
    expect(parseTaskState(`\uFEFF${TEXT.replaceAll('\n', '\r\n')}`)).toEqual(SAMPLE)
  })
})

test.each<[what: string, text: string]>([
  ['nothing', ''],
  ['half of it', TEXT.slice(0, 200)],
  ['no JSON', 'in_progress'],
  ['a list', `[${TEXT}]`],
  ['null', 'null'],
  ['an empty object', '{}'],
  ['no task', JSON.stringify(without('task_id'))],
  ['a task without a name', JSON.stringify({ ...SAMPLE, task_id: ' ' })],
  ['no file', JSON.stringify(without('task_file'))],
  ['no status', JSON.stringify(without('status'))],
  ['an unknown status', JSON.stringify({ ...SAMPLE, status: 'sleeping' })],
  ['no count', JSON.stringify(without('iteration'))],
  ['a count below nothing', JSON.stringify({ ...SAMPLE, iteration: -1 })],
  ['a count that is none', JSON.stringify({ ...SAMPLE, iteration: 1.5 })],
  ['a count of blanks', JSON.stringify({ ...SAMPLE, iteration: ' ' })],
  ['no start', JSON.stringify(without('started_at'))],
  ['a start that is no time', JSON.stringify({ ...SAMPLE, started_at: 'yesterday' })],
  ['a start at no time', TEXT.replace('"2026-01-15T10:00:00Z"', '9e99')],
])('is corrupted: %s', (_, text) => {
  expect(parseTaskState(text)).toBeUndefined()
})

test('no text makes it throw', () => {
  const wild = fc.dictionary(
    fc.constantFrom(...Object.keys(SAMPLE)),
    fc.oneof(fc.jsonValue(), fc.constantFrom(...Object.values(SAMPLE))),
  )
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseTaskState(text)))
  fc.assert(fc.property(fc.json(), (text) => void parseTaskState(text)))
  fc.assert(fc.property(wild, (value) => void parseTaskState(JSON.stringify({ ...SAMPLE, ...value }))))
})

function entry(iteration: number, text: string): HistoryEntry {
  return { iteration, timestamp: SAMPLE.started_at, action: text, result: text, duration_seconds: 60.5 }
}

function without(key: keyof TaskState): object {
  return Object.fromEntries(Object.entries(SAMPLE).filter(([name]) => name !== key))
}

function backwards<Value extends object>(value: Value): Value {
  return Object.fromEntries(Object.entries(value).reverse()) as Value
}

function camelCase(value: unknown): object {
  const text = JSON.stringify(value).replace(/"\w+":/g, (key) =>
    key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
  )
  return JSON.parse(text)
}
