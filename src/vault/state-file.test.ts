import { cpSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { TASK_STATUSES, type TaskState, type VaultStatus } from '../formats/task-state.ts'
import { openStore } from '../host/sqlite.ts'
import { CALL, errorOf, INTO, MINUTE, openVault, type Vault, work } from './vault.test-support.ts'

const pathOf = ({ path }: Vault) => join(path, 'Ralph_State/a.json')

const DAMAGES: [how: string, damage: (path: string) => void][] = [
  ['cut off', (path) => truncateSync(path, 100)],
  ['empty', (path) => truncateSync(path, 0)],
  ['no JSON', (path) => writeFileSync(path, 'status: in_progress\n')],
  ['JSON of another kind', (path) => writeFileSync(path, '[1, 2]\n')],
  ['an object without a state', (path) => writeFileSync(path, '{"task_id": "a"}\n')],
  ['binary', (path) => writeFileSync(path, Buffer.alloc(5_000, 0xfe))],
  [
    'a folder',
    (path) => {
      rmSync(path)
      mkdirSync(path)
      writeFileSync(join(path, 'x'), '')
    },
  ],
]

describe('a state file that is damaged', () => {
  test.each(DAMAGES)('%s is set aside, rebuilt from the database, and reported', async (_, damage) => {
    const vault = openVault()
    await INTO.in_progress(vault, 'a')
    damage(pathOf(vault))
    const state = await vault.ralph.getTaskState('a')
    expect(state).toMatchObject({ status: 'in_progress', iteration: 2 })
    expect(vault.written('a')).toEqual(state)
    const aside = 'a.json.broken-2026-01-15T10-00-00-000Z'
    expect(vault.names('Ralph_State')).toEqual(['.hook', 'a.json', aside])
    expect(vault.notes).toEqual([
      `Ralph_State/a.json was damaged. It is kept as Ralph_State/${aside} and was rebuilt from the database.`,
    ])
    await vault.ralph.getTaskState('a')
    expect(vault.notes).toHaveLength(1)
  })

  test.each<[call: string, act: (vault: Vault) => Promise<unknown>]>([
    ['incrementIteration', ({ ralph }) => ralph.incrementIteration(work('a'))],
    [
      'updateProgress',
      ({ ralph }) => ralph.updateProgress({ task_id: 'a', steps_total: 2, steps_completed: 1, current_step: 'x' }),
    ],
    ['handleTimeout', ({ ralph }) => ralph.handleTimeout('a')],
  ])('is set aside by %s too', async (_, act) => {
    const vault = openVault()
    await INTO.in_progress(vault, 'a')
    truncateSync(pathOf(vault), 100)
    await act(vault)
    expect(vault.names('Ralph_State').filter((name) => name.includes('.broken-'))).toHaveLength(1)
    expect(vault.notes).toEqual([expect.stringContaining('was damaged')])
    expect(vault.written('a').task_id).toBe('a')
  })

  test.each(DAMAGES)('%s is an error when the database does not know the task either', async (_, damage) => {
    const vault = openVault()
    mkdirSync(join(vault.path, 'Ralph_State'))
    writeFileSync(pathOf(vault), '{"task_id": "a", "task_file": "x"}'.repeat(10))
    damage(pathOf(vault))
    const error = await errorOf(vault.ralph.getTaskState('a'))
    expect(error).toMatchObject({ name: 'StateCorruptedError', recoverable: true, actionRequired: 'recreate_state' })
    expect(error.message).toBe(
      'Ralph_State/a.json is damaged, and the task is not in the database. Delete that file, then start the task again.',
    )
  })

  test.each(DAMAGES)('%s is no hindrance to starting the task', async (_, damage) => {
    const vault = openVault()
    await INTO.timeout(vault, 'a')
    damage(pathOf(vault))
    await vault.ralph.startTask({ task_file: 'Needs_Action/a.md' })
    expect(vault.written('a').status).toBe('initializing')
    expect(vault.notes).toHaveLength(1)
  })
})

describe('a task whose files cannot be written', () => {
  test('is not started, and can be once they can', async () => {
    const vault = openVault()
    vault.put('Ralph_State/.hook', 'in the way')
    const error = await errorOf(vault.ralph.startTask({ task_file: 'Needs_Action/a.md' }))
    expect(error).toMatchObject({ name: 'StateFileError', message: expect.stringContaining('.hook cannot be written') })
    expect(await vault.ralph.listTasks()).toEqual([])
    rmSync(join(vault.path, 'Ralph_State/.hook'))
    expect(await vault.ralph.startTask({ task_file: 'Needs_Action/a.md' })).toMatchObject({ status: 'initializing' })
  })
})

describe('a state folder that cannot be written', () => {
  test.each<[what: string, block: (path: string) => void]>([
    ['a file in its place', (path) => writeFileSync(path, '')],
    ['a link out of the vault', (path) => symlinkSync('/', path)],
    ['a link to nothing', (path) => symlinkSync('/no/such/folder', path)],
  ])('(%s) lets no task start', async (_, block) => {
    const vault = openVault()
    block(join(vault.path, 'Ralph_State'))
    const error = await errorOf(vault.ralph.startTask({ task_file: 'Needs_Action/a.md' }))
    expect(error).toMatchObject({ name: 'StateFileError', taskId: 'a', code: 'state-file', recoverable: true })
    expect(error.message).toContain('Ralph_State')
    rmSync(join(vault.path, 'Ralph_State'))
    expect(await vault.ralph.listTasks()).toEqual([])
    expect(await vault.ralph.startTask({ task_file: 'Needs_Action/a.md' })).toMatchObject({ status: 'initializing' })
  })

  test.each<[call: string, act: (vault: Vault) => Promise<unknown>]>([
    ['incrementIteration', ({ ralph }) => ralph.incrementIteration(work('a'))],
    ['updateProgress', ({ ralph }) => CALL.updateProgress(ralph, 'a')],
  ])('is reported by %s before any change, so that the call can be repeated', async (_, act) => {
    const vault = openVault()
    await INTO.in_progress(vault, 'a')
    const before = await vault.ralph.getTaskState('a')
    rmSync(join(vault.path, 'Ralph_State'), { recursive: true })
    vault.put('Ralph_State', 'in the way')
    expect(await errorOf(act(vault))).toMatchObject({ name: 'StateFileError', actionRequired: 'check_permissions' })
    rmSync(join(vault.path, 'Ralph_State'))
    expect(await vault.ralph.getTaskState('a')).toEqual(before)
    await act(vault)
    expect(vault.written('a')).toEqual(await vault.ralph.getTaskState('a'))
  })
})

describe('a state file', () => {
  test('that is missing is rebuilt', async () => {
    const vault = openVault()
    await INTO.in_progress(vault, 'a')
    rmSync(join(vault.path, 'Ralph_State'), { recursive: true })
    const state = await vault.ralph.getTaskState('a')
    expect(vault.written('a')).toEqual(state)
    expect(vault.notes).toEqual([])
  })

  test('that is older than the database, because a process died before writing, is updated', async () => {
    const vault = openVault()
    await INTO.in_progress(vault, 'a')
    const older = vault.read('Ralph_State/a.json')
    await vault.ralph.incrementIteration(work('a'))
    writeFileSync(pathOf(vault), older)
    const state = await vault.ralph.getTaskState('a')
    expect(state.iteration).toBe(2)
    expect(vault.written('a')).toEqual(state)
  })

  test('that is up to date is not rewritten', async () => {
    const vault = openVault()
    await INTO.in_progress(vault, 'a')
    const { ino, mtimeMs } = statSync(pathOf(vault))
    await vault.ralph.getTaskState('a')
    expect(statSync(pathOf(vault))).toMatchObject({ ino, mtimeMs })
  })

  test('that cannot be read is an error', async () => {
    const vault = openVault()
    await INTO.in_progress(vault, 'a')
    rmSync(join(vault.path, 'Ralph_State'), { recursive: true })
    writeFileSync(join(vault.path, 'Ralph_State'), '')
    expect(await errorOf(vault.ralph.getTaskState('a'))).toMatchObject({
      name: 'StateFileError',
      code: 'state-file',
      actionRequired: 'check_permissions',
    })
  })

  test('leaves nothing else behind, whoever writes it', async () => {
    const vault = openVault()
    const others = [vault.ralph, vault.open(), vault.open()]
    await vault.ralph.startTask({ task_file: 'Needs_Action/a.md', max_iterations: 100 })
    await Promise.all(Array.from({ length: 30 }, (_, n) => others[n % 3]?.incrementIteration(work('a'))))
    expect(vault.names('Ralph_State')).toEqual(['.hook', 'a.json'])
    expect(vault.written('a')).toEqual(await vault.ralph.getTaskState('a'))
    expect(vault.written('a').iteration).toBe(31)
  })

  test('stays below 50 KB after 1,000 iterations, which the API all knows', { timeout: 180_000 }, async () => {
    const vault = openVault()
    const { ralph } = vault
    await ralph.startTask({ task_file: 'Needs_Action/a.md', max_iterations: 2_000 })
    for (let n = 1; n <= 1_000; n++)
      await ralph.incrementIteration({ task_id: 'a', action: `Step ${n}`, result: 'success', duration_seconds: 1 })
    expect(statSync(pathOf(vault)).size).toBeLessThanOrEqual(50 * 1024)
    const { iterations_history: history } = await ralph.getTaskState('a')
    expect(history.map(({ iteration, action }) => `${iteration} ${action}`)).toEqual(
      Array.from({ length: 1_000 }, (_, n) => `${n + 1} Step ${n + 1}`),
    )
    const written = vault.written('a').iterations_history
    expect(written).toEqual(history.slice(-written.length))
    expect(written.length).toBeGreaterThan(200)
    for (const [limit, first] of [
      [0, undefined],
      [1, 1_000],
      [10, 991],
      [5_000, 1],
    ] as const) {
      const state = await ralph.getTaskState({ task_id: 'a', history_limit: limit })
      expect(state.iterations_history).toHaveLength(Math.min(limit, 1_000))
      expect(state.iterations_history[0]?.iteration).toBe(first)
    }
    expect((await vault.open().getTaskState('a')).iterations_history).toEqual(history)
  })
})

test('half-written files of a killed process are removed when the task ends', async () => {
  const vault = openVault()
  await INTO.in_progress(vault, 'a')
  const nobody = 2 ** 22 + 1 // above every number that a process can have
  for (const name of ['.a.json', '.hook/.a']) vault.put(`Ralph_State/${name}.${nobody}.1.tmp`, '{"task')
  vault.put(`Ralph_State/.a.json.${process.pid}.999999.tmp`, 'of a process that lives')
  await vault.ralph.handleTimeout('a')
  expect(vault.names('Ralph_State')).toEqual([`.a.json.${process.pid}.999999.tmp`, '.hook', 'a.json'])
  expect(vault.names('Ralph_State/.hook')).toEqual([])
})

describe('a vault that was moved', () => {
  async function moved(text: string) {
    const vault = openVault([])
    vault.put('Needs_Action/a.md', text)
    await INTO.in_progress(vault, 'a')
    const before = await vault.ralph.getTaskState('a')
    const path = `${vault.path}-elsewhere`
    renameSync(vault.path, path)
    return { vault, before, path, there: vault.open({ vaultPath: path }) }
  }

  test('takes its tasks along, with their checks', async () => {
    const { vault, before, path, there } = await moved('---\nverify: test -e proof\n---\nMake the proof.\n')
    const task_file = `${path}/Needs_Action/a.md`
    expect(await there.getTaskState('a')).toEqual({ ...before, task_file })
    expect(vault.notes).toEqual([`The vault was moved here from ${vault.path}, along with its tasks.`])
    mkdirSync(join(path, 'Done'), { recursive: true })
    renameSync(task_file, join(path, 'Done/a.md'))
    expect((await errorOf(there.completeTask('a'))).message).toContain('Its checks do not pass.')
    writeFileSync(join(path, 'proof'), '')
    expect((await there.completeTask('a')).metrics.iterations).toBe(1)
  })

  test('has the later of two tasks of one name', async () => {
    const vault = openVault()
    await INTO.timeout(vault, 'a')
    rmSync(vault.path, { recursive: true })
    const path = `${vault.path}-other`
    for (const file of ['a.md', 'b.md']) {
      mkdirSync(join(path, 'Needs_Action'), { recursive: true })
      writeFileSync(join(path, 'Needs_Action', file), 'Do it.')
    }
    vault.clock.now += MINUTE
    const there = vault.open({ vaultPath: path })
    for (const id of ['a', 'b']) await there.startTask(`Needs_Action/${id}.md`)
    await there.incrementIteration(work('a'))
    renameSync(path, vault.path)
    const back = vault.open()
    expect(await back.getTaskState('b')).toMatchObject({ status: 'initializing' })
    expect(await back.getTaskState('a')).toMatchObject({ status: 'in_progress', iteration: 2 })
  })

  test('does not start a task twice', async () => {
    const { there } = await moved('Do it.')
    expect((await errorOf(there.startTask('Needs_Action/a.md'))).message).toContain('is already in progress')
    expect(await there.getTaskState('a')).toMatchObject({ iteration: 2 })
  })

  test('has in its briefing what was done before', async () => {
    const { vault, there, path } = await moved('Do it.')
    await there.handleTimeout('a')
    await there.startTask('Needs_Action/a.md')
    renameSync(path, vault.path)
    await vault.ralph.listTasks()
    const store = openStore(vault.home, Date.now)
    expect((await store.list({ dir: vault.path, limit: 9 })).rows).toHaveLength(2)
    await store.close()
  })

  test('is known again when its tasks are listed', async () => {
    const { vault, there } = await moved('Do it.')
    expect(await there.listTasks()).toMatchObject([{ task_id: 'a', status: 'in_progress' }])
    expect(vault.notes).toHaveLength(1)
    expect((await there.incrementIteration(work('a'))).iteration).toBe(2)
  })

  test('is another vault if the first still exists', async () => {
    const vault = openVault()
    await INTO.in_progress(vault, 'a')
    const path = `${vault.path}-copy`
    cpSync(vault.path, path, { recursive: true })
    const there = vault.open({ vaultPath: path })
    expect((await there.incrementIteration(work('a'))).iteration).toBe(2)
    expect((await vault.ralph.getTaskState('a')).iteration).toBe(2)
  })
})

describe('a task that only its state file knows', () => {
  const STATES: [status: VaultStatus, iteration: number][] = [
    ...TASK_STATUSES.map((status): [VaultStatus, number] => [status, status === 'initializing' ? 0 : 2]),
    ['completed', 10],
    ['failed', 10],
    ['timeout', 10],
    ['max_iterations_reached', 10],
    ['waiting_approval', 10],
    ['completed', 0],
    ['timeout', 0],
    ['failed', 0],
  ]

  test.each(STATES)('%s after %i iterations is taken into the database as it is', async (status, iteration) => {
    const vault = openVault()
    const before = stateFile(vault, { status, iteration, max_iterations: status.startsWith('max') ? iteration : 10 })
    const after = await vault.ralph.getTaskState('a')
    expect(after).toEqual(before)
    expect(vault.notes).toEqual(['Task a was known only from its state file; it is in the database again.'])
    rmSync(pathOf(vault))
    expect(await vault.ralph.getTaskState('a')).toEqual(before)
    expect(vault.notes).toHaveLength(1)
  })

  test.each<VaultStatus>(['initializing', 'in_progress'])('%s continues', async (status) => {
    const vault = openVault()
    stateFile(vault, { status, iteration: status === 'initializing' ? 0 : 2 })
    const iteration = status === 'initializing' ? 1 : 3
    expect(await vault.ralph.incrementIteration(work('a'))).toMatchObject({ iteration, status: 'in_progress' })
    vault.move('Needs_Action/a.md', 'Done/a.md')
    expect((await vault.ralph.completeTask('a')).status).toBe('completed')
  })

  test('and that waits can be approved', async () => {
    const vault = openVault()
    stateFile(vault, { status: 'waiting_approval', iteration: 2 })
    vault.move('Needs_Action/a.md', 'Pending_Approval/a.md')
    expect((await vault.ralph.approveTask('a')).status).toBe('in_progress')
    expect(vault.has('Needs_Action/a.md')).toBe(true)
  })

  test('keeps its checks and its text', async () => {
    const vault = openVault([])
    vault.put('Needs_Action/a.md', '---\nverify: test -e proof\n---\nMake the proof.\n')
    stateFile(vault, { status: 'in_progress', iteration: 2 })
    expect((await vault.ralph.incrementIteration(work('a'))).iteration).toBe(3)
    const store = openStore(vault.home, Date.now)
    const [loop] = (await store.list({ dir: vault.path, limit: 1 })).rows
    expect((await store.load(loop?.id ?? '')).spec).toMatchObject({
      checks: ['test -e proof'],
      prompt: expect.stringContaining('Make the proof.'),
    })
    await store.close()
    vault.move('Needs_Action/a.md', 'Done/a.md')
    expect((await errorOf(vault.ralph.completeTask('a'))).message).toContain('Its checks do not pass.')
  })

  test.each<VaultStatus>(['completed', 'max_iterations_reached', 'timeout', 'failed'])(
    'and that is %s stays so, whatever its checks would say',
    async (status) => {
      const vault = openVault([])
      vault.put('Done/a.md', '---\nverify: touch run\n---\nMake the proof.\n')
      const state = stateFile(vault, { status, iteration: 2, max_iterations: 2 })
      expect(await vault.ralph.getTaskState('a')).toMatchObject({ status, iteration: state.iteration })
      expect(vault.has('run')).toBe(false)
    },
  )

  test('is not trusted with numbers beyond its count', async () => {
    const vault = openVault()
    const state = stateFile(vault, { status: 'in_progress', iteration: 2 })
    const odd = state.iterations_history.map((entry, n) => ({ ...entry, iteration: 7 + n }))
    writeFileSync(pathOf(vault), JSON.stringify({ ...state, iterations_history: odd }))
    const { iterations_history: history } = await vault.ralph.getTaskState('a')
    expect(history.map(({ iteration }) => iteration)).toEqual([1, 2])
  })

  test('keeps the numbers of its iterations, even if the last one is missing', async () => {
    const vault = openVault()
    const state = stateFile(vault, { status: 'in_progress', iteration: 3 })
    const two = state.iterations_history.slice(0, 2)
    writeFileSync(pathOf(vault), JSON.stringify({ ...state, iterations_history: two }))
    expect(await vault.ralph.getTaskState('a')).toMatchObject({ iteration: 4, iterations_history: two })
    await vault.ralph.incrementIteration(work('a'))
    const { iterations_history: history } = await vault.open().getTaskState('a')
    expect(history.map(({ iteration }) => iteration)).toEqual([1, 2, 4])
  })

  test('keeps its count where the file has only the newest iterations', async () => {
    const vault = openVault()
    const state = stateFile(vault, { status: 'in_progress', iteration: 5, max_iterations: 9 })
    const newest = state.iterations_history.slice(-2)
    writeFileSync(pathOf(vault), JSON.stringify({ ...state, iterations_history: newest }))
    expect(await vault.ralph.getTaskState('a')).toMatchObject({ iteration: 6, iterations_history: newest })
    expect((await vault.ralph.incrementIteration(work('a'))).iteration).toBe(6)
  })

  test('is taken over once, by the first of several', async () => {
    const vault = openVault()
    stateFile(vault, { status: 'in_progress', iteration: 5 })
    const callers = [vault.ralph, vault.open(), vault.open()]
    const answers = await Promise.all(callers.map((ralph) => ralph.incrementIteration(work('a'))))
    expect(answers.map(({ iteration }) => iteration).toSorted()).toEqual([6, 7, 8])
    const { iterations_history: history } = await vault.ralph.getTaskState('a')
    expect(history.map(({ action }) => action)).toEqual([
      ...['Step 1', 'Step 2', 'Step 3', 'Step 4', 'Step 5'],
      ...Array(3).fill(work('a').action),
    ])
  })

  test('counts finished iterations, even in a file without a current one', async () => {
    const vault = openVault()
    const state = stateFile(vault, { status: 'in_progress', iteration: 2 })
    writeFileSync(pathOf(vault), JSON.stringify({ ...state, iteration: 2 }))
    expect(await vault.ralph.getTaskState('a')).toEqual(state)
    expect((await vault.ralph.incrementIteration(work('a'))).iteration).toBe(3)
  })

  test('is read in the shape of an older version', async () => {
    const vault = openVault()
    mkdirSync(join(vault.path, 'Ralph_State'))
    const older = {
      taskId: 'a',
      taskFile: '/old/place/Needs_Action/a.md',
      status: 'in_progress',
      iteration: '1',
      startedAt: '2026-01-15T10:00:00.123456',
      iterationsHistory: [{ action: 'x', result: 'success' }],
    }
    writeFileSync(pathOf(vault), JSON.stringify(older))
    expect(await vault.ralph.getTaskState('a')).toMatchObject({
      task_id: 'a',
      task_file: `${vault.path}/Needs_Action/a.md`,
      status: 'in_progress',
      iteration: 2,
      max_iterations: 10,
      started_at: '2026-01-15T10:00:00Z',
      timeout_at: '2026-01-15T10:30:00Z',
    })
    vault.move('Needs_Action/a.md', 'Done/a.md')
    expect((await vault.ralph.incrementIteration(work('a'))).status).toBe('completed')
  })

  test('has the name of that file, whatever its id says', async () => {
    const vault = openVault()
    const state = stateFile(vault, { status: 'in_progress', iteration: 1 })
    writeFileSync(pathOf(vault), JSON.stringify({ ...state, task_id: 'b' }))
    expect((await vault.ralph.getTaskState('a')).task_id).toBe('a')
    expect((await errorOf(vault.ralph.getTaskState('b'))).name).toBe('TaskNotFoundError')
  })

  test.each(['../../etc/a.md', '/elsewhere/../../Needs_Action/a.md', '../Needs_Action/a.md'])(
    'is in the vault, even if its file says %s',
    async (task_file) => {
      const vault = openVault()
      const state = stateFile(vault, { status: 'in_progress', iteration: 1 })
      writeFileSync(pathOf(vault), JSON.stringify({ ...state, task_file }))
      expect((await vault.ralph.getTaskState('a')).task_file).toMatch(
        new RegExp(`^${vault.path}/(etc|Needs_Action)/a\\.md$`),
      )
    },
  )

  test('is not limited to zero by a file that says 0', async () => {
    const vault = openVault()
    stateFile(vault, { status: 'in_progress', iteration: 0, max_iterations: 0 })
    expect((await vault.ralph.incrementIteration(work('a'))).status).toBe('max_iterations_reached')
  })

  /** A state as another home has left it: one iteration a minute. */
  function stateFile(
    vault: Vault,
    {
      status,
      iteration: over,
      max_iterations = 10,
    }: { status: VaultStatus; iteration: number; max_iterations?: number },
  ): TaskState {
    const at = (minute: number) => `2026-01-15T10:${String(minute).padStart(2, '0')}:00Z`
    const state: TaskState = {
      task_id: 'a',
      task_file: join(vault.path, 'Needs_Action/a.md'),
      status,
      iteration: status === 'in_progress' ? over + 1 : over,
      max_iterations,
      started_at: at(0),
      last_updated: at(over),
      timeout_at: at(30),
      progress:
        status === 'in_progress'
          ? { steps_total: 4, steps_completed: 1, current_step: 'x', percentage: 25 }
          : { steps_total: 0, steps_completed: 0, current_step: '', percentage: 0 },
      iterations_history: Array.from({ length: over }, (_, n) => ({
        iteration: n + 1,
        timestamp: at(n),
        action: `Step ${n + 1}`,
        result: 'success',
        duration_seconds: 60,
      })),
    }
    mkdirSync(join(vault.path, 'Ralph_State'))
    writeFileSync(pathOf(vault), JSON.stringify(state))
    vault.clock.now += 15 * MINUTE
    return state
  }
})
