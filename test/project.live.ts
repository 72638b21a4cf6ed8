/**
 * A project from its spec to its results with the real clients: interviewed in a real terminal, executed unattended,
 * with a scripted model on loopback.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect } from 'vitest'
import { seedsFor } from './client-seeds.ts'
import { claude } from './clients/claude.ts'
import { pi } from './clients/pi.ts'
import type { Client } from './clients.ts'
import { openLive } from './conformance.ts'
import type { Reply } from './model-server.ts'
import { carriers, LAUNCHER, makePlace } from './ralph.ts'
import { hasTmux, openTerminal } from './tmux.ts'

const TASKS = {
  project_name: 'shop',
  version: 1,
  tasks: [
    { id: 'T1', title: 'Make a cart', description: 'An empty cart', status: 'pending', dependencies: [] },
    {
      id: 'T2',
      title: 'Fill the cart',
      description: 'One thing in it',
      dependencies: ['T1'],
      verify: ['grep -q apple cart.txt'],
    },
  ].map((task) => ({ attempts: 0, max_attempts: 3, blocked: false, ...task })),
}

/** What the prompt asks an agent to do with the project's files. */
const BOOKKEEPING = `
const { readFileSync, writeFileSync } = require('node:fs')
const [folder, task, iteration, obstacle] = process.argv.slice(2)
const change = (name, edit) => {
  const value = JSON.parse(readFileSync(folder + '/' + name, 'utf8'))
  edit(value)
  writeFileSync(folder + '/' + name, JSON.stringify(value, undefined, 2))
}
change('tasks.json', ({ tasks }) => { tasks.find(({ id }) => id === task).status = 'completed' })
change('state.json', (entries) => entries.push({
  iteration: Number(iteration), task_id: task, status: 'completed', summary: 'Did ' + task, files_modified: ['cart.txt'], obstacles: obstacle ? ['O1'] : [],
}))
if (obstacle) change('obstacles.json', ({ obstacles }) => obstacles.push({ id: 'O1', task_id: task, message: obstacle, resolved: false, iteration: Number(iteration) }))
writeFileSync(folder + '/done.md', 'over')
`

function wholeWay(client: Client): void {
  const { live, start, requests, bash } = openLive(client)

  live(`${client.name} goes from a spec to results.md`, async ({ skip }) => {
    skip(!hasTmux, 'tmux is not installed')
    const place = makePlace()
    const folder = join(place.dir, '.artefacts', 'shop')
    place.write('../bookkeeping.cjs', BOOKKEEPING)
    place.write('README.md', '# shop\n')
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: place.dir, env: place.env, encoding: 'utf8' }).trim()
    git('add', '--all')
    git('commit', '--quiet', '--message', 'first')
    expect(await place.ralph(['init', 'shop'])).toMatchObject({ code: 0 })

    const books = (...words: (string | number)[]) =>
      `'${process.execPath}' ../bookkeeping.cjs '${folder}' ${words.map((word) => `'${word}'`).join(' ')}`
    const turn = (shell: string, text: string): Reply[] => [bash(shell), { text }]
    const env = {
      ...place.env,
      ...(await start(
        [
          { text: 'Question 1: what goes into the cart?' },
          ...turn(`echo 'Apples.' >> '${folder}/spec.md'; echo over > '${folder}/done.md'`, 'Noted.'),
          { text: 'Question 2: anything else?' },
          ...turn(
            `echo '${JSON.stringify(TASKS)}' > '${folder}/tasks.json'; echo over > '${folder}/done.md'`,
            'Planned.',
          ),
          ...turn(
            `echo cart > cart.txt; git add cart.txt; git commit -qm 'T1: Make a cart'; ${books('T1', 1)}`,
            'T1 is done.',
          ),
          ...turn(books('T2', 2, 'No apples are in the shop'), 'T2 is done.'),
          ...turn(`echo apple >> cart.txt; ${books('T2', 3)}`, 'Now T2 is done.'),
        ],
        place,
      )),
      RALPH_TEST: place.root,
    }
    const terminal = openTerminal(
      [process.execPath, LAUNCHER, 'interview', 'shop', '--agent', client.name, '--rounds', '2'],
      { dir: place.dir, env: { ...env, ...seedsFor(client.name, place) } },
    )
    await terminal.shows('Question 1:', 60_000)
    await terminal.enter('Apples.')
    await terminal.shows('Question 2:', 60_000)
    await terminal.enter('No.')
    expect(await terminal.ended(60_000)).toBe(0)
    expect(terminal.screen()).toContain('2 tasks in')

    const ran = await place.ralph(['execute', 'shop', '--agent', client.name, '--json'], { env })
    expect(ran).toMatchObject({ code: 0, end: { type: 'project-end', reason: 'completed', iterations: 3 } })
    expect(requests()).toHaveLength(12)
    const face = (name: string) => JSON.parse(place.read(`.artefacts/shop/${name}`))
    expect(face('tasks.json')).toEqual({
      ...TASKS,
      tasks: TASKS.tasks.map((task, index) => ({ ...task, status: 'completed', attempts: index + 1 })),
    })
    expect(Object.keys(face('tasks.json').tasks[0])).toEqual(TASK_FIELDS)
    expect(face('state.json')).toEqual([
      entry(1, 'T1', 'completed', ['cart.txt'], []),
      entry(2, 'T2', 'attempted', [], ['O1', 'O2']),
      entry(3, 'T2', 'completed', ['cart.txt'], []),
    ])
    expect(face('obstacles.json')).toEqual({
      obstacles: [
        { id: 'O1', task_id: 'T2', message: 'No apples are in the shop', resolved: false, iteration: 2 },
        { id: 'O2', task_id: 'T2', message: expect.stringContaining('fails'), resolved: true, iteration: 2 },
      ],
    })
    expect(git('log', '--format=%s', 'HEAD~3..').split('\n')).toEqual(['T2: Fill the cart', 'T1: Make a cart', 'first'])
    expect(git('status', '--porcelain')).toBe('')
    const results = place.read('.artefacts/shop/results.md')
    for (const words of [
      '**Completed.**',
      'T1: Make a cart',
      'T2: Fill the cart',
      '`cart.txt` | 2 | 0',
      'No apples',
      'Tokens:',
    ])
      expect(results).toContain(words)
    expect(carriers(`RALPH_TEST=${place.root}`)).toEqual([])
  })
}

const TASK_FIELDS = ['id', 'title', 'description', 'status', 'dependencies', 'attempts', 'max_attempts', 'blocked']

function entry(
  iteration: number,
  task_id: string,
  status: string,
  files_modified: string[],
  obstacles: string[],
): object {
  return { iteration, task_id, status, summary: `Did ${task_id}`, files_modified, obstacles }
}

wholeWay(claude)
wholeWay(pi)
