/** `ralph execute` from the first file to results.md, with bad input, and every reason to stop. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  attempted,
  changesOf,
  commit,
  does,
  done,
  edit,
  entriesOf,
  execute,
  FOLDER,
  gitIn,
  giveTasks,
  isThere,
  logOf,
  makePlain,
  makeProject,
  messages,
  obstaclesOf,
  results,
  scripted,
  sh,
  startExecute,
  statuses,
  type TaskGiven,
  taskOf,
  tasksOf,
} from './project-place.ts'
import { commitAll, makePlace, onlyLoop, type Place, until } from './ralph.ts'

/** Ends with this exit code and one sentence, without starting an agent. */
async function refuses(place: Place, code: number, ...flags: string[]): Promise<string> {
  const ran = await place.ralph(['execute', 'shop', '--agent', place.agent('exit 1'), ...flags])
  expect(ran).toMatchObject({ code, stderr: expect.stringMatching(/^ralph: .+\n/) })
  expect(place.calls()).toEqual([])
  return ran.stderr
}

describe.concurrent('a project from start to finish', () => {
  test('has the documented files, field by field', async () => {
    const place = makePlace()
    expect((await place.ralph(['init', 'shop'])).code).toBe(0)
    expect(place.read(`${FOLDER}/spec.md`)).toContain('shop')
    giveTasks(place, [
      { id: 'T1', title: 'Create CLI skeleton', description: 'Implement base CLI' },
      { id: 'T2', title: 'Add auth', description: 'Log in', dependencies: ['T1'] },
    ])
    const ran = await execute(place, {
      T1: [[edit('cli.txt', 'cli\n'), { report: { status: 'completed', summary: 'Implemented the skeleton' } }]],
      T2: [
        [{ report: { status: 'attempted', summary: 'Hit a missing dependency', obstacle: "'httpx' not installed" } }],
        [edit('auth.txt', 'auth\n'), { report: { status: 'completed', summary: 'Added it' } }],
      ],
    })
    expect(ran).toMatchObject({ code: 0, stderr: '', end: { type: 'project-end', reason: 'completed', iterations: 3 } })
    expect(place.read(`${FOLDER}/tasks.json`)).toBe(
      `${JSON.stringify(
        {
          project_name: 'shop',
          version: 1,
          tasks: [
            {
              id: 'T1',
              title: 'Create CLI skeleton',
              description: 'Implement base CLI',
              status: 'completed',
              dependencies: [],
              attempts: 1,
              max_attempts: 3,
              blocked: false,
            },
            {
              id: 'T2',
              title: 'Add auth',
              description: 'Log in',
              status: 'completed',
              dependencies: ['T1'],
              attempts: 2,
              max_attempts: 3,
              blocked: false,
            },
          ],
        },
        undefined,
        2,
      )}\n`,
    )
    const state = [
      {
        iteration: 1,
        task_id: 'T1',
        status: 'completed',
        summary: 'Implemented the skeleton',
        files_modified: ['cli.txt'],
        obstacles: [],
      },
      {
        iteration: 2,
        task_id: 'T2',
        status: 'attempted',
        summary: 'Hit a missing dependency',
        files_modified: [],
        obstacles: ['O1'],
      },
      {
        iteration: 3,
        task_id: 'T2',
        status: 'completed',
        summary: 'Added it',
        files_modified: ['auth.txt'],
        obstacles: [],
      },
    ]
    expect(place.read(`${FOLDER}/state.json`)).toBe(`${JSON.stringify(state, undefined, 2)}\n`)
    const obstacles = [{ id: 'O1', task_id: 'T2', message: "'httpx' not installed", resolved: false, iteration: 2 }]
    expect(place.read(`${FOLDER}/obstacles.json`)).toBe(`${JSON.stringify({ obstacles }, undefined, 2)}\n`)
    expect(readdirSync(join(place.dir, FOLDER)).sort()).toEqual([
      ...['obstacles.json', 'results.md', 'spec.md', 'state.json', 'tasks.json'],
    ])
    expect(logOf(place)).toEqual(['T2: Add auth', 'T1: Create CLI skeleton', 'A state'])
    expect(changesOf(place)).toEqual([])
  })

  test('has results that say what was done, what it cost and what to do', async () => {
    const place = makeProject(['T1'])
    await execute(place, { T1: [[{ usage: { tokens: 1200, costUsd: 0.5 } }, ...does('T1')]] })
    const text = results(place)
    expect(text.match(/^#+ .*/gm)).toEqual([
      ...['# Results of shop', '## Done: 1 of 1', '## Commits'],
      ...['## Files: 1 changed, 1 line added, 0 removed', '## Cost and time', '## What to do next'],
    ])
    expect(text).toContain('**Completed.** The task is completed.')
    expect(text).toContain('**T1: Title of T1** (claimed): Played the script of T1')
    expect(text).toMatch(/- `[0-9a-f]{7,}` T1: Title of T1/)
    expect(text).toContain('| `T1.txt` | 1 | 0 |')
    expect(text).toMatch(/Iterations: 1\n- Time: \d+ s\n- Tokens: 1,200\n- Cost: \$0\.50/)
  })

  test('calls nothing verified that ralph has not checked itself', async () => {
    const place = makeProject(['T1', 'T2'])
    const list = JSON.parse(place.read(`${FOLDER}/tasks.json`))
    list.tasks[0].status = 'completed'
    place.write(`${FOLDER}/tasks.json`, JSON.stringify(list))
    await execute(place, { T2: [does('T2')] })
    expect(results(place)).toContain('**T1: Title of T1** (claimed)')
  })

  test('is shown to the user as one line per iteration and a final sentence', async () => {
    const place = makeProject(['T1', { id: 'T2', dependencies: ['T1'] }])
    const agent = scripted(place, { T1: [[attempted], does('T1')], T2: [does('T2')] })
    const ran = await place.ralph(['execute', 'shop', '--agent', agent])
    expect(ran.code).toBe(0)
    expect(ran.stdout).toContain('ralph project shop · agent scripted:')
    expect(ran.stdout).toContain('2 tasks')
    expect(ran.stdout).toContain('No check: nothing proves the tasks without "verify"')
    expect(ran.stdout).toMatch(
      /✓ {2}T1 {2}Title of T1: completed \(1\/2\)[\s\S]*✓ {2}T2 {2}Title of T2: completed \(2\/2\)/,
    )
    expect(ran.stdout).toMatch(
      /\n✓ All 2 tasks are completed\.\n {2}3 iterations, .* · Details: \.artefacts\/shop\/results\.md\n$/,
    )
  })

  test('is executed in the order of its dependencies', async () => {
    const place = makeProject(['T1', { id: 'T2', dependencies: ['T4'] }, { id: 'T3', dependencies: ['T2'] }, 'T4'])
    await execute(place, { T1: [does('T1')], T2: [does('T2')], T3: [does('T3')], T4: [does('T4')] })
    expect(entriesOf(place).map(({ task_id }) => task_id)).toEqual(['T4', 'T2', 'T1', 'T3'])
  })

  test('continues where it stopped', async () => {
    const place = makeProject(['T1', 'T2'])
    const turns = { T1: [does('T1')], T2: [does('T2')] }
    expect((await execute(place, turns, '--iterations', '1')).end).toMatchObject({ reason: 'max-iterations' })
    expect((await execute(place, turns)).end).toMatchObject({ reason: 'completed', iterations: 2 })
    expect(entriesOf(place).map(({ iteration, task_id }) => [iteration, task_id])).toEqual([
      [1, 'T1'],
      [2, 'T2'],
    ])
  })

  test('goes all the way with one scripted agent: spec, interview, tasks, results', async () => {
    const place = makePlace()
    expect(await place.ralph(['init', 'shop'])).toMatchObject({ code: 0 })
    place.write('answers.md', 'Apples.')
    const list = { project_name: 'shop', version: 1, tasks: [{ id: 'T1', title: 'Sell apples', dependencies: [] }] }
    const over = edit(`${FOLDER}/done.md`, 'over\n')
    const script = {
      turns: [
        [sh(`echo Apples. >> ${FOLDER}/spec.md`), over],
        [edit(`${FOLDER}/tasks.json`, JSON.stringify(list)), over],
      ],
      tasks: { T1: [[edit('apples.txt', 'apples\n'), done]] },
    }
    place.write('../script.json', JSON.stringify(script))
    const agent = ['--agent', `scripted:${join(place.root, 'script.json')}`]
    const interview = await place.ralph([
      'interview',
      'shop',
      '--rounds',
      '2',
      '--non-interactive',
      'answers.md',
      ...agent,
    ])
    expect(interview).toMatchObject({ code: 0, stdout: expect.stringContaining('1 task in') })
    expect(await place.ralph(['execute', 'shop', ...agent])).toMatchObject({ code: 0 })
    expect(place.read(`${FOLDER}/spec.md`)).toContain('Apples.')
    expect(taskOf(place, 'T1')).toEqual({
      id: 'T1',
      title: 'Sell apples',
      description: '',
      status: 'completed',
      dependencies: [],
      attempts: 1,
      max_attempts: 3,
      blocked: false,
    })
    expect(logOf(place)[0]).toBe('T1: Sell apples')
    expect(results(place)).toContain('**T1: Sell apples**')
  })

  test('commits what an earlier loop of its task left behind', async () => {
    const place = makeProject([{ id: 'T1', max_attempts: 1 }])
    await execute(place, { T1: [[edit('early.txt', 'early\n'), attempted]] })
    giveTasks(place, [{ id: 'T1', max_attempts: 2, attempts: 1 }])
    expect(await execute(place, { T1: [does('T1')] })).toMatchObject({ code: 0 })
    expect(changesOf(place)).toEqual([])
    expect(gitIn(place)('show', '--format=%s', '--name-only', 'HEAD')).toBe('T1: Title of T1\n\nT1.txt\nearly.txt')
  })

  test('continues with the current agent and checks', async () => {
    const place = makeProject(['T1'])
    const first = place.agent('echo 1 > half.txt')
    await place.ralph(['execute', 'shop', '--agent', first, '--iterations', '1'])
    const ran = await execute(place, { T1: [[], does('T1'), [edit('proof', ''), done]] }, '--verify', 'ls proof')
    expect(ran.end).toMatchObject({ reason: 'completed', iterations: 3 })
    expect(place.calls()).toHaveLength(1)
    expect(results(place)).toContain('(verified)')
  })

  test('has nothing to do the second time', async () => {
    const place = makeProject(['T1'])
    await execute(place, { T1: [does('T1')] })
    const again = await refusesNothing(place)
    expect(again).toMatchObject({ code: 0, end: { reason: 'completed' } })
  })

  /** An agent that would leave a trace is not started. */
  async function refusesNothing(place: Place) {
    const ran = await place.ralph(['execute', 'shop', '--json', '--agent', place.agent('exit 1')])
    expect(place.calls()).toEqual([])
    return ran
  }

  test('picks up what the user changed in its files meanwhile', async () => {
    const place = makeProject(['T1', 'T2'])
    await execute(place, { T1: [does('T1')] }, '--iterations', '1')
    giveTasks(place, [{ id: 'T1', status: 'completed', title: 'Renamed' }, { id: 'T3' }])
    place.write(`${FOLDER}/state.json`, '[]')
    expect((await execute(place, { T3: [does('T3')] })).end).toMatchObject({ reason: 'completed' })
    expect(statuses(place)).toBe('T1 completed, T3 completed')
    expect(taskOf(place, 'T1')?.title).toBe('Renamed')
    expect(entriesOf(place)).toMatchObject([{ iteration: 2, task_id: 'T3' }])
  })

  test("is described in the agent's prompt, with the task", async () => {
    const place = makeProject([{ id: 'T1', title: 'Paint it', description: 'Blue, please.' }])
    const agent = place.agent('exit 0')
    await place.ralph(['execute', 'shop', '--agent', agent, '--iterations', '1'])
    const prompt = place.prompt(1)
    expect(prompt).toContain('T1: Paint it')
    expect(prompt).toContain('Blue, please.')
    expect(prompt).toContain('attempt 1 of 3')
    expect(prompt).toContain('iteration 1 of at most 1')
    expect(prompt).toContain(`${join(place.dir, FOLDER)}/done.md`)
  })
})

describe.concurrent('a project that cannot be executed', () => {
  test.each<[fact: string, make: () => Place, code: number, says: RegExp]>([
    ['does not exist', () => makePlace(), 2, /No project "shop" in .*\. Create it with: ralph init shop/],
    [
      'has no tasks yet',
      () => {
        const place = makePlace()
        place.write(`${FOLDER}/spec.md`, '# Shop\n')
        return place
      },
      2,
      /The project shop has no tasks\.json yet\. Create one with `ralph interview shop` or `ralph import FILE shop`\./,
    ],
    ['has a list without tasks', () => makePlain([]), 2, /tasks\.json of shop has no tasks\. Add some/],
  ])('%s', async (_, make, code, says) => {
    expect(await refuses(make(), code)).toMatch(says)
  })

  test('has the name of the templates folder', async () => {
    const place = makePlace()
    place.write('.artefacts/templates/tasks.json', '{"tasks": [{"id": "T1", "title": "t"}]}')
    const ran = await place.ralph(['execute', 'templates', '--agent', place.agent('exit 0')])
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining('A project cannot be named "templates"') })
  })

  test.each<[fact: string, text: string, says: RegExp]>([
    ['is not JSON', '{"tasks": [', /tasks\.json: it is not valid JSON/],
    ['is a list', '[]', /must be an object with a list of "tasks"/],
    [
      'has a cycle',
      '{"tasks":[{"id":"T1","title":"t","dependencies":["T2"]},{"id":"T2","title":"t","dependencies":["T1"]}]}',
      /these tasks form a dependency cycle: T1 → T2 → T1\. Remove one of the dependencies\./,
    ],
    [
      'names a task that does not exist',
      '{"tasks":[{"id":"T1","title":"t","dependencies":["T9"]}]}',
      /task T1 depends on "T9", which is not in the list \(T1\)\. Fix the id, or remove the dependency\./,
    ],
    [
      'has a duplicate id',
      '{"tasks":[{"id":"T1","title":"t"},{"id":"T1","title":"t"}]}',
      /two tasks have the id "T1"\. Give each task its own id\./,
    ],
    [
      'has a number as an id',
      '{"tasks":[{"id":1,"title":"t"}]}',
      /task 1 of the list: id must be a short string such as "T1"/,
    ],
    ['has a path as an id', '{"tasks":[{"id":"../T1","title":"t"}]}', /id must be a short string/],
    [
      'has text for attempts',
      '{"tasks":[{"id":"T1","title":"t","attempts":"2"}]}',
      /task T1: attempts must be a whole number, got "2"/,
    ],
    [
      'allows no attempt',
      '{"tasks":[{"id":"T1","title":"t","max_attempts":0}]}',
      /max_attempts must be a whole number above 0/,
    ],
    [
      'has an unknown status',
      '{"tasks":[{"id":"T1","title":"t","status":"done"}]}',
      /status must be one of pending, in_progress, completed, blocked/,
    ],
    ['has several mistakes', '{"tasks":[{"id":"T1"},{"title":"t"}]}', /title must be a string.* And 1 more: /],
  ])('has a tasks.json that %s', async (_, text, says) => {
    const place = makePlain([])
    place.write(`${FOLDER}/tasks.json`, text)
    expect(await refuses(place, 2)).toMatch(says)
    expect(place.read(`${FOLDER}/tasks.json`)).toBe(text)
  })

  test.each<[fact: string, tasks: TaskGiven[], sentence: string]>([
    [
      'all are blocked',
      [
        { id: 'T1', blocked: true },
        { id: 'T2', status: 'blocked' },
      ],
      'T1 is blocked; T2 is blocked.',
    ],
    [
      'one is blocked and the other depends on it',
      [
        { id: 'T1', blocked: true },
        { id: 'T2', dependencies: ['T1'] },
      ],
      'T1 is blocked; T2 depends on T1, which is blocked.',
    ],
  ])('says which tasks cannot run and why when %s', async (_, tasks, sentence) => {
    const place = makePlain(tasks)
    const ran = await execute(place, {})
    expect(ran).toMatchObject({ code: 1, end: { reason: 'blocked', sentence: `No task can continue: ${sentence}` } })
    expect(results(place)).toContain('Look into what blocks T1')
    expect(results(place)).toContain('Then set `blocked` to false')
  })

  test('is locked by another process, which is named', async () => {
    const place = makePlain(['T1'])
    const go = join(place.root, 'go')
    const first = startExecute(place, { T1: [[sh(`while [ ! -e '${go}' ]; do sleep 0.02; done`), ...does('T1')]] })
    await until('the agent works', () => first.lines().some(({ type }) => type === 'iteration-start'))
    const second = await place.ralph(['execute', 'shop', '--agent', 'scripted:x'])
    expect(second.code).toBe(1)
    expect(second.stderr).toContain(`The project shop is being worked on by process ${first.pid} on `)
    place.write('../go', '')
    expect(await first.ended).toMatchObject({ code: 0, end: { reason: 'completed' } })
  })
})

describe.concurrent('damaged or missing files', () => {
  test('are created when they are missing', async () => {
    const place = makePlain(['T1'])
    expect((await execute(place, { T1: [[edit('seen', ''), sh(`cat ${FOLDER}/*.json > seen`), done]] })).code).toBe(0)
    expect(place.read('seen')).toContain('[]\n')
    expect(place.read('seen')).toContain('"obstacles": []')
  })

  test.each<[face: string, text: string]>([
    ['state.json', '{"entries": []}'],
    ['state.json', 'nonsense'],
    ['obstacles.json', '[]'],
  ])('are kept as a copy and recreated: %s with %s', async (face, text) => {
    const place = makePlain(['T1'])
    place.write(`${FOLDER}/${face}`, text)
    const ran = await execute(place, { T1: [does('T1')] })
    expect(ran.end).toMatchObject({ reason: 'completed' })
    expect(messages(ran)).toMatch(
      new RegExp(`${face} was broken: .* It is kept as ${face}\\.broken-.*, and ralph made it again empty\\.`),
    )
    const kept = readdirSync(join(place.dir, FOLDER)).find((name) => name.startsWith(`${face}.broken-`))
    expect(place.read(`${FOLDER}/${kept}`)).toBe(text)
  })

  test('may start with a byte order mark', async () => {
    const place = makePlain(['T1'])
    place.write(`${FOLDER}/tasks.json`, `\uFEFF${place.read(`${FOLDER}/tasks.json`)}`)
    expect((await execute(place, { T1: [does('T1')] })).end).toMatchObject({ reason: 'completed' })
    expect(place.read(`${FOLDER}/tasks.json`).startsWith('{\n')).toBe(true)
  })

  test('may contain ten thousand tasks', async () => {
    const ids = Array.from({ length: 10_000 }, (_, index) => `T${index + 1}`)
    const place = makePlain(ids)
    const ran = await execute(place, { T1: [does('T1')], T2: [does('T2')] }, '--iterations', '2')
    expect(ran.end).toMatchObject({ reason: 'max-iterations', completed: ['T1', 'T2'] })
  })

  test("may include yesterday's done.md, which ends no turn", async () => {
    const place = makePlain(['T1'])
    place.write(`${FOLDER}/done.md`, 'yesterday\n')
    const ran = await execute(place, { T1: [[edit('found', ''), sh(`cp ${FOLDER}/done.md found`), done]] })
    expect(ran.end).toMatchObject({ reason: 'completed' })
    expect(place.read('found')).toBe('')
    expect(isThere(place, `${FOLDER}/done.md`)).toBe(false)
  })
})

describe.concurrent('the repository', () => {
  test('may be missing: nothing is committed, and ralph says so', async () => {
    const place = makeProject(['T1'], { git: false })
    const ran = await execute(place, { T1: [does('T1')] })
    expect(ran.end).toMatchObject({ reason: 'completed' })
    expect(messages(ran)).toContain('This is not a git repository: nothing is committed')
    expect(results(place)).toContain('This folder is not a git repository')
  })

  test('may have no commit yet', async () => {
    const place = makeProject(['T1'], { git: false })
    gitIn(place)('init', '--quiet')
    expect((await execute(place, { T1: [does('T1')] })).end).toMatchObject({ reason: 'completed' })
    expect(logOf(place)).toEqual(['T1: Title of T1'])
    expect(results(place)).toContain('| `T1.txt` | 1 | 0 |')
  })

  test('may have a detached HEAD, which ralph mentions', async () => {
    const place = makeProject(['T1', 'T2'])
    gitIn(place)('checkout', '--quiet', '--detach')
    const ran = await execute(place, { T1: [does('T1')], T2: [does('T2')] })
    expect(ran.end).toMatchObject({ reason: 'completed' })
    expect(messages(ran)).toContain('HEAD is detached: the commits will belong to no branch.')
    expect(logOf(place)).toEqual(['T2: Title of T2', 'T1: Title of T1', 'A state'])
  })

  test("may have uncommitted changes, which stay the user's", async () => {
    const place = makeProject(['T1'])
    commit(place, { 'mine.txt': 'm\n', 'staged.txt': 's\n' })
    place.write('mine.txt', 'changed\n')
    place.write('staged.txt', 'staged\n')
    place.write('new.txt', 'new\n')
    gitIn(place)('add', 'staged.txt')
    const ran = await execute(place, { T1: [does('T1')] })
    expect(ran.end).toMatchObject({ reason: 'completed' })
    expect(messages(ran)).toContain('2 of your files have uncommitted changes')
    expect(changesOf(place)).toEqual([' M mine.txt', 'M  staged.txt', '?? new.txt'])
    expect(gitIn(place)('show', '--format=', '--name-only', 'HEAD')).toBe('T1.txt')
  })

  test('must have an author for commits', async () => {
    const place = makeProject(['T1'])
    gitIn(place)('config', 'user.useConfigOnly', 'true')
    const nobody = Object.fromEntries(
      Object.keys(place.env).flatMap((name) => (name.startsWith('GIT_') ? [[name, undefined]] : [])),
    )
    const ran = await place.ralph(['execute', 'shop', '--agent', place.agent('exit 0')], { env: nobody, apart: true })
    expect(ran).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('git has no user name and email here. Set them with git config'),
    })
    expect(place.calls()).toEqual([])
  })

  test.each<[fact: string, make: () => Place, says: RegExp]>([
    ['there is none', () => makeProject(['T1'], { git: false }), /--parallel needs a git repository/],
    [
      'it has no commit',
      () => {
        const place = makeProject(['T1'], { git: false })
        gitIn(place)('init', '--quiet')
        return place
      },
      /--parallel starts from a commit, but .* has none yet/,
    ],
    [
      'HEAD is detached',
      () => {
        const place = makeProject(['T1'])
        gitIn(place)('checkout', '--quiet', '--detach')
        return place
      },
      /--parallel merges into your branch, but HEAD of .* is detached\. Create a branch: git switch -c NAME/,
    ],
    [
      'a file has changes',
      () => {
        const place = makeProject(['T1'])
        place.write('README.md', 'changed\n')
        return place
      },
      /--parallel merges into your branch, but README\.md has uncommitted changes\. Commit or stash them\./,
    ],
    [
      'the files of projects are tracked',
      () => {
        const place = makeProject(['T1'])
        commitAll(place)
        return place
      },
      /--parallel gives every task its own copy of \.artefacts, but git tracks files in it\./,
    ],
  ])('is refused for --parallel when %s', async (_, make, says) => {
    expect(await refuses(make(), 2, '--parallel', '2')).toMatch(says)
  })

  test("may track the projects' files, which are left out of the tasks' commits", async () => {
    const place = makeProject(['T1'])
    commitAll(place)
    expect((await execute(place, { T1: [does('T1')] })).end).toMatchObject({ reason: 'completed' })
    expect(gitIn(place)('show', '--format=', '--name-only', 'HEAD')).toBe('T1.txt')
  })

  test('may have its project in a subfolder', async () => {
    const place = makePlace()
    place.write('sub/.artefacts/shop/tasks.json', JSON.stringify({ tasks: [{ id: 'T1', title: 'Below' }] }))
    const ran = await execute(place, { T1: [[edit('T1.txt', 'x\n'), done]] }, '--dir', 'sub')
    expect(ran.end).toMatchObject({ reason: 'completed' })
    expect(gitIn(place)('show', '--format=', '--name-only', 'HEAD')).toBe('sub/T1.txt')
    expect(changesOf(place)).toEqual([])
  })

  test('may reject a commit with its hooks, and the task continues once they are fixed', async () => {
    const place = makeProject(['T1'])
    place.write('.git/hooks/pre-commit', '#!/bin/sh\necho "no tabs please" >&2\nexit 1\n', 0o755)
    const ran = await execute(place, { T1: [does('T1')] })
    expect(ran).toMatchObject({
      code: 1,
      end: { reason: 'git-failed', sentence: expect.stringContaining('no tabs please') },
    })
    expect(results(place)).toContain('no tabs please')
    rmSync(join(place.dir, '.git/hooks/pre-commit'))
    expect((await execute(place, { T1: [[]] })).end).toMatchObject({ reason: 'completed', iterations: 1 })
    expect(logOf(place)[0]).toBe('T1: Title of T1')
  })
})

describe.concurrent('it stops', () => {
  test('when a task has used its attempts, and says at the next start what to do', async () => {
    const place = makePlain([
      { id: 'T1', max_attempts: 2 },
      { id: 'T2', dependencies: ['T1'] },
    ])
    const turns = {
      T1: [
        [edit('a', '1'), attempted],
        [edit('a', '2'), attempted],
      ],
    }
    const stop = { reason: 'max-attempts', sentence: 'T1 has used all 2 attempts and is not completed.' }
    expect(await execute(place, turns)).toMatchObject({ code: 1, end: { ...stop, iterations: 2 } })
    expect(taskOf(place, 'T1')).toMatchObject({ status: 'pending', attempts: 2 })
    expect(results(place)).toContain('**Stopped: max-attempts.** T1 has used all 2 attempts')
    expect(results(place)).toMatch(
      /## What remains\n\n- \*\*T1: .*2 of 2 attempts used.*\n- \*\*T2: .*not tried yet; waiting for T1/,
    )
    expect(await execute(place, turns)).toMatchObject({ code: 1, end: { ...stop, iterations: 2 } })
    expect(results(place)).toMatch(/raise its `max_attempts` or set its `attempts` to 0/)
    giveTasks(
      place,
      tasksOf(place).map((task) => ({ ...task, attempts: 0 })),
    )
    expect((await execute(place, { T1: [does('T1')], T2: [does('T2')] })).end).toMatchObject({
      reason: 'completed',
      iterations: 4,
    })
  })

  test('when the last task completes at its last attempt', async () => {
    const place = makePlain([{ id: 'T1', max_attempts: 1 }])
    expect((await execute(place, { T1: [does('T1')] })).end).toMatchObject({ reason: 'completed' })
  })

  test('when all iterations are used up', async () => {
    const place = makePlain(['T1', 'T2'])
    const ran = await execute(place, { T1: [[edit('a', '1'), attempted], does('T1')] }, '--iterations', '1')
    expect(ran).toMatchObject({
      code: 1,
      end: { reason: 'max-iterations', sentence: 'Reached the limit of 1 iteration.' },
    })
    expect(statuses(place)).toBe('T1 pending, T2 pending')
    expect(results(place)).toContain('Continue with `ralph execute shop`.')
  })

  test('when an agent keeps changing nothing', async () => {
    const place = makePlain([{ id: 'T1', max_attempts: 9 }])
    const ran = await execute(place, { T1: [[attempted]] }, '--no-progress', '2')
    expect(ran).toMatchObject({ code: 1, end: { reason: 'no-progress', sentence: expect.stringMatching(/^T1: /) } })
    expect(taskOf(place, 'T1')).toMatchObject({ status: 'pending', attempts: 2 })
    expect(results(place)).toContain('**Stopped: no-progress.**')
  })

  test('when the cost of all tasks together reaches the limit', async () => {
    const place = makePlain(['T1', 'T2', 'T3'])
    const costly = (id: string) => [{ usage: { tokens: 10, costUsd: 0.6 } }, ...does(id)]
    const ran = await execute(place, { T1: [costly('T1')], T2: [costly('T2')], T3: [costly('T3')] }, '--max-cost', '1')
    expect(ran).toMatchObject({ code: 1, end: { reason: 'cost', completed: ['T1', 'T2'] } })
    expect(ran.end.sentence).toContain('Spent $1.20; the limit is $1.00.')
  })

  test('when one turn alone costs more than the limit', async () => {
    const place = makePlain(['T1'])
    const ran = await execute(place, { T1: [[{ usage: { tokens: 10, costUsd: 3 } }, attempted]] }, '--max-cost', '1')
    expect(ran).toMatchObject({ code: 1, end: { reason: 'cost' } })
  })

  test('when the tokens of all tasks together reach the limit', async () => {
    const place = makePlain(['T1', 'T2'])
    const ran = await execute(
      place,
      { T1: [[{ usage: { tokens: 600 } }, ...does('T1')]], T2: [does('T2')] },
      '--max-tokens',
      '500',
    )
    expect(ran).toMatchObject({ code: 1, end: { reason: 'tokens', completed: ['T1'] } })
  })

  test('when the time is up, at once', async () => {
    const place = makePlain(['T1'])
    const ran = await execute(place, { T1: [[{ sleep: 60 }]] }, '--timeout', '0.02')
    expect(ran).toMatchObject({ code: 1, end: { reason: 'timeout' } })
  })

  test('at the limits of this execution, not of an earlier one', async () => {
    const place = makePlain(['T1'])
    const costly = { usage: { tokens: 10, costUsd: 0.4 } }
    const half = (text: string) => [costly, edit('half.txt', text), attempted]
    const turns = { T1: [half('1'), half('2'), [costly, ...does('T1')]] }
    const begin = performance.now()
    const limits = ['--timeout', '0.1', '--max-cost', '0.6', '--max-tokens', '15', '--iterations', '1']
    expect((await execute(place, turns, ...limits)).end).toMatchObject({ reason: 'max-iterations' })
    await until('the time to be up', () => performance.now() - begin > 6_500)
    const ran = await execute(place, turns, '--timeout', '10', '--max-cost', '1', '--max-tokens', '25')
    expect(ran.end).toMatchObject({ reason: 'completed', iterations: 3 })
  })

  test('when only a person can answer, and continues when it is started again', async () => {
    const place = makePlain(['T1', 'T2'])
    const turns = { T1: [[{ text: '<ask>Red or blue?</ask>' }, attempted], does('T1')], T2: [does('T2')] }
    const ran = await execute(place, turns)
    expect(ran).toMatchObject({ code: 4, end: { reason: 'needs-input', completed: ['T2'] } })
    expect(ran.end.sentence).toMatch(/^T1 needs an answer: Red or blue\? Answer with: ralph steer \w+ "…"$/)
    expect(results(place)).toContain('Answer the question above')
    expect((await execute(place, turns)).end).toMatchObject({ reason: 'completed' })
  })

  test('when a check cannot start', async () => {
    const place = makePlain(['T1'])
    const ran = await execute(place, { T1: [does('T1')] }, '--verify', 'no-such-program --all')
    expect(ran.code).toBe(1)
    expect(ran.end).toMatchObject({ reason: 'verifier-broken', sentence: expect.stringContaining('no-such-program') })
    expect(statuses(place)).toBe('T1 pending')
  })

  test('when the agent is missing', async () => {
    const place = makePlain(['T1'])
    const ran = await place.ralph(['execute', 'shop', '--json', '--agent', 'command:no-such-agent'])
    expect(ran.code).toBe(3)
    expect(ran.stderr).toContain('no-such-agent')
    expect(isThere(place, `${FOLDER}/state.json`)).toBe(false)
  })

  test('when the agent has become unusable', async () => {
    const place = makePlain(['T1', 'T2'])
    const ran = await execute(place, { T1: [[...does('T1'), sh(`rm '${place.root}/script.json'`)]] })
    expect(ran).toMatchObject({ code: 3, end: { reason: 'agent-unusable', completed: ['T1'] } })
    expect(results(place)).toContain('**Stopped: agent-unusable.** T2: ')
    expect(statuses(place)).toBe('T1 completed, T2 pending')
  })

  test('when a task is blocked by its agent, and continues once the user unblocks it', async () => {
    const place = makePlain(['T1', 'T2'])
    const blocked = [{ report: { status: 'blocked' as const, obstacle: 'No key for the shop' } }]
    const turns = { T1: [blocked, does('T1')], T2: [does('T2')] }
    const ran = await execute(place, turns)
    expect(ran).toMatchObject({ code: 1, end: { reason: 'blocked', completed: ['T2'] } })
    expect(taskOf(place, 'T1')).toMatchObject({ status: 'blocked', blocked: true, attempts: 1 })
    expect(obstaclesOf(place)).toMatchObject([{ id: 'O1', task_id: 'T1', message: 'No key for the shop' }])
    expect(results(place)).toContain('Look into what blocks T1: No key for the shop')
    giveTasks(
      place,
      tasksOf(place).map((task) => (task.id === 'T1' ? { ...task, blocked: false, status: 'pending' } : task)),
    )
    expect((await execute(place, turns)).end).toMatchObject({ reason: 'completed' })
    expect(taskOf(place, 'T1')).toMatchObject({ status: 'completed', blocked: false, attempts: 2 })
  })
})

describe.concurrent('a claim', () => {
  test.each<[fact: string, task: TaskGiven, flags: string[]]>([
    ['the check of the project', { id: 'T1' }, ['--verify', 'ls proof']],
    ['the check of the task', { id: 'T1', verify: 'ls proof' }, []],
    ['one of several checks', { id: 'T1', verify: ['ls T1.txt', 'ls proof'] }, ['--verify', 'ls README.md']],
  ])('is refused by %s until it passes', async (_, task, flags) => {
    const place = makeProject([task])
    const ran = await execute(place, { T1: [does('T1'), [edit('proof', ''), done]] }, ...flags)
    expect(ran.end).toMatchObject({ reason: 'completed', iterations: 2 })
    expect(entriesOf(place).map(({ status }) => status)).toEqual(['attempted', 'completed'])
    expect(results(place)).toContain('**T1: Title of T1** (verified)')
    expect(logOf(place)).toEqual(['T1: Title of T1', 'A state'])
  })

  test('that is refused is shown to the next agent', async () => {
    const place = makeProject([{ id: 'T1', verify: 'ls proof' }])
    const agent = place.agent(`sed -i 's/in_progress/completed/' ${FOLDER}/tasks.json; echo x >> work`)
    await place.ralph(['execute', 'shop', '--agent', agent, '--iterations', '2'])
    expect(place.prompt(2)).toContain('You said you were done, but you are not')
    expect(place.prompt(2)).toContain('attempt 2 of 3')
  })

  test('without work must be made twice if nothing else supports it', async () => {
    const place = makeProject(['T1'])
    expect((await execute(place, { T1: [[done]] })).end).toMatchObject({ reason: 'completed', iterations: 2 })
  })

  test("without work must be made twice if the task's check passed from the start", async () => {
    const place = makeProject([{ id: 'T1', verify: 'ls README.md' }])
    expect((await execute(place, { T1: [[done]] })).end).toMatchObject({ reason: 'completed', iterations: 2 })
  })

  test.each<[string, string[]]>([
    ['', []],
    [' with a check of the project', ['--verify', 'ls README.md']],
  ])('for every task at once counts only for its own%s', async (_, flags) => {
    const place = makeProject(['T1', 'T2', 'T3'])
    const all = sh(`sed -i 's/"status": "[a-z_]*"/"status": "completed"/' ${FOLDER}/tasks.json`)
    const ran = await execute(
      place,
      { T1: [[edit('T1.txt', '1\n'), all]], T2: [[all]], T3: [[all]] },
      '--iterations',
      '1',
      ...flags,
    )
    expect(ran.end).toMatchObject({ reason: 'max-iterations', completed: ['T1'] })
    expect(statuses(place)).toBe('T1 completed, T2 pending, T3 pending')
    expect(obstaclesOf(place)[0]?.message).toContain('T2 was marked as completed, T3 was marked as completed')
  })
})

test.concurrent('an agent that claimed done and lingers is stopped, and its turn counts', async () => {
  const place = makeProject(['T1'])
  const begin = performance.now()
  const ran = await execute(place, { T1: [[...does('T1'), { sleep: 300 }]] })
  expect(ran.end).toMatchObject({ reason: 'completed', iterations: 1 })
  expect(performance.now() - begin).toBeLessThan(30_000)
  expect(onlyLoop(place)).toMatch(/\w{8}/)
})

describe.concurrent('orders to a project', () => {
  /** A task that waits until the test lets it continue. */
  const held = (place: Place) => [sh(`touch ${place.root}/begun; while [ ! -e ${place.root}/go ]; do sleep 0.02; done`)]

  test('a pause takes effect even if the iteration completes its task', async () => {
    const place = makePlain(['T1', { id: 'T2', dependencies: ['T1'] }])
    const going = startExecute(place, { T1: [[...held(place), ...does('T1')]], T2: [does('T2')] })
    await until('T1 has begun', () => isThere(place, '../begun'))
    expect(await place.ralph(['pause', 'shop'])).toMatchObject({ code: 0 })
    place.write('../go', '')
    expect(await going.ended).toMatchObject({ code: 130, end: { reason: 'paused', completed: ['T1'] } })
    expect(await execute(place, { T2: [does('T2')] })).toMatchObject({ code: 0 })
  })

  test('a cancelled turn does not count as an attempt', async () => {
    const place = makePlain(['T1'])
    const going = startExecute(place, { T1: [[...held(place), ...does('T1')]] })
    await until('T1 has begun', () => isThere(place, '../begun'))
    expect(await place.ralph(['cancel', 'shop'])).toMatchObject({ code: 0 })
    expect(await going.ended).toMatchObject({ code: 130, end: { reason: 'cancelled' } })
    expect(taskOf(place, 'T1')).toMatchObject({ status: 'pending', attempts: 0 })
  })

  test('a message to a project goes to the task that waits for it', async () => {
    const place = makePlain(['T1', 'T2'])
    const blocked = { report: { status: 'blocked', obstacle: 'no key' } } as const
    const first = await execute(place, { T1: [[blocked]], T2: [does('T2')] })
    expect(first.end).toMatchObject({ reason: 'blocked', completed: ['T2'] })
    expect((await place.ralph(['steer', 'shop', 'the key is there'])).stdout).toContain(
      'T1 receives it when you run: ralph execute',
    )
    expect(await execute(place, { T1: [does('T1')] })).toMatchObject({ code: 0 })
  })

  test('a rollback of one task is refused', async () => {
    const place = makePlain(['T1'])
    await execute(place, { T1: [does('T1')] })
    const ran = await place.ralph(['rollback', onlyLoop(place), '0'])
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining('other tasks build on it') })
  })
})

describe.concurrent('before anything starts', () => {
  test('a merge in progress is refused', async () => {
    const place = makeProject(['T1'])
    place.write('.git/MERGE_HEAD', `${gitIn(place)('rev-parse', 'HEAD')}\n`)
    expect(await refuses(place, 2)).toMatch(/merge is in progress/)
  })

  test('files to copy from outside are refused, and nothing is left behind', async () => {
    const place = makeProject(['T1', 'T2'])
    for (const name of ['../outside', '.git/config', '/etc/hosts']) {
      place.write('ralph.config.json', JSON.stringify({ worktree_files: [name] }))
      expect(await refuses(place, 2, '--parallel', '2')).toContain('only files below')
    }
    expect(gitIn(place)('worktree', 'list').split('\n')).toHaveLength(1)
  })

  test('a template with an unknown variable is refused', async () => {
    const place = makeProject(['T1'])
    place.write('.artefacts/templates/execute.md', 'Do {{task_idd}}')
    expect(await refuses(place, 2)).toContain('Did you mean {{task_id}}?')
  })

  test('files recreated in the same place are a project without history', async () => {
    const place = makeProject(['T1'])
    await execute(place, { T1: [does('T1')] })
    rmSync(join(place.dir, FOLDER), { recursive: true })
    giveTasks(place, ['T7'])
    expect((await execute(place, { T7: [does('T7')] })).end).toMatchObject({ reason: 'completed', iterations: 1 })
  })
})
