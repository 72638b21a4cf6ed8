import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cancel, loopAfter, pause, specOf, works } from '../engine/stories.test-support.ts'
import { temporaryFolder } from '../host/place.test-support.ts'
import { arm, loadArmed } from './armed.ts'
import { holderOf, releaseLoop, syncSession } from './elsewhere.ts'
import { writeFace } from './face.ts'

function held() {
  const [home, dir] = [temporaryFolder(), temporaryFolder()]
  const loop = loopAfter(specOf({ prompt: 'Build it' }), works)
  const face = join(dir, 'ralph-loop.local.md')
  writeFace(face, { loop, session: 's-1', home })
  arm(home, 's-1', { loop: loop.id, host: 'codex', face, context: 'same', since: 0 })
  return { home, loop, face }
}

test("a session's loop is described by its agent's name", () => {
  const { home, loop } = held()
  expect(holderOf(home, loop.id)).toBe('a session of Codex')
  expect(holderOf(home, 'another')).toBeUndefined()
})

test('a session releases its loop, and nothing of it is left', () => {
  const { home, loop, face } = held()
  releaseLoop(home, loop.id)
  releaseLoop(home, loop.id)
  expect([loadArmed(home, 's-1'), existsSync(face)]).toEqual([undefined, false])
})

test('a pause from elsewhere shows in the face', () => {
  const { home, loop, face } = held()
  syncSession(home, loopAfter(loop, pause))
  expect(readFileSync(face, 'utf8')).toContain('active: false')
})

test('a loop that ended elsewhere has no face, and its session learns of it', () => {
  const { home, loop, face } = held()
  syncSession(home, loopAfter(loop, cancel))
  expect([existsSync(face), loadArmed(home, 's-1')?.loop]).toEqual([false, loop.id])
})

test('a face that the user deleted is not recreated', () => {
  const { home, loop, face } = held()
  rmSync(face)
  syncSession(home, loopAfter(loop, pause))
  expect(existsSync(face)).toBe(false)
})
