import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Task } from '../formats/tasks.ts'
import { temporaryFolder } from '../host/place.test-support.ts'
import { parseExecute } from './templates.ts'

/** The prompt for whatever task comes next. */
function promptWith(...tasks: Partial<Task>[]): string {
  const dir = temporaryFolder()
  mkdirSync(join(dir, '.artefacts', 'shop'), { recursive: true })
  const titled = tasks.map((task) => ({ title: `Title of ${task.id}`, ...task }))
  writeFileSync(join(dir, '.artefacts', 'shop', 'tasks.json'), JSON.stringify({ tasks: titled }))
  return parseExecute('shop', 4, 9, undefined, { dir })
}

test('without a task, the prompt is for the one that comes next', () => {
  const prompt = promptWith(
    { id: 'T1', status: 'completed' },
    { id: 'T2', blocked: true },
    { id: 'T3', dependencies: ['T2'] },
    { id: 'T4', attempts: 1, description: 'Paint it blue.' },
  )
  expect(prompt).toContain('iteration 4 of at most 9')
  expect(prompt).toContain('**T4: Title of T4** (attempt 2 of 3)')
  expect(prompt).toContain('Paint it blue.')
})

test('a task in progress keeps its counted attempt', () => {
  expect(promptWith({ id: 'T1', status: 'in_progress', attempts: 1 })).toContain('(attempt 1 of 3)')
})

test.each<[fact: string, task: Partial<Task>, says: RegExp]>([
  ['all are completed', { status: 'completed' }, /shop: The task is completed\./],
  ['none can continue', { blocked: true }, /shop: No task can continue: T1 is blocked\./],
  ['one has no attempt left', { attempts: 3 }, /shop: T1 has used all 3 attempts/],
])('without a task there is no prompt if %s', (_, task, says) => {
  expect(() => promptWith({ id: 'T1', ...task })).toThrow(
    expect.objectContaining({ code: 'tasks-invalid', message: expect.stringMatching(says) }),
  )
})

test('without a task there must be a list of them', () => {
  const dir = temporaryFolder()
  expect(() => parseExecute('shop', 1, 1, undefined, { dir })).toThrow(
    expect.objectContaining({ message: expect.stringMatching(/tasks\.json/) }),
  )
})
