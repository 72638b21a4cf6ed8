import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readAll } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { INTO, MINUTE, openVault, type Vault } from './vault.test-support.ts'

const MESSAGE = 'Task exceeded 30 minute timeout. Progress saved.'

/** A vault with the webhook of a person, and what arrives there. `codes` are its answers, then 200. */
async function withWebhook(...codes: number[]): Promise<{ vault: Vault; heard: object[] }> {
  const heard: object[] = []
  const server = createServer(async (request, response) => {
    heard.push(JSON.parse(await readAll(request)))
    response.writeHead(codes.shift() ?? 200).end()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const vault = openVault(['a.md', 'b.md'])
  const { port } = server.address() as AddressInfo
  vault.put('ralph.config.json', JSON.stringify({ notify_webhook: `http://127.0.0.1:${port}/` }))
  return { vault, heard }
}

test("the user is notified of a timed-out task once, in the watcher's words", async () => {
  const { vault, heard } = await withWebhook()
  await vault.ralph.startTask('Needs_Action/a.md')
  const stopped = await vault.ralph.handleTimeout('a')
  expect(heard).toEqual([
    {
      title: 'ralph: a timeout',
      text: MESSAGE,
      type: 'task',
      task_id: 'a',
      status: 'timeout',
      sentence: MESSAGE,
    },
  ])
  expect(await vault.ralph.handleTimeout('a')).toEqual(stopped)
  expect(heard).toHaveLength(1)
})

test('even if looking at the task ended it', async () => {
  const { vault, heard } = await withWebhook()
  await vault.ralph.startTask('Needs_Action/a.md')
  vault.clock.now += 31 * MINUTE
  expect((await vault.ralph.getTaskState('a')).status).toBe('timeout')
  expect(heard).toEqual([])
  await vault.ralph.handleTimeout('a')
  expect(heard).toMatchObject([{ task_id: 'a', status: 'timeout' }])
})

test('a failing webhook is reported, and gets it with the next call', async () => {
  const { vault, heard } = await withWebhook(500)
  await vault.ralph.startTask('Needs_Action/a.md')
  expect(await vault.ralph.handleTimeout('a')).toMatchObject({ status: 'timeout' })
  expect(vault.notes).toEqual(['the webhook answered 500.'])
  await vault.ralph.handleTimeout('a')
  await vault.ralph.handleTimeout('a')
  expect(heard).toHaveLength(2)
})

test('no message is sent for a task that has not timed out', async () => {
  const { vault, heard } = await withWebhook()
  await INTO.completed(vault, 'a')
  await expect(vault.ralph.handleTimeout('a')).rejects.toMatchObject({ code: 'task-state' })
  expect(heard).toEqual([])
})

test('a restarted task is reported again', async () => {
  const { vault, heard } = await withWebhook()
  for (let n = 0; n < 2; n++) {
    vault.clock.now += MINUTE
    await vault.ralph.startTask('Needs_Action/a.md')
    await vault.ralph.handleTimeout('a')
  }
  expect(heard).toHaveLength(2)
})
