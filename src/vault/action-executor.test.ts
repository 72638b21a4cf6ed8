import { describe, expect, test } from 'vitest'
import { source, startScript } from '../host/place.test-support.ts'
import { ActionExecutor, type ActionStep } from '../index.ts'
import { errorOf, MINUTE, openVault, type Vault } from './vault.test-support.ts'

/** Steps that note that they were taken; `acts` is what some of them do besides. */
function stepsOf(names: readonly string[], acts: Readonly<Record<string, () => unknown>> = {}) {
  const taken: string[] = []
  const steps = names.map(
    (name): ActionStep => ({
      name,
      run() {
        taken.push(name)
        return acts[name]?.()
      },
    }),
  )
  return { steps, taken }
}

const finish = (vault: Vault) => () => vault.move('Needs_Action/a.md', 'Done/a.md')

async function begin(limits: { max_iterations?: number; timeout_minutes?: number } = {}): Promise<Vault> {
  const vault = openVault(['a.md'])
  await vault.ralph.startTask({ task_file: 'Needs_Action/a.md', ...limits })
  return vault
}

test('each step is reported as progress before it starts, and counted when it ends', async () => {
  const vault = await begin()
  const seen: unknown[] = []
  const look = () => seen.push(vault.written('a').progress)
  const { steps, taken } = stepsOf(['Read', 'Draft', 'Send'], { Read: look, Draft: look, Send: finish(vault) })
  const task = await vault.ralph.getTaskState('a')
  const state = await new ActionExecutor(vault.ralph).run(task, steps)
  expect(taken).toEqual(['Read', 'Draft', 'Send'])
  expect(seen).toEqual([
    { steps_total: 3, steps_completed: 0, current_step: 'Read', percentage: 0 },
    { steps_total: 3, steps_completed: 1, current_step: 'Draft', percentage: 33.3 },
  ])
  expect(state).toMatchObject({
    status: 'completed',
    iteration: 3,
    progress: { steps_total: 3, steps_completed: 3, current_step: '', percentage: 100 },
    iterations_history: ['Read', 'Draft', 'Send'].map((action, n) => ({ iteration: n + 1, action, result: 'success' })),
  })
  expect(vault.written('a')).toEqual(state)
  expect((await vault.ralph.completeTask('a')).metrics.iterations).toBe(3)
})

test("steps are awaited and receive the task's state", async () => {
  const vault = await begin()
  const heard: unknown[] = []
  const slow: ActionStep = {
    name: 'Wait',
    async run(state) {
      await new Promise((wake) => setTimeout(wake, 20))
      heard.push([state.status, state.iteration, state.task_file, state.progress.current_step])
    },
  }
  const state = await new ActionExecutor(vault.ralph).run('a', [slow])
  expect(heard).toEqual([['in_progress', 1, `${vault.path}/Needs_Action/a.md`, 'Wait']])
  expect(state).toMatchObject({ status: 'in_progress', progress: { percentage: 100 } })
  expect(state.iterations_history[0]?.duration_seconds).toBeGreaterThanOrEqual(0.015)
})

describe('it stops', () => {
  test('when all iterations are used', async () => {
    const vault = await begin({ max_iterations: 2 })
    const { steps, taken } = stepsOf(['one', 'two', 'three'])
    const executor = new ActionExecutor(vault.ralph)
    const state = await executor.run('a', steps)
    expect([taken, state.status, state.progress.steps_completed]).toEqual([['one', 'two'], 'max_iterations_reached', 2])
    expect(await executor.run('a', steps)).toEqual(state)
    expect(taken).toEqual(['one', 'two'])
  })

  test('when the time is up', async () => {
    const vault = await begin({ timeout_minutes: 5 })
    const { steps, taken } = stepsOf(['one', 'two'], { one: () => (vault.clock.now += 6 * MINUTE) })
    expect(await new ActionExecutor(vault.ralph).run('a', steps)).toMatchObject({ status: 'timeout' })
    expect(taken).toEqual(['one'])
  })

  test('when someone else has ended the task meanwhile', async () => {
    const vault = await begin()
    const { steps, taken } = stepsOf(['one', 'two'], { one: () => vault.open().handleTimeout('a') })
    expect(await new ActionExecutor(vault.ralph).run('a', steps)).toMatchObject({ status: 'timeout', iteration: 0 })
    expect(taken).toEqual(['one'])
  })

  test('when the file is in Done before all steps are taken', async () => {
    const vault = await begin()
    const { steps, taken } = stepsOf(['one', 'two'], { one: finish(vault) })
    const state = await new ActionExecutor(vault.ralph).run('a', steps)
    expect([taken, state.status, state.progress.percentage]).toEqual([['one'], 'completed', 50])
  })

  test('before the first step if the file is already in Done', async () => {
    const vault = await begin()
    finish(vault)()
    const { steps, taken } = stepsOf(['one'])
    expect(await new ActionExecutor(vault.ralph).run('a', steps)).toMatchObject({ status: 'completed', iteration: 0 })
    expect(taken).toEqual([])
  })

  test('when a person must approve, and continues when they have', async () => {
    const vault = await begin()
    const { steps, taken } = stepsOf(['ask', 'send'], {
      ask: () => vault.move('Needs_Action/a.md', 'Pending_Approval/a.md'),
      send: finish(vault),
    })
    const executor = new ActionExecutor(vault.ralph)
    expect(await executor.run('a', steps)).toMatchObject({ status: 'waiting_approval' })
    expect(await executor.run('a', steps)).toMatchObject({ status: 'waiting_approval' })
    await vault.ralph.approveTask('a')
    expect(await executor.run('a', steps)).toMatchObject({ status: 'completed' })
    expect(taken).toEqual(['ask', 'send'])
  })

  test('not while checks refuse what is in Done', async () => {
    const vault = openVault([])
    vault.put('Needs_Action/a.md', '---\nverify: test -e proof\n---\nMake the proof.\n')
    await vault.ralph.startTask('Needs_Action/a.md')
    finish(vault)()
    const { steps, taken } = stepsOf(['one', 'two'], { two: () => vault.put('proof') })
    expect(await new ActionExecutor(vault.ralph).run('a', steps)).toMatchObject({ status: 'completed', iteration: 2 })
    expect(taken).toEqual(['one', 'two'])
  })
})

test('a step that throws counts as failed, its error is rethrown, and the next run starts with it', async () => {
  const vault = await begin()
  let isDown = true
  const { steps, taken } = stepsOf(['one', 'two', 'three'], {
    two() {
      if (isDown) throw new Error('The server\nis down.')
    },
    three: finish(vault),
  })
  const executor = new ActionExecutor(vault.ralph)
  await expect(executor.run('a', steps)).rejects.toThrow('The server\nis down.')
  expect(await vault.ralph.getTaskState('a')).toMatchObject({
    status: 'in_progress',
    progress: { steps_total: 3, steps_completed: 1, current_step: 'two' },
    iterations_history: [{ result: 'success' }, { action: 'two', result: 'failed: The server is down.' }],
  })
  isDown = false
  expect(await executor.run('a', steps)).toMatchObject({ status: 'completed', iteration: 4 })
  expect(taken).toEqual(['one', 'two', 'two', 'three'])
})

test('after a kill, the next run continues at the interrupted step', async () => {
  const vault = openVault(['a.md'])
  const program = `
    const { RalphWiggum, ActionExecutor } = await import(${source('index.ts')})
    const ralph = new RalphWiggum({ vaultPath: ${JSON.stringify(vault.path)}, home: ${JSON.stringify(vault.home)}, env: {} })
    await ralph.startTask('Needs_Action/a.md')
    const hang = () => new Promise((wake) => setTimeout(wake, 60_000))
    await new ActionExecutor(ralph).run('a', [
      { name: 'one', run() {} },
      { name: 'two', run() { console.log('at two'); return hang() } },
    ])`
  const child = startScript(program)
  await expect.poll(() => child.lines(), { timeout: 20_000 }).toEqual(['at two'])
  process.kill(child.pid, 'SIGKILL')
  await child.ended
  vault.clock.now = Date.now()
  const { steps, taken } = stepsOf(['one', 'two', 'three'], { three: finish(vault) })
  expect(await new ActionExecutor(vault.ralph).run({ task_id: 'a' }, steps)).toMatchObject({
    status: 'completed',
    iteration: 3,
    iterations_history: [{ action: 'one' }, { action: 'two' }, { action: 'three' }],
  })
  expect(taken).toEqual(['two', 'three'])
})

test.each<[what: string, steps: unknown, says: string]>([
  ['no list', undefined, 'run takes a list of at least one step, each with a name and a function run.'],
  ['an empty list', [], 'run takes a list of at least one step, each with a name and a function run.'],
  ['no function', [{ name: 'one' }], 'run takes a list of at least one step, each with a name and a function run.'],
  ['no name', [{ name: ' ', run() {} }], 'run takes a list of at least one step, each with a name and a function run.'],
  [
    'one name twice',
    [
      { name: 'one', run() {} },
      { name: 'one', run() {} },
    ],
    'Two steps are named "one".',
  ],
])('%s is refused before anything starts', async (_, steps, says) => {
  const vault = await begin()
  const executor = new ActionExecutor(vault.ralph)
  const error = await errorOf(executor.run('a', steps as ActionStep[]))
  expect([error.code, error.message]).toEqual(['input-invalid', expect.stringContaining(says)])
  expect((await vault.ralph.getTaskState('a')).status).toBe('initializing')
})

test('an unknown task throws its named error', async () => {
  const { ralph } = openVault()
  const error = await errorOf(new ActionExecutor(ralph).run('nobody', stepsOf(['one']).steps))
  expect(error.name).toBe('TaskNotFoundError')
})

test.each([null, undefined, 7, {}])('a task that is %j is refused with a sentence', async (task) => {
  const executor = new ActionExecutor(openVault(['a.md']).ralph)
  await expect(executor.run(task as never, [{ name: 'one', run: async () => {} }])).rejects.toThrow('run takes a task')
})
