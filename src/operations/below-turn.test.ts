import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { specOf } from '../engine/stories.test-support.ts'
import { makeRepository } from '../host/repository.test-support.ts'
import { arm } from '../session/armed.ts'
import { bentLoop } from './bent.test-support.ts'
import { OPERATIONS } from './index.ts'
import type { Context } from './operation.ts'
import { type OperationPlace, openPlace } from './place.test-support.ts'

async function openBent(): Promise<OperationPlace> {
  const place = openPlace()
  await bentLoop(place.context, 'bent-1', { work: { ...specOf().work, dir: place.cwd } })
  return place
}

function inside({ context }: OperationPlace, loop: string): Context {
  return { ...context, env: { ...context.env, RALPH_LOOP_ID: loop } }
}

const refused = (loop: string) => ({
  code: 'below-turn',
  message: `The agent inside loop ${loop} cannot do this: a person must do it from their own terminal.`,
})

test('an agent in a turn allows nothing', async () => {
  const place = await openBent()
  await expect(OPERATIONS.allow.run(inside(place, 'bent-1'), { loop: 'bent-1' })).rejects.toMatchObject(
    refused('bent-1'),
  )
  expect(await place.context.store().nextOrder('bent-1')).toBeUndefined()
})

test('an agent in a turn accepts nothing', async () => {
  const place = openPlace({ cwd: (await makeRepository()).dir })
  const agent = place.agent('date +%N > work.txt; echo "<promise>COMPLETE</promise>"')
  const { loop } = await place.run('start_loop', { prompt: 'Build it', agent, worktree: true })
  await place.drive(loop)
  await expect(OPERATIONS.accept.run(inside(place, loop), { loop })).rejects.toMatchObject(refused(loop))
  expect(existsSync(join(place.cwd, 'work.txt'))).toBe(false)
})

test('an agent of another home, unknown to this one, counts as a person', async () => {
  const place = await openBent()
  const allowed = OPERATIONS.allow.run(inside(place, 'elsewhere'), { loop: 'bent-1' })
  await expect(allowed).resolves.toMatchObject({ heard: 'nobody' })
})

describe('in a pane', () => {
  function inPane(place: OperationPlace, env: Record<string, string>): Promise<object> {
    const { context } = place
    const its = { ...context, env: { ...context.env, RALPH_PANE: 'c0ffee/api/v2', ...env } }
    return OPERATIONS.allow.run(its, { loop: 'bent-1' })
  }

  const refusedThere = {
    code: 'below-turn',
    message: 'The agent in pane api/v2 cannot do this: a person must do it from their own terminal.',
  }

  test('the agent allows nothing, even outside a loop', async () => {
    const place = await openBent()
    await expect(inPane(place, {})).rejects.toMatchObject(refusedThere)
    await expect(inPane(place, { RALPH_HOME: '' })).rejects.toMatchObject(refusedThere)
    await expect(inPane(place, { RALPH_HOME: place.context.home })).rejects.toMatchObject(refusedThere)
    expect(await place.context.store().nextOrder('bent-1')).toBeUndefined()
  })

  test('the agent neither assigns nor removes tasks', async () => {
    const { context } = await openBent()
    const its = { ...context, env: { ...context.env, RALPH_PANE: 'c0ffee/api/v2' } }
    await expect(OPERATIONS.give_task.run(its, { agent: '1', prompt: 'Go on.' })).rejects.toMatchObject(refusedThere)
    await expect(OPERATIONS.drop_task.run(its, { agent: '1', task: 1 })).rejects.toMatchObject(refusedThere)
  })

  test('a symlink to the home is the same home', async () => {
    const place = await openBent()
    const link = join(place.cwd, 'home')
    symlinkSync(place.context.home, link)
    await expect(inPane(place, { RALPH_HOME: link })).rejects.toMatchObject(refusedThere)
  })

  test('an agent of another home counts as a person', async () => {
    const place = await openBent()
    await expect(inPane(place, { RALPH_HOME: join(place.cwd, 'other') })).resolves.toMatchObject({ heard: 'nobody' })
  })
})

describe('below a session that has a loop', () => {
  /** The session's host is an ancestor of this process. */
  async function openSession(pid: number): Promise<OperationPlace> {
    const place = await openBent()
    await bentLoop(place.context, 'own-1', { work: { ...specOf().work, dir: place.cwd } })
    arm(place.context.home, 's-1', { loop: 'own-1', host: 'claude', face: '', context: 'same', since: 0, pid })
    return place
  }

  test('the agent allows nothing', async () => {
    const place = await openSession(process.ppid)
    await expect(place.run('allow', { loop: 'bent-1' })).rejects.toMatchObject(refused('own-1'))
  })

  test('once that has ended, it may', async () => {
    const place = await openSession(process.ppid)
    await place.run('cancel', { loop: 'own-1' })
    await expect(place.run('allow', { loop: 'bent-1' })).resolves.toMatchObject({ heard: 'nobody' })
  })

  test('a request from any other process counts as a person', async () => {
    const place = await openSession(2 ** 30)
    await expect(place.run('allow', { loop: 'bent-1' })).resolves.toMatchObject({ heard: 'nobody' })
  })
})

test('exactly the operations that check the caller are marked as for people', () => {
  const texts = readdirSync(import.meta.dirname)
    .filter((file) => /^(?!.*test)[a-z-]+\.ts$/.test(file))
    .flatMap((file) => readFileSync(join(import.meta.dirname, file), 'utf8').split(/^(?=export const )/m))
  const asks = texts
    .filter((text) => text.includes('await refuseBelowTurn('))
    .map((text) => /name: '(\w+)'/.exec(text)?.[1])
  const flagged = Object.values(OPERATIONS).flatMap(({ name, person }) => (person ? [name] : []))
  // Anyone may resume a loop; only people may change its limits.
  expect(asks.sort()).toEqual([...flagged, 'resume'].sort())
})
