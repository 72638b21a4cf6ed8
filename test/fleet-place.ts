/** A fleet on a real Postgres, its server, and a browser on its page. Workers run in this process. */
import { onTestFinished } from 'vitest'
import { createClient } from '../src/fronts/server/client.ts'
import { inPostgres } from '../src/host/postgres/postgres.test-support.ts'
import { openFleet, type TestFleet } from '../src/operations/fleet.test-support.ts'
import { type Eyes, type Launch, openTabs, type Tabs } from './browser.ts'
import type { Client } from './page-place.ts'
import { makePlace, until } from './ralph.ts'

export type FleetPlace = {
  fleet: TestFleet
  client: Client
  /** The address of a view, with the token. */
  at(path: string): string
  tabs: Tabs
}

export async function openFleetPlace(launch: Launch, eyes: Eyes = {}): Promise<FleetPlace> {
  const fleet = await openFleet()
  const running = makePlace({ git: false }).start(['serve', '--port', '0', '--json', '--database', fleet.url])
  onTestFinished(async () => {
    process.kill(running.pid, 'SIGTERM')
    await running.ended
  })
  const line = await until('the address', () => running.lines().find(({ type }) => type === 'serve-start'))
  const { url, token } = line as unknown as { url: string; token: string }
  const browser = await launch()
  onTestFinished(() => browser.close())
  const tabs = await openTabs(browser, eyes)
  tabs.context.setDefaultTimeout(20_000)
  return { fleet, client: createClient({ url, token }), at: (path) => `${new URL(path, url)}#t=${token}`, tabs }
}

/** One waiting task of each kind, two workers (one of them silent), a paused account and two budgets. Nothing runs. */
export async function fillFleet({ fleet: { store, url }, client }: FleetPlace): Promise<void> {
  const { workers, accounts } = store.fleet
  const worker = { pid: 4711, version: '0.1.0', labels: ['linux'], concurrency: 4, running: 0, draining: false }
  await workers.announce({ ...worker, id: 'build-1-4711', host: 'build-1', agents: { claude: 'team' } }, true)
  await workers.announce({ ...worker, id: 'laptop-12', host: 'laptop', agents: { codex: 'ben' }, labels: [] }, true)
  await inPostgres(url, `UPDATE ralph.fleet_worker SET beat_at = beat_at - 600000 WHERE id = 'laptop-12'`)
  await accounts.pause({ name: 'team', paused_until: Date.now() + 3_600_000, why: 'rate limit' })
  await client.call('set_budget', { submitter: 'ada', usd_per_day: 20 })
  await client.call('set_budget', { submitter: '*', usd_per_day: 5 })
  await client.call('submit_tasks', {
    tasks: [
      { id: 'rates', prompt: 'Cache exchange rates', agent: 'claude', submitter: 'ada', project: 'shop' },
      { id: 'labels', prompt: 'Print labels', labels: ['printer'], submitter: 'ben', priority: 5 },
      { id: 'report', prompt: 'Report the rates', depends_on: ['rates'], submitter: 'ada', project: 'shop' },
      { id: 'over', prompt: 'Nobody needs this any longer', submitter: 'ben' },
    ],
  })
  await client.call('cancel', { loop: 'over' })
}
