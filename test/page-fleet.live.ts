/** The fleet on the page, in a real browser: a server on a real Postgres, and workers that take its tasks. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../src/host/place.test-support.ts'
import { isOnPostgres, postgresMissing } from '../src/host/postgres/postgres.test-support.ts'
import { installBrowser, type Launch, type Page } from './browser.ts'
import { fillFleet, openFleetPlace } from './fleet-place.ts'
import { openBoardPlace } from './page-place.ts'
import { until } from './ralph.ts'

const browser = await installBrowser()
const launch: Launch = 'launch' in browser ? browser.launch : () => Promise.reject(new Error(browser.missing))
const missing = 'missing' in browser ? browser.missing : await postgresMissing()

const row = (page: Page, title: string) => page.getByRole('article').filter({ hasText: title })

describe.skipIf(missing !== undefined)(`in Chromium${missing === undefined ? '' : ` (${missing})`}`, () => {
  test('a task goes from the form to verified work, and shows on the way why it waits', async () => {
    const { fleet, client, at, tabs } = await openFleetPlace(launch)
    const go = join(temporaryFolder(), 'go')
    const agent = fleet.agent(
      `while ! test -e '${go}'; do sleep 0.05; done\necho done > done.txt\necho '<promise>COMPLETE</promise>'`,
    )
    const page = await tabs.open(at('/loops'))
    await page.getByRole('link', { name: 'Fleet' }).click()
    await page.getByRole('heading', { name: 'No tasks yet' }).waitFor()
    await page.getByText('ralph worker --database').waitFor()

    await page.keyboard.press('n')
    const dialog = page.getByRole('dialog', { name: 'Submit a task' })
    await dialog.getByLabel('What should it do?').fill('Write done.txt')
    await dialog.getByLabel('Repository').fill(await fleet.remote())
    await dialog.getByLabel('Checks that prove it, one per line').fill('test -f done.txt')
    await dialog.getByLabel('Agent').fill(agent)
    await dialog.getByLabel('Labels').fill('linux')
    await dialog.getByLabel('Priority').fill('7')
    await dialog.getByLabel('Submitter').fill('ada')
    await dialog.getByRole('button', { name: 'Submit', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    const task = row(page, 'Write done.txt')
    await task.getByText('No worker is running. Start one with').waitFor()
    expect(await task.textContent()).toMatch(/Ready.*ada.*7/)

    const worker = fleet.worker({ host: 'build-1', labels: ['linux'] })
    await task.getByText(`Running on ${worker.id}.`).waitFor()
    await page.getByRole('link', { name: /^Workers/ }).click()
    const card = page.getByRole('listitem').filter({ hasText: 'build-1' })
    await card.getByText('1 of 2 slots taken').waitFor()
    expect(await card.textContent()).toMatch(/Working.*Labels: linux.*Heartbeat\d+s ago.*Progress\d+s ago/)

    await page.keyboard.press('1')
    await task.getByRole('link', { name: 'Write done.txt' }).click()
    const [{ id = '' } = {}] = (await client.call('list_fleet_tasks', {})).tasks
    await page.getByText(`of the fleet, on worker ${worker.id}, branch ralph/${id}`).waitFor()
    writeFileSync(go, '')
    await page.getByText('Verified', { exact: true }).first().waitFor()
    await page.getByRole('heading', { name: /^Iteration 1/ }).waitFor()
    for (const name of [/^Fork/, /^Roll back/, /^Accept/])
      expect(await page.getByRole('button', { name }).count()).toBe(0)
    await page.getByRole('tab', { name: /^Diff/ }).click()
    await page.getByText('done.txt', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Since the start of the loop' }).click()
    await page.getByRole('button', { name: 'Only this iteration' }).waitFor()
    await page.getByRole('tab', { name: /^Summary/ }).click()

    await page.getByRole('link', { name: id, exact: true }).click()
    const details = page.getByRole('dialog', { name: 'Write done.txt' })
    await details.getByText('Done', { exact: true }).waitFor()
    expect(await details.textContent()).toContain(`ralph/${id} from main`)
    await page.keyboard.press('Escape')
    await details.waitFor({ state: 'detached' })
    expect(tabs.wrong).toEqual([])
  })

  test('of many tasks only those in view are in the page, and the address contains the filters', async () => {
    const { client, at, tabs } = await openFleetPlace(launch)
    await client.call('submit_tasks', {
      tasks: Array.from({ length: 200 }, (_, n) => ({
        id: `task-${n + 1}`,
        prompt: `Do number ${n + 1}`,
        submitter: n % 2 ? 'ada' : 'ben',
        ...(n < 50 ? { project: 'first' } : {}),
        ...(n === 199 ? { depends_on: ['task-1'] } : {}),
      })),
    })
    const page = await tabs.open(at('/fleet'))
    const rows = page.getByRole('article')
    await row(page, 'Do number 200').getByText('Waiting for task-1 to finish.').waitFor()
    expect(await rows.count()).toBeLessThan(40)
    const list = page.getByRole('region', { name: 'Tasks' })
    await until('the oldest task', async () => {
      await list.evaluate((box) => box.scrollTo(0, 1e6))
      return (await page.getByText('Do number 1', { exact: true }).count()) || undefined
    })
    expect(await rows.count()).toBeLessThan(40)

    await page.getByLabel('Search titles').fill('number 17')
    await until('eleven tasks', async () => (await rows.count()) === 11 || undefined)
    await page.getByLabel('Submitter').selectOption('ada')
    await until('those of ada', async () => (await rows.count()) === 5 || undefined)
    await page.getByLabel('Project').selectOption('first')
    await page.getByRole('heading', { name: 'No task matches' }).waitFor()
    expect(new URL(page.url()).search).toBe('?text=number+17&submitter=ada&project=first')
    await page.goBack()
    await page.goto(at('/fleet?state=waiting'))
    await until('the one that waits', async () => (await rows.count()) === 1 || undefined)
    await page.getByRole('navigation', { name: 'States' }).getByRole('link', { name: 'Waiting 1' }).click()
    await until('all of them', async () => (await rows.count()) > 5 || undefined)
    expect(tabs.wrong).toEqual([])
  })

  test('the keyboard cancels a task, opens its details, and retries it', async () => {
    const { client, at, tabs } = await openFleetPlace(launch)
    await client.call('submit_tasks', {
      tasks: [
        { id: 'one', prompt: 'The older one' },
        { id: 'two', prompt: 'The newer one' },
      ],
    })
    const page = await tabs.open(at('/loops'))
    await page.getByRole('link', { name: 'Fleet' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('f')
    const older = row(page, 'The older one')
    await older.waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page
      .getByRole('dialog', { name: 'Cancel this task?' })
      .getByRole('button', { name: 'Cancel the task' })
      .press('Enter')
    await older.getByText('Cancelled', { exact: true }).waitFor()
    await page.keyboard.press('d')
    await page.getByRole('dialog', { name: 'The older one' }).getByText('program').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('t')
    await page.getByLabel('What should it do differently? (optional)').fill('Begin with the tests.')
    await page.keyboard.press('Control+Enter')
    await older.getByText('Ready', { exact: true }).waitFor()
    expect((await client.call('get_fleet_task', { task: 'one' })).state).toBe('ready')
    expect(tabs.wrong).toEqual([])
  })

  test('workers are drained, silent ones are marked, and paused accounts are named', async () => {
    const place = await openFleetPlace(launch)
    const { fleet, at, tabs } = place
    await fillFleet(place)
    const worker = fleet.worker({ host: 'build-9' })
    const page = await tabs.open(at('/fleet/workers'))
    const card = (host: string) => page.locator('.worker').filter({ hasText: host })
    await card('laptop')
      .getByText(/^Silent for 10m/)
      .waitFor()
    expect(await card('laptop').getByRole('button').count()).toBe(0)
    await page.getByRole('list', { name: 'Paused accounts' }).getByText('rate limit').waitFor()
    expect(await card('build-1').textContent()).toContain('team, paused until')

    await page.getByRole('button', { name: 'Drain build-9' }).click()
    await page.getByRole('dialog', { name: 'Drain build-9?' }).getByRole('button', { name: 'Drain' }).click()
    await worker.ended
    await card('build-9').waitFor({ state: 'detached' })
    expect(tabs.wrong).toEqual([])
  })

  test('a budget holds a task back until it is raised', async () => {
    const { fleet, client, at, tabs } = await openFleetPlace(launch)
    const agent = fleet.agent(`echo '<promise>COMPLETE</promise>'`)
    fleet.worker()
    const page = await tabs.open(at('/fleet/budgets'))
    await page.getByRole('button', { name: 'Add a budget …' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Submitter').fill('ada')
    await dialog.getByLabel('Dollars per day').fill('0.5')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('$0.50 left').waitFor()

    const task = { id: 'dear', prompt: 'Something dear', agent, submitter: 'ada' }
    await client.call('submit_tasks', { tasks: [task] })
    await page.keyboard.press('1')
    await row(page, 'Something dear')
      .getByText(/^Waiting for budget: it may cost \$1\.00/)
      .waitFor()
    await page.keyboard.press('3')
    await page.getByRole('button', { name: 'Change the budget: ada' }).click()
    await dialog.getByLabel('Dollars per day for ada').fill('8')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await fleet.reaches('dear', 'done')
    await page.getByRole('button', { name: 'Remove the budget: ada' }).click()
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByRole('heading', { name: 'No budgets' }).waitFor()
    expect(tabs.wrong).toEqual([])
  })

  // On Postgres each server has one.
  test.skipIf(isOnPostgres)('a server without a fleet does not offer it, and says how to set one up', async () => {
    const { page, at, tabs } = await openBoardPlace(launch)
    const answered = page.waitForResponse(/\/api\/context/)
    await page.reload()
    await answered
    await page.getByRole('heading', { name: 'Loops', exact: true }).waitFor()
    expect(await page.getByRole('link', { name: 'Fleet' }).count()).toBe(0)
    await page.goto(at('/fleet'))
    await page.getByRole('heading', { name: 'This server has no fleet' }).waitFor()
    expect(tabs.wrong.filter((line) => !line.includes('/api/fleet'))).toEqual([])
  })

  test('a view that cannot be loaded says so, and appears after a retry', async () => {
    const { at, tabs } = await openFleetPlace(launch)
    const page = await tabs.open(at('/loops'))
    await page.route('**/assets/fleet-*.js', (route) => route.abort())
    await page.getByRole('link', { name: 'Fleet' }).click()
    await page.getByText('This screen cannot be loaded.').waitFor()
    await page.unroute('**/assets/fleet-*.js')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'No tasks yet' }).waitFor()
  })
})
