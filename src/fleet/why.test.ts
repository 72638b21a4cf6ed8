import { expect, test } from 'vitest'
import type { FleetState, FleetTask } from '../formats/fleet-task.ts'
import type { Held } from './picture.ts'
import { submissionOf } from './submit.ts'
import { brokenDependency, isOver, whyNot } from './why.ts'

const { task } = await submissionOf({ id: 'T1', prompt: 'Build it.', submitter: 'ada' }, 0)
const AT = Date.UTC(2026, 4, 1, 12, 30)

const why = (
  patch: Partial<FleetTask>,
  { held, states = {} }: { held?: Held; states?: Record<string, FleetState> } = {},
) =>
  whyNot({ ...task, ...patch }, { held: new Map(held ? [['T1', held]] : []), states: new Map(Object.entries(states)) })

test.each<[says: string | null, patch: Partial<FleetTask>, around?: Parameters<typeof why>[1]]>([
  ['Waits for a to finish.', { state: 'waiting', depends_on: ['a', 'b'] }, { states: { a: 'running', b: 'done' } }],
  ['Waits for a to finish.', { state: 'waiting', depends_on: ['a'] }], // it has been removed
  [
    'Waits for b, which has failed. Try that again: ralph retry b',
    { state: 'waiting', depends_on: ['a', 'b'] },
    { states: { a: 'running', b: 'failed' } },
  ],
  [
    'Waits for a, which was cancelled. Try that again: ralph retry a',
    { state: 'waiting', depends_on: ['a'] },
    { states: { a: 'cancelled' } },
  ],
  ['Waits for x, which works on the same branch.', { state: 'ready' }, { held: { kind: 'branch-taken', by: 'x' } }],
  ['It is next.', { state: 'ready' }],
  ['It conflicts with main.', { state: 'ready', sentence: 'It conflicts with main.' }],
  ['The next free worker takes it.', { state: 'released' }],
  [null, { state: 'running', worker: 'w1' }],
  ['Is paused.', { state: 'resting' }],
  ['Which colour?', { state: 'resting', sentence: 'Which colour?' }],
  ['Continues after 2026-05-01 12:30 UTC.', { state: 'resting', due_at: AT }],
  ['Is down. Continues after 2026-05-01 12:30 UTC.', { state: 'resting', sentence: 'Is down.', due_at: AT }],
  ['Waits to be merged into main.', { state: 'merging', base: 'main', sentence: 'All checks pass.' }],
  ['Waits to be merged into main: Is down.', { state: 'merging', base: 'main', sentence: 'Is down.', due_at: AT }],
  ['Is being merged into main.', { state: 'merging', base: 'main', merge_job: true }],
  [null, { state: 'done' }],
  [null, { state: 'failed' }],
  [null, { state: 'cancelled' }],
])('%s', (says, patch, around) => {
  expect(why(patch, around)).toBe(says)
})

test('only a task that waits is held up by one that failed', () => {
  const states = new Map<string, FleetState>([['a', 'failed']])
  expect(brokenDependency({ state: 'waiting', depends_on: ['a'] }, states)).toBe('a')
  expect(brokenDependency({ state: 'done', depends_on: ['a'] }, states)).toBeUndefined()
})

test('done, failed and cancelled is over', () => {
  expect((['done', 'failed', 'cancelled'] as const).every((state) => isOver({ state }))).toBe(true)
  expect((['waiting', 'resting', 'merging'] as const).some((state) => isOver({ state }))).toBe(false)
})
