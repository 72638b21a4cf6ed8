import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../host/place.test-support.ts'
import { isOnPostgres } from '../host/postgres/postgres.test-support.ts'
import { makeRepository } from '../host/repository.test-support.ts'
import { type OperationPlace, openPlace } from './place.test-support.ts'

/** Claims at once, is refused, and is done in the second iteration. */
const AGENT = `
if test -e first.txt
then printf 'one\\ntwo\\n' > 'a b.txt'; touch done.txt
else printf 'one\\n' > 'a b.txt'; touch first.txt
fi
echo "<promise>COMPLETE</promise>"`

async function twoIterations(): Promise<{ place: OperationPlace; loop: string; head: string }> {
  const { dir, git } = await makeRepository()
  const place = openPlace({ cwd: dir })
  const asked = { prompt: 'Build it', agent: place.agent(AGENT), checks: ['test -e done.txt'] }
  const { loop } = await place.run('start_loop', asked)
  expect((await place.drive(loop)).next).toMatchObject({ kind: 'complete', proof: 'verified' })
  return { place, loop, head: git('rev-parse', 'HEAD').trim() }
}

test('iterations are listed with their claims, checks, cost and commits', async () => {
  const { place, loop } = await twoIterations()
  const { iterations, next } = await place.run('list_iterations', { loop })
  expect(iterations).toMatchObject([
    {
      n: 1,
      claim: 'clear',
      refused: 'refused: test -e done.txt fails',
      verdicts: [{ result: 'fail' }],
      findings: [],
      costSource: 'unknown',
      diff: { files: 2, added: 1, removed: 0 },
      commit: expect.stringMatching(/^[0-9a-f]{40}$/),
    },
    { n: 2, claim: 'clear', verdicts: [{ result: 'pass' }], commit: expect.any(String) },
  ])
  expect(iterations[0]?.durationMs).toBeGreaterThan(0)
  expect(iterations[1]).not.toHaveProperty('refused')
  expect(next).toBeUndefined()
})

test('iterations come in pages', async () => {
  const { place, loop } = await twoIterations()
  const first = await place.run('list_iterations', { loop, limit: 1 })
  expect(first).toMatchObject({ iterations: [{ n: 1 }], next: 1 })
  const second = await place.run('list_iterations', { loop, limit: 1, after: first.next })
  expect(second.iterations).toMatchObject([{ n: 2 }])
  expect(second.next).toBeUndefined()
  expect((await place.run('list_iterations', { loop, after: 2 })).iterations).toEqual([])
})

test('brief iterations are small: one line of the message, and no check output', async () => {
  const place = openPlace({ cwd: (await makeRepository()).dir })
  const line = `I rewrote the parser 🦉 ${'and its tests '.repeat(30)}`
  const said = `First, a look around.\n\n${line}\nwith care.\n\n \n<promise>COMPLETE</promise>\n`
  writeFileSync(join(place.cwd, 'said.txt'), said)
  const asked = {
    prompt: 'Build it',
    agent: place.agent('cat said.txt; date +%N > work.txt'),
    checks: ['seq 1 2000', 'test -e done.txt'],
    limits: { iterations: 2 },
  }
  const { loop } = await place.run('start_loop', asked)
  await place.drive(loop)
  const { iterations } = await place.run('list_iterations', { loop, brief: true })
  expect(iterations).toMatchObject([
    { n: 1, claim: 'clear', refused: 'refused: test -e done.txt fails', commit: expect.any(String) },
    {
      n: 2,
      verdicts: [
        { check: 'seq 1 2000', result: 'pass', tail: '' },
        { result: 'fail', tail: '' },
      ],
    },
  ])
  expect(iterations[0]?.words).toMatch(/^I rewrote the parser 🦉 and .*…$/)
  expect([...(iterations[0]?.words ?? '')]).toHaveLength(160)
  for (const one of iterations) expect(JSON.stringify({ ...one, agent: 'claude' }).length).toBeLessThan(700)
})

test('a loop in brief has no iterations', async () => {
  const { place, loop } = await twoIterations()
  const whole = await place.run('get_loop', { loop })
  expect(whole.iterations).toHaveLength(2)
  expect(await place.run('get_loop', { loop, brief: true })).toEqual({ ...whole, iterations: [] })
})

test('an iteration has its prompt and what changed in it', async () => {
  const { place, loop, head } = await twoIterations()
  const one = await place.run('get_iteration', { loop, iteration: 1 })
  expect(one).toMatchObject({ head, prompt: expect.stringContaining('Build it'), row: { n: 1 } })
  expect(one).not.toHaveProperty('promptChange')
  const two = await place.run('get_iteration', { loop, iteration: 2 })
  expect(two.promptChange).toMatch(/^@@ /)
  expect(two.promptChange).toContain('+> The check `test -e done.txt` failed')
  expect(two.diff).toContain('+two')
  expect(two.command).toEqual([expect.stringContaining('agent.sh')])
})

test('a diff is listed line by line, against the previous iteration or the start', async () => {
  const { place, loop } = await twoIterations()
  const diff = await place.run('get_diff', { loop, iteration: 2 })
  expect(diff.files).toMatchObject([
    {
      path: 'a b.txt',
      change: 'changed',
      added: 1,
      removed: 0,
      hunks: [{ lines: [{ old: 1 }, { new: 2, text: 'two' }] }],
    },
    { path: 'done.txt', change: 'added' },
  ])
  const whole = await place.run('get_diff', { loop, iteration: 2, against: 'start' })
  expect(whole.files.map(({ path, change }) => [path, change])).toEqual([
    ['a b.txt', 'added'],
    ['done.txt', 'added'],
    ['first.txt', 'added'],
  ])
  const one = await place.run('get_diff', { loop, iteration: 2, against: 'start', path: 'a b.txt' })
  expect(one.files.map(({ path }) => path)).toEqual(['a b.txt'])
})

test('a long diff is cut at a line, and says so', async () => {
  const { place, loop } = await twoIterations()
  const { text, note } = await place.run('get_diff', { loop, iteration: 2, limit: 60 })
  expect(text.length).toBeLessThanOrEqual(60)
  expect(text).toMatch(/^diff --git .*\n$/)
  expect(note).toMatch(/^\d+ more lines are not shown\./)
})

test('a transcript is read in portions', async () => {
  const { place, loop } = await twoIterations()
  const all = await place.run('get_transcript', { loop, iteration: 1 })
  expect(all).toMatchObject({ over: true, entries: [{ attempt: 1, prompt: expect.any(String) }, {}, { exit: 0 }] })
  const more = await place.run('get_transcript', { loop, iteration: 1, from: all.next })
  expect(more).toMatchObject({ entries: [], next: all.next })
  await expect(place.run('get_transcript', { loop, iteration: 3 })).rejects.toMatchObject({ code: 'loop-unknown' })
})

test('checks are shown before any work and after each iteration', async () => {
  const { place, loop } = await twoIterations()
  const { checks } = await place.run('get_checks', { loop })
  expect(checks).toMatchObject([
    {
      check: 'test -e done.txt',
      before: { result: 'fail' },
      rounds: [
        { iteration: 1, result: 'fail' },
        { iteration: 2, result: 'pass' },
      ],
    },
  ])
})

// In Postgres a transcript is not a file that could be deleted.
test.skipIf(isOnPostgres)('what only the disk or git had is left out once it is deleted', async () => {
  const { place, loop } = await twoIterations()
  rmSync(join(place.cwd, '.git'), { recursive: true })
  rmSync(join(place.context.home, 'transcripts', loop, '1.jsonl'))
  const found = await place.run('get_iteration', { loop, iteration: 1 })
  expect(found.row).toMatchObject({ n: 1, claim: 'clear' })
  for (const gone of ['prompt', 'diff', 'head']) expect(found).not.toHaveProperty(gone)
  await expect(place.run('get_diff', { loop, iteration: 1 })).rejects.toMatchObject({ code: 'checkpoint-missing' })
})

test('a claim for a stage, or in passing, is shown as such', async () => {
  const place = openPlace({ cwd: temporaryFolder() })
  writeFileSync(join(place.cwd, 'n'), '')
  const agent = place.agent(`echo x >> n
case $(wc -l < n) in
1) echo "<promise>TESTS</promise>" ;;
*) echo "I will say <promise>COMPLETE</promise> once it is done." ;;
esac`)
  const { loop } = await place.run('start_loop', {
    prompt: 'Build it',
    agent,
    stages: [{ name: 'TESTS' }, { name: 'DOCS' }],
    limits: { iterations: 2 },
  })
  await place.drive(loop)
  const { iterations } = await place.run('list_iterations', { loop })
  expect(iterations).toMatchObject([
    { claim: 'clear', stage: 'TESTS' },
    { claim: 'weak', form: 'mentioned' },
  ])
})
