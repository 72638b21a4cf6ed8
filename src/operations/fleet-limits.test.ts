import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { eventually } from '../host/place.test-support.ts'
import { postgresMissing } from '../host/postgres/postgres.test-support.ts'
import { openFleet, type TestFleet } from './fleet.test-support.ts'

const missing = await postgresMissing()

const WORK = { edit: { path: 'b.txt', content: 'b' } }
const DONE = { text: '<promise>COMPLETE</promise>' }

function scripted(fleet: TestFleet, name: string, ...turns: object[][]): string {
  const file = join(fleet.context.home, `${name}.json`)
  writeFileSync(file, JSON.stringify({ turns }))
  return `scripted:${file}`
}

const on = (account: string) => ({ agents: new Map([['scripted', account]]), concurrency: 1 })

describe.skipIf(missing)(`what a fleet may use${missing ? `: ${missing}` : ''}`, () => {
  test('a rate limit on one worker pauses its account on all', async () => {
    const fleet = await openFleet()
    const limited = scripted(fleet, 'limited', [{ 'rate-limit': { resetsInSeconds: 3_600 } }])
    const [task] = await fleet.submit({ prompt: 'Limited.', agent: limited })
    fleet.worker(on('team'))
    await fleet.reaches(task?.id ?? '', 'resting')
    const accounts = await eventually(async () => {
      const found = await fleet.store.fleet.accounts.list()
      return found.length > 0 ? found : undefined
    })
    expect(accounts).toMatchObject([{ name: 'team', why: expect.stringContaining('rate limited') }])
    const [next] = await fleet.submit({ prompt: 'Next.', agent: scripted(fleet, 'fine', [DONE]) })
    fleet.worker(on('team'))
    const other = fleet.worker(on('others'))
    const done = await fleet.reaches(next?.id ?? '', 'done')
    expect(done.attempts).toBe(1)
    expect(other.said.join()).toContain(`${next?.id}: `)
  })

  test('a task whose account is paused continues with another one', async () => {
    const fleet = await openFleet()
    const agent = scripted(fleet, 'once', [{ 'rate-limit': { resetsInSeconds: 3_600 }, attempt: 1 }, WORK, DONE])
    fleet.worker(on('a'))
    fleet.worker(on('b'))
    await eventually(async () => (await fleet.store.fleet.workers.list()).length === 2)
    const [task] = await fleet.submit({ prompt: 'Limited once.', agent })
    expect(await fleet.reaches(task?.id ?? '', 'done')).toMatchObject({ attempts: 2 })
  })

  test('the cost is set aside before a start, and tasks over budget are held', async () => {
    const fleet = await openFleet()
    const { budgets } = fleet.store.fleet
    await budgets.set('ada', 5)
    const agent = scripted(fleet, 'costly', [{ usage: { tokens: 10, costUsd: 2 } }, DONE])
    const limits = { costUsd: 3 }
    const tasks = await fleet.submit({ prompt: 'One.', agent, limits }, { prompt: 'Two.', agent, limits })
    fleet.worker({ agents: new Map([['scripted', 's']]), concurrency: 2 })
    const states = async () => Promise.all(tasks.map(async ({ id }) => (await fleet.store.fleet.load(id))?.state))
    await eventually(async () => (await states()).every((state) => state === 'done'))
    expect(await budgets.list()).toEqual([{ submitter: 'ada', usd_per_day: 5, spent_usd: 4, reserved_usd: 0 }])
    const [third] = await fleet.submit({ prompt: 'Three.', agent, limits })
    const [others] = await fleet.submit({ prompt: 'Four.', agent, limits, submitter: 'bob' })
    await fleet.reaches(others?.id ?? '', 'done')
    expect(await fleet.store.fleet.load(third?.id ?? '')).toMatchObject({ state: 'ready', attempts: 0 })
    await budgets.set('ada', 50)
    await fleet.reaches(third?.id ?? '', 'done')
  })

  test('an agent that reports its cost is stopped in the middle of a turn', async () => {
    const fleet = await openFleet()
    const agent = scripted(fleet, 'endless', [{ usage: { tokens: 10, costUsd: 2 } }, { sleep: 600_000 }, DONE])
    const [task] = await fleet.submit({ prompt: 'Costly.', agent, limits: { costUsd: 1 } })
    fleet.worker(on('s'))
    const failed = await fleet.reaches(task?.id ?? '', 'failed')
    expect((await fleet.store.load(failed.loop_id)).next).toMatchObject({ kind: 'halt', reason: 'cost' })
    expect(failed.spent_usd).toBe(2)
  })
})
