import { resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../host/place.test-support.ts'
import { dropDatabase, postgresMissing, testDatabase } from '../../host/postgres/postgres.test-support.ts'
import { openContext } from '../../operations/context.ts'
import { connect, use } from './mcp.test-support.ts'

const missing = await postgresMissing()

describe.skipIf(missing)(`a model with a fleet${missing ? `: ${missing}` : ''}`, () => {
  test('submits tasks, and sees what they wait for', async () => {
    const database = await testDatabase()
    onTestFinished(() => dropDatabase(database))
    const home = temporaryFolder()
    const root = resolve(import.meta.dirname, '../../..')
    const context = openContext({ root, home, cwd: () => home, env: { HOME: home }, note: () => {}, database })
    onTestFinished(() => context.close())
    const client = await connect({ ...context, by: 'agent' })
    const names = (await client.listTools()).tools.map(({ name }) => name)
    expect(names.slice(-2)).toEqual(['submit_tasks', 'list_fleet_tasks'])
    const asked = [
      { id: 'T1', prompt: 'Lay the ground', repo: '/srv/shop.git', checks: ['npm test'] },
      { id: 'T2', prompt: 'Paint it', repo: '/srv/shop.git', depends_on: ['T1'] },
    ]
    const submitted = await use(client, 'submit_tasks', { tasks: asked })
    expect(submitted.links).toHaveLength(2)
    expect(submitted.data.tasks).toMatchObject([
      { id: 'T1', state: 'ready', branch: 'ralph/T1' },
      { id: 'T2', state: 'waiting' },
    ])
    expect((await use(client, 'list_fleet_tasks', { state: ['waiting'] })).data).toMatchObject({
      tasks: [{ id: 'T2', title: 'Paint it', why: 'Waiting for T1 to finish.', worker: null }],
    })
    expect((await use(client, 'get_context')).data).toMatchObject({ fleet: true })
  })
})
