/**
 * Whatever agents, checks, files and people write stays text in every view: it runs nothing, moves nothing and fits.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Browser, installBrowser, type Launch, openTabs, type Page } from './browser.ts'
import { type Nasty, SCRIPT, serveNasty } from './nasty.ts'
import { makePlace, until } from './ralph.ts'

const browser = await installBrowser()
const launch: Launch = 'launch' in browser ? browser.launch : () => Promise.reject(new Error(browser.missing))

const SCREENS: readonly [name: string, path: (nasty: Nasty) => string][] = [
  ['the list', () => '/loops'],
  ['the board', () => '/board'],
  ['what needs you', ({ asks }) => `/needs?loop=${asks}`],
  ['a task', ({ task }) => `/tasks/${task}`],
  ['analytics', () => '/analytics'],
  ...['summary', 'diff', 'transcript', 'prompt', 'proof', 'story'].map((tab): [string, (nasty: Nasty) => string] => [
    `a loop that asks, ${tab}`,
    ({ asks }) => `/loops/${asks}?tab=${tab}&i=1&rows=expanded`,
  ]),
  ['a raw transcript', ({ done }) => `/loops/${done}?tab=transcript&i=1&raw=1`],
  ['a loop that is done', ({ done }) => `/loops/${done}?tab=proof`],
  ['settings', () => '/settings'],
]

describe.skipIf('missing' in browser)(`in Chromium${'missing' in browser ? ` (${browser.missing})` : ''}`, () => {
  let running: Browser
  let nasty: Nasty

  beforeAll(async () => {
    nasty = await serveNasty(makePlace({ git: false }))
    running = await launch()
  })
  afterAll(() => running?.close())

  describe.each([
    ['1320 pixels wide', false],
    ['390 pixels wide', true],
  ])('%s', (_, phone) => {
    test.each(SCREENS)('%s shows it as text', async (_, path) => {
      const { open, wrong } = await openTabs(running, { phone })
      const page = await open(nasty.server.at(path(nasty)))
      await expectText(page, wrong)
    })

    test("a task's dialog shows it as text", async () => {
      const { open, wrong } = await openTabs(running, { phone })
      const page = await open(nasty.server.at(`/tasks/${nasty.task}`))
      await page.getByRole('button', { name: 'Edit' }).click()
      await page.getByRole('dialog').getByLabel('Task', { exact: true }).waitFor()
      for (const more of await page.getByRole('dialog').locator('summary').all()) await more.click()
      await expectText(page, wrong)
    })

    test('the command bar shows it as text', async () => {
      const { open, wrong } = await openTabs(running, { phone })
      const page = await open(nasty.server.at('/loops'))
      await page.locator('.loop-row:not(.head)').first().waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('combobox').fill('script')
      await page.getByRole('option').filter({ hasText: SCRIPT }).first().waitFor()
      await expectText(page, wrong)
    })
  })

  test("the policy allows only the server's scripts", async () => {
    const answer = await fetch(nasty.server.url)
    const policy = answer.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("script-src 'self';")
    expect(policy).not.toContain('unsafe')
    const { open, wrong } = await openTabs(running)
    const page = await open(nasty.server.at('/loops'))
    expect(await page.evaluate(inject)).toBeNull()
    expect(wrong.length).toBeGreaterThan(2)
    expect(wrong.filter((text) => !/Content Security Policy|Trusted/.test(text))).toEqual([])
  })
})

async function expectText(page: Page, wrong: readonly string[]): Promise<void> {
  const { text, hit, wide, odd } = await settled(page)
  expect({ hit, wide, odd, wrong }).toEqual({ hit: null, wide: [], odd: [], wrong: [] })
  expect(text).toContain(SCRIPT)
  await page.context().close()
}

/** Once it has been the same for a while. */
async function settled(page: Page): Promise<Seen> {
  let before = ''
  return until('the page to settle', async () => {
    const now = await page.evaluate(look)
    const isSame = now.text === before && !now.loading
    before = now.text
    await page.waitForTimeout(150)
    return isSame && now
  })
}

/** Runs in the page: tries to run a script there, as text that was mistaken for markup would. */
async function inject(): Promise<unknown> {
  type Made = Record<string, unknown> & { setAttribute(name: string, value: string): void; click(): void }
  const page = globalThis as unknown as {
    hit?: unknown
    document: { createElement(name: string): Made; body: { append(element: Made): void; insertAdjacentHTML: Insert } }
    setTimeout(work: unknown, ms?: number): void
  }
  type Insert = (where: string, text: string) => void
  const attempt = (work: () => void) => {
    try {
      work()
    } catch {
      // refused at once
    }
  }
  const { document } = page
  const make = (name: string, attributes: Record<string, string>) => {
    const element = document.createElement(name)
    document.body.append(element)
    for (const [key, value] of Object.entries(attributes)) attempt(() => element.setAttribute(key, value))
    return element
  }
  attempt(() => document.body.append(Object.assign(document.createElement('script'), { textContent: 'hit = 1' })))
  attempt(() => document.body.insertAdjacentHTML('beforeend', '<img src="/none.png" onerror="hit = 2">'))
  make('img', { onerror: 'hit = 3', src: '/icon.svg?none' })
  make('button', { onclick: 'hit = 4' }).click()
  make('a', { href: 'javascript:hit = 5' }).click()
  make('script', { src: 'https://example.org/x.js' })
  attempt(() => page.setTimeout('hit = 6'))
  await new Promise((done) => page.setTimeout(done, 300))
  return page.hit ?? null
}

type Seen = { text: string; loading: boolean; hit: unknown; wide: string[]; odd: string[] }

type Box = { right: number; width: number }
type Element = {
  tagName: string
  className: unknown
  parentElement: Element | null
  scrollWidth: number
  getBoundingClientRect(): Box
}
type Shown = {
  hit?: unknown
  innerWidth: number
  getComputedStyle(element: Element): { overflowX: string; position: string }
  document: {
    body: Element & { textContent: string }
    scrollingElement: Element
    querySelector(what: string): unknown
    querySelectorAll(what: string): Iterable<Element>
    createTreeWalker(root: unknown, what: number): { nextNode(): { nodeValue: string } | null }
  }
}

/** Runs in the page: what it shows, what is wider than it, and unreadable characters. */
function look(): Seen {
  const { document, innerWidth, getComputedStyle, hit = null } = globalThis as unknown as Shown // there, it is a window
  const odd: string[] = []
  const texts = document.createTreeWalker(document.body, 4)
  for (let node = texts.nextNode(); node; node = texts.nextNode())
    if (/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u.test(node.nodeValue.replace(/[\n\t]/g, '')))
      odd.push(JSON.stringify(node.nodeValue.slice(0, 200)))
  const isCut = (element: Element | null): boolean =>
    element !== null && (getComputedStyle(element).overflowX !== 'visible' || isCut(element.parentElement))
  const isWide = document.scrollingElement.scrollWidth > innerWidth
  const wide = [...(isWide ? document.querySelectorAll('body *') : [])].flatMap((element) =>
    element.getBoundingClientRect().right > innerWidth + 1 && !isCut(element.parentElement)
      ? [`${element.tagName}.${element.className} ${Math.round(element.getBoundingClientRect().right)}`]
      : [],
  )
  return {
    text: document.body.textContent,
    loading: document.querySelector('.loading') !== null,
    hit,
    wide: isWide ? [`page ${document.scrollingElement.scrollWidth}`, ...wide.slice(0, 8)] : [],
    odd: odd.slice(0, 5),
  }
}
