import { writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Answer, RecordedDetail } from '../formats/recorded.ts'
import { temporaryFolder } from '../host/place.test-support.ts'
import { makeRepository } from '../host/repository.test-support.ts'
import { OPERATIONS, type OperationName } from './index.ts'
import { type OperationPlace, openPlace } from './place.test-support.ts'
import { inDetail, recordLoop, recordStats } from './record-report.ts'

const KEY = `ghp_${'Ab3dEf6hIj9lMn2pQr5tUv8xYz1b'}`

/** Claims at once, is refused, and is done in the second iteration. It prints everything that is private. */
const AGENT = `
if test -e first.txt
then touch done.txt
else printf '%s\\n' "${KEY}" > first.txt
fi
echo "I am $USER in $PWD, home is $HOME, mail me@example.org"
echo "<promise>COMPLETE</promise>"`

async function twoIterations({ git } = { git: true }): Promise<{ place: OperationPlace; loop: string }> {
  const cwd = git ? (await makeRepository()).dir : temporaryFolder()
  const place = openPlace({ cwd })
  Object.assign(place.context.env, { USER: 'zaphod' })
  const asked = { prompt: `Build it in ${cwd}`, agent: place.agent(AGENT), checks: ['test -e done.txt'] }
  const { loop } = await place.run('start_loop', asked)
  expect((await place.drive(loop)).next).toMatchObject({ kind: 'complete' })
  return { place, loop }
}

async function all(details: AsyncIterable<RecordedDetail>): Promise<RecordedDetail[]> {
  const found: RecordedDetail[] = []
  for await (const detail of details) found.push(detail)
  return found
}

/** Which operations were called. */
const namesIn = (answers: readonly Answer[]) => answers.map(({ key }) => key.split(' ')[0] as OperationName)

const keysOf = (answers: readonly Answer[]) => answers.map(({ key }) => key)

test('a loop is recorded as the answers to what the page requests', async () => {
  const { place, loop } = await twoIterations()
  const { summary, details } = await recordLoop(place.context, loop.slice(0, 6), { version: '1.2.3', redact: false })
  expect(summary).toMatchObject({ kind: 'loop', loop, version: '1.2.3', made_at: expect.any(Number) })
  expect(summary).not.toHaveProperty('note')
  expect(keysOf(summary.answers)).toEqual([
    `get_loop {"brief":true,"loop":"${loop}"}`,
    `get_checks {"loop":"${loop}"}`,
    `get_proof {"loop":"${loop}"}`,
    `list_comments {"loop":"${loop}"}`,
    `wait_loop {"after":0,"loop":"${loop}","seconds":0}`,
    `list_iterations {"brief":true,"limit":1000,"loop":"${loop}"}`,
  ])
  const found = await all(details)
  expect(found.map(({ iteration, answers }) => [iteration, keysOf(answers)])).toEqual([
    [
      1,
      [
        `get_iteration {"iteration":1,"loop":"${loop}"}`,
        `get_diff {"against":"previous","iteration":1,"loop":"${loop}"}`,
        `get_activity {"from":0,"iteration":1,"loop":"${loop}","to":262144}`,
      ],
    ],
    [
      2,
      [
        `get_iteration {"iteration":2,"loop":"${loop}"}`,
        `get_diff {"against":"previous","iteration":2,"loop":"${loop}"}`,
        `get_diff {"against":"start","iteration":2,"loop":"${loop}"}`,
        `get_activity {"from":0,"iteration":2,"loop":"${loop}","to":262144}`,
      ],
    ],
  ])
  for (const name of namesIn([...summary.answers, ...found.flatMap(({ answers }) => answers)]))
    expect([name, OPERATIONS[name].report]).toEqual([name, true])
  expect(found[0]?.answers[1]?.value).toMatchObject({ files: [{ path: 'first.txt' }] })
})

test('text is recorded as it was, except for secrets', async () => {
  const { place, loop } = await twoIterations()
  const { title, summary, details } = await recordLoop(place.context, loop, { version: '1', redact: false })
  const text = JSON.stringify([summary, await all(details)])
  expect(title).toBe(`Build it in ${place.cwd}`)
  expect(text).toContain('me@example.org')
  expect(text).toContain('ghp_…masked…')
  expect(text).not.toContain(KEY)
})

test('a redacted report does not reveal the user or the machine', async () => {
  const { place, loop } = await twoIterations()
  const { title, summary, details } = await recordLoop(place.context, loop, { version: '1', redact: true })
  const text = JSON.stringify([summary, await all(details)])
  expect(title).toBe('Build it in <project>')
  for (const secret of [place.cwd, place.context.home, 'zaphod', 'me@example.org', KEY])
    expect(text).not.toContain(secret)
  expect(text).toContain('I am <user> in <project>, home is <ralph>, mail <email>')
  expect(text).not.toMatch(new RegExp(`(?<![a-z0-9])${hostname()}(?![a-z0-9])`, 'i'))
  expect(summary.answers[2]?.value).toMatchObject({ loop, grade: 'verified', checks: [{ after: { result: 'pass' } }] })
})

test('without git only the diffs are missing', async () => {
  const { place, loop } = await twoIterations({ git: false })
  const { details } = await recordLoop(place.context, loop, { version: '1', redact: false })
  expect((await all(details)).map(({ answers }) => answers.length)).toEqual([2, 2])
})

test('a long diff is cut, with a note for readers of the report', async () => {
  const { dir } = await makeRepository()
  const place = openPlace({ cwd: dir })
  const agent = place.agent('seq 1 60000 > numbers.txt; echo "<promise>COMPLETE</promise>"')
  const { loop } = await place.run('start_loop', { prompt: 'Count', agent })
  await place.drive(loop)
  const { details } = await recordLoop(place.context, loop, { version: '1', redact: false })
  const [{ answers = [] } = {}] = await all(details)
  for (const { value } of answers.slice(0, 3))
    expect(value).toMatchObject({ note: 'This diff is too long for a report: its last lines are omitted.' })
  expect(JSON.stringify(answers[0]?.value).length).toBeLessThanOrEqual(250_000)
})

test('an open loop has a forecast, and one that has not started has no iterations', async () => {
  const place = openPlace()
  const { loop } = await place.run('start_loop', { prompt: 'Later', agent: place.agent('true') })
  const { summary, details } = await recordLoop(place.context, loop, { version: '1', redact: false })
  expect(keysOf(summary.answers)).toContain(`get_forecast {"loop":"${loop}"}`)
  expect(await all(details)).toEqual([])
})

test('with many iterations, the first and the last are recorded in detail', () => {
  const some = (count: number) => Array.from({ length: count }, (_, at) => at + 1)
  expect(inDetail(some(200))).toEqual(some(200))
  expect(inDetail(some(500))).toEqual([...some(20), ...some(500).slice(320)])
})

test('statistics are recorded with their request, which is also redacted', async () => {
  const { place } = await twoIterations()
  writeFileSync(join(place.cwd, 'x'), '')
  const open = await recordStats(place.context, { dir: place.cwd, since: 5 }, { version: '1', redact: false })
  expect(open).toMatchObject({
    kind: 'stats',
    filter: { dir: place.cwd, since: 5 },
    answers: [{ key: `get_analytics {"dir":"${place.cwd}","since":5}`, value: { loops: 1 } }],
  })
  const redacted = await recordStats(place.context, { dir: place.cwd, since: 5 }, { version: '1', redact: true })
  expect(redacted).toMatchObject({
    filter: { dir: '<project>', since: 5 },
    answers: [{ key: 'get_analytics {"dir":"<project>","since":5}', value: { loops: 1 } }],
  })
})
