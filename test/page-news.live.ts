/**
 * What happens while a user watches the page: an iteration ends, a loop starts, the server refuses. It appears without
 * a reload.
 */
import { describe, expect, onTestFinished, test } from 'vitest'
import { fillWithLoops } from '../bench/many-loops.ts'
import { type Browser, installBrowser, type Launch, openTabs, type Page, type Tabs } from './browser.ts'
import { makePlace, until } from './ralph.ts'
import { onDatabase, serveIn, startGated } from './served.ts'

const browser = await installBrowser()
const launch: Launch = 'launch' in browser ? browser.launch : () => Promise.reject(new Error(browser.missing))

describe.skipIf('missing' in browser)(`in Chromium${'missing' in browser ? ` (${browser.missing})` : ''}`, () => {
  async function openWindow(): Promise<Tabs> {
    const running: Browser = await launch()
    onTestFinished(() => running.close())
    const tabs = await openTabs(running)
    tabs.context.setDefaultTimeout(20_000)
    return tabs
  }

  test('an iteration that ends while it is shown displays what was said in it', async () => {
    const place = makePlace({ git: false })
    const server = await serveIn(place)
    const loop = await startGated(place, server, 'one', 3)
    const { open } = await openWindow()
    const page = await open(server.at(`/loops/${loop.id}`))
    await page.locator('.now').waitFor()
    loop.allow(1)
    await page.locator('.said-text', { hasText: 'Line 1 is written.' }).waitFor()
    await page.getByText('2 failed, 1 passed').waitFor()
  })

  test('a new loop pushes no other out of a long list', async () => {
    const place = onDatabase(makePlace({ git: false }))
    await fillWithLoops({ home: place.home, database: place.env.RALPH_DATABASE }, 140, 1)
    const server = await serveIn(place)
    const { open } = await openWindow()
    const page = await open(server.at('/loops'))
    await page.locator('.loop-row:not(.head)').first().waitFor()
    const list = page.locator('.loop-table .virtual')
    const reaches = async (rows: number) => {
      await list.evaluate((box) => box.scrollTo(0, box.scrollHeight))
      return (await rowsIn(page)) === rows
    }
    await until('all rows', () => reaches(140))
    await startGated(place, server, 'one', 3)
    await until('one more row', () => reaches(141))
  })

  test('what the server refuses is shown, even if a key triggered it', async () => {
    const place = makePlace({ git: false })
    const server = await serveIn(place)
    await startGated(place, server, 'one', 3)
    const { open } = await openWindow()
    const page = await open(server.at('/loops'))
    await page.locator('.loop-row:not(.head)').first().waitFor()
    await page.route('**/pause', (asked) =>
      asked.fulfill({ status: 409, json: { error: { code: 'loop-over', message: 'It has ended.' } } }),
    )
    await page.keyboard.press('p')
    await page.locator('.toast.red').waitFor()
  })

  test('an unreadable transcript is requested once, and again on demand', async () => {
    const place = makePlace({ git: false })
    const server = await serveIn(place)
    const loop = await startGated(place, server, 'one', 3)
    loop.allow(1)
    const { open } = await openWindow()
    const page = await open(server.at('/loops'))
    let asked = 0
    let isBroken = true
    await page.route('**/activity?*', (request) => {
      asked += 1
      return isBroken ? request.abort() : request.continue()
    })
    await page.goto(server.at(`/loops/${loop.id}?tab=transcript&i=1`))
    await page.locator('.transcript .problem').waitFor()
    await frames(page, 60)
    expect(asked).toBeLessThan(5)
    isBroken = false
    await page.locator('.transcript .problem button').click()
    await page.locator('.log-line', { hasText: 'Line 1 is written.' }).waitFor()
  })

  test('the forecast is requested again with every iteration', async () => {
    const place = makePlace({ git: false })
    const server = await serveIn(place)
    const loop = await startGated(place, server, 'one', 3)
    const { open } = await openWindow()
    const page = await open(server.at(`/loops/${loop.id}`))
    await page.locator('.forecast').waitFor()
    const asked = page.waitForRequest(/forecast/)
    loop.allow(1)
    await asked
  })

  test('a word that is typed quickly is searched for once', async () => {
    const place = makePlace({ git: false })
    const server = await serveIn(place)
    await startGated(place, server, 'one', 3)
    const { open } = await openWindow()
    const page = await open(server.at('/loops'))
    await page.locator('.loop-row:not(.head)').first().waitFor()
    const asked: string[] = []
    page.on('request', (request) => request.url().includes('text=') && asked.push(request.url()))
    await page.getByLabel('Search prompts').pressSequentially('absent', { delay: 20 })
    await page.getByText('No loop matches').waitFor()
    expect(asked.map((url) => new URL(url).searchParams.get('text'))).toEqual(['absent'])
  })

  test('notifications that the browser refuses are shown as refused', async () => {
    const server = await serveIn(makePlace({ git: false }))
    const { open, context } = await openWindow()
    await context.addInitScript(refuseOnce)
    const page = await open(server.at('/settings'))
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByText('The browser blocks them').waitFor()
  })

  test('every tab asks for the token when the server has a new one', async () => {
    const place = makePlace({ git: false })
    const server = await serveIn(place)
    const { open } = await openWindow()
    const tabs = [await open(server.at('/loops')), await open(server.at('/loops')), await open(server.at('/loops'))]
    for (const tab of tabs) await tab.locator('.connection.live').waitFor()
    await server.kill()
    await serveIn(place, server.port, '--new-token')
    for (const tab of tabs) await tab.locator('.sign-in').waitFor()
    for (const tab of tabs) expect(await tab.locator('.sign-in').count()).toBe(1)
  })
})

/** As many as fit the height of the list. */
async function rowsIn(page: Page): Promise<number> {
  const height = await page.locator('.loop-table .virtual > div').evaluate((box) => box.clientHeight)
  return height / 60
}

async function frames(page: Page, count: number): Promise<void> {
  for (let drawn = 0; drawn < count; drawn += 1) await page.evaluate('new Promise(requestAnimationFrame)')
}

/** Runs in a tab: the user answers no. */
function refuseOnce(): void {
  type Asked = { Notification: { requestPermission(): Promise<string> } }
  const { Notification: asked } = globalThis as unknown as Asked
  let permission = 'default'
  Object.defineProperty(asked, 'permission', { get: () => permission })
  asked.requestPermission = async () => {
    permission = 'denied'
    return permission
  }
}
