import type { Client } from '@modelcontextprotocol/client'
import { expect, test, vi } from 'vitest'
import { openPlace } from '../../operations/place.test-support.ts'
import { connect } from './mcp.test-support.ts'

function heardBy(client: Client): string[] {
  const heard: string[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri))
  client.setNotificationHandler('notifications/resources/list_changed', () => void heard.push('list'))
  return heard
}

test('a client is notified of the resources it subscribes to, whoever changed them', async () => {
  const place = openPlace()
  const { id } = await place.run('create_task', { title: 'Paint it' })
  const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: place.agent('true') })
  const client = await connect(place.context)
  const heard = heardBy(client)
  const uris = [`ralph://task/${id}`, `ralph://loop/${loop}`]
  const listening = await client.listen({ resourcesListChanged: true, resourceSubscriptions: uris })
  await place.run('update_task', { task_id: id, priority: 3 })
  await vi.waitFor(() => expect(heard).toEqual([uris[0]]))
  await place.run('pause', { loop })
  await vi.waitFor(() => expect(heard).toEqual(uris))
  await place.run('create_task', { title: 'Lay the ground' })
  await vi.waitFor(() => expect(heard).toEqual([...uris, 'list']))
  await listening.close()
})

test('over HTTP, a client of the older protocol is promised nothing', async () => {
  const client = await connect(openPlace().context, 'legacy')
  expect(client.getServerCapabilities()).toEqual({ tools: {}, resources: {}, prompts: {} })
})
