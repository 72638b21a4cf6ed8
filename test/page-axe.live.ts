/**
 * Every view of a full board, in both themes and on a phone: nothing violates WCAG 2.2 AA, and nothing scrolls
 * sideways.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createClient } from '../src/fronts/server/client.ts'
import { isOnPostgres, postgresMissing } from '../src/host/postgres/postgres.test-support.ts'
import { type Browser, type Eyes, installBrowser, openTabs, type Page, type Tabs } from './browser.ts'
import { fillFleet, openFleetPlace } from './fleet-place.ts'
import { makePlace, onlyLoop, type Running, until } from './ralph.ts'
import { runLoop } from './served.ts'

const browser = await installBrowser()

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

type Window = {
  axe: { run(what: object, how: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
  document: { documentElement: { scrollWidth: number } }
  innerWidth: number
}

/** Runs in the page. */
function isLoaded(): boolean {
  const { document } = globalThis as unknown as { document: { querySelector(what: string): object | null } }
  return document.querySelector('h1') !== null && document.querySelector('.loading') === null
}

async function violationsOn(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  return page.evaluate(async (rules) => {
    const { axe, document, innerWidth } = globalThis as unknown as Window // there, it is a window
    const { violations } = await axe.run(document, { runOnly: rules })
    const sideways = document.documentElement.scrollWidth > innerWidth ? ['scrolls sideways'] : []
    return [...violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`), ...sideways]
  }, RULES)
}

type Look = readonly [name: string, path: () => string, key?: string | undefined]

/** Violations, by the name of the view. `key` opens a dialog there. */
async function violationsIn(tabs: Tabs, screens: readonly Look[]): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const [name, path, key] of screens) {
    const page = await tabs.open(path())
    await page.waitForFunction(isLoaded)
    if (key) {
      await page.keyboard.press(key)
      await page.locator('dialog[open]').waitFor()
    }
    await page.waitForFunction(isLoaded)
    const violations = await violationsOn(page)
    if (violations.length > 0) found[name] = violations
    await page.close()
  }
  return found
}

/** Each run has its own browser: one that has shown a hundred pages is worn out. */
async function openEyes(eyes: Eyes): Promise<Tabs> {
  const running: Browser = await ('launch' in browser ? browser.launch() : Promise.reject(new Error(browser.missing)))
  onTestFinished(() => running.close())
  return openTabs(running, eyes)
}

const LOOKS = [
  ['light', {}],
  ['dark', { dark: true }],
  ['phone', { phone: true }],
] as const

const missing = 'missing' in browser ? browser.missing : await postgresMissing()

describe.skipIf(missing !== undefined)(`the fleet${missing === undefined ? '' : ` (${missing})`}`, () => {
  test.each(LOOKS)('in %s', async (_, eyes) => {
    if (!('launch' in browser)) throw new Error(browser.missing)
    const place = await openFleetPlace(browser.launch, eyes)
    const look = (name: string, path: string, key?: string): Look => [name, () => place.at(path), key]
    const parts = ['', '/workers', '/budgets'].map((part) => look(`fleet${part}`, `/fleet${part}`))
    expect(await violationsIn(place.tabs, parts)).toEqual({})
    await fillFleet(place)
    const screens = [
      ...parts,
      look('no match', '/fleet?text=nothing+is+called+this'),
      look('one state', '/fleet?state=waiting'),
      look('the details of a task', '/fleet', 'd'),
      look('the form of a task', '/fleet', 'n'),
      look('a loop of the fleet', `/loops/${(await place.client.call('get_fleet_task', { task: 'over' })).loop_id}`),
    ]
    expect(await violationsIn(place.tabs, screens)).toEqual({})
    expect(place.tabs.wrong).toEqual([])
  })
})

/** The demo has its own home, with its loops in it, whatever database is named. */
const demoMissing = 'missing' in browser ? browser.missing : isOnPostgres && 'the demo is never in Postgres'

describe.skipIf(demoMissing)(`the demo in Chromium${demoMissing ? ` (${demoMissing})` : ''}`, () => {
  const loops = new Map<string, string>()
  let running: Running
  let address = (_path: string) => ''

  beforeAll(async () => {
    const place = makePlace({ git: false })
    running = place.start(['demo', '--serve', '--port', '0'])
    const [, url = '', token = ''] = await until(
      'the address',
      () => /(http:\/\/127\.0\.0\.1:\d+\/)#t=(\S+)/.exec(running.stdout()),
      120_000,
    )
    address = (path) => `${new URL(path, url)}#t=${token}`
    for (const { id, prompt } of (await createClient({ url, token }).call('list_loops', { limit: 100 })).loops)
      loops.set(prompt.split('\n')[0] ?? '', id)
  })

  afterAll(async () => {
    process.kill(running.pid, 'SIGINT')
    await running.ended
  })

  const loop = (title: string) => `/loops/${loops.get(title)}`
  const SCREENS: readonly Look[] = [
    ['loops', () => '/loops'],
    ['no match', () => '/loops?text=nothing+is+called+this'],
    ['board', () => '/board'],
    ['archive', () => '/board?archived=1'],
    ['needs you', () => '/needs'],
    ['a question', () => `/needs?loop=${loops.get('Renew subscriptions at the end of the month')}`],
    ['tests to allow', () => `/needs?loop=${loops.get('Make the VAT tests pass again')}`],
    ['a loop that asks', () => loop('Renew subscriptions at the end of the month')],
    ...['summary', 'diff', 'transcript', 'prompt', 'proof', 'story'].map(
      (tab): Look => [
        `the ${tab} of a loop`,
        () => `${loop('Fix the totals and discounts of the cart')}?i=2&tab=${tab}&rows=expanded`,
      ],
    ),
    ['a stopped loop', () => loop('Read amounts in every notation')],
    ['a running loop', () => loop('Support 24 more currencies')],
    ['panes', () => '/panes'],
    ['analytics', () => '/analytics'],
    ['agents', () => '/agents'],
    ['settings', () => '/settings'],
    ['nowhere', () => '/there/is/nothing'],
    ['the dialog for a new task', () => '/loops', 'n'],
    ['the keys', () => '/loops', '?'],
    ['the command bar', () => '/loops', 'Control+k'],
  ]

  test.each(LOOKS)('in %s', async (_, eyes) => {
    const screens = SCREENS.map(([name, path, key]): Look => [name, () => address(path()), key])
    expect(await violationsIn(await openEyes(eyes), screens)).toEqual({})
  })
})

describe.skipIf('missing' in browser)(`in Chromium${'missing' in browser ? ` (${browser.missing})` : ''}`, () => {
  test.each([{}, { dark: true }])('reports, with %o', async (eyes) => {
    const place = makePlace()
    const agent = place.script([
      [{ edit: { path: 'a.txt', content: 'one\n' } }, { text: 'One file is there.' }],
      [{ edit: { path: 'done.txt', content: 'two\n' } }, { text: 'Both are there.\n\n<promise>COMPLETE</promise>' }],
    ])
    await runLoop(place, 'Make two files', agent, 'ls done.txt')
    await place.ralph(['show', onlyLoop(place), '-o', 'loop.html'])
    await place.ralph(['stats', '-o', 'stats.html'])
    const tabs = await openEyes(eyes)
    for (const file of ['loop.html', 'stats.html']) {
      const page = await tabs.open(`file://${join(place.dir, file)}`)
      await page.waitForFunction(isLoaded)
      expect(await violationsOn(page)).toEqual([])
    }
    expect(tabs.wrong).toEqual([])
  })
})
