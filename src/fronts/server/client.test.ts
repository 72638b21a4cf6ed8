import { expect, test } from 'vitest'
import { createClient, RalphError } from './client.ts'
import { openServer } from './serve.test-support.ts'

test('a client creates, finds, changes and removes a task', async () => {
  const { url, token } = await openServer()
  const client = createClient({ url, token })
  const { id } = await client.call('create_task', { title: 'One', labels: ['a,b'] }, { key: 'once' })
  expect((await client.call('create_task', { title: 'One', labels: ['a,b'] }, { key: 'once' })).id).toBe(id)
  expect((await client.call('list_tasks', { status: ['todo'] })).tasks).toMatchObject([{ id, labels: ['a,b'] }])
  expect((await client.call('list_tasks', { status: ['done', 'cancelled'] })).tasks).toEqual([])
  expect(await client.call('update_task', { task_id: id, title: 'Two' }, { version: 1 })).toMatchObject({ version: 2 })
  await expect(client.call('delete_task', { task_id: id }, { version: 1 })).rejects.toMatchObject({
    code: 'task-changed',
    field: 'version',
  })
  await client.call('delete_task', { task_id: id }, { version: 2 })
})

test('a failure is a RalphError with the code and the field', async () => {
  const { url, token } = await openServer()
  const wrong = createClient({ url, token }).call('list_loops', { limit: 0 })
  await expect(wrong).rejects.toBeInstanceOf(RalphError)
  await expect(wrong).rejects.toMatchObject({ code: 'input-invalid', field: 'limit' })
  await expect(createClient({ url, token: 'no' }).call('list_groups', {})).rejects.toMatchObject({
    code: 'token-wrong',
  })
})

test.each<[what: string, sentence: string, fetch: typeof globalThis.fetch]>([
  ['no server', 'http://127.0.0.1:1 did not answer.', fetch],
  ['another server', 'answered 502 without valid JSON.', async () => new Response('<html>', { status: 502 })],
])('%s is a RalphError too', async (_, sentence, ask) => {
  const asked = createClient({ url: 'http://127.0.0.1:1/', token: 't', fetch: ask }).call('list_groups', {})
  await expect(asked).rejects.toBeInstanceOf(RalphError)
  await expect(asked).rejects.toMatchObject({ code: 'server-unreachable', message: expect.stringContaining(sentence) })
})

test('a request aborted by its caller is not a RalphError', async () => {
  const client = createClient({ url: 'http://127.0.0.1:1/', token: 't' })
  const asked = client.call('list_groups', {}, { signal: AbortSignal.abort() })
  await expect(asked).rejects.toMatchObject({ name: 'AbortError' })
})

test.each(['', '.', '..'])('a name that would lead elsewhere is not sent: "%s"', async (loop) => {
  const client = createClient({
    url: 'http://127.0.0.1:1/',
    token: 't',
    fetch: () => Promise.reject(new Error('sent')),
  })
  await expect(client.call('get_loop', { loop })).rejects.toMatchObject({ code: 'input-invalid', field: 'loop' })
})
