import { describe, expect, test } from 'vitest'
import { startLoop } from '../engine/loop.ts'
import { specOf } from '../engine/stories.test-support.ts'
import { type OperationPlace, openPlace } from './place.test-support.ts'

const DONE = 'date +%N > work.txt; echo "<promise>COMPLETE</promise>"'

/** Loops that completed with their first iteration, as the database knows them. */
async function withHistory(place: OperationPlace, loops: number): Promise<void> {
  const store = place.context.store()
  for (let n = 0; n < loops; n++) {
    const loop = startLoop(`past-${n}`, specOf({ work: { ...specOf().work, dir: place.cwd } }), { at: n })
    const tally = { ...loop.tally, iteration: 1, costUsd: 0.5 }
    await store.create({ ...loop, tally, next: { kind: 'complete', proof: 'verified', sentence: 'It passes.' } })
  }
}

test('analytics and the exported table cover the requested loops', async () => {
  const place = openPlace()
  for (const type of ['docs', '=cmd()']) {
    const asked = { prompt: 'Build it', agent: place.agent(DONE), checks: ['test -e work.txt'], type }
    await place.drive((await place.run('start_loop', asked)).loop)
  }
  expect(await place.run('get_analytics', {})).toMatchObject({ loops: 2, success: { count: 2, of: 2 } })
  expect(await place.run('get_analytics', { type: 'docs', dir: '.', owner: 'person' })).toMatchObject({
    loops: 1,
    byType: [{ name: 'docs' }],
    bySize: [{ name: 'S' }],
  })
  for (const none of [{ type: 'bug' }, { dir: 'gone' }, { owner: 'vault' }, { until: 1 }, { project_id: 'p' }])
    expect(await place.run('get_analytics', none)).toMatchObject({ loops: 0 })
  const { csv } = await place.run('export_loops', {})
  expect(csv.split('\n')).toHaveLength(4)
  expect(csv).toContain(",'=cmd(),S,")
  expect(csv).toMatch(/,cost_usd\r?\n(.*,,\r?\n)+$/) // this agent reports neither tokens nor cost
})

describe('a forecast', () => {
  test('says when there is not enough history', async () => {
    const place = openPlace()
    expect(await place.run('get_forecast', { prompt: 'Build it' })).toEqual({
      done: 0,
      limit: 10,
      enough: false,
      loops: 0,
      by: [],
      size: 'S',
      sentence: 'Not enough history: 0 finished loops, a forecast needs 20.',
    })
  })

  test('shows the size of a task, and the limit estimated from it', async () => {
    const place = openPlace()
    const long = `Build it.\n${Array.from({ length: 20 }, (_, n) => `- part ${n} of the whole`).join('\n')}`
    const limitOf = async (asked: object) => {
      const { size, limit } = await place.run('get_forecast', { adaptive: true, ...asked })
      return [size, limit]
    }
    expect(await limitOf({ prompt: 'Build it' })).toEqual(['S', 6])
    expect(await limitOf({ prompt: long })).toEqual(['L', 16])
    expect(await limitOf({ prompt: long, iterations: 9 })).toEqual(['L', 9])
    expect(await limitOf({ prompt: long, iterations: 0 })).toEqual(['L', 16])
    expect(await limitOf({ prompt: long, adaptive: false, iterations: 9 })).toEqual(['L', 9])
    expect(await limitOf({})).toEqual([undefined, 6])
    const { loop } = await place.run('start_loop', {
      prompt: long,
      agent: place.agent(DONE),
      limits: { iterations: { ceiling: 30 } },
    })
    expect(await limitOf({ loop })).toEqual(['L', 16])
    const { id } = await place.run('create_task', { title: 'Build it', ralph_max_iterations: 4 })
    expect(await limitOf({ task_id: id })).toEqual(['S', 4])
  })

  test('learns the limit from history', async () => {
    const place = openPlace()
    await withHistory(place, 25)
    expect(await place.run('get_forecast', { prompt: 'Build it', adaptive: true })).toMatchObject({ limit: 3 })
  })

  test('covers a new loop, a task on the board, or a running loop', async () => {
    const place = openPlace()
    await withHistory(place, 25)
    const agent = specOf().work.agent
    const fresh = await place.run('get_forecast', { prompt: 'Build it', agent, iterations: 5 })
    expect(fresh).toMatchObject({ enough: true, loops: 25, limit: 5, by: ['dir', 'agent'] })
    expect(fresh.forecast).toMatchObject({ costUsd: { median: 0.5 }, iterations: { median: 1, p90: 1 } })
    expect(fresh.sentence).toMatch(/^9\d% complete within 5 iterations .*\(25 finished loops in this folder with /)
    const { id: task_id } = await place.run('create_task', {
      title: 'Build it',
      repo: place.cwd,
      ralph_max_iterations: 3,
    })
    expect(await place.run('get_forecast', { task_id })).toMatchObject({ enough: true, limit: 3, by: ['dir'] })
    const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: place.agent(DONE) })
    expect(await place.run('get_forecast', { loop })).toMatchObject({ enough: true, limit: 10, by: ['dir'] })
    await place.drive(loop)
    await expect(place.run('get_forecast', { loop })).rejects.toMatchObject({ code: 'loop-ended' })
    await expect(place.run('get_forecast', { task_id: 'none' })).rejects.toMatchObject({ code: 'task-unknown' })
  })
})
