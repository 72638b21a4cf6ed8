/** `ralph demo --serve` as a user runs it: what the board shows, what one can do there, and how it ends. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createClient } from '../src/fronts/server/client.ts'
import { carriers, makePlace, type Place, type Running, until } from './ralph.ts'
import { onDatabase } from './served.ts'

/** Slow on a busy machine. */
const BUSY_MS = 100_000

type Client = ReturnType<typeof createClient>

async function clientOf(running: Running): Promise<Client> {
  const [, url = '', token = ''] = await until(
    'the address',
    () => /(http:\S+\/)#t=(\S+)\n/.exec(running.stdout()),
    BUSY_MS,
  )
  return createClient({ url, token })
}

/** The folder of the demo. */
function folderIn({ root }: Place): string {
  const [name = 'nothing'] = readdirSync(join(root, 'tmp')).filter((one) => one.startsWith('ralph-demo-'))
  return join(root, 'tmp', name)
}

/** The state of each loop, by the title of its task. */
async function standings(client: Client): Promise<Record<string, string>> {
  const { loops } = await client.call('list_loops', { limit: 200 })
  return Object.fromEntries(
    loops.map(({ prompt, status, next, iteration }) => {
      const end = next.kind === 'complete' ? next.proof : next.kind === 'halt' ? next.reason : status
      return [prompt.split('\n')[0], `${end} ${iteration}`]
    }),
  )
}

const TODAY = {
  'Fix the totals and discounts of the cart': 'verified 4',
  'Fix the rounding in the cart': 'verified 2',
  'Ship orders above 50 euros for free': 'tested 2',
  'Split the order summary into small functions': 'kept 1',
  'Return invoice totals in cents': 'altered 2',
  'Describe how refunds work': 'claimed 1',
  'Find products by parts of their name': 'no-progress 3',
  'Read amounts in every notation': 'max-iterations 5',
  'Cache exchange rates for an hour': 'verified 3',
  'Renew subscriptions at the end of the month': 'needs-input 1',
  'Make the VAT tests pass again': 'needs-input 2',
  'Recommend products that are bought together': 'waiting 1',
  'Add CSV export': 'verified 3',
  'Read statements from the old bank interface': 'cancelled 1',
  'Support 24 more currencies': expect.stringMatching(/^(queued|running|verifying) \d$/),
}

test('serves a board full of real loops, continues them, and exits with 0', { timeout: 2 * BUSY_MS }, async () => {
  const place = onDatabase(makePlace({ git: false }))
  const running = place.start(['demo', '--serve', '--port', '0'])
  const client = await clientOf(running)
  expect(await standings(client)).toMatchObject(TODAY)
  await looksLikeWork(client)

  const { loops } = await client.call('list_loops', { limit: 200 })
  const idOf = (title: string) => loops.find(({ prompt }) => prompt.startsWith(title))?.id ?? ''
  const [question, bent] = [idOf('Renew subscriptions'), idOf('Make the VAT tests')]
  await hasReadableHistory(client, { regression: idOf('Read amounts'), review: idOf('Add CSV'), crash: idOf('Cache') })
  await client.call('answer', { loop: question, words: 'On 28 February.' })
  await client.call('answer', { loop: bent, allow: true })
  await until('both to finish', async () => {
    const { [question]: one, [bent]: other } = Object.fromEntries(
      (await client.call('list_loops', { limit: 200 })).loops.map(({ id, next }) => [id, next]),
    )
    return one?.kind === 'complete' && other?.kind === 'complete' && [one.proof, other.proof]
  }).then((proofs) => expect(proofs).toEqual(['verified', 'kept']))
  await until('the live one to move', async () =>
    /^\w+ [1-9]/.test((await standings(client))['Support 24 more currencies'] ?? ''),
  )

  process.kill(running.pid, 'SIGINT')
  const { code, stdout } = await running.ended
  const folder = folderIn(place)
  expect({ code, left: carriers(`RALPH_HOME=${join(folder, 'home')}`) }).toEqual({ code: 0, left: [] })
  expect(stdout).toContain(`Remove it with: rm -rf ${folder}\n`)
  expect(existsSync(place.home)).toBe(false)
})

/** Tasks of every kind, and enough history for statistics. */
async function looksLikeWork(client: Client): Promise<void> {
  const { tasks } = await client.call('list_tasks', { limit: 200 })
  expect(new Set(tasks.map(({ status }) => status))).toEqual(
    new Set(['todo', 'in-progress', 'in-review', 'done', 'cancelled']),
  )
  expect(new Set(tasks.map(({ type }) => type))).toEqual(new Set(['feature', 'bug', 'docs', 'refactoring']))
  expect(new Set(tasks.map(({ project_id }) => project_id))).toEqual(new Set(['shop', 'billing']))
  const todo = tasks.filter(({ status }) => status === 'todo')
  expect(todo.some(({ stages }) => stages.length > 1)).toBe(true)
  expect(todo.some(({ waits_for }) => waits_for.length > 0)).toBe(true)
  expect(todo.some(({ limits }) => limits.adaptive)).toBe(true)
  expect(todo.some((task) => !task.use_ralph_wiggum)).toBe(true)
  const { success, days, cost } = await client.call('get_analytics', {})
  expect({ finished: success.of >= 30, days: days.length >= 12, costs: cost.totalUsd > 1 }).toEqual({
    finished: true,
    days: true,
    costs: true,
  })
  const [first] = todo
  expect(await client.call('get_forecast', { task_id: first?.id ?? '' })).toMatchObject({ enough: true })
}

type Named = { regression: string; review: string; crash: string }

async function hasReadableHistory(client: Client, { regression, review, crash }: Named): Promise<void> {
  const iterationsOf = async (loop: string) => (await client.call('get_loop', { loop })).iterations
  const failures = (await iterationsOf(regression)).map(({ verdicts }) => verdicts[0]?.failures)
  expect(failures).toEqual([5, 2, 1, 4, 3])
  expect((await iterationsOf(crash)).map(({ attempts }) => attempts)).toEqual([1, 2, 1])
  const { files } = await client.call('get_diff', { loop: review, iteration: 3, against: 'start' })
  expect(files.length).toBeGreaterThan(3)
}

test('Ctrl-C while the board is being filled exits with 0 and leaves no process', async () => {
  const place = onDatabase(makePlace({ git: false }))
  const running = place.start(['demo', '--serve', '--port', '0'])
  const home = await until('a loop', () => {
    const path = join(folderIn(place), 'home')
    return carriers(`RALPH_HOME=${path}`).length > 0 && path
  })
  process.kill(running.pid, 'SIGINT')
  const { code, stdout } = await running.ended
  expect({ code, left: carriers(`RALPH_HOME=${home}`) }).toEqual({ code: 0, left: [] })
  expect(stdout).not.toContain('#t=')
})

test.each(['--port=1', '--open'])('%s is refused without --serve', async (option) => {
  const { code, stderr } = await onDatabase(makePlace({ git: false })).ralph(['demo', option])
  expect(code).toBe(2)
  expect(stderr).toContain('needs --serve.')
})
