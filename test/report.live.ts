/** A report in a real browser, opened from the disk: it shows the loop, runs nothing else and loads nothing. */
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { installBrowser, type Launch, type Page } from './browser.ts'
import { makePlace, onlyLoop, type Place, until } from './ralph.ts'
import { runLoop } from './served.ts'

const browser = await installBrowser()
const launch: Launch = 'launch' in browser ? browser.launch : () => Promise.reject(new Error(browser.missing))

const CLAIM = '<promise>COMPLETE</promise>'

async function provenPlace(): Promise<Place> {
  const place = makePlace()
  const said =
    '<img src="https://example.org/x.png" onerror="document.title = 1"></template><script>document.title = 2</script>'
  const agent = place.script([
    [{ edit: { path: 'a.txt', content: 'one\n' } }, { text: `${said} ${CLAIM}` }],
    [{ edit: { path: 'done.txt', content: 'The second file.\n' } }, { text: CLAIM }],
  ])
  await runLoop(place, 'Make it <b>pass</b>', agent, 'ls done.txt')
  return place
}

async function openFile(path: string): Promise<Page> {
  const running = await launch()
  onTestFinished(() => running.close())
  const page = await running.newPage()
  await page.goto(`file://${path}`)
  return page
}

/** The parts of the page that the test uses in the browser. */
type Shown = {
  document: {
    title: string
    querySelector(what: string): { textContent: string } | null
    querySelectorAll(what: string): { length: number }
  }
}

const look = (page: Page) =>
  page.evaluate(() => {
    const { document } = globalThis as unknown as Shown // there, it is a window
    return {
      title: document.title,
      text: document.querySelector('#app')?.textContent ?? '',
      bold: document.querySelectorAll('b').length,
      loaded: performance.getEntriesByType('resource').map(({ name }) => name),
    }
  }, undefined)

describe.skipIf('missing' in browser)(`in Chromium${'missing' in browser ? ` (${browser.missing})` : ''}`, () => {
  test('a loop is shown from its file, and what its agent wrote stays text', async () => {
    const place = await provenPlace()
    expect((await place.ralph(['show', onlyLoop(place), '-o', 'report.html', '--redact'])).code).toBe(0)
    const page = await openFile(join(place.dir, 'report.html'))
    const seen = await until('the loop', async () => {
      const shown = await look(page)
      return shown.text.includes('onerror=') && shown.text.includes('failed before the loop began') && shown
    })
    expect(seen).toMatchObject({ title: expect.stringContaining('Make it <b>pass</b>'), loaded: [], bold: 0 })
  })

  test('statistics are shown from their file', async () => {
    const place = await provenPlace()
    expect((await place.ralph(['stats', '-o', 'stats.html', '--since', '7d'])).code).toBe(0)
    const page = await openFile(join(place.dir, 'stats.html'))
    const seen = await until('the numbers', async () => {
      const shown = await look(page)
      return shown.text.includes('1 of 1') && shown
    })
    expect(seen).toMatchObject({ title: expect.stringContaining('ralph'), loaded: [] })
  })
})
