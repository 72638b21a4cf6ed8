/**
 * The page in real tabs while the server dies, the machine sleeps or the connection goes dead: it says so, recovers,
 * and is correct.
 */
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Browser, installBrowser, type Launch, openTabs, type Page, type Tabs } from './browser.ts'
import { openLine } from './dead-line.ts'
import { makePlace, until } from './ralph.ts'
import {
  iterationOf,
  reportedIterations,
  reportedLoops,
  type Served,
  serveIn,
  shownIterations,
  shownLoops,
  startGated,
} from './served.ts'

const browser = await installBrowser()
const launch: Launch = 'launch' in browser ? browser.launch : () => Promise.reject(new Error(browser.missing))

/** A browser's messages about an unreachable server. */
const CUT = /net::ERR_(CONNECTION_|INCOMPLETE_CHUNKED|EMPTY_RESPONSE|INTERNET_DISCONNECTED|NETWORK_CHANGED)/

const LINES = 8

describe.skipIf('missing' in browser)(`in Chromium${'missing' in browser ? ` (${browser.missing})` : ''}`, () => {
  async function openWindow(): Promise<Tabs> {
    const running: Browser = await launch()
    onTestFinished(() => running.close())
    return openTabs(running)
  }

  test('a server is killed and restarted: two tabs say so, recover and show the current state', async () => {
    const place = makePlace({ git: false })
    let server = await serveIn(place)
    const loop = await startGated(place, server, 'one', LINES)
    await startGated(place, server, 'two', LINES)
    loop.allow(2)
    const { open, wrong } = await openWindow()
    const tabs = [await open(server.at('/loops')), await open(server.at('/loops'))]
    const reach = (iteration: number) =>
      until(`iteration ${iteration}`, async () => (await iterationOf(server, loop.id)) >= iteration)
    await reach(2)
    await showLoops(server, tabs)

    server = await restart(server, tabs, () => serveIn(place, server.port))
    loop.allow(4)
    await reach(4)
    await showLoops(server, tabs)

    for (const tab of tabs) await tab.getByRole('link', { name: 'lines of one' }).click()
    await showIterations(server, loop.id, tabs)
    server = await restart(server, tabs, () => serveIn(place, server.port))
    await showIterations(server, loop.id, tabs)
    loop.allow(LINES)
    await reach(LINES)
    await showIterations(server, loop.id, tabs)
    for (const tab of tabs) expect(await tab.locator('.problem').count()).toBe(0)
    expect(wrong.filter((text) => !CUT.test(text))).toEqual([])
  })

  test('after a minute of sleep, everything that happened meanwhile is there, once', async () => {
    const place = makePlace({ git: false })
    const server = await serveIn(place)
    const loop = await startGated(place, server, 'one', LINES)
    const { context, open, wrong } = await openWindow()
    await context.clock.install()
    const list = await open(server.at('/loops'))
    const detail = await open(server.at(`/loops/${loop.id}`))
    const right = () => Promise.all([showLoops(server, [list]), showIterations(server, loop.id, [detail])])
    loop.allow(1)
    await until('iteration 1', async () => (await iterationOf(server, loop.id)) === 1)
    await right()

    await context.setOffline(true)
    loop.allow(5)
    await until('iteration 5', async () => (await iterationOf(server, loop.id)) === 5)
    await context.clock.fastForward(60_000)
    await context.setOffline(false)
    await right()
    loop.allow(6)
    await until('iteration 6', async () => (await iterationOf(server, loop.id)) === 6)
    await right()
    expect(wrong.filter((text) => !CUT.test(text))).toEqual([])
  })

  test('a connection that goes dead while the machine sleeps is reopened', async () => {
    const place = makePlace({ git: false })
    const line = await openLine()
    onTestFinished(line.close)
    const server = await serveIn(place, 0, '--allow-host', `127.0.0.1:${line.port}`)
    line.lead(server.port)
    const loop = await startGated(place, server, 'one', LINES)
    const { context, open, wrong } = await openWindow()
    await context.clock.install()
    const tab = await open(server.at('/loops').replace(`:${server.port}/`, `:${line.port}/`))
    await tab.locator('.connection.live').waitFor()
    line.die()
    loop.allow(3)
    await until('iteration 3', async () => (await iterationOf(server, loop.id)) === 3)
    await context.clock.fastForward(60_000)
    // The browser's idle connections are dead as well, without it knowing: each is given up after a while.
    const isRight = async () => (await shownLoops(tab))[0]?.count === 3 || context.clock.fastForward(5_000)
    await until('the page to be correct', isRight)
    await showLoops(server, [tab])
    expect(wrong.filter((text) => !CUT.test(text))).toEqual([])
  })

  test('eight tabs share one stream, even when the tab that reads it is closed', async () => {
    const place = makePlace({ git: false })
    const server = await serveIn(place)
    const loop = await startGated(place, server, 'one', LINES)
    const { open, wrong } = await openWindow()
    const [first, ...tabs] = await openEach(8, () => open(server.at('/loops')))
    loop.allow(1)
    await until('iteration 1', async () => (await iterationOf(server, loop.id)) === 1)
    await showLoops(server, tabs)
    await first?.close()
    loop.allow(2)
    await until('iteration 2', async () => (await iterationOf(server, loop.id)) === 2)
    await showLoops(server, tabs)
    expect(wrong).toEqual([])
  })

  test('a suspended tab that holds the stream loses it to another', async () => {
    const place = makePlace({ git: false })
    const server = await serveIn(place)
    const loop = await startGated(place, server, 'one', LINES)
    const { open, wrong } = await openWindow()
    const asleep = await open(server.url)
    await asleep.evaluate(holdStream)
    const tab = await open(server.at('/loops'))
    await tab.locator('.connection.live').waitFor()
    loop.allow(1)
    await until('iteration 1', async () => (await iterationOf(server, loop.id)) === 1)
    await showLoops(server, [tab])
    expect(wrong).toEqual([])
  })
})

/** Runs in a tab: holds the stream's lock, and does nothing. */
async function holdStream(): Promise<void> {
  type Locks = { request(name: string, work: () => Promise<void>): Promise<void> }
  const { locks } = navigator as unknown as { locks: Locks }
  await new Promise<void>((held) => {
    const hold = () => {
      held()
      return new Promise<void>(() => {})
    }
    locks.request('ralph-live', hold).catch(() => {}) // another tab takes it away
  })
}

/** One after another. */
async function openEach<Opened>(count: number, open: () => Promise<Opened>): Promise<Opened[]> {
  const opened: Opened[] = []
  while (opened.length < count) opened.push(await open())
  return opened
}

async function restart(server: Served, tabs: readonly Page[], start: () => Promise<Served>): Promise<Served> {
  await server.kill()
  for (const tab of tabs) await tab.locator('.connection.lost').waitFor()
  const next = await start()
  for (const tab of tabs) await tab.locator('.lost').first().waitFor({ state: 'detached' })
  return next
}

/** Within a few seconds. */
const SOON_MS = 8_000

async function showLoops(server: Served, tabs: readonly Page[]): Promise<void> {
  for (const tab of tabs)
    await agree(
      () => shownLoops(tab),
      () => reportedLoops(server),
    )
}

async function showIterations(server: Served, loop: string, tabs: readonly Page[]): Promise<void> {
  for (const tab of tabs)
    await agree(
      () => shownIterations(tab),
      () => reportedIterations(server, loop),
    )
}

/** What is shown is what the server reports; both change while a loop runs. */
async function agree<Value>(shown: () => Promise<Value>, told: () => Promise<Value>): Promise<void> {
  let [last, truth]: Value[] = []
  const isRight = async () => {
    last = await shown()
    truth = await told()
    return isDeepStrictEqual(last, truth)
  }
  await until('the page to be correct', isRight, SOON_MS).catch(() => expect(last).toEqual(truth))
}
