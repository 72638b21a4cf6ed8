import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { TASK_STATUSES } from '../formats/task-state.ts'
import { RalphWiggum } from '../index.ts'
import { INTO, MINUTE, openVault, START, work } from './vault.test-support.ts'

describe('the examples of the contract', () => {
  test('a simple task is worked on until its file is in Done', async () => {
    const vault = openVault(['task_simple.md'])
    const agent = (iteration: number) => {
      if (iteration === 3) vault.move('Needs_Action/task_simple.md', 'Done/task_simple.md')
    }

    const ralph = new RalphWiggum({ vault_path: vault.path, home: vault.home, env: {} })
    const task = await ralph.startTask({
      task_file: join(vault.path, 'Needs_Action/task_simple.md'),
      max_iterations: 5,
      timeout_minutes: 15,
    })
    let iteration = 0
    while (!(await ralph.checkTaskComplete(task.task_id))) {
      agent(++iteration)
      await ralph.incrementIteration({
        task_id: task.task_id,
        action: 'Current action',
        result: 'success',
        duration_seconds: 60.0,
      })
      await ralph.updateProgress({
        task_id: task.task_id,
        steps_total: 3,
        steps_completed: 1,
        current_step: 'Working on step 1',
      })
    }
    const result = await ralph.completeTask(task.task_id)
    expect(`Task completed in ${result.metrics.iterations} iterations`).toBe('Task completed in 3 iterations')
    expect(vault.written('task_simple')).toMatchObject({ status: 'completed', iteration: 3 })
    await ralph.close()
  })

  test('a complex task is watched, and its timeout handled', async () => {
    const { ralph, clock } = openVault(['task_complex.md'])
    const task = await ralph.startTask({
      task_file: 'Needs_Action/task_complex.md',
      max_iterations: 10,
      timeout_minutes: 30,
    })
    const before = await ralph.getTaskState(task.task_id)
    expect(`Progress: ${before.progress.percentage}%`).toBe('Progress: 0%')

    clock.now += 30 * MINUTE
    const state = await ralph.getTaskState(task.task_id)
    expect(state.status).toBe('timeout')
    expect(await ralph.handleTimeout(task.task_id)).toEqual({
      task_id: 'task_complex',
      status: 'timeout',
      exit_reason: 'timeout',
      completed_at: '2026-01-15T10:30:00Z',
      message: 'Task exceeded 30 minute timeout. Progress saved.',
    })
  })
})

describe('the iteration of a state', () => {
  test('is the current one, as in the contract; the counting call returns the one it counted', async () => {
    const vault = openVault(['a.md'])
    const { ralph } = vault
    await ralph.startTask('Needs_Action/a.md')
    expect(await ralph.getTaskState('a')).toMatchObject({ status: 'initializing', iteration: 0 })
    const told = await ralph.incrementIteration('a', 'Read task requirements', 'success', 45.2)
    expect(told).toEqual({
      task_id: 'a',
      iteration: 1,
      max_iterations: 10,
      status: 'in_progress',
      should_continue: true,
    })
    expect(await ralph.incrementIteration('a', 'Draft proposal outline', 'success', 120.5)).toMatchObject({
      iteration: 2,
    })
    await ralph.updateProgress('a', 5, 2, 'Writing proposal sections')
    const state = await ralph.getTaskState('a')
    expect(state).toMatchObject({
      status: 'in_progress',
      iteration: 3,
      progress: { steps_total: 5, steps_completed: 2, current_step: 'Writing proposal sections', percentage: 40 },
      iterations_history: [
        { iteration: 1, action: 'Read task requirements', result: 'success', duration_seconds: 45.2 },
        { iteration: 2, action: 'Draft proposal outline', result: 'success', duration_seconds: 120.5 },
      ],
    })
    expect(vault.written('a')).toEqual(state)
  })

  test('starts with the first report about the work', async () => {
    const { ralph } = openVault(['a.md'])
    await ralph.startTask('Needs_Action/a.md')
    await ralph.updateProgress('a', 2, 0, 'Reading')
    expect(await ralph.getTaskState('a')).toMatchObject({ status: 'in_progress', iteration: 1, iterations_history: [] })
  })

  test.each(['waiting_approval', 'completed', 'failed', 'timeout'] as const)(
    'is the last one if none is running: %s',
    async (into) => {
      const vault = openVault(['a.md'])
      await INTO[into](vault, 'a')
      expect(await vault.ralph.getTaskState('a')).toMatchObject({ status: into, iteration: 1 })
    },
  )

  test('is never above the maximum', async () => {
    const vault = openVault(['a.md'])
    await INTO.in_progress(vault, 'a')
    expect(await vault.ralph.getTaskState('a')).toMatchObject({ iteration: 2, max_iterations: 2 })
    await vault.ralph.incrementIteration(work('a'))
    expect(await vault.ralph.getTaskState('a')).toMatchObject({ status: 'max_iterations_reached', iteration: 2 })
  })
})

type Schema = { [name: string]: Kind | Schema | [Schema] }
type Kind = (value: unknown) => boolean

const words: Kind = (value) => typeof value === 'string'
const whole: Kind = (value) => Number.isSafeInteger(value) && Number(value) >= 0
const amount: Kind = (value) => typeof value === 'number' && value >= 0
const countOrNull: Kind = (value) => value === null || whole(value)
const flag: Kind = (value) => typeof value === 'boolean'
const time: Kind = (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(String(value))
const status: Kind = (value) => TASK_STATUSES.some((known) => known === value)
const one = (wanted: unknown): Kind => {
  return (value) => value === wanted
}

const PROGRESS = { steps_total: whole, steps_completed: whole, current_step: words, percentage: amount }
const STATE: Schema = {
  task_id: words,
  task_file: words,
  status,
  iteration: whole,
  max_iterations: whole,
  started_at: time,
  last_updated: time,
  timeout_at: time,
  progress: PROGRESS,
  iterations_history: [{ iteration: whole, timestamp: time, action: words, result: words, duration_seconds: amount }],
}
const STOPPED = { exit_reason: words, completed_at: time, message: words }

const SCHEMAS = {
  startTask: { task_id: words, state_file: words, status: one('initializing'), started_at: time, timeout_at: time },
  incrementIteration: { task_id: words, iteration: whole, max_iterations: whole, status, should_continue: flag },
  getTaskState: STATE,
  updateProgress: { task_id: words, progress: PROGRESS },
  completeTask: {
    task_id: words,
    status: one('completed'),
    completed_at: time,
    exit_reason: words,
    metrics: {
      total_duration_seconds: amount,
      iterations: whole,
      api_calls: countOrNull,
      files_created: countOrNull,
      files_modified: countOrNull,
    },
  },
  handleTimeout: { task_id: words, status: one('timeout'), ...STOPPED },
  handleMaxIterations: { task_id: words, status: one('max_iterations_reached'), ...STOPPED },
  error: { error: { type: words, message: words, task_id: words, recoverable: flag, action_required: words } },
} satisfies Record<string, Schema>

/** What does not fit: names, their order, and values. */
function misfits(value: unknown, schema: Schema, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [`${path} is no object`]
  const [names, wanted] = [Object.keys(value), Object.keys(schema)]
  if (names.join() !== wanted.join()) return [`${path} has ${names.join()} instead of ${wanted.join()}`]
  return Object.entries(value).flatMap(([name, each]: [string, unknown]) => {
    const kind = schema[name]
    const here = `${path}.${name}`
    if (typeof kind === 'function') return kind(each) ? [] : [`${here} is ${JSON.stringify(each)}`]
    if (Array.isArray(kind))
      return Array.isArray(each) ? each.flatMap((item, n) => misfits(item, kind[0], `${here}.${n}`)) : [here]
    return misfits(each, kind ?? {}, here)
  })
}

const ID = 'task_client_proposal_20260115'
const FILE = `Needs_Action/${ID}.md`

/** As the contract shows them. */
const SAMPLES = {
  startTask: {
    task_id: ID,
    state_file: `Ralph_State/${ID}.json`,
    status: 'initializing',
    started_at: '2026-01-15T10:00:00Z',
    timeout_at: '2026-01-15T10:30:00Z',
  },
  incrementIteration: {
    task_id: ID,
    iteration: 2,
    max_iterations: 10,
    status: 'in_progress',
    should_continue: true,
  },
  getTaskState: {
    task_id: ID,
    task_file: `/Vault/${FILE}`,
    status: 'in_progress',
    iteration: 3,
    max_iterations: 10,
    started_at: '2026-01-15T10:00:00Z',
    last_updated: '2026-01-15T10:05:30Z',
    timeout_at: '2026-01-15T10:30:00Z',
    progress: {
      steps_total: 5,
      steps_completed: 2,
      current_step: 'Writing proposal sections',
      percentage: 40.0,
    },
    iterations_history: [
      {
        iteration: 1,
        timestamp: '2026-01-15T10:00:00Z',
        action: 'Read task requirements',
        result: 'success',
        duration_seconds: 45.2,
      },
      {
        iteration: 2,
        timestamp: '2026-01-15T10:03:00Z',
        action: 'Draft proposal outline',
        result: 'success',
        duration_seconds: 120.5,
      },
    ],
  },
  updateProgress: {
    task_id: ID,
    progress: {
      steps_total: 5,
      steps_completed: 3,
      current_step: 'Review and refine proposal',
      percentage: 60.0,
    },
  },
  completeTask: {
    task_id: ID,
    status: 'completed',
    completed_at: '2026-01-15T10:15:30Z',
    exit_reason: 'completed',
    metrics: {
      total_duration_seconds: 930.0,
      iterations: 5,
      api_calls: 12,
      files_created: 1,
      files_modified: 3,
    },
  },
  handleTimeout: {
    task_id: ID,
    status: 'timeout',
    exit_reason: 'timeout',
    completed_at: '2026-01-15T10:30:00Z',
    message: 'Task exceeded 30 minute timeout. Progress saved.',
  },
  handleMaxIterations: {
    task_id: ID,
    status: 'max_iterations_reached',
    exit_reason: 'max_iterations',
    completed_at: '2026-01-15T10:20:00Z',
    message: 'Task reached maximum 10 iterations. Manual intervention required.',
  },
  error: {
    error: {
      type: 'MaxIterationsError',
      message: 'Task reached maximum 10 iterations',
      task_id: ID,
      recoverable: false,
      action_required: 'manual_review',
    },
  },
} satisfies Record<keyof typeof SCHEMAS, unknown>

describe('what the calls answer', () => {
  const names = Object.keys(SCHEMAS) as (keyof typeof SCHEMAS)[] // which are its keys by its type

  test.each(names)('%s fits as the contract shows it', (name) => {
    expect(misfits(SAMPLES[name], SCHEMAS[name])).toEqual([])
  })

  test('a schema finds what is missing, extra, out of order or of the wrong type', () => {
    const { task_id, progress } = SAMPLES.updateProgress
    for (const wrong of [
      { task_id },
      { progress, task_id },
      { task_id, progress, more: 1 },
      { task_id, progress: { ...progress, percentage: '60' } },
    ])
      expect(misfits(wrong, SCHEMAS.updateProgress)).toHaveLength(1)
  })

  test('is exactly the sample of the contract, for the same story', async () => {
    const vault = openVault([`${ID}.md`])
    const { ralph, clock } = vault
    const at = (minutes: number, seconds = 0) => {
      clock.now = START + minutes * MINUTE + seconds * 1_000
    }
    vault.put('notes.md', 'old')
    const started = await ralph.startTask({
      task_file: join(vault.path, FILE),
      max_iterations: 10,
      timeout_minutes: 30,
    })
    expect(started).toEqual(SAMPLES.startTask)
    expect(misfits(started, SCHEMAS.startTask)).toEqual([])
    expect(misfits(vault.written(ID), SCHEMAS.getTaskState)).toEqual([])

    const told = { task_id: ID, result: 'success' }
    at(0, 45.2)
    await ralph.incrementIteration({ ...told, action: 'Read task requirements', duration_seconds: 45.2 })
    at(5, 0.5)
    const counted = await ralph.incrementIteration({
      ...told,
      action: 'Draft proposal outline',
      duration_seconds: 120.5,
    })
    expect(counted).toEqual(SAMPLES.incrementIteration)
    expect(misfits(counted, SCHEMAS.incrementIteration)).toEqual([])

    at(5, 30)
    await ralph.updateProgress({
      task_id: ID,
      steps_total: 5,
      steps_completed: 2,
      current_step: 'Writing proposal sections',
    })
    const state = await ralph.getTaskState(ID)
    expect(state).toEqual({ ...SAMPLES.getTaskState, task_file: join(vault.path, FILE) })
    expect(misfits(state, SCHEMAS.getTaskState)).toEqual([])
    expect(vault.written(ID)).toEqual(state)

    const noted = { task_id: ID, steps_total: 5, steps_completed: 3, current_step: 'Review and refine proposal' }
    const progress = await ralph.updateProgress(noted)
    expect(progress).toEqual(SAMPLES.updateProgress)
    expect(misfits(progress, SCHEMAS.updateProgress)).toEqual([])

    for (let n = 3; n <= 5; n++) await ralph.incrementIteration(work(ID))
    vault.put('proposal.md')
    vault.put('notes.md', 'changed')
    vault.move(FILE, `Done/${ID}.md`)
    at(15, 30)
    const completed = await ralph.completeTask({ task_id: ID, exit_reason: 'completed' })
    const metrics = { ...SAMPLES.completeTask.metrics, api_calls: null, files_modified: 1 }
    expect(completed).toEqual({ ...SAMPLES.completeTask, metrics })
    expect(misfits(completed, SCHEMAS.completeTask)).toEqual([])
    expect(misfits(vault.written(ID), SCHEMAS.getTaskState)).toEqual([])
  })

  test('is the sample even for a task that has used all its iterations', async () => {
    const vault = openVault([`${ID}.md`])
    await vault.ralph.startTask({ task_file: FILE })
    vault.clock.now += 20 * MINUTE
    for (let n = 1; n <= 10; n++) await vault.ralph.incrementIteration(work(ID))
    const stopped = await vault.ralph.handleMaxIterations(ID)
    expect(stopped).toEqual(SAMPLES.handleMaxIterations)
    expect(misfits(stopped, SCHEMAS.handleMaxIterations)).toEqual([])
    const error = await vault.ralph.incrementIteration(work(ID)).catch((cause: unknown) => cause)
    expect(JSON.parse(JSON.stringify(error))).toEqual(SAMPLES.error)
    expect(misfits(JSON.parse(JSON.stringify(error)), SCHEMAS.error)).toEqual([])
  })

  test('is the sample even for a task that timed out', async () => {
    const vault = openVault([`${ID}.md`])
    await vault.ralph.startTask({ task_file: FILE })
    vault.clock.now += 30 * MINUTE
    const stopped = await vault.ralph.handleTimeout(ID)
    expect(stopped).toEqual(SAMPLES.handleTimeout)
    expect(misfits(stopped, SCHEMAS.handleTimeout)).toEqual([])
  })

  test.each(TASK_STATUSES)('the state file fits when the task is %s', async (state) => {
    const vault = openVault()
    await INTO[state](vault, 'a')
    expect(vault.written('a').status).toBe(state)
    expect(misfits(vault.written('a'), SCHEMAS.getTaskState)).toEqual([])
    expect(misfits(await vault.ralph.getTaskState('a'), SCHEMAS.getTaskState)).toEqual([])
  })

  test('checkTaskComplete is true or false', async () => {
    const vault = openVault()
    await vault.ralph.startTask({ task_file: 'Needs_Action/a.md' })
    expect(await vault.ralph.checkTaskComplete('a')).toBe(false)
    vault.move('Needs_Action/a.md', 'Done/a.md')
    expect(await vault.ralph.checkTaskComplete('a')).toBe(true)
    expect(await vault.ralph.checkTaskComplete({ task_id: 'a' })).toBe(true)
  })

  test('listTasks returns the states of all, without their iterations', async () => {
    const vault = openVault(['a.md', 'b.md'])
    await INTO.completed(vault, 'a')
    vault.clock.now += MINUTE
    await INTO.in_progress(vault, 'b')
    const { iterations_history: _, ...schema } = STATE
    const rows = await vault.ralph.listTasks()
    expect(rows.map(({ task_id, status: each }) => `${task_id} ${each}`)).toEqual(['a completed', 'b in_progress'])
    for (const row of rows) expect(misfits(row, schema)).toEqual([])
  })
})

describe('a vault', () => {
  test('can be closed while calls are running, which all finish', async () => {
    const vault = openVault()
    const { ralph } = vault
    await ralph.startTask({ task_file: 'Needs_Action/a.md' })
    vault.put('Needs_Action/b.md')
    const calls = [
      ralph.incrementIteration(work('a')),
      ralph.updateProgress({ task_id: 'a', steps_total: 2, steps_completed: 1, current_step: 'x' }),
      ralph.handleTimeout('a'),
      ralph.startTask({ task_file: 'Needs_Action/b.md' }),
    ]
    await ralph.close()
    await Promise.all(calls)
    expect(vault.written('a')).toMatchObject({ status: 'timeout', iteration: 1 })
    expect(vault.written('b').status).toBe('initializing')
  })

  test('has no tasks of another vault', async () => {
    const [one, other] = [openVault(), openVault()]
    await INTO.in_progress(one, 'a')
    await expect(other.open({ home: one.home }).getTaskState('a')).rejects.toThrow('Task not found: a')
  })

  test('reached by a link is the same vault', async () => {
    const vault = openVault()
    await INTO.in_progress(vault, 'a')
    symlinkSync(vault.path, join(vault.home, 'link'))
    const ralph = vault.open({ vaultPath: join(vault.home, 'link') })
    expect(await ralph.getTaskState('a')).toMatchObject({ iteration: 2, task_file: `${vault.path}/Needs_Action/a.md` })
  })

  test.each([
    ['not found', 'nowhere'],
    ['not a folder', 'Needs_Action/a.md'],
  ])('that is %s is refused', (what, path) => {
    const vault = openVault()
    expect(() => vault.open({ vaultPath: join(vault.path, path) })).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining(what) }),
    )
  })

  test('that is moved away while open is missed, not recreated', async () => {
    const vault = openVault()
    await INTO.in_progress(vault, 'a')
    vault.move('.', '../elsewhere')
    for (const call of [
      vault.ralph.incrementIteration(work('a')),
      vault.ralph.completeTask('a'),
      vault.ralph.handleTimeout('a'),
      vault.ralph.startTask({ task_file: 'Needs_Action/b.md' }),
    ])
      await expect(call).rejects.toMatchObject({ code: expect.stringMatching(/file-unusable|task-unknown/) })
    expect(await vault.ralph.getTaskState('a')).toMatchObject({ status: 'in_progress', iteration: 2 })
    expect(existsSync(vault.path)).toBe(false)
    vault.move('../elsewhere', '.')
    expect(await vault.ralph.incrementIteration(work('a'))).toMatchObject({ iteration: 2 })
  })
})
