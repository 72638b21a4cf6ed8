import { describe, expect, test } from 'vitest'
import { postgresMissing } from '../host/postgres/postgres.test-support.ts'
import { call } from './call.ts'
import { openFleet } from './fleet.test-support.ts'
import { waitTasks } from './wait-tasks.ts'

const missing = await postgresMissing()
const DONE = `touch built; echo '<promise>COMPLETE</promise>'`
const quiet = { saw: () => {}, signal: new AbortController().signal }

describe.skipIf(missing)(`operations on a fleet${missing ? `: ${missing}` : ''}`, () => {
  test('tasks are submitted all or none', async () => {
    const { context, store } = await openFleet()
    const asked = {
      tasks: [
        { id: 'a', prompt: 'A' },
        { id: 'b', prompt: 'B', depends_on: ['nosuch'] },
      ],
    }
    await expect(call(context, 'submit_tasks', asked)).rejects.toThrow(
      'Task b depends on "nosuch", but the fleet has no such task.',
    )
    expect(await store.fleet.counts()).toEqual({})
  })

  test('a task may depend on an earlier submission, and is ready if that is done', async () => {
    const fleet = await openFleet()
    const [first] = await fleet.submit({ id: 'first', prompt: 'First', agent: fleet.agent(DONE) })
    fleet.worker()
    await fleet.reaches(first?.id ?? '', 'done')
    const asked = { tasks: [{ id: 'second', prompt: 'Second', depends_on: ['first'], labels: ['nowhere'] }] }
    expect(await call(fleet.context, 'submit_tasks', asked)).toMatchObject({
      tasks: [{ id: 'second', state: 'ready' }],
    })
  })

  test('a list of tasks continues on the next page', async () => {
    const { context, submit } = await openFleet()
    await submit(...['a', 'b', 'c'].map((id) => ({ id, prompt: `Do ${id}` })))
    const first = (await call(context, 'list_fleet_tasks', { limit: 2 })) as { tasks: { id: string }[]; next: string }
    expect(first.tasks.map(({ id }) => id)).toEqual(['c', 'b'])
    expect(await call(context, 'list_fleet_tasks', { limit: 2, after: first.next })).toMatchObject({
      tasks: [{ id: 'a' }],
    })
    expect(await call(context, 'list_fleet_tasks', { text: 'DO B' })).toMatchObject({ tasks: [{ id: 'b' }] })
    expect(await call(context, 'list_fleet_tasks', { submitter: 'bob' })).toEqual({ tasks: [] })
  })

  test('a merge that has not started can be cancelled, and the task retried', async () => {
    const fleet = await openFleet()
    const { context, store } = fleet
    await fleet.submit({ id: 'a', prompt: 'A', agent: fleet.agent(DONE) })
    const worker = fleet.worker()
    await fleet.reaches('a', 'done')
    worker.drain()
    await worker.ended
    await store.fleet.change('a', { state: 'merging' })
    expect(await call(context, 'cancel', { loop: 'a' })).toMatchObject([{ heard: 'here' }])
    expect(await store.fleet.load('a')).toMatchObject({
      state: 'cancelled',
      sentence: 'Cancelled before the merge. Its work is on its branch.',
    })
    const { loop_id: before } = (await store.fleet.load('a')) ?? {}
    expect(await call(context, 'retry', { loop: 'a', words: 'Once more.' })).toMatchObject({
      queued: true,
      from: before,
    })
    await expect(call(context, 'retry', { loop: 'a' })).rejects.toThrow(
      'Task a has not ended: it is ready. Cancel it first: ralph cancel a',
    )
    fleet.worker()
    await fleet.reaches('a', 'done')
  })

  test('a retried task keeps its agents and limits', async () => {
    const { context, submit } = await openFleet()
    await submit({ id: 'a', prompt: 'A' })
    await call(context, 'cancel', { loop: 'a' })
    await expect(call(context, 'retry', { loop: 'a', agent: 'claude' })).rejects.toThrow('keeps its agents and limits')
  })

  test('a cancelled task with open dependencies waits again when it is retried', async () => {
    const { context, submit, store } = await openFleet()
    await submit({ id: 'a', prompt: 'A' }, { id: 'b', prompt: 'B', depends_on: ['a'] })
    await call(context, 'cancel', { loop: 'b' })
    await call(context, 'retry_fleet_task', { task: 'b' })
    expect(await store.fleet.load('b')).toMatchObject({ state: 'waiting' })
  })

  test('waiting ends for tasks that can no longer start, however far down the chain', async () => {
    const { context, submit } = await openFleet()
    const chain = ['a', 'b', 'c'].map((id, index, all) => ({
      id,
      prompt: id,
      depends_on: all.slice(0, index).slice(-1),
    }))
    await submit(...chain)
    await call(context, 'cancel', { loop: 'a' })
    const ended = await waitTasks(context, ['a', 'b', 'c'], quiet)
    expect(ended?.map(({ state }) => state).sort()).toEqual(['cancelled', 'waiting', 'waiting'])
  })

  test('stopping the wait leaves the tasks as they are', async () => {
    const { context, submit, store } = await openFleet()
    await submit({ id: 'a', prompt: 'A' })
    const stop = new AbortController()
    const waiting = waitTasks(context, ['a'], { saw: () => stop.abort(), signal: stop.signal })
    expect(await waiting).toBeUndefined()
    expect(await store.fleet.load('a')).toMatchObject({ state: 'ready' })
  })

  test('budgets and settings are set and removed', async () => {
    const { context } = await openFleet()
    await call(context, 'set_budget', { submitter: '*', usd_per_day: 5 })
    await call(context, 'set_budget', { submitter: 'ann', usd_per_day: 20 })
    await call(context, 'set_fleet', { keep_days: 3 })
    expect(await call(context, 'get_fleet', {})).toMatchObject({
      workers: [],
      budgets: [{ submitter: '*', usd_per_day: 5 }, { submitter: 'ann' }],
      settings: { keep_days: 3, heartbeat_seconds: 30 },
    })
    expect(await call(context, 'set_budget', { submitter: '*', usd_per_day: null })).toMatchObject({
      budgets: [{ submitter: 'ann' }],
    })
  })
})
