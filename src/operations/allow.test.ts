import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Loop, Spec } from '../engine/loop.ts'
import { specOf } from '../engine/stories.test-support.ts'
import { temporaryFolder } from '../host/place.test-support.ts'
import { databaseOf } from '../host/postgres/postgres.test-support.ts'
import { makeRepository } from '../host/repository.test-support.ts'
import { arm } from '../session/armed.ts'
import { HOSTS } from '../session/hosts.ts'
import { standing } from '../session/standing.ts'
import { type Bending, bentLoop } from './bent.test-support.ts'
import { openContext } from './context.ts'
import { OPERATIONS } from './index.ts'
import { type OperationPlace, openPlace } from './place.test-support.ts'
import { standingOf } from './standing.ts'

type Bent = OperationPlace & { waits: Loop; now(): Promise<Loop>; allow(...paths: string[]): Promise<object> }

async function openBent(change: Partial<Spec> & Bending = {}): Promise<Bent> {
  const place = openPlace({ cwd: realpathSync(temporaryFolder()) })
  const { work } = specOf()
  const spec = { ...change, work: { ...work, dir: place.cwd, ...change.work } }
  const waits = await bentLoop(place.context, 'bent-1', spec)
  return {
    ...place,
    waits,
    now: () => place.context.store().load('bent-1'),
    allow: (...given) => place.run('allow', { loop: 'bent-1', ...(given.length > 0 ? { paths: given } : {}) }),
  }
}

/** Its own session has the loop. */
async function openSession(change: Bending = {}): Promise<Bent> {
  const work = { ...specOf().work, owner: { kind: 'session' } } as const
  const bent = await openBent({ ...change, work: { ...work, dir: realpathSync(temporaryFolder()) } })
  arm(bent.context.home, 's-1', { loop: 'bent-1', host: 'codex', face: '', context: 'same', since: 0 })
  return bent
}

test('a loop whose checks were bent twice waits, and says what to type', async () => {
  const { waits } = await openBent()
  expect(waits.next).toMatchObject({ kind: 'wait', why: 'person', about: 'allow' })
  expect(standingOf(waits).hint).toMatch(/^Allow it: ralph allow bent-1 · .*: ralph steer bent-1 "/)
  expect(standing(waits, HOSTS.claude).text).toMatch(/test\/a\.test\.ts\. Allow it: ralph allow bent-1/)
})

test('an allowed change stays, and continuing the loop takes no extra turn', async () => {
  const bent = await openBent()
  expect(await bent.allow()).toEqual({ loop: 'bent-1', paths: ['test/a.test.ts'], heard: 'nobody' })
  expect((await bent.now()).next).toEqual(bent.waits.next)
  const { next, tally } = await bent.drive('bent-1')
  expect(next.kind).toBe('complete')
  expect(next.kind === 'complete' && next.sentence).toContain('Changes to test/a.test.ts were allowed by you.')
  expect([tally.allowed, tally.iteration]).toEqual([[{ path: 'test/a.test.ts', by: 'you' }], 2])
})

describe('a path', () => {
  const paths = ['test/a.test.ts', 'vitest.config.ts']

  test.each<[what: string, given: string[], meant: string[]]>([
    ['as it is named', ['vitest.config.ts'], ['vitest.config.ts']],
    ['with a dot in front', ['./test/a.test.ts'], ['test/a.test.ts']],
    ['twice', ['test/a.test.ts', 'test//a.test.ts'], ['test/a.test.ts']],
    ['none: all', [], paths],
  ])('%s', async (_, given, meant) => {
    expect(await (await openBent({ paths })).allow(...given)).toMatchObject({ paths: meant })
  })

  test('relative to the current folder, or to the root', async () => {
    const bent = await openBent({ paths })
    mkdirSync(join(bent.cwd, 'test'))
    const { home, root, env, note } = bent.context
    const below = openContext({ home, root, env, note, ...databaseOf(home), cwd: () => join(bent.cwd, 'test') })
    const asked = { loop: 'bent-1', paths: ['a.test.ts', join(bent.cwd, 'vitest.config.ts')] }
    expect(await OPERATIONS.allow.run(below, asked)).toMatchObject({ paths })
    await below.close()
  })

  test('in a repository starts at its root, even for a loop in a subfolder', async () => {
    const { dir } = await makeRepository()
    mkdirSync(join(dir, 'web', 'test'), { recursive: true })
    const work = { ...specOf().work, dir: join(dir, 'web') }
    const bent = await openBent({ paths: ['web/test/a.test.ts'], work })
    const { home, root, env, note } = bent.context
    const below = openContext({ home, root, env, note, ...databaseOf(home), cwd: () => join(dir, 'web', 'test') })
    const allowed = await OPERATIONS.allow.run(below, { loop: 'bent-1', paths: ['a.test.ts'] })
    expect(allowed.paths).toEqual(['web/test/a.test.ts'])
    await below.close()
  })

  test('without a finding is refused, and changes nothing', async () => {
    const bent = await openBent({ paths })
    await expect(bent.allow('test/a.test.ts', 'src/a.ts')).rejects.toMatchObject({
      code: 'usage',
      message:
        '"src/a.ts" is not one of the changes that loop bent-1 is waiting for: test/a.test.ts, vitest.config.ts. Name one of them, or none to allow all.',
    })
    expect(await bent.context.store().nextOrder('bent-1')).toBeUndefined()
  })
})

describe('a loop that does not wait for it', () => {
  test('says what it is doing instead', async () => {
    const place = openPlace()
    const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: place.agent('true') })
    await expect(place.run('allow', { loop })).rejects.toMatchObject({
      code: 'loop-state',
      message: expect.stringMatching(
        /^Loop \S+ is not waiting for permission to change tests or configuration: running after 0 iterations in .* Watch it: ralph show/,
      ),
    })
  })

  test('includes one that has ended', async () => {
    const bent = await openBent()
    await bent.run('cancel', { loop: 'bent-1' })
    await expect(bent.allow()).rejects.toMatchObject({
      code: 'loop-state',
      message: expect.stringMatching(/^Loop bent-1 has ended, so there is nothing to allow: \S.* ralph retry bent-1/),
    })
  })
})

describe('in a session', () => {
  test('the loop ends without a turn', async () => {
    const bent = await openSession()
    expect(await bent.allow()).toEqual({ loop: 'bent-1', paths: ['test/a.test.ts'], heard: 'here' })
    expect(await bent.now()).toMatchObject({ next: { kind: 'complete' }, tally: { iteration: 2 } })
  })

  test('a loop that must continue waits for its own turn', async () => {
    const bent = await openSession({ check: 'test -e nowhere' })
    expect(await bent.allow()).toEqual({
      ...{ loop: 'bent-1', paths: ['test/a.test.ts'] },
      ...{ heard: 'session', session: 'a session of Codex' },
    })
    expect((await bent.now()).next).toMatchObject({ kind: 'turn', iteration: 3 })
  })
})

test('it also takes messages, or a cancel, like any waiting loop', async () => {
  const steered = await openBent()
  expect(await steered.run('steer', { loop: 'bent-1', words: 'Put it back.' })).toMatchObject({ heard: 'nobody' })
  const cancelled = await openBent()
  await cancelled.run('cancel', { loop: 'bent-1' })
  expect((await cancelled.now()).next).toMatchObject({ kind: 'halt', reason: 'cancelled' })
})

test('a task of a project receives it when the project continues', async () => {
  const owner = { kind: 'project', name: 'shop', task: 'T1', folder: '/x' } as const
  const bent = await openBent({ work: { ...specOf().work, dir: temporaryFolder(), owner } })
  expect(await bent.allow()).toMatchObject({ heard: 'later', how: 'T1 receives it when you run: ralph execute shop' })
  expect(await bent.context.store().nextOrder('bent-1')).toMatchObject({ by: 'you', order: { kind: 'allow' } })
})
