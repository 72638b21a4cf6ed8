import { expect, test } from 'vitest'
import { parseTasks, type Task } from '../formats/tasks.ts'
import { fromProject } from './from-project.ts'

const forAll = { submitter: 'ada', repo: '/srv/shop.git', base: 'main', checks: ['npm test'] }

function submit(tasks: (Partial<Task> & { id: string })[], copy = 1) {
  const text = JSON.stringify({ tasks: tasks.map((task) => ({ title: `Do ${task.id}`, ...task })) })
  return fromProject('shop', parseTasks(text, 'tasks.json').tasks, { forAll, copy })
}

test('all fields of a task carry over to the fleet', () => {
  const [first, second] = submit([
    { id: 'T1', verify: ['make', 'npm test'], require: 'verified', protect: ['spec/**'], touches: ['src/**'] },
    { id: 'T2', description: 'In blue.', dependencies: ['T1'], max_attempts: 7, may_change: ['docs/**'] },
  ])
  expect(first).toMatchObject({
    ...{ id: 'shop-T1', title: 'Do T1', prompt: 'Do T1', project: 'shop', submitter: 'ada', base: 'main' },
    ...{ checks: ['npm test', 'make'], require: 'verified', protect: ['spec/**'], touches: ['src/**'] },
    ...{ limits: { iterations: 3 }, depends_on: [] },
  })
  expect(second).toMatchObject({
    ...{ id: 'shop-T2', prompt: 'Do T2\n\nIn blue.', depends_on: ['shop-T1'], mayChange: ['docs/**'] },
    ...{ checks: ['npm test'], limits: { iterations: 7 } },
  })
})

test('completed tasks are left out, and no task waits for them', () => {
  expect(
    submit([
      { id: 'T1', status: 'completed' },
      { id: 'T2', dependencies: ['T1'] },
    ]),
  ).toMatchObject([{ id: 'shop-T2', depends_on: [] }])
  expect(submit([{ id: 'T1', status: 'completed' }])).toEqual([])
})

test('a second copy gets its own ids and its own project', () => {
  expect(submit([{ id: 'T1' }, { id: 'T2', dependencies: ['T1'] }], 2)).toMatchObject([
    { id: 'shop-T1-2', project: 'shop-2' },
    { id: 'shop-T2-2', project: 'shop-2', depends_on: ['shop-T1-2'] },
  ])
})

test('the start of the longest chain comes first', () => {
  const tasks = [{ id: 'a' }, { id: 'b', estimate: 5 }, { id: 'c' }, { id: 'd', dependencies: ['c'], estimate: 60 }]
  expect(submit(tasks).map(({ id }) => id)).toEqual(['shop-c', 'shop-d', 'shop-b', 'shop-a'])
})

test('an id becomes part of a branch name', () => {
  expect(submit([{ id: 'Über..b' }]).map(({ id }) => id)).toEqual(['shop--ber.b'])
  expect(() => submit([{ id: 'äb' }, { id: 'öb' }])).toThrow(
    'the ids "äb" and "öb" differ only in characters that branch names cannot contain. Rename one of them.',
  )
})

test('neither a blocked task nor its dependents are submitted', () => {
  expect(() => submit([{ id: 'T1' }, { id: 'T2', blocked: true }])).toThrow(
    'tasks.json: task T2 is blocked, so it cannot be submitted. Set its status to "pending", or remove it.',
  )
})
