import { expect, test } from 'vitest'
import type { FleetState, FleetTask } from '../formats/fleet-task.ts'
import type { Held } from './picture.ts'
import { submissionOf } from './submit.ts'
import { brokenDependency, isOver, whyNot } from './why.ts'

const { task } = await submissionOf({ id: 'T1', prompt: 'Build it.', submitter: 'ada' }, 0)
const AT = Date.UTC(2026, 4, 1, 12, 30)

type Given = { held?: Held; states?: Record<string, FleetState>; silent?: Record<string, number> }

const why = (patch: Partial<FleetTask>, { held, states = {}, silent = {} }: Given = {}) =>
  whyNot(
    { ...task, ...patch },
    {
      held: new Map(held ? [['T1', held]] : []),
      states: new Map(Object.entries(states)),
      silent: new Map(Object.entries(silent)),
    },
  )

test.each<[says: string | null, patch: Partial<FleetTask>, around?: Parameters<typeof why>[1]]>([
  ['Waiting for a to finish.', { state: 'waiting', depends_on: ['a', 'b'] }, { states: { a: 'running', b: 'done' } }],
  ['Waiting for a to finish.', { state: 'waiting', depends_on: ['a'] }], // it was deleted
  [
    'Waiting for b, which failed. Retry it: ralph retry b',
    { state: 'waiting', depends_on: ['a', 'b'] },
    { states: { a: 'running', b: 'failed' } },
  ],
  [
    'Waiting for a, which was cancelled. Retry it: ralph retry a',
    { state: 'waiting', depends_on: ['a'] },
    { states: { a: 'cancelled' } },
  ],
  ['Waiting for x, which uses the same branch.', { state: 'ready' }, { held: { kind: 'branch-taken', by: 'x' } }],
  ['Next in line.', { state: 'ready' }],
  ['It conflicts with main.', { state: 'ready', sentence: 'It conflicts with main.' }],
  ['The next free worker will take it.', { state: 'released' }],
  [null, { state: 'running', worker: 'w1' }, { silent: { w2: AT } }],
  [
    'Worker w1 has not been heard from since 2026-05-01 12:30 UTC.',
    { state: 'running', worker: 'w1' },
    { silent: { w1: AT } },
  ],
  ['Paused.', { state: 'resting' }],
  ['Which color?', { state: 'resting', sentence: 'Which color?' }],
  ['Continues after 2026-05-01 12:30 UTC.', { state: 'resting', due_at: AT }],
  ['Is down. Continues after 2026-05-01 12:30 UTC.', { state: 'resting', sentence: 'Is down.', due_at: AT }],
  ['Waiting to be merged into main.', { state: 'merging', base: 'main', sentence: 'All checks pass.' }],
  ['Waiting to be merged into main: Is down.', { state: 'merging', base: 'main', sentence: 'Is down.', due_at: AT }],
  ['Being merged into main.', { state: 'merging', base: 'main', merge_job: true }],
  [null, { state: 'done' }],
  [null, { state: 'failed' }],
  [null, { state: 'cancelled' }],
])('%s', (says, patch, around) => {
  expect(why(patch, around)).toBe(says)
})

test('only a waiting task is blocked by a failed one', () => {
  const states = new Map<string, FleetState>([['a', 'failed']])
  expect(brokenDependency({ state: 'waiting', depends_on: ['a'] }, states)).toBe('a')
  expect(brokenDependency({ state: 'done', depends_on: ['a'] }, states)).toBeUndefined()
})

test('done, failed and cancelled tasks have ended', () => {
  expect((['done', 'failed', 'cancelled'] as const).every((state) => isOver({ state }))).toBe(true)
  expect((['waiting', 'resting', 'merging'] as const).some((state) => isOver({ state }))).toBe(false)
})
