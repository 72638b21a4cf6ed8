import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { BoardTask } from '../formats/board-task.ts'
import { lockLoop } from '../host/lock.ts'
import { eventually, temporaryFolder } from '../host/place.test-support.ts'
import { makeRepository } from '../host/repository.test-support.ts'
import { SERVER_LOCK } from '../host/server-file.ts'
import { type OperationPlace, openPlace } from './place.test-support.ts'
import { type OpenWorkers, openWorkers, type Working } from './workers.ts'

const DONE = 'echo "<promise>COMPLETE</promise>"'

/** Agents, each from a shell snippet. */
function agentOf(lines: string): string {
  const file = join(temporaryFolder(), 'agent.sh')
  writeFileSync(file, `#!/bin/sh\ncat > prompt.txt\n${lines}\n`, { mode: 0o755 })
  return `command:${file}`
}

/** A place whose loops are run by workers. */
function openBoard(
  place: OperationPlace = openPlace(),
  how: Partial<Working> = {},
): OperationPlace & { workers: OpenWorkers; said: string[]; makeTask(fields: object): Promise<BoardTask> } {
  const said: string[] = []
  const workers = openWorkers(place.context, { concurrency: 4, say: (text) => void said.push(text), ...how })
  place.context.workers = workers
  onTestFinished(() => workers.stop())
  const makeTask = (fields: object) =>
    place.run('create_task', { title: 'Build it', repo: temporaryFolder(), ...fields })
  return { ...place, workers, said, makeTask }
}

/** A shell snippet that waits for a file. */
const until = (file: string) => `while ! test -e ${file}; do sleep 0.02; done`

const statusOf = async ({ run }: OperationPlace, task_id: string) => (await run('get_task', { task_id })).status

describe('workers', () => {
  test('drive a task to its end, and update its status', async () => {
    const place = openBoard()
    const { id, status } = await place.makeTask({ agent: agentOf(`touch done; ${DONE}`), checks: ['test -e done'] })
    expect(status).toBe('todo')
    const started = await place.run('start_loop', { task_id: id })
    expect(started).toMatchObject({ queued: true })
    await eventually(async () => (await statusOf(place, id)) === 'done')
    expect(await place.run('get_loop', { loop: started.loop })).toMatchObject({
      status: 'completed',
      standing: { kind: 'verified' },
    })
  })

  test('attend to a loop that waits for a rate limit, and leave it unattended when they stop', async () => {
    const place = openBoard()
    const script = join(temporaryFolder(), 'script.json')
    writeFileSync(script, JSON.stringify({ turns: [[{ 'rate-limit': { resetsInSeconds: 600 } }]] }))
    const { id } = await place.makeTask({ agent: `scripted:${script}` })
    const { loop } = await place.run('start_loop', { task_id: id })
    await eventually(async () => (await place.run('get_loop', { loop })).status === 'waiting')
    await eventually(async () => !(await place.run('get_loop', { loop })).alive)
    expect(await place.run('get_loop', { loop })).toMatchObject({ alive: false, unattended: false })
    await place.workers.stop()
    expect(await place.run('get_loop', { loop })).toMatchObject({ unattended: true })
  })

  test('tell the agent which task it works on', async () => {
    const place = openBoard()
    const agent = agentOf(`echo "$RALPH_TASK_ID" > task.txt; ${DONE}`)
    const { id } = await place.makeTask({ agent, repo: place.cwd })
    await place.run('start_loop', { task_id: id })
    await eventually(async () => (await statusOf(place, id)) === 'done')
    expect(readFileSync(join(place.cwd, 'task.txt'), 'utf8').trim()).toBe(id)
  })

  test('leave a task in review while its work waits to be accepted', async () => {
    const { dir } = await makeRepository()
    const place = openBoard()
    const { id } = await place.makeTask({ agent: agentOf(`touch new; ${DONE}`), repo: dir, worktree: true })
    const { loop } = await place.run('start_loop', { task_id: id })
    await eventually(async () => (await statusOf(place, id)) === 'in-review')
    await eventually(async () => !(await place.context.store().isDriven(loop)))
    await place.run('accept', { loop })
    expect(await statusOf(place, id)).toBe('done')
    expect(existsSync(join(dir, 'new'))).toBe(true)
  })

  test('give a plain task its bare prompt, once, and treat the turn as the claim', async () => {
    const place = openBoard()
    const { id } = await place.makeTask({
      title: 'Say hello',
      repo: place.cwd,
      use_ralph_wiggum: false,
      agent: agentOf('echo "I did it."'),
    })
    const { loop } = await place.run('start_loop', { task_id: id })
    await eventually(async () => (await statusOf(place, id)) === 'done')
    expect(readFileSync(join(place.cwd, 'prompt.txt'), 'utf8').trim()).toBe('Say hello')
    const found = await place.run('get_loop', { loop })
    expect(found).toMatchObject({ standing: { kind: 'claimed' }, iterations: [{ n: 1 }] })
  })

  test('do not call a plain task done whose checks fail', async () => {
    const place = openBoard()
    const { id } = await place.makeTask({
      use_ralph_wiggum: false,
      agent: agentOf('echo "I did it."'),
      checks: ['false'],
    })
    const { loop } = await place.run('start_loop', { task_id: id })
    await eventually(async () => (await place.run('get_loop', { loop })).status === 'halted')
    expect(await statusOf(place, id)).toBe('in-progress')
  })

  test('keep to their number, and take the highest priority first', async () => {
    const place = openPlace()
    const log = join(place.cwd, 'log')
    const agent = agentOf(`echo "begin $(basename "$PWD")" >> ${log}; echo "end $(basename "$PWD")" >> ${log}; ${DONE}`)
    const queue: string[] = []
    // Queued before any worker starts.
    place.context.workers = { take: () => {}, look: () => {} }
    for (const [name, priority] of [
      ['low', -1],
      ['first', 5],
      ['second', 5],
      ['plain', 0],
    ] as const) {
      const repo = join(place.cwd, name)
      mkdirSync(repo)
      const { id } = await place.run('create_task', { title: name, agent, priority, repo })
      queue.push((await place.run('start_loop', { task_id: id })).loop)
    }
    openBoard(place, { concurrency: 1 })
    for (const loop of queue)
      await eventually(async () => (await place.run('get_loop', { loop })).status === 'completed')
    const order = ['first', 'second', 'plain', 'low'].flatMap((name) => [`begin ${name}`, `end ${name}`])
    expect(readFileSync(log, 'utf8').trim().split('\n')).toEqual(order)
  })

  test('start a task when its dependencies are done', async () => {
    const place = openBoard()
    const repo = temporaryFolder()
    const first = await place.makeTask({ title: 'First', repo, agent: agentOf(`touch one; ${DONE}`) })
    const second = await place.makeTask({
      title: 'Second',
      repo,
      depends_on: [first.id],
      checks: ['test -e one'],
      agent: agentOf(DONE),
    })
    const { loop } = await place.run('start_loop', { task_id: second.id })
    expect(await place.run('get_task', { task_id: second.id })).toMatchObject({
      loop_status: 'queued',
      waits_for: [first.id],
    })
    await place.run('start_loop', { task_id: first.id })
    await eventually(async () => (await statusOf(place, second.id)) === 'done')
    const { events } = await place.run('list_events', { loop })
    expect(events[0]?.fact.kind).toBe('adopted')
  })

  test('keep a queued loop waiting when it gets a message', async () => {
    const place = openBoard()
    const first = await place.makeTask({ agent: agentOf(DONE) })
    const { id } = await place.makeTask({ agent: agentOf('sleep 0'), ralph_max_iterations: 1 })
    const { loop } = await place.run('start_loop', { task_id: id })
    await eventually(async () => (await place.run('get_loop', { loop })).status === 'halted')
    await place.run('add_dependency', { task_id: id, depends_on: first.id })
    const again = await place.run('retry', { loop, words: 'Use tabs.' })
    const probe = await place.makeTask({ agent: agentOf(DONE), priority: -1 })
    await place.run('start_loop', { task_id: probe.id })
    await eventually(async () => (await statusOf(place, probe.id)) === 'done')
    expect(await place.run('get_loop', { loop: again.loop })).toMatchObject({ status: 'queued' })
    await place.run('start_loop', { task_id: first.id })
    await eventually(async () => (await place.run('get_loop', { loop: again.loop })).status === 'halted')
  })

  test('pause running loops when they stop, and the next workers continue them', async () => {
    const place = openPlace()
    const go = join(place.cwd, 'go')
    const begun = join(place.cwd, 'begun')
    const board = openBoard(place)
    const agent = agentOf(`touch ${begun}; ${until(go)}; ${DONE}`)
    const { id } = await board.makeTask({ agent })
    const { loop } = await board.run('start_loop', { task_id: id })
    await eventually(() => existsSync(begun))
    await board.workers.stop()
    expect((await board.run('get_loop', { loop })).status).toBe('paused')
    writeFileSync(go, '')
    openBoard(place)
    await eventually(async () => (await statusOf(board, id)) === 'done')
  })

  test('never run two loops in one folder at once, even when resuming', async () => {
    const place = openPlace()
    const [repo, log, go] = [temporaryFolder(), join(place.cwd, 'log'), join(place.cwd, 'go')]
    const waits = until(go)
    const agent = agentOf(`echo begin >> ${log}; ${waits}; date +%N > work; echo end >> ${log}; ${DONE}`)
    const board = openBoard(place)
    const ids = [await board.makeTask({ repo, agent }), await board.makeTask({ repo, agent })].map(({ id }) => id)
    for (const task_id of ids) await board.run('start_loop', { task_id })
    await eventually(() => existsSync(log))
    await board.workers.stop()
    writeFileSync(log, '')
    openBoard(place)
    await eventually(() => readFileSync(log, 'utf8') !== '')
    writeFileSync(go, '')
    for (const id of ids) await eventually(async () => (await statusOf(board, id)) === 'done')
    expect(readFileSync(log, 'utf8').trim().split('\n')).toEqual(['begin', 'end', 'begin', 'end'])
  })

  test('leave loops alone that a person paused', async () => {
    const place = openPlace()
    place.context.workers = { take: () => {}, look: () => {} }
    const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: agentOf(DONE) })
    await place.run('pause', { loop })
    const board = openBoard(place)
    const other = await board.makeTask({ agent: agentOf(DONE) })
    await board.run('start_loop', { task_id: other.id })
    await eventually(async () => (await statusOf(board, other.id)) === 'done')
    expect((await board.run('get_loop', { loop })).status).toBe('paused')
    expect(await board.run('resume', { loop })).toEqual({ loop, heard: 'driver' })
    await eventually(async () => (await board.run('get_loop', { loop })).status === 'completed')
  })

  test('pause a loop that they cannot drive, and say why', async () => {
    const place = openPlace()
    place.context.workers = { take: () => {}, look: () => {} }
    const repo = temporaryFolder()
    const { id } = await place.run('create_task', { title: 'Build it', repo, agent: agentOf(DONE) })
    const { loop } = await place.run('start_loop', { task_id: id })
    rmSync(repo, { recursive: true })
    const board = openBoard(place)
    await eventually(async () => (await board.run('get_loop', { loop })).status !== 'queued')
    const found = await board.run('get_loop', { loop })
    expect([found.status, found.standing.sentence]).toEqual(['paused', expect.stringContaining(repo)])
  })

  test('continue a loop once its question is answered', async () => {
    const place = openBoard()
    const asked = join(place.cwd, 'asked')
    const agent = agentOf(`test -e ${asked} && { ${DONE}; exit; }; touch ${asked}; echo "<ask>Blue or red?</ask>"`)
    const { id } = await place.makeTask({ agent })
    const { loop } = await place.run('start_loop', { task_id: id })
    await eventually(async () => (await place.run('get_loop', { loop })).status === 'needs-input')
    expect(await place.run('steer', { loop, words: 'Blue.' })).toEqual({ loop, heard: 'driver' })
    await eventually(async () => (await statusOf(place, id)) === 'done')
  })

  test('never run two loops in one folder at once', async () => {
    const place = openBoard()
    const repo = temporaryFolder()
    const log = join(place.cwd, 'log')
    const agent = agentOf(`echo begin >> ${log}; date +%N > work; sleep 0.1; echo end >> ${log}; ${DONE}`)
    const ids: string[] = []
    for (let n = 0; n < 3; n += 1) {
      const { id } = await place.makeTask({ repo, agent })
      await place.run('start_loop', { task_id: id })
      ids.push(id)
    }
    for (const id of ids) await eventually(async () => (await statusOf(place, id)) === 'done')
    expect(readFileSync(log, 'utf8').trim().split('\n')).toEqual(Array(3).fill(['begin', 'end']).flat())
  })

  test('give the slot of a loop that waits for its agent to others, and come back to it', async () => {
    const place = openBoard(openPlace(), { concurrency: 1 })
    const script = join(temporaryFolder(), 'limited.json')
    const steps = [{ 'rate-limit': { resetsInSeconds: 3_600 }, attempt: 1 }, { text: '<promise>COMPLETE</promise>' }]
    writeFileSync(script, JSON.stringify({ turns: [steps] }))
    const first = await place.makeTask({ agent: `scripted:${script}` })
    const { loop } = await place.run('start_loop', { task_id: first.id })
    await eventually(async () => (await place.run('get_loop', { loop })).status === 'waiting')
    const second = await place.makeTask({ agent: agentOf(`touch done; ${DONE}`) })
    await place.run('start_loop', { task_id: second.id })
    await eventually(async () => (await statusOf(place, second.id)) === 'done')
    await place.run('resume', { loop })
    await eventually(async () => (await place.run('get_loop', { loop })).iterations.length > 0)
  })

  test('pick up an answer that arrived while there was no room', async () => {
    const place = openPlace()
    const asked = join(place.cwd, 'asked')
    const board = openBoard(place)
    const agent = agentOf(`test -e ${asked} && { ${DONE}; exit; }; touch ${asked}; echo "<ask>Blue or red?</ask>"`)
    const { id } = await board.makeTask({ agent })
    const { loop } = await board.run('start_loop', { task_id: id })
    await eventually(async () => (await board.run('get_loop', { loop })).status === 'needs-input')
    await board.workers.stop()
    place.context.workers = { take: () => {}, look: () => {} }
    await place.run('steer', { loop, words: 'Blue.' })
    openBoard(place)
    await eventually(async () => (await statusOf(board, id)) === 'done')
  })

  test('update the task of a loop whose driver was killed before it could', async () => {
    const place = openPlace()
    const { id } = await place.run('create_task', { title: 'Build it', repo: temporaryFolder(), agent: agentOf(DONE) })
    const { loop } = await place.run('start_loop', { task_id: id })
    await place.drive(loop)
    const task = await place.context.store().board.load(id)
    if (task) await place.context.store().board.save({ ...task, status: 'in-progress' })
    openBoard(place)
    await eventually(async () => (await statusOf(place, id)) === 'done')
  })

  test('start a resumed loop at once, even one that was paused before it started', async () => {
    const place = openPlace()
    place.context.workers = { take: () => {}, look: () => {} }
    const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: agentOf(`touch done; ${DONE}`) })
    await place.run('pause', { loop })
    delete place.context.workers
    expect(await place.run('resume', { loop })).toEqual({ loop, heard: 'nobody' })
    expect((await place.drive(loop)).next.kind).toBe('complete')
  })

  test('pass messages from people to a plain task', async () => {
    const place = openBoard()
    const asked = join(place.cwd, 'asked')
    const repo = temporaryFolder()
    const agent = agentOf(`test -e ${asked} && exit; touch ${asked}; echo "<ask>Blue or red?</ask>"`)
    const { id } = await place.makeTask({ title: 'Paint it', repo, use_ralph_wiggum: false, agent })
    const { loop } = await place.run('start_loop', { task_id: id })
    await eventually(async () => (await place.run('get_loop', { loop })).status === 'needs-input')
    await place.run('steer', { loop, words: 'Blue.' })
    await eventually(async () => (await statusOf(place, id)) === 'done')
    expect(readFileSync(join(repo, 'prompt.txt'), 'utf8').trim()).toBe('Paint it\n\nBlue.')
  })

  test.each(['Let me know if you want anything else.', 'Shall I add tests, too?'])(
    'treat a plain turn that ends with "%s" as done',
    async (words) => {
      const place = openBoard()
      const { id } = await place.makeTask({ use_ralph_wiggum: false, agent: agentOf(`echo "${words}"`) })
      await place.run('start_loop', { task_id: id })
      await eventually(async () => (await statusOf(place, id)) === 'done')
    },
  )

  test('retry picking up what earlier workers left', async () => {
    const place = openBoard()
    const [begun, go] = [join(place.cwd, 'begun'), join(place.cwd, 'go')]
    const { id } = await place.makeTask({ agent: agentOf(`touch ${begun}; ${until(go)}; ${DONE}`) })
    await place.run('start_loop', { task_id: id })
    await eventually(() => existsSync(begun))
    await place.workers.stop()
    writeFileSync(go, '')
    const store = place.context.store()
    const lists = [() => Promise.reject(new Error('The database is busy.'))]
    const list: typeof store.board.list = (filter) => lists.pop()?.() ?? store.board.list(filter)
    const context = { ...place.context, store: () => ({ ...store, board: { ...store.board, list } }) }
    const next = openWorkers(context, { concurrency: 4 })
    onTestFinished(() => next.stop())
    await eventually(() => lists.length === 0)
    next.look()
    await eventually(async () => (await statusOf(place, id)) === 'done')
  })

  test('share one queue: two processes drive each loop only once', async () => {
    const place = openPlace()
    const one = openBoard(place)
    openBoard(place)
    const log = join(place.cwd, 'log')
    const ids: string[] = []
    for (let n = 0; n < 6; n += 1) {
      const { id } = await one.makeTask({ agent: agentOf(`echo turn >> ${log}; ${DONE}`) })
      await one.run('start_loop', { task_id: id })
      ids.push(id)
    }
    for (const id of ids) await eventually(async () => (await statusOf(one, id)) === 'done')
    expect(readFileSync(log, 'utf8').trim().split('\n')).toHaveLength(6)
  })
})

describe('workers that yield to a server', () => {
  /** The place of an agent's MCP server, and the workers of `ralph serve` in the same home. */
  function openServer({ context: { home }, cwd }: OperationPlace): OperationPlace {
    const server = openPlace({ cwd, home })
    const lock = lockLoop(home, SERVER_LOCK)
    onTestFinished(() => lock?.close())
    return openBoard(server)
  }

  const served = async ({ run }: OperationPlace) => {
    const { id: task_id } = await run('create_task', { title: 'Probe', repo: temporaryFolder(), agent: agentOf(DONE) })
    await run('start_loop', { task_id })
    await eventually(async () => (await run('get_task', { task_id })).status === 'done')
  }

  test('leave running loops to it', async () => {
    const place = openBoard(openPlace(), { yields: true })
    const [begun, go] = [join(place.cwd, 'begun'), join(place.cwd, 'go')]
    const { id } = await place.makeTask({ agent: agentOf(`touch ${begun}; ${until(go)}; ${DONE}`) })
    await place.run('start_loop', { task_id: id })
    await eventually(() => existsSync(begun))
    const server = openServer(place)
    place.workers.look()
    await served(server) // so it holds the queue
    await place.workers.stop()
    writeFileSync(go, '')
    await eventually(async () => (await statusOf(place, id)) === 'done')
  })

  test('leave answered loops to it', async () => {
    const place = openBoard(openPlace(), { yields: true })
    const [asked = '', begun = '', go = ''] = ['asked', 'begun', 'go'].map((name) => join(place.cwd, name))
    const asks = `test -e ${asked} || { touch ${asked}; echo "<ask>Red?</ask>"; exit; }`
    openServer(place)
    const { id } = await place.makeTask({ agent: agentOf(`${asks}; touch ${begun}; ${until(go)}; ${DONE}`) })
    const { loop } = await place.run('start_loop', { task_id: id })
    await eventually(async () => (await place.run('get_loop', { loop })).status === 'needs-input')
    await eventually(async () => !(await place.context.store().isDriven(loop)))
    await place.run('steer', { loop, words: 'Red.' })
    await eventually(() => existsSync(begun))
    await place.workers.stop()
    writeFileSync(go, '')
    await eventually(async () => (await statusOf(place, id)) === 'done')
  })
})

describe('a task', () => {
  test('cannot start twice, archived, or with open dependencies if no worker would start it later', async () => {
    const place = openPlace()
    const { id } = await place.run('create_task', { title: 'One', agent: agentOf(DONE) })
    const other = await place.run('create_task', { title: 'Two', agent: agentOf(DONE), depends_on: [id] })
    await expect(place.run('start_loop', { task_id: other.id })).rejects.toMatchObject({
      code: 'task-state',
      message: expect.stringContaining(id),
    })
    await place.run('start_loop', { task_id: id })
    await expect(place.run('start_loop', { task_id: id })).rejects.toMatchObject({ code: 'task-state' })
    await expect(place.run('update_task', { task_id: id, status: 'done' })).rejects.toMatchObject({
      code: 'task-state',
    })
    await expect(place.run('delete_task', { task_id: id })).rejects.toMatchObject({ code: 'task-state' })
    await place.run('update_task', { task_id: other.id, archived: true, depends_on: null })
    await expect(place.run('start_loop', { task_id: other.id })).rejects.toMatchObject({
      code: 'task-state',
      message: expect.stringContaining('archived'),
    })
    await expect(place.run('start_loop', { task_id: 'nobody' })).rejects.toMatchObject({ code: 'task-unknown' })
  })

  test.each<[what: string, fields: object, field: string | undefined, words: RegExp]>([
    ['an unknown group', { project_id: 'nowhere' }, 'project_id', /Unknown project_id: "nowhere"/],
    ['an unknown dependency', { depends_on: ['nobody'] }, 'depends_on', /No such task to depend on: "nobody"/],
    ['an unknown agent', { agent: 'claud' }, undefined, /Did you mean "claude"/],
    ['a check that cannot be read', { checks: ['echo "open'] }, undefined, /never closed/],
  ])('with %s is refused, and nothing is stored', async (_, fields, field, words) => {
    const place = openPlace()
    const refused = place.run('create_task', { title: 'One', ...fields })
    await expect(refused).rejects.toMatchObject({ message: expect.stringMatching(words), ...(field ? { field } : {}) })
    expect((await place.run('list_tasks', {})).tasks).toEqual([])
  })

  test('cannot change the settings of its queued loop', async () => {
    const place = openPlace()
    place.context.workers = { take: () => {}, look: () => {} }
    const { id } = await place.run('create_task', { title: 'Old words', agent: agentOf(DONE) })
    const { loop } = await place.run('start_loop', { task_id: id })
    await expect(place.run('update_task', { task_id: id, title: 'New words' })).rejects.toMatchObject({
      code: 'task-state',
      message: `Task ${id} is queued as loop ${loop}, which would keep the old settings. Cancel it with \`ralph cancel ${loop}\`, change the task, and start it again.`,
    })
    expect(await place.run('update_task', { task_id: id, title: 'Old words', priority: 3 })).toMatchObject({
      priority: 3,
    })
    await place.run('cancel', { loop })
    expect(await place.run('update_task', { task_id: id, title: 'New words' })).toMatchObject({ title: 'New words' })
  })

  test('is not done when an older loop is accepted while a newer one works on it', async () => {
    const { dir } = await makeRepository()
    const place = openBoard()
    const [begun, go] = [join(place.cwd, 'begun'), join(place.cwd, 'go')]
    const { id } = await place.makeTask({ agent: agentOf(`touch a; ${DONE}`), repo: dir, worktree: true })
    const { loop } = await place.run('start_loop', { task_id: id })
    await eventually(async () => (await statusOf(place, id)) === 'in-review')
    await eventually(async () => !(await place.context.store().isDriven(loop)))
    await place.run('fork', { loop, agent: agentOf(`touch ${begun}; ${until(go)}; touch b; ${DONE}`) })
    await eventually(() => existsSync(begun))
    await place.run('accept', { loop })
    expect(await statusOf(place, id)).toBe('in-progress')
    writeFileSync(go, '')
    await eventually(async () => (await statusOf(place, id)) === 'in-review')
  })

  test('cannot end up in a cycle, even if two changes race', async () => {
    const place = openPlace()
    const [a, b] = [await place.run('create_task', { title: 'a' }), await place.run('create_task', { title: 'b' })]
    const made = await Promise.allSettled([
      place.run('add_dependency', { task_id: a.id, depends_on: b.id }),
      place.run('add_dependency', { task_id: b.id, depends_on: a.id }),
    ])
    expect(made.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test.each([
    ['checks', { checks: ['true', 'npm "test'] }],
    ['stages', { stages: [{ name: 'TESTS', check: 'npm "test' }] }],
  ])('rejects a check that is not a command, and the error names %s', async (field, given) => {
    await expect(openPlace().run('create_task', { title: 'One', ...given })).rejects.toMatchObject({
      code: 'input-invalid',
      field,
      message: expect.stringContaining('never closed'),
    })
  })

  test('cannot wait for itself, not even through others', async () => {
    const place = openPlace()
    const one = await place.run('create_task', { title: 'One' })
    const two = await place.run('create_task', { title: 'Two', depends_on: [one.id] })
    await expect(place.run('update_task', { task_id: one.id, depends_on: [two.id] })).rejects.toMatchObject({
      field: 'depends_on',
      message: expect.stringContaining(`${one.id}`),
    })
    await expect(place.run('update_task', { task_id: one.id, depends_on: [one.id] })).rejects.toMatchObject({
      code: 'input-invalid',
    })
  })
})
