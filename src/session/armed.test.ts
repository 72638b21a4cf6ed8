import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loopAfter, unchecked, works } from '../engine/stories.test-support.ts'
import { temporaryFolder } from '../host/place.test-support.ts'
import { type Armed, afterTyping, arm, disarm, forgetOld, isSessionId, loadArmed, reserve, sessionOf } from './armed.ts'

const ARMED: Armed = { loop: 'L1', host: 'claude', face: '/p/.claude/x', context: 'same', since: 0 }

test('a session is armed until it is disarmed', () => {
  const home = temporaryFolder()
  expect(loadArmed(home, 's-1')).toBeUndefined()
  arm(home, 's-1', ARMED)
  expect(loadArmed(home, 's-1')).toEqual(ARMED)
  expect(loadArmed(home, 's-2')).toBeUndefined()
  expect(statSync(join(home, 'armed')).mode & 0o077).toBe(0)
  disarm(home, 's-1')
  disarm(home, 's-1')
  expect(readdirSync(join(home, 'armed'))).toEqual([])
})

test.each(['d99b5c11-9a', 'ses_01ABC', '7', 'a.b-c_d', 'x'.repeat(128)])('%j names a session', (id) => {
  expect(isSessionId(id)).toBe(true)
})

test.each(['', '.', '..', '../x', 'a/b', 'a\\b', '-rf', 'a b', 'a\n', '*', 'ä', 'x'.repeat(129), '.hidden'])(
  '%j names no session, and nothing is read for it',
  (id) => {
    const home = temporaryFolder()
    mkdirSync(join(home, 'armed'))
    writeFileSync(join(home, 'x'), JSON.stringify(ARMED))
    expect([isSessionId(id), loadArmed(home, id)]).toEqual([false, undefined])
  },
)

test.each([
  '',
  '{',
  'null',
  '[]',
  '7',
  '{}',
  '{"loop":7,"host":"claude","face":""}',
  '{"loop":"L1","host":"x","face":""}',
])('a file that contains %j arms no session', (text) => {
  const home = temporaryFolder()
  mkdirSync(join(home, 'armed'))
  writeFileSync(join(home, 'armed', 's-1'), text)
  expect(loadArmed(home, 's-1')).toBeUndefined()
  expect(sessionOf(home, 'L1')).toBeUndefined()
})

test('the session of a loop is the one whose agent takes its turns', () => {
  const home = temporaryFolder()
  expect(sessionOf(home, 'L1')).toBeUndefined()
  arm(home, 's-1', { ...ARMED, context: 'process' })
  expect(sessionOf(home, 'L1')).toBeUndefined()
  arm(home, 's-2', ARMED)
  arm(home, 's-3', { ...ARMED, loop: 'L2' })
  arm(home, 's-2.123.tmp', ARMED) // left behind by a hook that was killed
  expect(sessionOf(home, 'L1')).toEqual({ session: 's-2', gone: false, armed: ARMED })
  disarm(home, 's-2')
  expect(sessionOf(home, 'L1')).toBeUndefined()
})

test('with two hooks for one call, only one reserves the session', () => {
  const home = temporaryFolder()
  const now = Date.now()
  const call = (at: number) => ({ now: () => at, began: at })
  expect([reserve(home, 's-1', call(now)), reserve(home, 's-1', call(now))]).toEqual([true, false])
  expect(loadArmed(home, 's-1')).toBeUndefined()
  expect(reserve(home, 's-1', call(now + 60_000))).toBe(true) // the first was killed
  arm(home, 's-1', ARMED)
  expect(reserve(home, 's-1', call(now - 5_000))).toBe(false) // the other hook was faster
  expect(reserve(home, 's-1', call(Date.now() + 5_000))).toBe(true) // left by a loop that has ended
  expect(loadArmed(home, 's-1')).toEqual(ARMED)
})

test('what the user types resets the counts', () => {
  const before: Armed = { ...ARMED, quiet: true, heard: { length: 3, hash: 'x' } }
  expect(afterTyping(before, loopAfter(unchecked, works, works))).toEqual({ ...ARMED, since: 2 })
})

test('old sessions whose loop has ended are forgotten', async () => {
  const home = temporaryFolder()
  const day = 86_400_000
  await forgetOld(home, Date.now(), async () => true)
  for (const [session, loop] of [
    ['old-over', 'L1'],
    ['old-open', 'L2'],
    ['new-over', 'L1'],
  ] as const)
    arm(home, session, { ...ARMED, loop })
  writeFileSync(join(home, 'armed', 'old-broken'), '{')
  for (const name of ['old-over', 'old-open', 'old-broken']) utimesSync(join(home, 'armed', name), 1, 1)
  await forgetOld(home, Date.now() - day, async (loop) => loop === 'L1')
  expect(readdirSync(join(home, 'armed')).sort()).toEqual(['new-over', 'old-open'])
})
