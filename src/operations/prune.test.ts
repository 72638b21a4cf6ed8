import { expect, test } from 'vitest'
import { OPERATIONS } from './index.ts'
import { openPlace } from './place.test-support.ts'

test('pruning deletes changes of the board, except those of the last day', async () => {
  const place = openPlace()
  const { context } = place
  await place.run('create_task', { title: 'Build it' })
  const changesAfter = async (days: number) => {
    const now = () => Date.now() + days * 86_400_000
    await OPERATIONS.prune.run({ ...context, now }, { days: 0 })
    return (await context.store().board.changes(0)).length
  }
  expect(await changesAfter(0.9)).toBe(1)
  expect(await changesAfter(1.1)).toBe(0)
  expect((await place.run('list_tasks', {})).tasks).toHaveLength(1)
})
