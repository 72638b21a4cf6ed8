import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { TASK_STATUSES, type VaultStatus } from '../formats/task-state.ts'
import { openStore } from '../host/sqlite.ts'
import { CALLS, type Call, TRANSITIONS } from './lifecycle.ts'
import { CALL, errorOf, INTO, MINUTE, openVault, START, type Vault, work } from './vault.test-support.ts'

const calls = Object.keys(CALLS) as Call[] // which are its keys by its type
const started = { task_file: 'Needs_Action/a.md' }

describe('the table', () => {
  test('has each state once, and no way out of those at the end', () => {
    expect(Object.keys(TRANSITIONS)).toEqual([...TASK_STATUSES])
    const ends = TASK_STATUSES.filter((status) => TRANSITIONS[status].length === 0)
    expect(ends).toEqual(['completed', 'failed', 'timeout', 'max_iterations_reached'])
  })

  test.each(calls)('every way that %s takes is a way of the table', (call) => {
    const { to, from } = CALLS[call]
    for (const status of from) if (to !== 'same' && status !== to) expect(reachable(status)).toContain(to)
  })

  test.each(TASK_STATUSES)('a task can be brought to %s', async (status) => {
    const vault = openVault()
    await INTO[status](vault, 'a')
    expect((await vault.ralph.getTaskState('a')).status).toBe(status)
  })
})

function reachable(from: VaultStatus, seen: VaultStatus[] = []): VaultStatus[] {
  return TRANSITIONS[from].flatMap((next) => (seen.includes(next) ? [] : [next, ...reachable(next, [...seen, next])]))
}

describe.each(calls)('%s', (call) => {
  const allowed = CALLS[call].from
  // It asks for the file besides.
  const needsDone = call === 'completeTask'

  test.each(allowed)('is allowed for a task that is %s', async (status) => {
    const vault = openVault()
    await INTO[status](vault, 'a')
    if (needsDone && status !== 'completed')
      vault.move(`${status === 'waiting_approval' ? 'Pending_Approval' : 'Needs_Action'}/a.md`, 'Done/a.md')
    await CALL[call](vault.ralph, 'a')
    const { status: after } = await vault.ralph.getTaskState('a')
    const { to } = CALLS[call]
    const expected =
      call === 'updateProgress' && status === 'initializing' ? 'in_progress' : to === 'same' ? status : to
    // The second of two iterations is the last.
    expect(after).toBe(call === 'incrementIteration' && status === 'in_progress' ? 'max_iterations_reached' : expected)
    expect(vault.written('a').status).toBe(after)
  })

  const refused = TASK_STATUSES.filter((status) => !allowed.includes(status))
  if (refused.length > 0)
    test.each(refused)('is refused for a task that is %s, and changes nothing', async (status) => {
      const vault = openVault()
      await INTO[status](vault, 'a')
      const before = await vault.ralph.getTaskState('a')
      const error = await errorOf(CALL[call](vault.ralph, 'a'))
      const named = { timeout: 'TimeoutError', max_iterations_reached: 'MaxIterationsError' }[String(status)]
      if (call === 'incrementIteration' && named) expect(error.name).toBe(named)
      else {
        expect(error.code).toBe('task-state')
        expect(error.message).toContain(`Task a is ${status} and cannot become ${CALLS[call].to}. `)
      }
      expect(await vault.ralph.getTaskState('a')).toEqual(before)
      expect(vault.written('a')).toEqual(before)
    })
})

describe('a call that leads where the task already is', () => {
  test.each<[status: VaultStatus, call: Call]>([
    ['completed', 'completeTask'],
    ['timeout', 'handleTimeout'],
    ['max_iterations_reached', 'handleMaxIterations'],
  ])('gives a task that is %s the same answer again', async (status, call) => {
    const vault = openVault()
    await INTO[status](vault, 'a')
    const first = await CALL[call](vault.ralph, 'a')
    const before = await vault.ralph.getTaskState('a')
    vault.clock.now += MINUTE
    expect(await CALL[call](vault.ralph, 'a')).toEqual(first)
    expect(await vault.ralph.getTaskState('a')).toEqual(before)
  })

  test('does not change why a task was completed', async () => {
    const vault = openVault()
    await INTO.completed(vault, 'a')
    const ask = (exit_reason?: string) =>
      vault.ralph.completeTask(exit_reason === undefined ? 'a' : { task_id: 'a', exit_reason })
    expect((await ask('the client agreed')).exit_reason).toBe('the client agreed')
    expect((await ask('another')).exit_reason).toBe('the client agreed')
    expect((await ask()).exit_reason).toBe('the client agreed')
  })
})

describe('completeTask', () => {
  test.each<VaultStatus>(['initializing', 'in_progress', 'waiting_approval'])(
    'is refused while %s and the file is not in Done, and says so',
    async (status) => {
      const vault = openVault()
      await INTO[status](vault, 'a')
      const { message } = await errorOf(vault.ralph.completeTask('a'))
      expect(message).toMatch(
        /^Task a is \S+ and cannot become completed\. a\.md is not in Done: move it there first\.$/,
      )
      expect((await vault.ralph.getTaskState('a')).status).toBe(status)
    },
  )

  test.each(['failed', 'timeout', 'max_iterations', 'max_iterations_reached'])(
    'refuses %s as the reason',
    async (exit_reason) => {
      const vault = openVault()
      await INTO.completed(vault, 'a')
      expect(await errorOf(vault.ralph.completeTask({ task_id: 'a', exit_reason }))).toMatchObject({
        code: 'input-invalid',
        message: expect.stringContaining(`"${exit_reason}"`),
      })
    },
  )

  test('counts no iteration', async () => {
    const vault = openVault()
    await vault.ralph.startTask(started)
    vault.move('Needs_Action/a.md', 'Done/a.md')
    expect((await vault.ralph.completeTask('a')).metrics.iterations).toBe(0)
  })
})

describe('handleTimeout', () => {
  test('does not end a task whose file is in Done', async () => {
    const vault = openVault()
    await INTO.in_progress(vault, 'a')
    vault.move('Needs_Action/a.md', 'Done/a.md')
    const { message } = await errorOf(vault.ralph.handleTimeout('a'))
    expect(message).toBe(
      'Task a is in_progress and cannot become timeout. Its file is in the done folder: complete it instead.',
    )
    expect((await vault.ralph.completeTask('a')).status).toBe('completed')
  })
})

describe('the maximum of iterations', () => {
  test('is counted up to, and one more is refused and not counted', async () => {
    const { ralph, written } = openVault()
    await ralph.startTask({ ...started, max_iterations: 3 })
    const answers = []
    for (let n = 1; n <= 3; n++) answers.push(await ralph.incrementIteration(work('a')))
    expect(answers.map(({ iteration, status, should_continue }) => [iteration, status, should_continue])).toEqual([
      [1, 'in_progress', true],
      [2, 'in_progress', true],
      [3, 'max_iterations_reached', false],
    ])
    for (let n = 0; n < 2; n++)
      expect(await errorOf(ralph.incrementIteration(work('a')))).toMatchObject({ name: 'MaxIterationsError' })
    const state = await ralph.getTaskState('a')
    expect(state.iteration).toBe(3)
    expect(state.iterations_history.map(({ iteration }) => iteration)).toEqual([1, 2, 3])
    expect(written('a')).toEqual(state)
  })

  test('lets a task be done in its last iteration', async () => {
    const vault = openVault()
    await vault.ralph.startTask({ ...started, max_iterations: 1 })
    vault.move('Needs_Action/a.md', 'Done/a.md')
    const counted = await vault.ralph.incrementIteration(work('a'))
    expect(counted).toEqual({
      task_id: 'a',
      iteration: 1,
      max_iterations: 1,
      status: 'completed',
      should_continue: false,
    })
  })

  test('comes from the call, before the file, before the settings', async () => {
    const vault = openVault([], { maxIterations: 7, timeoutMinutes: 70 })
    vault.put('Needs_Action/plain.md')
    vault.put('Needs_Action/head.md', '---\nmax_iterations: 4\ntimeout_minutes: 40\n---\nDo it.\n')
    const limits = async (task: { task_file: string; max_iterations?: number; timeout_minutes?: number }) => {
      const { task_id, timeout_at } = await vault.ralph.startTask(task)
      const { max_iterations } = await vault.ralph.getTaskState(task_id)
      await vault.ralph.handleTimeout(task_id)
      return [max_iterations, (Date.parse(timeout_at) - START) / MINUTE]
    }
    expect(await limits({ task_file: 'Needs_Action/plain.md' })).toEqual([7, 70])
    expect(await limits({ task_file: 'Needs_Action/head.md' })).toEqual([4, 40])
    const asked = { task_file: 'Needs_Action/head.md', max_iterations: 2, timeout_minutes: 20 }
    expect(await limits(asked)).toEqual([2, 20])
  })
})

describe('time', () => {
  test('that runs out during an iteration ends the task, and that iteration counts', async () => {
    const { ralph, clock } = openVault()
    await ralph.startTask(started)
    clock.now += 31 * MINUTE
    expect(await ralph.incrementIteration(work('a'))).toMatchObject({
      iteration: 1,
      status: 'timeout',
      should_continue: false,
    })
    expect(await errorOf(ralph.incrementIteration(work('a')))).toMatchObject({
      name: 'TimeoutError',
      message: 'Task exceeded 30 minute timeout',
    })
    expect((await ralph.getTaskState('a')).iteration).toBe(1)
  })

  test('that has run out is noticed by whoever looks', async () => {
    const { ralph, clock, written } = openVault()
    await ralph.startTask(started)
    clock.now += 30 * MINUTE - 1
    expect((await ralph.getTaskState('a')).status).toBe('initializing')
    clock.now += 1
    expect((await ralph.getTaskState('a')).status).toBe('timeout')
    expect(written('a')).toMatchObject({ status: 'timeout', last_updated: '2026-01-15T10:30:00Z' })
  })

  test('that has run out does not undo what is already done', async () => {
    const vault = openVault()
    await INTO.in_progress(vault, 'a')
    vault.move('Needs_Action/a.md', 'Done/a.md')
    vault.clock.now += 31 * MINUTE
    expect((await vault.ralph.getTaskState('a')).status).toBe('in_progress')
    expect((await vault.ralph.completeTask('a')).status).toBe('completed')
  })

  test('of a clock set forward ends a task, and setting it back does not revive it', async () => {
    const { ralph, clock } = openVault()
    await ralph.startTask(started)
    clock.now += 24 * 60 * MINUTE
    expect((await ralph.getTaskState('a')).status).toBe('timeout')
    clock.now = START
    expect((await ralph.getTaskState('a')).status).toBe('timeout')
  })

  test('of a clock set back makes no task younger than its start', async () => {
    const vault = openVault()
    const { ralph, clock } = vault
    await ralph.startTask(started)
    clock.now -= 60 * MINUTE
    await ralph.incrementIteration(work('a'))
    const state = await ralph.getTaskState('a')
    expect(state).toMatchObject({ status: 'in_progress', iteration: 2, timeout_at: '2026-01-15T10:30:00Z' })
    expect(state.iterations_history[0]?.timestamp).toBe('2026-01-15T10:00:00Z')
    vault.move('Needs_Action/a.md', 'Done/a.md')
    const { metrics, completed_at } = await ralph.completeTask('a')
    expect([metrics.total_duration_seconds, completed_at]).toEqual([0, '2026-01-15T10:00:00Z'])
  })

  test('stops while waiting for a person', async () => {
    const vault = openVault()
    const { ralph, clock } = vault
    await INTO.waiting_approval(vault, 'a')
    clock.now += 600 * MINUTE
    expect((await ralph.getTaskState('a')).status).toBe('waiting_approval')
    const { status, timeout_at } = await ralph.approveTask('a')
    expect([status, timeout_at]).toEqual(['in_progress', '2026-01-15T20:30:00Z'])
    clock.now += 31 * MINUTE
    expect((await ralph.getTaskState('a')).status).toBe('timeout')
  })
})

describe('a task that a person has paused', () => {
  async function paused(vault: Vault): Promise<string> {
    await INTO.in_progress(vault, 'a')
    const store = openStore(vault.home, () => vault.clock.now)
    const loop = (await store.tasks.load(vault.path, 'a'))?.loop ?? ''
    await store.tell(loop, 'Ada', { kind: 'pause' })
    await store.close()
    return loop
  }

  test('counts no iteration, and says so', async () => {
    const vault = openVault()
    const loop = await paused(vault)
    const error = await errorOf(vault.ralph.incrementIteration(work('a')))
    expect(error.message).toBe(`Task a is paused, so no iteration is counted. \`ralph resume ${loop}\` resumes it.`)
    const state = await vault.ralph.getTaskState('a')
    expect(state).toMatchObject({ status: 'in_progress', iteration: 2, iterations_history: [{ iteration: 1 }] })
  })

  test('can be completed', async () => {
    const vault = openVault()
    await paused(vault)
    vault.move('Needs_Action/a.md', 'Done/a.md')
    expect((await vault.ralph.completeTask('a')).status).toBe('completed')
  })
})

describe('a task that has ended', () => {
  test.each<[status: VaultStatus, from: string]>([
    ['completed', 'Done/a.md'],
    ['failed', 'Failed/a.md'],
    ['timeout', 'Needs_Action/a.md'],
    ['max_iterations_reached', 'Needs_Action/a.md'],
  ])('%s can be started again, from scratch', async (status, from) => {
    const vault = openVault()
    await INTO[status](vault, 'a')
    if (!from.startsWith('Needs')) vault.move(from, 'Needs_Action/a.md')
    expect((await vault.ralph.startTask(started)).status).toBe('initializing')
    expect(await vault.ralph.getTaskState('a')).toMatchObject({ iteration: 0, iterations_history: [] })
    expect(await vault.ralph.checkTaskComplete('a')).toBe(false)
  })

  test('is found in the right place even after a restart with another extension', async () => {
    const vault = openVault()
    const other = vault.open()
    await INTO.completed(vault, 'a')
    expect([await vault.ralph.checkTaskComplete('a'), await other.checkTaskComplete('a')]).toEqual([true, true])
    vault.put('Needs_Action/a.txt')
    await vault.ralph.startTask({ task_file: 'Needs_Action/a.txt' })
    expect([await vault.ralph.checkTaskComplete('a'), await other.checkTaskComplete('a')]).toEqual([false, false])
  })

  test('leaves nothing for the Stop hook', async () => {
    const vault = openVault(['a.md'], { env: { CLAUDE_CODE_SESSION_ID: 's1' } })
    await INTO.in_progress(vault, 'a')
    expect(vault.names('Ralph_State/.hook')).toEqual(['a', 'session.s1'])
    expect([vault.read('Ralph_State/.hook/a'), vault.read('Ralph_State/.hook/session.s1')]).toEqual([
      `a.md\n\n${vault.home}\n`,
      'a\n',
    ])
    await vault.ralph.handleTimeout('a')
    expect(vault.names('Ralph_State/.hook')).toEqual([])
  })
})

test('the end of a task does not touch the same task restarted', async () => {
  const vault = openVault()
  const other = vault.open()
  for (let n = 0; n < 10; n += 1) {
    await vault.ralph.startTask('Needs_Action/a.md')
    const ending = vault.ralph.handleTimeout('a')
    for (let begun = false; !begun; )
      begun = await other.startTask('Needs_Action/a.md').then(
        () => true,
        () => false,
      )
    await ending
    expect(vault.has('Ralph_State/.hook/a')).toBe(true)
    await other.handleTimeout('a')
  }
})

describe('a vault that is unavailable for a while', () => {
  async function away() {
    const vault = openVault()
    await INTO.in_progress(vault, 'a')
    vault.move('Needs_Action/a.md', 'Done/a.md')
    renameSync(vault.path, `${vault.path}-away`)
    mkdirSync(vault.path)
    vault.clock.now += 31 * MINUTE
    const comesBack = () => {
      rmSync(vault.path, { recursive: true })
      renameSync(`${vault.path}-away`, vault.path)
    }
    return { vault, comesBack }
  }

  test('has no task that times out meanwhile', async () => {
    const { vault, comesBack } = await away()
    expect((await vault.ralph.getTaskState('a')).status).toBe('in_progress')
    expect((await errorOf(vault.ralph.handleTimeout('a'))).message).toContain('is the disk mounted?')
    comesBack()
    expect((await vault.ralph.completeTask('a')).status).toBe('completed')
  })
})

test('a closed one lists nothing', async () => {
  const { ralph } = openVault()
  await ralph.close()
  expect((await errorOf(ralph.listTasks())).message).toContain('is closed')
})

test('a task whose file is missing cannot be approved', async () => {
  const vault = openVault()
  await INTO.waiting_approval(vault, 'a')
  rmSync(join(vault.path, 'Pending_Approval/a.md'))
  expect((await errorOf(vault.ralph.approveTask('a'))).message).toContain('a.md is no longer in the vault')
  expect((await vault.ralph.rejectTask('a')).status).toBe('failed')
})
