import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { VaultOptions } from './contract.ts'
import { RalphWiggum } from './ralph-wiggum.ts'
import { errorOf, INTO, openVault, work } from './vault.test-support.ts'

test('names may be in snake_case and in camelCase', async () => {
  const vault = openVault(['a.md', 'b.md'])
  const { ralph } = vault
  await ralph.startTask({ taskFile: 'Needs_Action/a.md', maxIterations: 3, timeoutMinutes: 5 })
  await ralph.startTask({ task_file: 'Needs_Action/b.md', max_iterations: 3, timeout_minutes: 5 })
  await ralph.incrementIteration({ taskId: 'a', action: 'x', result: 'y', durationSeconds: 1.5 })
  await ralph.incrementIteration({ task_id: 'b', action: 'x', result: 'y', duration_seconds: 1.5 })
  await ralph.updateProgress({ taskId: 'a', stepsTotal: 2, stepsCompleted: 1, currentStep: 'z' })
  await ralph.updateProgress({ task_id: 'b', steps_total: 2, steps_completed: 1, current_step: 'z' })
  const [a, b] = [await ralph.getTaskState({ taskId: 'a', historyLimit: 1 }), await ralph.getTaskState('b')]
  expect({ ...a, task_id: 'b', task_file: b.task_file }).toEqual(b)
  expect(await ralph.checkTaskComplete({ taskId: 'a' })).toBe(false)
  for (const id of ['a', 'b']) vault.move(`Needs_Action/${id}.md`, `Done/${id}.md`)
  expect((await ralph.completeTask({ taskId: 'a', exitReason: 'fine' })).exit_reason).toBe('fine')
  expect((await ralph.completeTask({ task_id: 'b', exit_reason: 'fine' })).exit_reason).toBe('fine')
})

test('a plain string stands for the first of them', async () => {
  const vault = openVault(['a.md'])
  expect(await vault.ralph.startTask('Needs_Action/a.md')).toMatchObject({ task_id: 'a' })
  expect(await vault.ralph.checkTaskComplete('a')).toBe(false)
})

test('several values come in the order of the names', async () => {
  const vault = openVault(['a.md', 'b.md'])
  const { ralph } = vault
  const { started_at } = await ralph.startTask('Needs_Action/a.md', 3, 15)
  expect(await ralph.getTaskState('a')).toMatchObject({ max_iterations: 3, timeout_at: '2026-01-15T10:15:00Z' })
  expect(started_at).toBe('2026-01-15T10:00:00Z')
  expect(await ralph.incrementIteration('a', 'Draft', 'success', 120.5)).toMatchObject({ iteration: 1 })
  expect(await ralph.updateProgress('a', 5, 3, 'Review')).toEqual({
    task_id: 'a',
    progress: { steps_total: 5, steps_completed: 3, current_step: 'Review', percentage: 60 },
  })
  await ralph.incrementIteration('a', 'Review', 'success', 1)
  expect((await ralph.getTaskState('a', 1)).iterations_history).toMatchObject([{ action: 'Review' }])
  vault.move('Needs_Action/a.md', 'Done/a.md')
  expect((await ralph.completeTask('a', 'fine')).exit_reason).toBe('fine')
  await ralph.startTask('Needs_Action/b.md', undefined, 15)
  expect(await ralph.getTaskState('b')).toMatchObject({ max_iterations: 10, timeout_at: '2026-01-15T10:15:00Z' })
})

// Callers without types can hand over anything.
type Anything = (...input: unknown[]) => Promise<unknown>
const call =
  (ralph: RalphWiggum, name: string): Anything =>
  (...input) =>
    (ralph as unknown as Record<string, Anything>)[name]?.call(ralph, ...input) as Promise<unknown>

describe('surplus values are refused', () => {
  test.each<[name: string, input: unknown[], says: string]>([
    ['startTask', ['Needs_Action/b.md', '5'], 'max_iterations must be a whole number of at least 1, got "5".'],
    ['startTask', ['Needs_Action/b.md', 5, 0], 'timeout_minutes must be a number above 0, at most 525600, got 0.'],
    [
      'startTask',
      ['Needs_Action/b.md', 5, 15, 1],
      'startTask takes at most 3 values: task_file, max_iterations, timeout_minutes.',
    ],
    [
      'startTask',
      ['Needs_Action/b.md', { max_iterations: 5 }],
      'max_iterations must be a whole number of at least 1, got an object.',
    ],
    ['startTask', [{ task_file: 'Needs_Action/b.md' }, 5], 'startTask takes one object, or separate values.'],
    ['checkTaskComplete', ['a', 'b'], 'checkTaskComplete takes one value: task_id.'],
    ['handleTimeout', ['a', 5], 'handleTimeout takes one value: task_id.'],
  ])('%s %o', async (name, input, says) => {
    const vault = openVault(['a.md', 'b.md'])
    await INTO.in_progress(vault, 'a')
    const error = await errorOf(call(vault.ralph, name)(...input))
    expect([error.code, error.message]).toEqual(['input-invalid', expect.stringContaining(says)])
    expect(await vault.ralph.listTasks()).toMatchObject([{ task_id: 'a', status: 'in_progress' }])
  })
})

const progress = { task_id: 'a', steps_total: 2, steps_completed: 1, current_step: 'x' }
const circle: Record<string, unknown> = {}
circle.itself = circle

describe('an invalid input is refused, with its name and what is expected', () => {
  test.each<[name: string, input: unknown, says: string]>([
    ['startTask', undefined, 'startTask takes an object with task_file, max_iterations, timeout_minutes.'],
    ['startTask', null, 'takes an object'],
    ['startTask', ['a.md'], 'takes an object'],
    ['startTask', 5, 'takes an object'],
    ['startTask', {}, 'startTask: task_file must be a string, got nothing.'],
    ['startTask', { task_file: 5 }, 'task_file must be a string, got 5.'],
    [
      'startTask',
      { task_file: 'a.md', max_iterations: 0 },
      'max_iterations must be a whole number of at least 1, got 0.',
    ],
    ['startTask', { task_file: 'a.md', max_iterations: 1.5 }, 'got 1.5.'],
    ['startTask', { task_file: 'a.md', max_iterations: '5' }, 'got "5".'],
    ['startTask', { task_file: 'a.md', max_iterations: 5n }, 'got 5.'],
    ['startTask', { task_file: 'a.md', max_iterations: Number.NaN }, 'got NaN.'],
    ['startTask', { task_file: 'a.md', max_iterations: 1e9 }, 'max_iterations must be'],
    ['startTask', { task_file: 'a.md', max_iterations: circle }, 'got an object.'],
    ['startTask', { task_file: 'a.md', max_iterations: [5] }, 'got a list.'],
    [
      'startTask',
      { task_file: 'a.md', timeout_minutes: 0 },
      'timeout_minutes must be a number above 0, at most 525600, got 0.',
    ],
    ['startTask', { task_file: 'a.md', timeout_minutes: Infinity }, 'got Infinity.'],
    [
      'startTask',
      { task_file: 'a.md', max_iteration: 5 },
      'unknown name "max_iteration". Did you mean "max_iterations"?',
    ],
    ['checkTaskComplete', {}, 'checkTaskComplete: task_id must be a string, got nothing.'],
    ['checkTaskComplete', { id: 'a' }, 'checkTaskComplete: unknown name "id".'],
    [
      'incrementIteration',
      'a',
      'incrementIteration: action must be a string of at most 10000 characters, got nothing.',
    ],
    ['incrementIteration', { ...work('a'), action: 'x'.repeat(10_001) }, 'action must be a string of at most 10000'],
    ['incrementIteration', { ...work('a'), result: 'x'.repeat(1_001) }, 'result must be a string of at most 1000'],
    ['incrementIteration', { ...work('a'), result: true }, 'got true.'],
    ['incrementIteration', { ...work('a'), result: null }, 'got null.'],
    [
      'incrementIteration',
      { ...work('a'), duration_seconds: -1 },
      'duration_seconds must be a number of at least 0, got -1.',
    ],
    ['incrementIteration', { ...work('a'), duration_seconds: '60' }, 'got "60".'],
    [
      'getTaskState',
      { task_id: 'a', history_limit: -1 },
      'history_limit must be a whole number of at least 0, got -1.',
    ],
    ['updateProgress', { ...progress, steps_completed: 3 }, 'steps_completed is 3, but there are only 2 steps.'],
    ['updateProgress', { ...progress, steps_total: 2.5 }, 'steps_total must be a whole number of at least 0'],
    ['updateProgress', { ...progress, current_step: 5 }, 'current_step must be a string of at most 1000 characters'],
    ['completeTask', { task_id: 'a', exit_reason: 5 }, 'exit_reason must be'],
    ['handleTimeout', { task_id: 'a', why: 'x' }, 'handleTimeout: unknown name "why". It takes task_id.'],
    ['approveTask', { task_id: 'a', note: 5 }, 'note must be'],
    ['rejectTask', { task_id: 'a', __proto__x: 1 }, 'rejectTask: unknown name'],
  ])('%s %o', async (name, input, says) => {
    const vault = openVault()
    await INTO.in_progress(vault, 'a')
    const before = await vault.ralph.getTaskState('a')
    const error = await errorOf(call(vault.ralph, name)(input))
    expect(error.code).toBe('input-invalid')
    expect(error.message).toContain(says)
    expect(await vault.ralph.getTaskState('a')).toEqual(before)
  })

  test.each<[given: object, says: string]>([
    [{ vaultPath: 5 }, 'RalphWiggum: vault_path must be a string, got 5.'],
    [{}, 'RalphWiggum: vault_path must be a string, got nothing.'],
    [{ vaultPath: '.', maxIterations: 0 }, 'max_iterations must be a whole number of at least 1'],
    [{ vaultPath: '.', maxIteration: 5 }, 'unknown name "max_iteration". Did you mean "max_iterations"?'],
    [{ vaultPath: '.', timeout_minutes: '30' }, 'timeout_minutes must be a number above 0, at most 525600, got "30".'],
    [{ vaultPath: '.', doneFolder: '../Done' }, 'doneFolder must be a folder inside the vault'],
    [{ vaultPath: '.', doneFolder: 'Needs_Action' }, 'doneFolder must be a separate folder'],
    [{ vaultPath: '.', stateDir: '/tmp' }, 'stateDir must be a folder inside the vault'],
  ])('new RalphWiggum(%o)', (given, says) => {
    const { path, home } = openVault()
    const options = {
      ...given,
      ...('vaultPath' in given && given.vaultPath === '.' ? { vaultPath: path } : {}),
      home,
      env: {},
    }
    // What a caller without types can hand over.
    expect(() => new RalphWiggum(options as VaultOptions)).toThrow(says)
  })
})

describe('an unknown task', () => {
  test.each([
    ...['checkTaskComplete', 'getTaskState', 'completeTask', 'handleTimeout', 'handleMaxIterations'],
    ...['approveTask', 'rejectTask'],
  ])('%s says so', async (name) => {
    const { ralph, path } = openVault()
    for (const id of ['b', '', '../a', '.', 'x'.repeat(5_000), 'a\0', '__proto__'])
      expect(await errorOf(call(ralph, name)(id))).toMatchObject({
        name: 'TaskNotFoundError',
        taskId: id,
        message: `Task not found: ${id}. \`ralph task list\` lists those in ${path}.`,
      })
  })

  test('is not counted, and has no progress', async () => {
    const { ralph } = openVault()
    expect((await errorOf(ralph.incrementIteration(work('b')))).name).toBe('TaskNotFoundError')
    expect((await errorOf(ralph.updateProgress({ ...progress, task_id: 'b' }))).name).toBe('TaskNotFoundError')
  })
})

describe('settings', () => {
  const first = { task_file: 'Needs_Action/a.md' }

  async function limitsOf(ralph: RalphWiggum): Promise<string> {
    const { task_id, state_file, timeout_at } = await ralph.startTask(first)
    const { max_iterations } = await ralph.getTaskState(task_id)
    return `${max_iterations} ${timeout_at.slice(11, 16)} ${state_file}`
  }

  const env = {
    RALPH_MAX_ITERATIONS: '4',
    RALPH_TIMEOUT_MINUTES: '40',
    RALPH_STATE_DIR: 'FromEnv',
    RALPH_DONE_FOLDER: 'DoneEnv',
  }
  const config = { max_iterations: 3, timeout_minutes: 20, state_dir: 'FromFile', done_folder: 'DoneFile' }

  test('are the defaults if nothing is set', async () => {
    expect(await limitsOf(openVault().ralph)).toBe('10 10:30 Ralph_State/a.json')
  })

  test('come from the file of the vault', async () => {
    const vault = openVault()
    writeFileSync(join(vault.path, 'ralph.config.json'), JSON.stringify(config))
    expect(await limitsOf(vault.open())).toBe('3 10:20 FromFile/a.json')
  })

  test('of the environment override the file', async () => {
    const vault = openVault()
    writeFileSync(join(vault.path, 'ralph.config.json'), JSON.stringify(config))
    expect(await limitsOf(vault.open({ env }))).toBe('4 10:40 FromEnv/a.json')
    expect(vault.names('.')).toContain('DoneEnv')
  })

  test.each<[how: string, given: Partial<VaultOptions>]>([
    ['camelCase', { maxIterations: 5, timeoutMinutes: 50, stateDir: 'Mine', doneFolder: 'Finished' }],
    ['snake_case', { max_iterations: 5, timeout_minutes: 50, state_dir: 'Mine', done_folder: 'Finished' }],
  ])('of the constructor override all, in %s', async (_, given) => {
    const vault = openVault()
    writeFileSync(join(vault.path, 'ralph.config.json'), JSON.stringify(config))
    const ralph = vault.open({ env, ...given })
    expect(await limitsOf(ralph)).toBe('5 10:50 Mine/a.json')
    vault.move('Needs_Action/a.md', 'Finished/a.md')
    expect(await ralph.checkTaskComplete('a')).toBe(true)
    expect((await ralph.incrementIteration(work('a'))).status).toBe('completed')
  })

  test('may be absolute paths in the vault', async () => {
    const vault = openVault()
    const ralph = vault.open({ doneFolder: join(vault.path, 'Done'), stateDir: join(vault.path, 'Ralph_State') })
    expect((await ralph.startTask(first)).state_file).toBe('Ralph_State/a.json')
  })

  test('of another caller do not move a running task', async () => {
    const vault = openVault()
    await vault.ralph.startTask(first)
    vault.move('Needs_Action/a.md', 'Done/a.md')
    expect(await vault.open({ doneFolder: 'Finished' }).checkTaskComplete('a')).toBe(true)
  })

  test('have the home of ralph from the environment', async () => {
    const vault = openVault()
    await INTO.in_progress(vault, 'a')
    const ralph = new RalphWiggum({
      vaultPath: vault.path,
      env: { RALPH_HOME: vault.home },
      now: () => vault.clock.now,
    })
    expect((await ralph.getTaskState('a')).iteration).toBe(2)
    await ralph.close()
  })
})
