import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Obstacle } from '../formats/obstacles.ts'
import type { Entry } from '../formats/progress.ts'
import type { Task } from '../formats/tasks.ts'
import { eventually } from '../host/place.test-support.ts'
import { type Executed, type Executing, executeProject, type Watching } from './execute-project.ts'
import { importTasks } from './import-tasks.ts'
import { initProject } from './init-project.ts'
import { type OperationPlace, openPlace } from './place.test-support.ts'

type Shop = OperationPlace & {
  path(name: string): string
  read(name: string): string
  give(...tasks: Partial<Task>[]): void
  tasks(): Task[]
  /** "1 T1 attempted: what happened" */
  entries(): string[]
  obstacles(): Obstacle[]
  execute(lines: string, asked?: Partial<Executing>, watching?: Partial<Watching>): Promise<Executed>
}

/** A project without git whose agents are shell snippets. */
function openShop(...tasks: Partial<Task>[]): Shop {
  const place = openPlace()
  const folder = join(place.cwd, '.artefacts', 'shop')
  mkdirSync(folder, { recursive: true })
  const path = (name: string) => join(folder, name)
  const read = (name: string) => readFileSync(path(name), 'utf8')
  const give = (...given: Partial<Task>[]) =>
    writeFileSync(
      path('tasks.json'),
      JSON.stringify({ tasks: given.map((task) => ({ title: `Title of ${task.id}`, ...task })) }),
    )
  give(...tasks)
  const still = { stop: new AbortController().signal, pause: new AbortController().signal }
  const silent = { begin() {}, end() {}, say() {}, saw() {}, note() {}, progress() {}, show: () => () => {} }
  return {
    ...place,
    path,
    read,
    give,
    tasks: () => JSON.parse(read('tasks.json')).tasks,
    entries: () =>
      (JSON.parse(read('state.json')) as Entry[]).map(
        ({ iteration, task_id, status, summary }) => `${iteration} ${task_id} ${status}: ${summary}`,
      ),
    obstacles: () => JSON.parse(read('obstacles.json')).obstacles,
    execute: (lines, asked, watching) =>
      executeProject(
        place.context,
        { project: 'shop', slots: 1, agent: place.agent(lines), ...asked },
        { ...silent, ...still, ...watching },
      ),
  }
}

/** An agent that changes a file and reports this about its task. */
const WORKS = 'date +%N >> work.txt'
const SAYS = (what: string) => `sed -i 's/"in_progress"/"${what}"/' "$RALPH_PROJECT_DIR/tasks.json"`
const DONE = `${WORKS}; ${SAYS('completed')}`
/** Runs other lines in the n-th turn of a task's loop. */
const inTurn = (n: number, lines: string, otherwise: string) =>
  `if [ "$RALPH_LOOP_ITERATION" = ${n} ]; then ${lines}; else ${otherwise}; fi`

describe('an edit of tasks.json between two executions', () => {
  test('gives a started task all its attempts again', async () => {
    const shop = openShop({ id: 'T1' })
    expect((await shop.execute(SAYS('blocked'))).stop.reason).toBe('blocked')
    shop.give({ ...shop.tasks()[0], blocked: false, status: 'pending', attempts: 0 })
    const executed = await shop.execute(WORKS)
    expect(executed).toMatchObject({
      iterations: 3,
      stop: { sentence: 'T1 has used all 3 attempts and is not completed.' },
    })
    expect(shop.tasks()).toMatchObject([{ attempts: 3 }])
    expect(shop.entries().map((entry) => entry.slice(0, 14))).toEqual([
      ...['1 T1 attempted', '2 T1 attempted', '3 T1 attempted', '4 T1 attempted'],
    ])
  })

  test('gives a started task more attempts, or fewer', async () => {
    const shop = openShop({ id: 'T1' })
    await shop.execute(WORKS, { iterations: 1 })
    shop.give({ ...shop.tasks()[0], max_attempts: 5 })
    expect(await shop.execute(WORKS, { iterations: 3 })).toMatchObject({ iterations: 3 })
    shop.give({ ...shop.tasks()[0], max_attempts: 4 })
    expect(await shop.execute(WORKS)).toMatchObject({
      iterations: 0,
      stop: { reason: 'max-attempts', sentence: 'T1 has used all 4 attempts and is not completed.' },
    })
  })

  test('counts even if the turn before was interrupted', async () => {
    const shop = openShop({ id: 'T1', title: 'Old' })
    await breakOff(shop)
    shop.give({ ...shop.tasks()[0], title: 'New', attempts: 2 })
    expect(await shop.execute(WORKS)).toMatchObject({ iterations: 1, stop: { reason: 'max-attempts' } })
    expect(shop.tasks()).toMatchObject([{ title: 'New', attempts: 3 }])
  })

  test('counts even if the checks were interrupted, and so does what the agent wrote before', async () => {
    const shop = openShop({ id: 'T1', title: 'Old', verify: ['sh check.sh'] })
    writeFileSync(join(shop.cwd, 'check.sh'), '[ -e work.txt ] || exit 1; [ -e go ] || { touch begun; sleep 100; }\n')
    await breakOff(shop, DONE)
    expect(shop.tasks()).toMatchObject([{ status: 'pending', attempts: 1 }])
    shop.give({ ...shop.tasks()[0], title: 'New' })
    writeFileSync(join(shop.cwd, 'go'), '')
    expect(await shop.execute('exit 7')).toMatchObject({ iterations: 0, stop: { reason: 'completed' } })
    expect(shop.tasks()).toMatchObject([{ title: 'New', status: 'completed', attempts: 1 }])
  })
})

/** The user presses Ctrl-C twice in the middle of a turn, or as soon as its check has started. */
async function breakOff(shop: Shop, lines = 'touch begun; sleep 100'): Promise<Executed> {
  const [pause, stop] = [new AbortController(), new AbortController()]
  const begun = join(shop.cwd, 'begun')
  const going = shop.execute(lines, {}, { pause: pause.signal, stop: stop.signal })
  await eventually(() => existsSync(begun))
  rmSync(begun)
  pause.abort()
  stop.abort()
  return going
}

describe('a project that is created again', () => {
  const again: [how: string, make: (shop: Shop) => Promise<unknown>][] = [
    ['by ralph init', ({ context }) => initProject.run(context, { project: 'shop' })],
    [
      'by ralph import',
      async ({ context, cwd }) => {
        writeFileSync(join(cwd, 'plan.md'), '- [ ] T1: Imported\n')
        await importTasks.run(context, { file: 'plan.md', project: 'shop' })
      },
    ],
    ['by hand', async ({ path }) => mkdirSync(path('.'))],
  ]
  const left: [where: string, leave: (shop: Shop) => Promise<unknown>][] = [
    ['between two turns', (shop) => shop.execute(WORKS, { iterations: 1 })],
    ['in the middle of a turn', (shop) => breakOff(shop)],
    ['at a question', (shop) => shop.execute(SAYS('blocked'))],
  ]

  test.each(left.flatMap(([where, leave]) => again.map(([how, make]) => ({ where, leave, how, make }))))(
    '$how keeps nothing of one that was left $where',
    async ({ leave, make }) => {
      const shop = openShop({ id: 'T1', title: 'Old' })
      await leave(shop)
      rmSync(shop.path('.'), { recursive: true })
      await make(shop)
      if (!existsSync(shop.path('tasks.json'))) shop.give({ id: 'T1', title: 'New' })
      expect(await shop.run('get_project', { project: 'shop' })).toMatchObject({ iterations: 0, open: [] })
      expect(await shop.execute(WORKS)).toMatchObject({ iterations: 3, stop: { reason: 'max-attempts' } })
      expect(shop.entries().map((entry) => entry.slice(0, 4))).toEqual(['1 T1', '2 T1', '3 T1'])
      const { rows } = await shop.context.store().list({ limit: 9 })
      expect(rows.map(({ status, prompt }) => `${status} ${prompt.split('\n')[0]}`)).toEqual([
        expect.not.stringContaining('Old'),
        'cancelled T1: Old',
      ])
    },
  )
})

describe('every turn is recorded in state.json, with its outcome', () => {
  test('a crash, a rate limit, and the turn that completes the task', async () => {
    const shop = openShop({ id: 'T1' })
    const lines = `case "$RALPH_LOOP_ATTEMPT" in
1) echo 'out of memory' >&2; exit 7;;
2) echo 'Error: rate limit reached, try again in 1 seconds' >&2; exit 1;;
esac; ${DONE}`
    const executed = await shop.execute(lines)
    expect(executed).toMatchObject({ iterations: 3, stop: { reason: 'completed' } })
    expect(shop.entries()).toEqual([
      expect.stringMatching(/^1 T1 attempted: The agent crashed: .*out of memory/),
      expect.stringMatching(/^2 T1 attempted: The agent hit a rate limit: .*rate limit reached/),
      expect.stringMatching(/^3 T1 completed: /),
    ])
    expect(shop.tasks()).toMatchObject([{ attempts: 1 }])
    expect(shop.read('results.md')).toContain('Iterations: 3')
    expect(await shop.run('get_project', { project: 'shop' })).toMatchObject({ iterations: 3 })
  })

  test('only crashes: the task was tried, no attempt is used, and each crash counts', async () => {
    const shop = openShop({ id: 'T1' })
    const executed = await shop.execute('echo "no such model" >&2; exit 1')
    expect(executed).toMatchObject({ iterations: 3, stop: { reason: 'agent-failed' } })
    expect(shop.entries()).toEqual(
      [1, 2, 3].map((n) => expect.stringContaining(`${n} T1 attempted: The agent crashed`)),
    )
    expect(shop.tasks()).toMatchObject([{ status: 'pending', attempts: 0 }])
    const results = shop.read('results.md')
    expect(results).toMatch(/\*\*T1: Title of T1\*\* \(0 of 3 attempts used\): The agent crashed: .*no such model/)
    expect(results).toContain('Iterations: 3')
    expect(await shop.execute(DONE)).toMatchObject({ iterations: 1 })
    expect(shop.entries().at(-1)).toMatch(/^4 T1 completed/)
  })

  test('a crash uses up one of the allowed iterations, a rate limit does not', async () => {
    const shop = openShop({ id: 'T1' })
    expect(await shop.execute('exit 7', { iterations: 1 })).toMatchObject({
      iterations: 1,
      stop: { reason: 'max-iterations' },
    })
    const limited = `[ "$RALPH_LOOP_ATTEMPT" = 2 ] && { echo 'Error: rate limit, try again in 1 seconds' >&2; exit 1; }`
    expect(await shop.execute(`${limited}; ${DONE}`, { iterations: 1 })).toMatchObject({
      iterations: 2,
      stop: { reason: 'completed' },
    })
  })

  test('an interrupted turn is not an attempt, and the next one counts', async () => {
    const shop = openShop({ id: 'T1', max_attempts: 1 })
    expect(await breakOff(shop)).toMatchObject({ iterations: 1, stop: { reason: 'paused' } })
    expect(shop.entries()).toEqual(['1 T1 attempted: It was interrupted before the agent finished.'])
    expect(shop.tasks()).toMatchObject([{ status: 'pending', attempts: 0 }])
    expect(shop.read('results.md')).toContain('(0 of 1 attempt used)')
    expect(await shop.execute(DONE)).toMatchObject({ iterations: 1, stop: { reason: 'completed' } })
    expect(shop.tasks()).toMatchObject([{ attempts: 1 }])
  })
})

describe('obstacles.json', () => {
  test('names a failing check, and results.md says how often it failed and how its output ends', async () => {
    const shop = openShop({ id: 'T1', verify: ['sh check.sh'] })
    writeFileSync(join(shop.cwd, 'check.sh'), 'echo "expected 2, got $(wc -l < work.txt)"; exit 1\n')
    expect(await shop.execute(DONE)).toMatchObject({ stop: { reason: 'max-attempts' } })
    expect(shop.obstacles()).toMatchObject(
      [1, 2, 3].map((n) => ({
        id: `O${n}`,
        task_id: 'T1',
        message: `The check \`sh check.sh\` fails. Its output ends with:\nexpected 2, got ${n}`,
        resolved: false,
        iteration: n,
      })),
    )
    expect(JSON.parse(shop.read('state.json'))[2].obstacles).toEqual(['O3'])
    expect(shop.read('results.md')).toContain(
      '- **T1**: `sh check.sh` failed 3 times, the last time in iteration 3. Its output ends with:\n\n  ```text\n  expected 2, got 3\n  ```\n',
    )
  })

  test('marks it as resolved once the check passes', async () => {
    const shop = openShop({ id: 'T1', verify: ['test -f proof'] })
    await shop.execute(inTurn(1, DONE, `touch proof; ${DONE}`))
    expect(shop.obstacles()).toMatchObject([{ task_id: 'T1', resolved: true, iteration: 1 }])
    expect(shop.read('results.md')).not.toContain('Failing checks')
  })

  test('names a crash, which is resolved once an agent works', async () => {
    const shop = openShop({ id: 'T1' })
    await shop.execute(`echo "out of memory" >&2; exit 7`, { iterations: 1 })
    expect(shop.obstacles()).toMatchObject([
      { task_id: 'T1', message: expect.stringMatching(/^The agent crashed: .*out of memory/), resolved: false },
    ])
    await shop.execute(DONE)
    expect(shop.obstacles()).toMatchObject([{ resolved: true }])
  })
})

test('an agent finds the iteration and the attempt of its prompt in its environment', async () => {
  const shop = openShop({ id: 'T1' }, { id: 'T2', dependencies: ['T1'] })
  const keep = 'echo "$RALPH_ITERATION $RALPH_ATTEMPT $RALPH_LOOP_ITERATION" >> calls'
  await shop.execute(`${keep}; [ "$RALPH_ITERATION" = 2 ] && { ${WORKS}; exit; }; ${DONE}`)
  expect(readFileSync(join(shop.cwd, 'calls'), 'utf8')).toBe('1 1 1\n2 1 1\n3 2 2\n')
  expect(shop.entries().map((entry) => entry.split(':')[0])).toEqual([
    ...['1 T1 completed', '2 T2 attempted', '3 T2 completed'],
  ])
})
