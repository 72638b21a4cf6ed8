/** The board on the command line: tasks are added, changed, and started here or in the queue of a server. */
import { describe, expect, test } from 'vitest'
import { openPlace } from '../src/operations/place.test-support.ts'
import { makePlace, type Place, until } from './ralph.ts'
import { expectReplayed } from './replayed.ts'

const DONE = 'touch done.txt; echo "<promise>COMPLETE</promise>"'

async function json<Value>({ ralph }: Place, ...args: string[]): Promise<Value> {
  const { code, stdout: out, stderr: err } = await ralph([...args, '--json'])
  expect([code, err]).toEqual([0, ''])
  return JSON.parse(out.trim().split('\n').at(-1) ?? '') as Value
}

type Task = { id: string; status: string; priority: number; labels: string[]; limits: object; checks: string[] }

describe('ralph board', () => {
  test('adds a task, shows it, changes it, works on it and deletes it', async () => {
    const place = makePlace()
    expect((await place.ralph(['board'])).stdout).toMatch(/^No tasks yet\. Add one: ralph board new/)
    const { id } = await json<Task>(
      place,
      ...['board', 'new', 'Build it', '--agent', place.agent(DONE), '--verify', 'test -e done.txt'],
      ...['--label', 'ui', '--priority', '-2', '--max-cost', '2'],
    )
    expect((await place.ralph(['board'])).stdout).toMatch(
      /^task +status +priority +loop +title\n\S+ +todo +-2 +Build it\n$/,
    )
    expect((await place.ralph(['board', 'prompt', id])).stdout).toContain('output exactly: <promise>COMPLETE</promise>')
    const changed = await json<Task>(place, 'board', 'set', id, '--clear', 'labels', '--timeout', '5')
    expect(changed).toMatchObject({ labels: [], limits: { minutes: 5, cost_usd: 2 }, checks: ['test -e done.txt'] })
    const twice = await place.ralph(['board', 'set', id, '--priority', '5', '--clear', 'priority'])
    expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining('priority cannot be both set and cleared')])
    const { id: after } = await json<Task>(place, 'board', 'new', 'Ship it', '--depends-on', id)
    const kept = await place.ralph(['board', 'delete', id])
    expect([kept.code, kept.stderr]).toEqual([
      1,
      expect.stringContaining(`${after} depends on it. Remove that dependency`),
    ])
    await json(place, 'board', 'set', after, '--clear', 'depends_on')
    expect((await place.ralph(['board', 'set', id, '--clear', 'limits'])).stdout).toBe(`Changed task ${id}.\n`)
    const { code, stdout: out } = await place.ralph(['board', 'start', id])
    expect([code, out]).toEqual([0, expect.stringContaining('complete, proof: verified')])
    expect((await place.ralph(['board', 'show', id])).stdout).toMatch(/status +done/)
    expect(await json(place, 'board', 'delete', id)).toEqual({ task_id: id })
  })

  test('keeps groups, in whose folder their tasks run', async () => {
    const place = makePlace()
    await json(place, 'board', 'group', 'shop', '--repo', '.', '--name', 'The shop')
    const { stdout: out } = await place.ralph(['board', 'groups'])
    expect(out).toMatch(/^shop {2}The shop {2}\//)
    const task = await json<Task>(place, 'board', 'new', 'Build it', '--project', 'shop', '--agent', place.agent(DONE))
    expect((await place.ralph(['board', 'start', task.id], { cwd: place.root })).code).toBe(0)
    expect(place.read('done.txt')).toBe('')
  })

  test('leaves started tasks to a running server', async () => {
    const place = makePlace()
    const server = place.start(['serve', '--port', '0', '--json'])
    await until('the server', () => server.lines().length > 0)
    const task = await json<Task>(place, 'board', 'new', 'Build it', '--agent', place.agent(DONE))
    expect((await place.ralph(['board', 'start', task.id])).stdout).toMatch(/^Queued loop \S+\. Follow it:/)
    for (let status = ''; status !== 'done'; ) ({ status } = await json<Task>(place, 'board', 'show', task.id))
    expect((await place.ralph(['show'])).stdout).toContain('It left the queue.')
    server.child.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
  })

  test('is the same after its database is rebuilt, including what is still queued', async () => {
    const place = openPlace()
    place.context.workers = { take: () => {}, look: () => {} }
    const loops: string[] = []
    for (const prompt of ['One', 'Two', 'Three'])
      loops.push((await place.run('start_loop', { prompt, agent: place.agent(DONE), checks: ['true'] })).loop)
    const [first = '', second = ''] = loops
    await place.run('steer', { loop: first, words: 'Use tabs.' })
    await place.run('pause', { loop: first })
    await place.drive(second)
    await place.context.close()
    await expectReplayed(place.context.home)
  })

  test.each<[words: string[], sentence: string]>([
    [['lst'], 'Unknown verb: "lst". Did you mean "ralph board list"? See `ralph board --help`.'],
    [['new'], 'Missing TITLE: ralph board new TITLE. See `ralph board new --help`.'],
    [['new', 'x', '--completion-promise', ''], 'The ralph_completion_promise of a task must be one line of text.'],
    [['group', '../x'], 'The id of a group must be a name, not a path, got "../x".'],
    [['group', 'x', '--name', ' '], 'The name of a group must not be empty.'],
    [['show', 'nobody'], 'No such task on the board: "nobody".'],
    [
      ['new', 'x', '--priority', 'high'],
      '--priority must be a whole number between -999999 and 999999, got "high". See `ralph board new --help`.',
    ],
    [['new', 'x', '--project', 'p'], 'Unknown project_id: "p". None exist yet. Create it first, or leave it out.'],
    [
      ['list', '--status', 'open'],
      '--status must be one of todo, in-progress, in-review, done, cancelled, got "open". See `ralph board list --help`.',
    ],
  ])('reports what is wrong with %j', async (words, sentence) => {
    const { code, stderr: err } = await makePlace().ralph(['board', ...words])
    expect([code, err]).toEqual([2, `ralph: ${sentence}\n`])
  })
})
