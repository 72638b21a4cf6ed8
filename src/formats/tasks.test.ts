import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { graphTask, isTaskId, parseTasks, printTasks, readTasks, type Task, type TaskList } from './tasks.ts'

const SAMPLE = `{
  "project_name": "example-project",
  "version": 1,
  "tasks": [
    {
      "id": "T1",
      "title": "Create CLI skeleton",
      "description": "Implement base CLI using argparse",
      "status": "pending",
      "dependencies": [],
      "attempts": 0,
      "max_attempts": 3,
      "blocked": false
    }
  ]
}
`

function list(...tasks: unknown[]): string {
  return JSON.stringify({ tasks })
}

function only(task: unknown): Task {
  const [first] = parseTasks(list(task), 'tasks.json').tasks
  if (!first) throw new Error('The list is empty.')
  return first
}

describe('a list of tasks', () => {
  test('is printed exactly as it was read', () => {
    expect(printTasks(parseTasks(SAMPLE, 'tasks.json'))).toBe(SAMPLE)
  })

  test('is read with a byte order mark and other line ends', () => {
    expect(parseTasks(`\uFEFF${SAMPLE.replaceAll('\n', '\r\n')}`, 'x')).toEqual(parseTasks(SAMPLE, 'x'))
  })

  test('has the values of a new task for missing fields', () => {
    expect(parseTasks(list({ title: 'a', id: 'A' }), 'x')).toEqual({
      project_name: '',
      version: 1,
      tasks: [
        {
          id: 'A',
          title: 'a',
          description: '',
          status: 'pending',
          dependencies: [],
          attempts: 0,
          max_attempts: 3,
          blocked: false,
        },
      ],
    })
  })

  test('prints the fields of a task in one order, whatever order they came in', () => {
    const text = printTasks(parseTasks(list({ blocked: false, owner: 'me', title: 'a', id: 'A' }), 'x'))
    const fields = Object.keys(JSON.parse(text).tasks[0]).join(' ')
    expect(fields).toBe('id title description status dependencies attempts max_attempts blocked owner')
  })

  test('keeps fields of other tools, in the list and in a task', () => {
    const text = JSON.stringify({ tasks: [{ id: 'A', title: 'a', owner: { name: 'me' } }], made_by: ['x'] })
    const printed = JSON.parse(printTasks(parseTasks(text, 'x')))
    expect(printed).toMatchObject({ made_by: ['x'], tasks: [{ owner: { name: 'me' } }] })
  })

  test('may be empty', () => {
    expect(parseTasks('{"tasks":[]}', 'x').tasks).toEqual([])
  })

  test('may have ten thousand tasks, each waiting for the one before', () => {
    const tasks = Array.from({ length: 10_000 }, (_, n) => ({
      id: `T${n}`,
      title: `Task ${n}`,
      dependencies: n > 0 ? [`T${n - 1}`] : [],
    }))
    const read = parseTasks(list(...tasks), 'x')
    expect(read.tasks).toHaveLength(10_000)
    expect(parseTasks(printTasks(read), 'x')).toEqual(read)
  })

  test('is the same after printing and reading', () => {
    const text = fc.string({ unit: 'binary' })
    const task = fc.record({
      title: text.map((title) => `t${title}`),
      description: text,
      status: fc.constantFrom('pending', 'in_progress', 'completed', 'blocked'),
      attempts: fc.nat(),
      max_attempts: fc.integer({ min: 1, max: 99 }),
      blocked: fc.boolean(),
      extra: fc.jsonValue(),
    })
    fc.assert(
      fc.property(fc.array(task), text, (tasks, name) => {
        const raw = { project_name: name, tasks: tasks.map((one, n) => ({ ...one, id: `T${n}` })) }
        const read = parseTasks(JSON.stringify(raw), 'x')
        expect(readTasks(printTasks(read))).toEqual({ list: read })
      }),
    )
  })
})

describe('a blocked task', () => {
  test.each<[story: string, given: object, status: string, blocked: boolean]>([
    ['by the flag', { blocked: true }, 'blocked', true],
    ['by the status', { status: 'blocked' }, 'blocked', true],
    ['by the status, against the flag', { status: 'blocked', blocked: false }, 'blocked', true],
    ['by the flag, though it was begun', { status: 'in_progress', blocked: true }, 'blocked', true],
    ['by the flag, though it says completed', { status: 'completed', blocked: true }, 'blocked', true],
    ['not at all', { status: 'in_progress' }, 'in_progress', false],
  ])('%s', (_, given, status, blocked) => {
    expect(only({ id: 'A', title: 'a', ...given })).toMatchObject({ status, blocked })
  })
})

test.each<[given: object, status: string]>([
  [{}, 'open'],
  [{ status: 'in_progress' }, 'open'],
  [{ blocked: true }, 'blocked'],
  [{ status: 'completed' }, 'completed'],
])('for the engine %j is %s', (given, status) => {
  const task = only({ id: 'A', title: 'a', ...given })
  expect(graphTask(task)).toEqual({ id: 'A', dependsOn: [], status })
})

test.each<[given: unknown, verify: string[] | undefined]>([
  [undefined, undefined],
  ['npm test', ['npm test']],
  [
    ['npm test', 'npm run lint'],
    ['npm test', 'npm run lint'],
  ],
  [[], []],
])('verify %j is %j', (verify, expected) => {
  expect(only({ id: 'A', title: 'a', verify }).verify).toEqual(expected)
})

test.each<[verify: unknown, says: RegExp]>([
  [['npm test && x'], /^task A: verify: The command `npm test && x` has "&", which needs a shell/],
  [['npm test', 'CI=1 make'], /^task A: verify: The command `CI=1 make` sets a variable.* env CI=1 make$/],
  ['sh -c "make', /^task A: verify: The command `sh -c "make` has a " that is never closed\.$/],
  [[''], /^task A: verify must be a command or a list of commands, got \[""\]\.$/],
  [7, /^task A: verify must be a command or a list of commands, got 7\.$/],
])('verify %j says what the problem is', (verify, says) => {
  expect(readTasks(list({ id: 'A', title: 'a', verify }))).toEqual({ problems: [expect.stringMatching(says)] })
})

test('a task says how strong its proof must be, and which files count as tests', () => {
  const proof = { require: 'tested', protect: 'spec/**', may_change: ['a.snap', 'b.snap'] }
  expect(only({ id: 'A', title: 'a', ...proof })).toMatchObject({ ...proof, protect: ['spec/**'] })
})

test.each<[id: unknown, fits: boolean]>([
  ['T1', true],
  ['US-001', true],
  ['1.2_b-3', true],
  ['größe', true],
  ['x'.repeat(64), true],
  ['x'.repeat(65), false],
  ['', false],
  ['.a', false],
  ['-a', false],
  ['a b', false],
  ['a/b', false],
  ['a\n', false],
  ['🦉', false],
  [1, false],
])('an id %j: %s', (id, fits) => {
  expect(isTaskId(id)).toBe(fits)
})

describe('reports what is wrong', () => {
  test.each<[story: string, text: string, problems: string[]]>([
    ['it is a list', '[]', ['it must be an object with a list of "tasks".']],
    ['it has no tasks', '{"tasks":{}}', ['it must be an object with a list of "tasks".']],
    ['it is null', 'null', ['it must be an object with a list of "tasks".']],
    [
      'the head',
      '{"project_name":5,"version":"1","tasks":[]}',
      ['project_name must be a string, got 5.', 'version must be a whole number, got "1".'],
    ],
    [
      'a task that is none',
      list('T1', null),
      ['task 1 must be an object, got "T1".', 'task 2 must be an object, got null.'],
    ],
    [
      'a task without id and title',
      list({}),
      [
        'task 1 of the list: id must be a short string such as "T1" (letters, digits, . _ -), got nothing.',
        'task 1 of the list: title must be a string, got nothing.',
      ],
    ],
    [
      'every field',
      list({
        id: 'A',
        title: ' ',
        description: 1,
        status: 'done',
        dependencies: 'B',
        attempts: -1,
        max_attempts: 0,
        blocked: 'no',
        verify: ['npm test | tee x'],
        require: 'claimed',
        protect: [''],
        may_change: 7,
      }),
      [
        'task A: title must be a string, got " ".',
        'task A: description must be a string, got 1.',
        'task A: status must be one of pending, in_progress, completed, blocked, got "done".',
        'task A: dependencies must be a list of ids, got "B".',
        'task A: attempts must be a whole number, got -1.',
        'task A: max_attempts must be a whole number above 0, got 0.',
        'task A: blocked must be true or false, got "no".',
        'task A: verify: The command `npm test | tee x` has "|", which needs a shell, and ralph runs commands without one. Split it into several commands, quote the character, or use a shell: sh -c \'…\'.',
        'task A: require must be one of verified, tested, kept, got "claimed".',
        'task A: protect must be a glob or a list of globs such as "test/**" (every bracket closed, no ".."), got [""].',
        'task A: may_change must be a glob or a list of globs such as "test/**" (every bracket closed, no ".."), got 7.',
      ],
    ],
    [
      'an id twice',
      list({ id: 'A', title: 'a' }, { id: 'A', title: 'b' }),
      ['two tasks have the id "A". Give each task its own id.'],
    ],
    [
      'an unknown id',
      list({ id: 'T1', title: 'a' }, { id: 'T3', title: 'b', dependencies: ['T9'] }),
      ['task T3 depends on "T9", which is not in the list (T1, T3). Fix the id, or remove the dependency.'],
    ],
    [
      'a circle',
      list({ id: 'A', title: 'a', dependencies: ['B'] }, { id: 'B', title: 'b', dependencies: ['A'] }),
      ['these tasks form a dependency cycle: A → B → A. Remove one of the dependencies.'],
    ],
  ])('%s', (_, text, problems) => {
    expect(readTasks(text)).toEqual({ problems })
  })

  test('text that is not JSON, in one line', () => {
    const read = readTasks('{\n  "tasks": [\n oops\n]}')
    expect(read).toEqual({ problems: [expect.stringMatching(/^it is not valid JSON \([^\n]+\)\.$/)] })
  })

  test('all at once, the first five in full', () => {
    const wrong = list(...Array.from({ length: 8 }, (_, n) => ({ id: `T${n}` })))
    const says = (n: number) => `task T${n}: title must be a string, got nothing.`
    expect(() => parseTasks(wrong, 'shop/tasks.json')).toThrow(
      expect.objectContaining({
        code: 'tasks-invalid',
        message: `shop/tasks.json: ${says(0)} And 7 more: ${[1, 2, 3, 4, 5].map(says).join(' ')}`,
      }),
    )
  })

  test('whatever the text is', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const read: { list: TaskList } | { problems: string[] } = readTasks(text)
        if ('problems' in read) expect(read.problems.length).toBeGreaterThan(0)
      }),
    )
  })
})
