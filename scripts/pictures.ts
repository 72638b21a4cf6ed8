/**
 * Takes the pictures in docs/ from the real thing: `ralph demo` in a terminal, and every screen of the demo's board and of a fleet.
 * `npm run pictures`; `npm run pictures -- terminal`, `-- demo` or `-- fleet` for some of them.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createClient } from '../src/fronts/server/client.ts'
import { type Browser, type Eyes, installBrowser, openTabs, type Page } from '../test/browser.ts'
import { openFleetDemo } from './fleet-demo.ts'
import { smallerPng } from './smaller-png.ts'
import { terminalPicture } from './terminal-picture.ts'

const OUT = 'docs/screens'

/** `loop`: the title of the loop on it. `keys`: pressed before the picture is taken. `main`: also taken in dark and on a phone. */
type Shot = { name: string; path: string; loop?: string; keys?: string; main?: true; whole?: true }

const CART = 'Fix the totals and discounts of the cart'

const SHOTS: readonly Shot[] = [
  { name: 'loops', path: '/loops', main: true },
  { name: 'board', path: '/board', main: true },
  { name: 'needs', path: '/needs?loop=', loop: 'Renew subscriptions at the end of the month', main: true },
  { name: 'loop', path: '/loops/', loop: 'Support 24 more currencies', main: true },
  { name: 'loop-summary', path: '/loops/?i=2', loop: CART },
  { name: 'loop-diff', path: '/loops/?tab=diff', loop: 'Add CSV export' },
  { name: 'loop-transcript', path: '/loops/?i=3&tab=transcript', loop: CART },
  { name: 'loop-prompt', path: '/loops/?i=2&tab=prompt', loop: CART },
  { name: 'loop-proof', path: '/loops/?tab=proof', loop: 'Make the VAT tests pass again' },
  { name: 'loop-story', path: '/loops/?tab=story', loop: CART },
  { name: 'create', path: '/board', keys: 'n', main: true },
  { name: 'panes', path: '/panes' },
  { name: 'analytics', path: '/analytics', main: true, whole: true },
  { name: 'agents', path: '/agents' },
  { name: 'settings', path: '/settings' },
  { name: 'command-bar', path: '/loops', keys: 'Control+k' },
  { name: 'keys', path: '/loops', keys: '?' },
]

const FLEET_SHOTS: readonly Shot[] = [
  { name: 'fleet', path: '/fleet', main: true },
  { name: 'fleet-workers', path: '/fleet/workers' },
  { name: 'fleet-budgets', path: '/fleet/budgets' },
]

const LOOKS: readonly [name: string, eyes: Eyes][] = [
  ['light', {}],
  ['dark', { dark: true }],
  ['phone', { phone: true }],
]

const PARTS = ['terminal', 'demo', 'fleet']
const [only] = process.argv.slice(2)
if (only && !PARTS.includes(only)) throw new Error(`No such pictures: "${only}". There are ${PARTS.join(', ')}.`)
const found = only === 'terminal' ? { missing: 'not needed' } : await installBrowser()
if ('missing' in found && only !== 'terminal') throw new Error(found.missing)
mkdirSync(OUT, { recursive: true })
const folder = mkdtempSync(join(tmpdir(), 'ralph-'))
const env = { ...process.env, TMPDIR: folder, RALPH_HOME: join(folder, 'home') }
const wants = (part: string) => !only || only === part
try {
  if (wants('terminal')) terminalPicture('docs/demo.svg', { folder })
  if (wants('demo')) await demoScreens()
  if (wants('fleet')) await fleetScreens()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function demoScreens(): Promise<void> {
  const demo = spawn(process.execPath, ['bin/ralph.cjs', 'demo', '--serve', '--port', '0'], { env, stdio: 'pipe' })
  try {
    const { url, token } = await addressOf(demo.stdout)
    const ids = await loopIds(url, token)
    const address = ({ path, loop = '' }: Shot) => {
      const id = ids.get(loop) ?? ''
      const filled = path.endsWith('=') ? path + id : path.replace('/loops/', `/loops/${id}`)
      return `${new URL(filled, url)}#t=${token}`
    }
    await enough(url, token, ids.get('Support 24 more currencies') ?? '')
    await takeAll(SHOTS, address)
    await report(ids.get(CART) ?? '')
  } finally {
    demo.kill('SIGINT')
    await once(demo, 'exit')
  }
}

async function fleetScreens(): Promise<void> {
  const { url, token, close } = await openFleetDemo(folder)
  try {
    await takeAll(FLEET_SHOTS, ({ path }) => `${new URL(path, url)}#t=${token}`)
  } finally {
    await close()
  }
}

async function takeAll(shots: readonly Shot[], address: (shot: Shot) => string): Promise<void> {
  for (const [look, eyes] of LOOKS)
    for (const shot of shots.filter(({ main }) => look === 'light' || main))
      await picture(eyes, address(shot), shot, join(OUT, `${shot.name}-${look}.png`))
}

async function addressOf(output: AsyncIterable<unknown>): Promise<{ url: string; token: string }> {
  let printed = ''
  for await (const text of output) {
    printed += String(text)
    const [, url, token] = /(http:\/\/127\.0\.0\.1:\d+\/)#t=(\S+)/.exec(printed) ?? []
    if (url && token) return { url, token }
  }
  throw new Error(`The demo stopped:\n${printed}`)
}

async function loopIds(url: string, token: string): Promise<Map<string, string>> {
  const { loops } = await createClient({ url, token }).call('list_loops', { limit: 100 })
  return new Map(loops.map(({ id, prompt }) => [prompt.split('\n')[0] ?? '', id]))
}

/** Waits until the running loop has something to show. */
async function enough(url: string, token: string, loop: string): Promise<void> {
  const client = createClient({ url, token })
  for (let after = 0; ; ) {
    const { loop: now } = await client.call('get_loop', { loop, brief: true })
    if (now.tally.iteration >= 5 || now.next.kind === 'complete') return
    after = (await client.call('wait_loop', { loop, after, seconds: 25 })).seq
  }
}

async function picture(eyes: Eyes, address: string, { keys, whole }: Shot, file: string): Promise<void> {
  await withPage(eyes, address, async (page) => {
    if (keys) {
      await page.keyboard.press(keys)
      await page.locator('dialog[open]').waitFor()
      await page.waitForFunction(isReady)
    }
    await save(page, file, whole)
  })
}

async function report(loop: string): Promise<void> {
  const file = join(folder, 'report.html')
  const home = execFileSync('find', [folder, '-name', 'ralph.db'], { encoding: 'utf8' })
    .trim()
    .replace(/\/ralph\.db$/, '')
  execFileSync(process.execPath, ['bin/ralph.cjs', 'show', loop, '-o', file], { env: { ...env, RALPH_HOME: home } })
  for (const [look, eyes] of [
    ['light', {}],
    ['dark', { dark: true }],
  ] as const)
    await withPage(eyes, `file://${file}`, (page) => save(page, join(OUT, `report-${look}.png`)))
}

/** `whole`: with a window as high as the page. */
async function save(page: Page, file: string, whole = false): Promise<void> {
  const { width = 0, height = 0 } = page.viewportSize() ?? {}
  if (whole) await page.setViewportSize({ width, height: Math.max(height, await page.evaluate(heightOfPage)) })
  await page.waitForFunction(isReady)
  await page.evaluate(renamePlaces, {
    [process.execPath]: 'node',
    [folder]: '/home/me',
    [resolve('.')]: '/usr/lib/ralph',
  })
  writeFileSync(file, smallerPng(await page.screenshot()))
}

/** Runs in the page. */
function heightOfPage(): number {
  const { document } = globalThis as unknown as { document: { scrollingElement: { scrollHeight: number } } }
  return document.scrollingElement.scrollHeight
}

/** Runs in the page: no picture shows where it was taken. */
function renamePlaces(places: Readonly<Record<string, string>>): void {
  type Field = { placeholder: string }
  const { document } = globalThis as unknown as {
    document: {
      body: object
      createTreeWalker(root: object, what: number): { nextNode(): { nodeValue: string } | null }
      querySelectorAll(what: string): Iterable<Field>
    }
  }
  const rename = (text: string) =>
    Object.entries(places)
      .reduce((now, [from, to]) => now.replaceAll(from, to), text)
      .replaceAll(/ralph-demo-\w+/g, 'demo')
      .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:4444')
  const texts = document.createTreeWalker(document.body, 4)
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const renamed = rename(node.nodeValue)
    if (renamed !== node.nodeValue) node.nodeValue = renamed
  }
  for (const field of document.querySelectorAll('[placeholder]')) field.placeholder = rename(field.placeholder)
}

/** One browser per picture: what one page leaves behind must not show in the next. */
async function withPage(eyes: Eyes, address: string, work: (page: Page) => Promise<unknown>): Promise<void> {
  const browser: Browser = await ('launch' in found ? found.launch() : Promise.reject(found.missing))
  try {
    const page = await (await openTabs(browser, eyes)).open(address)
    // An answer can lead to the next request.
    for (let looks = 0; looks < 3; looks += 1) {
      await page.waitForFunction(isReady)
      await page.waitForTimeout(200)
    }
    await work(page)
  } finally {
    await browser.close()
  }
}

/** Runs in the page: every request has been answered. */
function isReady(): boolean {
  type Found = { textContent: string }
  const { document } = globalThis as unknown as {
    document: { querySelector(what: string): Found | null; querySelectorAll(what: string): Iterable<Found> }
  }
  const isWaiting = [...document.querySelectorAll('small')].some(({ textContent }) => textContent === '…')
  return document.querySelector('h1') !== null && document.querySelector('.loading') === null && !isWaiting
}
