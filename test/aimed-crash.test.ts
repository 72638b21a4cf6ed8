/**
 * `kill -9` at the very moment work arrives in the user's checkout: while git is writing their files. The next ralph
 * undoes it, says so, and leaves the user's files alone. `RALPH_TEST_RUNS=20 npx vitest run test/aimed-crash.test.ts`
 * aims twenty times at each, `RALPH_CRASH_FILES=6000` with more files.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { drawChance } from '../src/host/chance.test-support.ts'
import {
  CHANGES_MANY,
  checkoutOf,
  expectAccepted,
  FILES,
  git,
  isHalfWay,
  kill,
  makeWaiting,
  WAYS,
  writeMany,
} from './accept-place.ts'
import { done, execute, makeProject, messages, sh, startExecute, statuses } from './project-place.ts'
import { until } from './ralph.ts'

const TIMES: readonly number[] = Array.from({ length: drawChance({ runs: 1 }).runs }, (_, index) => index)
const LONG = { timeout: 60_000 + 20 * FILES }

const counts = { hit: 0, dirty: 0, repaired: 0, slowestMs: 0 }

afterAll(() => {
  if (process.env.RALPH_TEST_RUNS)
    console.log(
      `${counts.repaired} of ${counts.hit} repaired, ${counts.dirty} with dirty files, in ${Math.round(counts.slowestMs)} ms at most (${FILES} files)`,
    )
})

/** What the next ralph does about it, and how long that takes. */
async function timed<Result>(work: () => Promise<Result>): Promise<Result> {
  const begun = performance.now()
  const result = await work()
  counts.slowestMs = Math.max(counts.slowestMs, performance.now() - begun)
  return result
}

const PUT_BACK = /ralph was killed while merging the work of loop \w+ into \w+ .* restored, and nothing was merged\./

describe('an accept that is killed while git writes', () => {
  const cases = TIMES.map((n) => ({
    n,
    way: WAYS[(n + 1) % 3] ?? 'merge',
    all: n % 4 !== 3,
    look: n % 2 ? 'doctor' : 'status',
  }))

  test.for(cases)('is undone by $look and completed by the next one: $way, $n', LONG, async ({ way, all, look }) => {
    const waiting = await makeWaiting(way)
    const { place, args } = waiting
    const before = checkoutOf(place)
    const going = place.start(args)
    const hit = await isHalfWay(place, going)
    await kill(going, all)
    expect(hit).toBe(true)
    counts.hit += 1
    if (all) {
      expect(checkoutOf(place).left).toEqual(['index.lock'])
      expect(checkoutOf(place).changes.length).toBeGreaterThan(before.changes.length)
      counts.dirty += 1
    }
    const looked = await timed(() => place.ralph([look]))
    // Git itself may have finished.
    if (all) expect(looked.stdout + looked.stderr).toMatch(PUT_BACK)
    if (checkoutOf(place).head === before.head) expect(checkoutOf(place)).toEqual(before)
    expect(await place.ralph(args)).toMatchObject({ code: 0, stderr: '' })
    await expectAccepted(waiting)
    counts.repaired += 1
  })
})

describe("an accept that is killed while one of the user's hooks runs", () => {
  test.each<[hook: string, arrived: boolean]>([
    ['pre-merge-commit', false],
    ['post-merge', true],
  ])('is undone or completed: %s', LONG, async (hook, arrived) => {
    const waiting = await makeWaiting('merge')
    const { place, args } = waiting
    const before = checkoutOf(place)
    const file = `.git/hooks/${hook}`
    place.write(file, `#!/bin/sh\ntouch '${place.root}/hook'; [ -e '${place.root}/go' ] || sleep 1000\n`, 0o755)
    const going = place.start(args)
    await until('the hook', () => existsSync(join(place.root, 'hook')))
    await kill(going, true)
    writeFileSync(join(place.root, 'go'), '')
    expect(checkoutOf(place).left).not.toEqual([])
    const { stderr } = await place.ralph(['status'])
    if (arrived) expect(stderr).toBe('')
    else expect(stderr).toMatch(PUT_BACK)
    expect(checkoutOf(place)).toEqual({
      ...before,
      head: arrived ? expect.not.stringMatching(before.head) : before.head,
    })
    expect(await place.ralph(args)).toMatchObject({ code: 0, stderr: '' })
    await expectAccepted(waiting)
  })
})

describe('an execution that is killed while git writes', () => {
  test.for(TIMES)('continues as if nothing had happened: %i', LONG, async () => {
    const place = makeProject(['T1', 'T2'])
    writeMany(place)
    const turns = { T1: [[sh(CHANGES_MANY), done]], T2: [[sh('echo T2 > T2.txt'), done]] }
    const going = startExecute(place, turns, '--parallel', '2')
    const hit = await isHalfWay(place, going)
    await kill(going, true)
    expect(hit).toBe(true)
    counts.hit += 1
    expect(checkoutOf(place)).toMatchObject({
      left: ['index.lock'],
      changes: expect.arrayContaining([expect.anything()]),
    })
    counts.dirty += 1
    const again = await timed(() => execute(place, turns, '--parallel', '2'))
    expect(again, again.stderr).toMatchObject({ code: 0, end: { reason: 'completed' } })
    expect(messages(again)).toMatch(PUT_BACK)
    expect(statuses(place)).toBe('T1 completed, T2 completed')
    expect(checkoutOf(place)).toMatchObject({ changes: [], left: [] })
    expect(place.read('many/1.txt')).toContain('NEW')
    expect(git(place, 'worktree', 'list').split('\n')).toHaveLength(1)
    counts.repaired += 1
  })
})
