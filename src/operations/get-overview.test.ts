import { expect, test } from 'vitest'
import { at, claims, START, specOf, uses } from '../engine/stories.test-support.ts'
import { storyIn } from '../host/store-contract/scene.ts'
import { openPlace } from './place.test-support.ts'

test('an empty place has an empty overview', async () => {
  expect(await openPlace().run('get_overview', {})).toEqual({
    loops: 0,
    byStatus: {},
    tasks: {},
    folders: [],
    needsYou: 0,
    unread: 0,
    todayUsd: 0,
  })
})

test("loops, tasks, folders, needs and today's cost are counted", async () => {
  const place = openPlace()
  const store = place.context.store()
  const evening = new Date(2026, 0, 5, 23, 30).getTime()
  const minute = (evening - START) / 60_000
  const there = { work: { ...specOf().work, dir: '/there' } }
  await storyIn(store, 'a1', {}, at(minute, uses({ costUsd: 2 })), at(minute + 40, uses({ costUsd: 0.5 })))
  await storyIn(store, 'a2', there, claims('clear'))
  await place.run('create_task', { title: 'One' })
  const overview = async (now: number) => {
    place.context.now = () => now
    return place.run('get_overview', {})
  }
  expect(await overview(evening + 3_600_000)).toEqual({
    loops: 2,
    byStatus: { running: 1, completed: 1 },
    tasks: { todo: 1 },
    folders: [
      { dir: '.', loops: 1 },
      { dir: '/there', loops: 1 },
    ],
    needsYou: 1,
    unread: 1,
    todayUsd: 0.5,
  })
  expect((await overview(evening + 60_000)).todayUsd).toBe(2.5)
  expect((await overview(evening + 25 * 3_600_000)).todayUsd).toBe(0)
})
