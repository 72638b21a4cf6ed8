import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStore } from '../host/sqlite.ts'
import { errorOf, openVault, type Vault, work } from './vault.test-support.ts'

const CHECKED = '---\nverify: test -e proof\n---\nMake a proof.\n'

async function begin(head = CHECKED, max_iterations = 10): Promise<Vault> {
  const vault = openVault([])
  vault.put('Needs_Action/a.md', head)
  await vault.ralph.startTask({ task_file: 'Needs_Action/a.md', max_iterations })
  return vault
}

async function proofOf(vault: Vault): Promise<string> {
  const store = openStore(vault.home, Date.now)
  const { next } = await store.load((await store.tasks.load(vault.path, 'a'))?.loop ?? '')
  await store.close()
  return next.kind === 'complete' ? next.proof : next.kind === 'halt' ? next.sentence : next.kind
}

const done = (vault: Vault) => vault.move('Needs_Action/a.md', 'Done/a.md')
const prove = (vault: Vault) => writeFileSync(join(vault.path, 'proof'), '')

describe('a task with a check', () => {
  test('is not completed by its file alone', async () => {
    const vault = await begin()
    done(vault)
    expect(await vault.ralph.incrementIteration(work('a'))).toMatchObject({
      status: 'in_progress',
      should_continue: true,
    })
    const { code, message } = await errorOf(vault.ralph.completeTask('a'))
    expect([code, message]).toEqual([
      'task-state',
      'Task a is in_progress and cannot become completed. Its checks do not pass.',
    ])
    expect(vault.written('a')).toEqual(await vault.ralph.getTaskState('a'))
  })

  test.each<[by: string, end: (vault: Vault) => Promise<{ status: string }>]>([
    ['the iteration', ({ ralph }) => ralph.incrementIteration(work('a'))],
    ['completeTask', ({ ralph }) => ralph.completeTask('a')],
  ])('is completed by %s once the check passes, which may have passed before', async (_, end) => {
    const vault = await begin()
    done(vault)
    await vault.ralph.incrementIteration(work('a'))
    prove(vault)
    expect((await end(vault)).status).toBe('completed')
    expect(await proofOf(vault)).toBe('kept')
  })

  test('is completed by its proof in the last iteration', async () => {
    const vault = await begin(CHECKED, 1)
    prove(vault)
    done(vault)
    expect((await vault.ralph.incrementIteration(work('a'))).status).toBe('completed')
  })

  test('has used all its iterations when the check still fails in the last one', async () => {
    const vault = await begin(CHECKED, 1)
    done(vault)
    expect((await vault.ralph.incrementIteration(work('a'))).status).toBe('max_iterations_reached')
  })

  test('that cannot be started has failed, and the state says so', async () => {
    const vault = await begin('---\nverify: no-such-program --now\n---\nDo it.\n')
    done(vault)
    const { message } = await errorOf(vault.ralph.completeTask('a'))
    expect(message).toBe('Task a is failed and cannot become completed. Its checks do not pass.')
    expect(vault.written('a').status).toBe('failed')
    expect(await proofOf(vault)).toContain('no-such-program')
  })

  test('tells the Stop hook that the file alone is not enough', async () => {
    const vault = await begin()
    expect(vault.read('Ralph_State/.hook/a')).toBe(`a.md\nchecks\n${vault.home}\n`)
  })

  test('must pass all of several', async () => {
    const vault = await begin('---\nverify: ["test -e proof", "test -e other"]\n---\nDo it.\n')
    done(vault)
    prove(vault)
    expect((await errorOf(vault.ralph.completeTask('a'))).message).toContain('Its checks do not pass.')
    vault.put('other')
    expect((await vault.ralph.completeTask('a')).status).toBe('completed')
  })
})

test('a task without one is completed by its file', async () => {
  const vault = await begin('Do it.\n')
  done(vault)
  expect((await vault.ralph.completeTask('a')).status).toBe('completed')
  expect(await proofOf(vault)).toBe('claimed')
})

test.each([
  ['max_iterations: many', 'Needs_Action/a.md: max_iterations must be a whole number above 0, got "many".'],
  ['agent: "command:rm -rf /"', 'Needs_Action/a.md: agent must be an agent name'],
  ['timeout_minutes: -1', 'Needs_Action/a.md: timeout_minutes must be'],
])('a head with %s is refused, and nothing starts', async (line, says) => {
  const vault = openVault([])
  vault.put('Needs_Action/a.md', `---\n${line}\n---\nDo it.\n`)
  const error = await errorOf(vault.ralph.startTask({ task_file: 'Needs_Action/a.md' }))
  expect(error.message).toContain(says)
  expect(vault.has('Ralph_State')).toBe(false)
})
