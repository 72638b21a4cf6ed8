/** The whole workflow without a mouse: every step is a key. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { installBrowser, type Launch, type Page } from './browser.ts'
import { askingStory, bendingStory, fixingStory, openBoardPlace } from './page-place.ts'
import { until } from './ralph.ts'

const browser = await installBrowser()
const launch: Launch = 'launch' in browser ? browser.launch : () => Promise.reject(new Error(browser.missing))

type Focused = { document: { activeElement: { matches(what: string): boolean } | null } }

const MOST_TABS = 120

/** Presses Tab until the matching element has the focus. */
async function tabTo(page: Page, what: string): Promise<void> {
  for (let presses = 0; presses < MOST_TABS; presses += 1) {
    const isThere = await page.evaluate((selector) => {
      const { document } = globalThis as unknown as Focused // there, it is a window
      return document.activeElement?.matches(selector) ?? false
    }, what)
    if (isThere) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`pressing Tab ${MOST_TABS} times does not reach ${what}`)
}

async function type(page: Page, field: string, text: string): Promise<void> {
  await tabTo(page, field)
  await page.keyboard.press('Control+A')
  await page.keyboard.type(text)
}

async function keys(page: Page, ...pressed: string[]): Promise<void> {
  for (const key of pressed) await page.keyboard.press(key)
}

describe.skipIf('missing' in browser)(`in Chromium${'missing' in browser ? ` (${browser.missing})` : ''}`, () => {
  test('everything can be done with the keyboard', async () => {
    const board = await openBoardPlace(launch)
    const { place, page, client, tabs } = board
    const story = fixingStory(place)
    await page.getByRole('heading', { name: 'Loops', exact: true }).waitFor()

    // A new task, with its toggle off and on again.
    await keys(page, 'n')
    await type(page, '#task-title', 'Fix the sum')
    await type(page, '#task-repo', story.dir)
    await tabTo(page, '#task-agent')
    await page.keyboard.press('End')
    await type(page, 'input[aria-label="Program and arguments"]', story.agent)
    await tabTo(page, '#task-use_ralph_wiggum')
    await keys(page, 'Space', 'Space')
    await type(page, '#task-ralph_max_iterations', '6')
    await type(page, '#task-checks', story.check)
    await keys(page, 'Control+Enter')
    const task = await until('the task', async () => (await client.call('list_tasks', {})).tasks[0])
    expect(task).toMatchObject({ use_ralph_wiggum: true, ralph_max_iterations: 6, checks: [story.check] })

    // Edit and start it on the board.
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await keys(page, 'g', 'b')
    await page.getByRole('heading', { name: 'Board', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Fix the sum' }).waitFor()
    await keys(page, 'j', 'e')
    await type(page, '#task-title', 'Fix the sum of two numbers')
    await keys(page, 'Control+Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Fix the sum of two numbers' }).waitFor()
    await keys(page, 'j', 's')
    await until('the loop', async () => (await client.call('list_loops', {})).loops.length === 1)

    // Open it from the list and watch it; comment on a line of its diff.
    await keys(page, 'g', 'l')
    await page.getByRole('link', { name: 'Fix the sum of two numbers' }).waitFor()
    await keys(page, 'Enter')
    await page.getByRole('button', { name: /Running/ }).waitFor()
    await page.getByRole('button', { name: /The product is gone/ }).waitFor()
    await keys(page, '2')
    await page.getByText('return a - b').waitFor()
    await tabTo(page, 'button[aria-label="Comment on line 2 of sum.mjs"]')
    await keys(page, 'Enter')
    await page.keyboard.type('Use a plus here, please.')
    await keys(page, 'Control+Enter')
    await page.getByText(/^◷ Sent\./).waitFor()
    story.go()
    await page.getByText('Delivered').waitFor()
    await page.locator('.loop-head .badge', { hasText: 'Verified' }).waitFor()
    for (const key of ['1', '3', '4', '5', '6', 'j', 'k']) await keys(page, key)

    // Roll its files back and forth.
    const file = () => readFileSync(join(story.dir, 'sum.mjs'), 'utf8')
    await keys(page, 'j', 'j')
    await page.getByRole('heading', { name: 'Iteration 1' }).waitFor()
    await tabTo(page, '.iteration header .button:nth-of-type(2)')
    await keys(page, 'Enter')
    await page.getByRole('dialog', { name: 'Roll back?' }).waitFor()
    await tabTo(page, 'dialog .button.danger')
    await keys(page, 'Enter')
    await until('the files of iteration 1', () => file().includes('a - b'))
    await tabTo(page, 'details.menu > summary')
    await keys(page, 'Enter')
    await tabTo(page, '.menu-list .button:last-child')
    await keys(page, 'Enter')
    await until('the files of the end', () => file().includes('a + b'))

    // Answer a question, allow changed tests.
    const asking = askingStory(place)
    const bending = bendingStory(place)
    const asked = await client.call('start_loop', {
      prompt: 'Round the sum',
      dir: asking.dir,
      agent: asking.agent,
      checks: [asking.check],
    })
    await page.getByRole('link', { name: 'Needs you' }).getByText('1').waitFor()
    await keys(page, 'g', 'n')
    await page.getByRole('button', { name: /Round the sum/ }).waitFor()
    await keys(page, 'j', 'Enter')
    await type(page, '.answer textarea', 'Round down.')
    await keys(page, 'Control+Enter')
    const standingOf = async (loop: string) => (await client.call('get_loop', { loop, brief: true })).standing.kind
    await until('the answer to arrive', async () => (await standingOf(asked.loop)) === 'verified')
    expect(asking.prompt(2)).toContain('Round down.')
    const bent = await client.call('start_loop', {
      prompt: 'Make the tests pass',
      dir: bending.dir,
      agent: bending.agent,
      checks: [bending.check],
    })
    await page.getByRole('button', { name: /Make the tests pass/ }).waitFor()
    await keys(page, 'Escape')
    await tabTo(page, `.need-head[data-loop="${bent.loop}"]`)
    await keys(page, 'Enter')
    await tabTo(page, '.allow .button.primary')
    await keys(page, 'Enter')
    await until('the tests are allowed', async () => (await standingOf(bent.loop)) === 'kept')

    // All other views, and the help.
    for (const [key, heading] of [
      ['a', 'Analytics'],
      ['e', 'Agents'],
      ['p', 'Panes'],
      ['s', 'Settings'],
    ] as const) {
      await keys(page, 'Escape', 'g', key)
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    }
    await keys(page, '?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await keys(page, 'Escape', 'Control+k')
    await page.keyboard.type('two numbers')
    await page
      .getByRole('option', { name: /two numbers/ })
      .first()
      .waitFor()
    await keys(page, 'Enter')
    await page.waitForURL(/\/loops\/\w+/)
    // Without a dispatcher there are no panes, and there is no forecast for a half-typed folder: the server says so.
    expect(tabs.wrong.filter((text) => !/api\/(panes|forecast)/.test(text))).toEqual([])
  })
})
