/** What users do on the page, in a real browser against a real server: from a new task to a report. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Eyes, installBrowser, type Launch, type Page } from './browser.ts'
import { askingStory, type BoardPlace, bendingStory, fixingStory, openBoardPlace, type Story } from './page-place.ts'
import { until } from './ralph.ts'

const browser = await installBrowser()
const launch: Launch = 'launch' in browser ? browser.launch : () => Promise.reject(new Error(browser.missing))

/** Starts a task the way programs do, while the user does something else. */
async function begin({ client }: BoardPlace, title: string, { dir, agent, check }: Story): Promise<string> {
  const { id } = await client.call('create_task', { title, repo: dir, agent, checks: [check] })
  return (await client.call('start_loop', { task_id: id })).loop
}

async function createTask(page: Page, story: Story): Promise<void> {
  await page.getByRole('button', { name: 'New task' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New task' })
  await dialog.getByLabel('Task', { exact: true }).fill('Fix the sum')
  await dialog.getByLabel('What done means').fill('Adding two numbers adds them.')
  await dialog.getByLabel('Folder').fill(story.dir)
  await dialog.getByLabel('Agent').first().selectOption({ label: 'Another program …' })
  await dialog.getByLabel('Program and arguments').fill(story.agent)
  expect(await dialog.getByRole('switch', { name: 'Loop until proven' }).isChecked()).toBe(true)
  expect(await dialog.textContent()).toMatch(/5–10.*15–20/)
  await dialog.getByLabel('Max iterations').fill('5')
  await dialog.getByLabel(/^Checks:/).fill(story.check)
  await dialog.getByRole('button', { name: 'Try the checks now' }).click()
  await dialog.getByText(/passing it proves the work/).waitFor()
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

/** The toggle is also there when a task is edited, and keeps its value. */
async function editTask({ page, client, at }: BoardPlace): Promise<void> {
  const task = async () => (await client.call('list_tasks', { text: 'Fix the sum' })).tasks[0]
  expect(await task()).toMatchObject({ use_ralph_wiggum: true, ralph_max_iterations: 5 })
  await page.goto(at(`/tasks/${(await task())?.id}`))
  const dialog = page.getByRole('dialog', { name: 'Edit task' })
  const toggle = dialog.getByRole('switch', { name: 'Loop until proven' })
  for (const isOn of [false, true]) {
    await page.getByRole('button', { name: 'Edit' }).click()
    await toggle.setChecked(isOn)
    if (isOn) await dialog.getByLabel('Max iterations').fill('6')
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await task()).toMatchObject({ use_ralph_wiggum: isOn })
  }
  expect(await task()).toMatchObject({ ralph_max_iterations: 6 })
}

/** The loop is watched: its first iteration ends, its diff gets a comment, and the third one receives it. */
async function watchToVerified({ page }: BoardPlace, story: Story): Promise<string> {
  await page.getByRole('button', { name: 'Start' }).first().click()
  await page.waitForURL(/\/loops\/\w+/)
  const id = new URL(page.url()).pathname.split('/')[2] ?? ''
  await page.getByRole('button', { name: /Running/ }).waitFor()
  await page.getByRole('button', { name: /The product is gone/ }).click()
  await page.getByRole('tab', { name: /^Diff/ }).click()
  await page.getByText('return a - b').waitFor()
  await page.getByRole('button', { name: 'Comment on line 2 of sum.mjs', exact: true }).click()
  await page.getByRole('textbox', { name: 'Comment on line 2 of sum.mjs' }).fill('Use a plus here, please.')
  await page.getByRole('button', { name: 'Comment', exact: true }).click()
  await page.getByText(/^◷ Sent\./).waitFor()
  story.go()
  await page.getByText('Delivered').waitFor()
  expect(story.prompt(3)).toContain('Use a plus here, please.')
  await page.getByText('failed before the loop began and passes now').first().waitFor()
  await page.locator('.loop-head .badge', { hasText: 'Verified' }).waitFor()
  return id
}

/** Each check before and after, what the grade is based on, what was said and asked. */
async function lookAround(page: Page): Promise<void> {
  await page.getByRole('button', { name: /The sum is right now/ }).click()
  const matrix = page.getByRole('group', { name: /Checks by iteration/ })
  await matrix.getByText('passes').waitFor({ state: 'attached' })
  expect(await matrix.getByRole('row').nth(1).textContent()).toMatch(/node --test.*fails.*passes/s)
  await page.getByRole('tab', { name: 'Proof' }).click()
  await page.getByRole('columnheader', { name: 'Before' }).waitFor()
  await page.getByRole('tab', { name: 'Transcript' }).click()
  await page.getByText('The sum is right now.').last().waitFor()
  await page.getByRole('tab', { name: 'Prompt' }).click()
  await page.getByText('What changed since iteration 2').waitFor()
  await page.getByRole('tab', { name: 'Story' }).click()
  await page.getByText('Now:').waitFor()
}

async function answerAndAllow({ page, client, at }: BoardPlace, asking: string, bending: string): Promise<void> {
  const statusOf = async (loop: string) => (await client.call('get_loop', { loop, brief: true })).standing.kind
  await page.goto(at(`/needs?loop=${asking}`))
  await page.getByText('Should the sum round up or down?').first().waitFor()
  await page.waitForFunction(() =>
    /^\(\d+\)/.test((globalThis as unknown as { document: { title: string } }).document.title),
  )
  await page.getByLabel('Your answer').fill('Round down.')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await until('the answer to arrive', async () => (await statusOf(asking)) === 'verified')
  await until('tests to allow', async () => (await statusOf(bending)) === 'asks')
  await page.goto(at(`/needs?loop=${bending}`))
  await page.getByText('sum.test.mjs').first().waitFor()
  await page.getByRole('button', { name: 'Allow', exact: true }).click()
  await until('the tests are allowed', async () => (await statusOf(bending)) === 'kept')
}

async function rollBackAndUndo({ page, at }: BoardPlace, id: string, story: Story): Promise<void> {
  const file = () => readFileSync(join(story.dir, 'sum.mjs'), 'utf8')
  await page.goto(at(`/loops/${id}?i=1`))
  await page.getByRole('button', { name: 'Roll back to here …' }).click()
  await page.getByRole('dialog', { name: 'Roll back?' }).getByRole('button', { name: 'Roll back', exact: true }).click()
  await until('the files of iteration 1', () => file().includes('a - b'))
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await until('the files of the end', () => file().includes('a + b'))
}

async function readReport({ place, page, tabs }: BoardPlace, id: string): Promise<void> {
  expect((await place.ralph(['show', id, '-o', join(place.root, 'report.html')])).code).toBe(0)
  await page.goto('about:blank')
  await tabs.context.setOffline(true)
  await page.goto(`file://${join(place.root, 'report.html')}`)
  await page.getByRole('heading', { name: 'Fix the sum' }).waitFor()
  await page.getByRole('button', { name: /The product is gone/ }).click()
  await page.getByRole('tab', { name: /^Diff/ }).click()
  await page.getByText('return a - b').waitFor()
  await page.getByText('Use a plus here, please.').waitFor()
}

describe.skipIf('missing' in browser)(`in Chromium${'missing' in browser ? ` (${browser.missing})` : ''}`, () => {
  test.each<[how: string, eyes: Eyes]>([
    ['in light', {}],
    ['in dark', { dark: true }],
    ['on a phone', { phone: true }],
  ])('a task goes from the dialog to a report, %s', async (_, eyes) => {
    const board = await openBoardPlace(launch, eyes)
    const { place, page, tabs } = board
    const [asking, bending] = [askingStory(place), bendingStory(place)]
    const loops = [
      await begin(board, 'Round the sum', asking),
      await begin(board, 'Make the tests pass', bending),
    ] as const
    const story = fixingStory(place)
    await createTask(page, story)
    await editTask(board)
    const id = await watchToVerified(board, story)
    await lookAround(page)
    await answerAndAllow(board, ...loops)
    expect(asking.prompt(2)).toContain('Round down.')
    await rollBackAndUndo(board, id, story)
    await page.goto(board.at('/analytics'))
    await page.getByRole('heading', { name: 'Analytics' }).waitFor()
    await page.getByText('Verified', { exact: false }).first().waitFor()
    await readReport(board, id)
    expect(tabs.wrong).toEqual([])
  })
})
