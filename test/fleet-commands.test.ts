/** The fleet as people run it: workers, a server and submitters in their own processes, on one Postgres. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { dropDatabase, postgresMissing, testDatabase } from '../src/host/postgres/postgres.test-support.ts'
import { type Line, makePlace, type Place, type Running, until } from './ralph.ts'

const missing = await postgresMissing()
const DONE = `echo '<promise>COMPLETE</promise>'`

async function openFleet(): Promise<Place> {
  const place = makePlace({ git: false })
  const url = await testDatabase()
  onTestFinished(() => dropDatabase(url))
  place.env.RALPH_DATABASE = url
  return place
}

let homes = 0

async function startWorker(place: Place, ...more: string[]): Promise<Running & { id: string }> {
  const env = { RALPH_HOME: join(place.root, `worker-${++homes}`) }
  const running = place.start(['worker', '--agents', 'command', '--json', ...more], { env })
  onTestFinished(() => void running.child.kill('SIGKILL'))
  const line = await until('a worker', () => running.lines().find(({ type }) => type === 'worker-start'))
  return { ...running, id: String(line.id) }
}

async function submit(place: Place, agent: string): Promise<string> {
  const { end } = await place.ralph(['submit', 'Build it', '--repo', 'none', '--agent', agent, '--json'])
  return (end as { tasks: { id: string }[] }).tasks[0]?.id ?? ''
}

async function stateOf(place: Place, task: string): Promise<Line> {
  return (await place.ralph(['status', task, '--json'])).end
}

const reaches = (place: Place, task: string, state: string) =>
  until(`task ${task} is ${state}`, async () => {
    const found = await stateOf(place, task)
    return found.state === state && found
  })

describe.skipIf(missing)(`the commands of the fleet${missing ? `: ${missing}` : ''}`, () => {
  test('SIGTERM lets a worker finish its iteration; another worker continues with the next one', async () => {
    const place = await openFleet()
    const [begun, allowed] = [join(place.root, 'begun'), join(place.root, 'allowed')]
    const wait = `touch ${begun}; while [ ! -f ${allowed} ]; do sleep 0.05; done`
    const agent = place.agent(`if [ "$RALPH_ITERATION" = 1 ]; then ${wait}; else touch built; ${DONE}; fi`)
    const first = await startWorker(place)
    const task = await submit(place, agent)
    await until('the agent', () => existsSync(begun))
    first.child.kill('SIGTERM')
    await until('the drain', () => first.stdout().includes('Draining:'))
    writeFileSync(allowed, '')
    const left = await first.ended
    expect([left.code, left.stderr]).toEqual([0, ''])
    expect(left.lines.flatMap(({ task: about, text }) => (about === task ? [text] : []))).toEqual([
      'started: Build it',
      'iteration 1 finished',
      'handed back: another worker continues it',
    ])
    await startWorker(place)
    await reaches(place, task, 'done')
    expect(place.calls()).toEqual(['1 1', '2 1'])
  })

  test('a second signal stops the agent at once, and the task goes back to the queue', async () => {
    const place = await openFleet()
    const begun = join(place.root, 'begun')
    const agent = place.agent(`[ -f ${begun} ] && ${DONE} && exit; touch ${begun}; sleep 600`)
    const worker = await startWorker(place)
    const task = await submit(place, agent)
    await until('the agent', () => existsSync(begun))
    worker.child.kill('SIGINT')
    await until('the drain', () => worker.stdout().includes('Draining:'))
    worker.child.kill('SIGINT')
    expect(await worker.ended).toMatchObject({ code: 130, stderr: '' })
    expect(await stateOf(place, task)).toMatchObject({ state: 'ready', worker: null })
    await startWorker(place)
    await reaches(place, task, 'done')
  })

  test('Ctrl-C only stops the waiting', async () => {
    const place = await openFleet()
    const waiting = place.start(['submit', 'Build it', '--repo', 'none', '--agent', place.agent(DONE), '--wait'])
    await until('the first line', () => /ready {2}No worker is running/.test(waiting.stdout()))
    waiting.child.kill('SIGINT')
    const { code, stderr } = await waiting.ended
    expect([code, stderr]).toEqual([130, 'ralph: The task continues. See: ralph status\n'])
    await startWorker(place)
    const [, task = ''] = /^Submitted task (\w+)/.exec(waiting.stdout()) ?? []
    await reaches(place, task, 'done')
  })

  test('a fleet server accepts tasks over HTTP, and shows workers and why tasks wait', async () => {
    const place = await openFleet()
    const running = place.start(['serve', '--port', '0', '--json'])
    onTestFinished(() => void running.child.kill('SIGKILL'))
    const line = await until('the address', () => running.lines().find(({ type }) => type === 'serve-start'))
    const ask = async (path: string, method = 'GET', body?: object): Promise<{ status: number; body: Line }> => {
      const answer = await fetch(new URL(path, String(line.url)), {
        method,
        headers: { authorization: `Bearer ${line.token}`, 'content-type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      return { status: answer.status, body: (await answer.json()) as Line }
    }
    const agent = place.agent(DONE)
    const tasks = [
      { id: 'T1', prompt: 'Lay the ground', agent },
      { id: 'T2', prompt: 'Paint it', agent, depends_on: ['T1'] },
    ]
    expect(await ask('/api/fleet/tasks', 'POST', { tasks })).toMatchObject({
      body: {
        tasks: [
          { id: 'T1', state: 'ready', branch: 'ralph/T1' },
          { id: 'T2', state: 'waiting' },
        ],
      },
    })
    expect(await ask('/api/fleet/tasks', 'POST', { tasks })).toMatchObject({
      status: 400,
      body: { error: { code: 'input-invalid', field: 'id' } },
    })
    const circle = tasks.map((task, index) => ({ ...task, id: `C${index}`, depends_on: [`C${1 - index}`] }))
    expect(await ask('/api/fleet/tasks', 'POST', { tasks: circle })).toMatchObject({
      body: { error: { message: expect.stringContaining('these tasks form a dependency cycle: C0 → C1 → C0.') } },
    })
    expect((await ask('/api/fleet/tasks?state=waiting')).body.tasks).toMatchObject([
      { id: 'T2', submitter: 'program', why: 'Waiting for T1 to finish.' },
    ])
    expect((await ask('/api/fleet/tasks/T1')).body.why).toBe('No worker is running. Start one with `ralph worker`.')
    expect(await ask('/api/fleet/tasks/T9')).toMatchObject({ status: 404, body: { error: { code: 'task-unknown' } } })
    expect((await ask('/api/context')).body.fleet).toBe(true)
    expect((await ask('/api/fleet/budgets/ann', 'PUT', { usd_per_day: 5 })).body.budgets).toMatchObject([
      { submitter: 'ann', usd_per_day: 5, spent_usd: 0 },
    ])
    expect((await ask('/api/loops/T2/cancel', 'POST', {})).status).toBe(200)
    const { id } = await startWorker(place)
    await reaches(place, 'T1', 'done')
    expect((await ask('/api/fleet/tasks/T2/retry', 'POST', {})).status).toBe(200)
    await reaches(place, 'T2', 'done')
    expect((await ask('/api/fleet')).body).toMatchObject({ workers: [{ id, alive: true }], counts: { done: 2 } })
    expect((await ask(`/api/fleet/workers/${id}/drain`, 'POST', {})).body).toEqual({ worker: id })
    await until('the end of all workers', async () => (await ask('/api/fleet')).body.workers?.toString() === '')
  })
})
