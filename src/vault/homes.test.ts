import { existsSync, rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { errorOf, INTO, openVault, work } from './vault.test-support.ts'

describe('a task that another ralph keeps in its own home', () => {
  const twoHomes = async () => {
    const vault = openVault()
    await INTO.in_progress(vault, 'a')
    return { vault, other: vault.open({ home: `${vault.home}-other` }) }
  }

  test('can be looked at, and is not touched by that', async () => {
    const { vault, other } = await twoHomes()
    const before = vault.read('Ralph_State/a.json')
    vault.clock.now += 3_600_000
    expect(await other.getTaskState('a')).toEqual(vault.written('a'))
    expect(await other.getTaskState({ task_id: 'a', history_limit: 0 })).toMatchObject({ iterations_history: [] })
    expect(await other.checkTaskComplete('a')).toBe(false)
    expect(await other.listTasks()).toMatchObject([{ task_id: 'a', status: 'in_progress' }])
    expect(vault.read('Ralph_State/a.json')).toBe(before)
    expect(vault.has('Ralph_State/.hook/a')).toBe(true)
    vault.move('Needs_Action/a.md', 'Done/a.md')
    expect(await other.checkTaskComplete('a')).toBe(true)
  })

  test.each(['incrementIteration', 'completeTask', 'handleTimeout', 'startTask'] as const)(
    'is not moved by %s',
    async (call) => {
      const { vault, other } = await twoHomes()
      const calls = {
        incrementIteration: () => other.incrementIteration(work('a')),
        completeTask: () => other.completeTask('a'),
        handleTimeout: () => other.handleTimeout('a'),
        startTask: () => other.startTask('Needs_Action/a.md'),
      }
      expect(await errorOf(calls[call]())).toMatchObject({
        code: 'loop-held',
        message: `Task a belongs to another ralph, whose RALPH_HOME is ${vault.home}. Use that RALPH_HOME, or wait until the task has ended.`,
      })
      expect(await vault.ralph.incrementIteration(work('a'))).toMatchObject({ iteration: 2 })
    },
  )

  test('is shown by its state file if it was started later', async () => {
    const { vault, other } = await twoHomes()
    vault.move('Needs_Action/a.md', 'Done/a.md')
    await vault.ralph.completeTask('a')
    vault.move('Done/a.md', 'Needs_Action/a.md')
    vault.clock.now += 60_000
    await other.startTask('Needs_Action/a.md')
    vault.move('Needs_Action/a.md', 'Done/a.md')
    await other.completeTask('a')
    const written = vault.read('Ralph_State/a.json')
    expect(await vault.ralph.getTaskState('a')).toMatchObject({ status: 'completed', iteration: 0 })
    expect(vault.read('Ralph_State/a.json')).toBe(written)
  })

  test('is taken over when that home no longer exists', async () => {
    const { vault, other } = await twoHomes()
    await vault.ralph.close()
    rmSync(vault.home, { recursive: true })
    expect(await other.incrementIteration(work('a'))).toMatchObject({ iteration: 2 })
    expect(existsSync(vault.home)).toBe(false)
  })
})

test('a list includes the tasks that only their state files know', async () => {
  const vault = openVault(['a.md', 'b.md'])
  for (const id of ['a', 'b']) await INTO.in_progress(vault, id)
  await vault.ralph.close()
  rmSync(vault.home, { recursive: true })
  expect((await vault.open().listTasks()).map(({ task_id }) => task_id).sort()).toEqual(['a', 'b'])
})

test('a closed one says so', async () => {
  const vault = openVault()
  await INTO.in_progress(vault, 'a')
  await vault.ralph.close()
  for (const call of [vault.ralph.getTaskState('a'), vault.ralph.checkTaskComplete('a')])
    expect(await errorOf(call)).toMatchObject({ code: 'usage', message: expect.stringContaining('is closed') })
})

test('a task whose start was interrupted still holds its session, once it is looked at', async () => {
  const vault = openVault()
  await INTO.initializing(vault, 'a')
  rmSync(`${vault.path}/Ralph_State/.hook`, { recursive: true })
  await vault.ralph.getTaskState('a')
  expect(vault.read('Ralph_State/.hook/a')).toMatch(/^a\.md\n/)
})

test('a file with nothing to do is not a task', async () => {
  const vault = openVault([])
  for (const text of [' \n\r\n', '---\npriority: high\n---\n\n']) {
    vault.put('Needs_Action/a.md', text)
    expect(await errorOf(vault.ralph.startTask('Needs_Action/a.md'))).toMatchObject({ code: 'input-invalid' })
  }
})

test('a call that is not allowed yet names the actual state', async () => {
  const vault = openVault()
  await INTO.initializing(vault, 'a')
  expect((await errorOf(vault.ralph.completeTask('a'))).message).toContain(
    'is initializing and cannot become completed',
  )
})

test('a line break anywhere in a name is refused', async () => {
  const vault = openVault(['a.md\nx'])
  expect(await errorOf(vault.ralph.startTask('Needs_Action/a.md\nx'))).toMatchObject({ code: 'input-invalid' })
})
