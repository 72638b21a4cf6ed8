import { expect, test } from 'vitest'
import { MINUTE, START } from '../../engine/stories.test-support.ts'
import type { TaskState, VaultStatus } from '../../formats/task-state.ts'
import { timeOfDay } from '../../operations/standing.ts'
import { openScreen } from './screen.test-support.ts'
import { completed, counted, listed, progressed, shown, started } from './task-view.ts'

const time = (minutes: number) => new Date(START + minutes * MINUTE).toISOString()

const state = (change: Partial<TaskState> = {}): TaskState => ({
  task_id: 'pay',
  task_file: '/V/Needs_Action/pay.md',
  status: 'in_progress',
  iteration: 2,
  max_iterations: 10,
  started_at: time(-20),
  last_updated: time(-5),
  timeout_at: time(10),
  iterations_history: [],
  progress: { steps_total: 0, steps_completed: 0, current_step: '', percentage: 0 },
  ...change,
})

test('a started task shows its deadline and its state file', () => {
  const task = {
    task_id: 'pay',
    state_file: '/V/Ralph_State/pay.json',
    status: 'initializing' as const,
    started_at: time(0),
    timeout_at: time(30),
  }
  expect(started(task)).toEqual({
    json: [task],
    text: `Started pay; it times out at ${timeOfDay(START + 30 * MINUTE)}.\n  State file: /V/Ralph_State/pay.json\n`,
  })
})

test.each<[status: VaultStatus, says: string]>([
  ['in_progress', 'The task continues.'],
  ['completed', 'Its file is in the done folder: the task is completed.'],
  ['waiting_approval', 'It is waiting for you: ralph task approve pay, or ralph task reject pay.'],
  ['max_iterations_reached', 'That was the last one. The task needs your attention.'],
  ['timeout', 'The task ran out of time.'],
  ['failed', 'The task failed. To see why: ralph task state pay.'],
])('an iteration after which the task is %s', (status, says) => {
  const answer = counted({ task_id: 'pay', iteration: 3, max_iterations: 10, status } as Parameters<typeof counted>[0])
  expect(answer.text).toBe(`Counted iteration 3 of 10. ${says}\n`)
})

test.each([
  [0, '░░░░░░░░░░ 0%'],
  [44, '████░░░░░░ 44%'],
  [100, '██████████ 100%'],
])('progress of %i percent is %s', (percentage, bar) => {
  const progress = { steps_total: 9, steps_completed: 4, current_step: 'Write\nthe letter', percentage }
  expect(progressed({ task_id: 'pay', progress }).text).toBe(`pay: ${bar} · 4 of 9 steps · Write the letter\n`)
})

test.each<[created: number | null, says: string]>([
  [1, 'Completed pay after 2 iterations and 1:05; 1 file created, 3 changed.\n'],
  [null, 'Completed pay after 2 iterations and 1:05.\n'],
])('a completed task that created %s files', (files_created, says) => {
  const metrics = { iterations: 2, total_duration_seconds: 65, files_created, files_modified: 3 }
  const task = { task_id: 'pay', exit_reason: 'completed', metrics } as Parameters<typeof completed>[0]
  expect(completed(task).text).toBe(says)
})

test('a running task is shown with its last ten iterations', () => {
  const { context } = openScreen()
  const history = Array.from({ length: 12 }, (_, n) => ({
    iteration: n + 1,
    timestamp: time(n),
    action: `Step ${n + 1}`,
    result: 'success',
    duration_seconds: 60,
  })) as TaskState['iterations_history']
  const lines = shown(state({ iterations_history: history }), context).text.split('\n')
  expect(lines.slice(0, 4)).toEqual([
    '… pay · in progress',
    '  file       /V/Needs_Action/pay.md',
    '  iteration  2 of 10',
    `  started    ${timeOfDay(START - 20 * MINUTE)}`,
  ])
  expect(lines).toContain('  updated    5 min ago')
  expect(lines).toContain('  … 2 earlier iterations')
  expect(lines).toContain('  12  1:00  success  Step 12')
  expect(lines.filter((line) => line.includes('Step'))).toHaveLength(10)
})

test('a waiting task shows how to approve or reject it', () => {
  const { context } = openScreen()
  const { text } = shown(state({ status: 'waiting_approval' }), context, { why: 'Red?', vault: '/V' })
  expect(text).toContain('  why         Red?\n')
  expect(text).toContain('  approve     ralph task approve --vault /V pay\n')
  expect(text).toContain('  or reject   ralph task reject --vault /V pay\n')
  expect(text).not.toContain('times out')
})

test('a task whose checks were bent shows how to allow that, and what to do instead', () => {
  const { context } = openScreen()
  const bent = { approve: 'ralph allow a1', instead: 'ralph steer a1 "…"' }
  const waits = state({ status: 'waiting_approval' })
  expect(shown(waits, context, { bent }).text).toContain(
    '  allow       ralph allow a1\n  or instead  ralph steer a1 "…"\n  or reject   ralph task reject pay\n',
  )
  const list = listed({ tasks: [waits], bent: [{ task_id: 'pay', ...bent }] }, context, undefined)
  expect(list.text).toMatch(/ ralph allow a1\n$/)
  expect(list.json).toEqual([waits])
})

test('the list of tasks is cut at the width of the terminal', () => {
  const states = [state(), state({ task_id: 'b', status: 'waiting_approval', last_updated: time(0) })]
  const tasks = { tasks: states, bent: [] }
  expect(listed(tasks, openScreen().context, undefined).text).toBe(
    '…  pay  in progress       2/10  5 min ago\n?  b    waiting approval  2/10  just now   ralph task approve b\n',
  )
  const narrow = listed(tasks, openScreen({ columns: 30 }).context, undefined).text.split('\n')
  expect(narrow.map((line) => line.length)).toEqual([30, 30, 0])
  expect(listed({ tasks: [], bent: [] }, openScreen().context, undefined).text).toContain('No tasks found.')
})
