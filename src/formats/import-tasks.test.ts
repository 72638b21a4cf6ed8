import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plan } from '../engine/schedule.ts'
import { importSpec, importTasks } from './import-tasks.ts'
import { graphTask, printTasks, readTasks, type Task } from './tasks.ts'

const PRD = { project: 'MyApp', branchName: 'ralph/x', description: 'Priorities for tasks.' }

function tasksOf(content: unknown, file = typeof content === 'string' ? 'plan.md' : 'prd.json'): Task[] {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  return importTasks(text, { file, project: 'shop' }).tasks
}

function stories(...userStories: unknown[]): object {
  return { ...PRD, userStories }
}

/** `T1+<T2,T3 title`: completed, depends on T2 and T3. `~` is in progress. */
function inShort({ id, status, dependencies, title }: Task): string {
  const mark = { completed: '+', in_progress: '~', pending: '', blocked: '!' }[status]
  return `${id}${mark}${dependencies.length > 0 ? `<${dependencies}` : ''} ${title}`
}

describe('a prd.json', () => {
  test('becomes a list of tasks, every field in its place', () => {
    const story = {
      id: 'US-001',
      title: 'Add a priority field',
      description: 'As a developer, I need to store it.',
      acceptanceCriteria: ['A column "priority"', 'Typecheck passes'],
      priority: 1,
      passes: false,
      notes: 'See the wiki.',
    }
    expect(importTasks(JSON.stringify(stories(story)), { file: 'prd.json', project: 'shop' })).toEqual({
      project_name: 'shop',
      version: 1,
      tasks: [
        {
          id: 'US-001',
          title: 'Add a priority field',
          description:
            'As a developer, I need to store it.\n\nAcceptance criteria:\n- A column "priority"\n- Typecheck passes\n\nNotes: See the wiki.',
          status: 'pending',
          dependencies: [],
          attempts: 0,
          max_attempts: 3,
          blocked: false,
        },
      ],
    })
  })

  test.each<[story: string, given: unknown[], expected: string[]]>([
    ['passes means completed', [{ id: 'A', title: 'a', passes: true }], ['A+ a']],
    [
      'a status counts where nothing says whether it passes',
      [
        { id: 'A', title: 'a', status: 'done' },
        { id: 'B', title: 'b', status: 'Completed' },
        { id: 'C', title: 'c', status: 'In progress' },
        { id: 'D', title: 'd', status: 'todo' },
        { id: 'E', title: 'e', status: 'blocked' },
        { id: 'F', title: 'f', status: 'done', passes: false },
        { id: 'G', title: 'g', status: 'open', passes: true },
      ],
      ['A+ a', 'B+ b', 'C c', 'D d', 'E! e', 'F f', 'G+ g'],
    ],
    [
      'a priority may be a text with a number',
      [
        { id: 'A', title: 'a', priority: 'P2' },
        { id: 'B', title: 'b', priority: '1' },
        { id: 'C', title: 'c', priority: 'critical' },
      ],
      ['C c', 'B b', 'A a'],
    ],
    [
      'dependsOn are dependencies',
      [
        { id: 'A', title: 'a' },
        { id: 'B', title: 'b', dependsOn: ['A', 'A'] },
        { id: 'C', title: 'c', dependencies: ['B'] },
      ],
      ['A a', 'B<A b', 'C<B c'],
    ],
    [
      'the priority decides the order, and what has none comes last, as it stood',
      [
        { id: 'A', title: 'a' },
        { id: 'B', title: 'b', priority: 2 },
        { id: 'C', title: 'c', priority: 1 },
        { id: 'D', title: 'd', priority: 2 },
        { id: 'E', title: 'e' },
      ],
      ['C c', 'B b', 'D d', 'A a', 'E e'],
    ],
    [
      'a priority may be a word',
      [
        { id: 'A', title: 'a', priority: 'low' },
        { id: 'B', title: 'b', priority: 'High' },
      ],
      ['B b', 'A a'],
    ],
    [
      'an invalid id is replaced, including in the dependencies of other tasks',
      [
        { id: 'US 1', title: 'a' },
        { id: 'T1', title: 'b', dependsOn: ['US 1'] },
        { title: 'c' },
        { id: 4, title: 'd' },
      ],
      ['T2 a', 'T1<T2 b', 'T3 c', '4 d'],
    ],
    [
      'null is nothing',
      [{ id: 'A', title: 'a', notes: null, dependsOn: null, priority: null, acceptanceCriteria: null }],
      ['A a'],
    ],
    ['lines of a title are folded', [{ id: 'A', title: ' a\r\n b\u0000' }], ['A a b']],
  ])('%s', (_, given, expected) => {
    expect(tasksOf(stories(...given)).map(inShort)).toEqual(expected)
  })

  test('is worked on in order of priority, unless more tasks wait for another one', () => {
    const tasks = tasksOf(
      stories(
        { id: 'A', title: 'a', priority: 3 },
        { id: 'B', title: 'b', priority: 1 },
        { id: 'C', title: 'c', priority: 2 },
        { id: 'D', title: 'd', priority: 3, dependsOn: ['A'] },
      ),
    ).map((task) => ({ ...graphTask(task), attempts: 0, maxAttempts: 3 }))
    const going = { working: new Set<string>(), begun: new Set<string>(), asking: new Map<string, string>(), slots: 3 }
    expect(plan(tasks, going)).toEqual({ kind: 'start', ids: ['A', 'B', 'C'] })
  })

  test('with an unknown status is refused', () => {
    expect(() => tasksOf(stories({ id: 'A', title: 'a', status: 'weird' }))).toThrow(
      'story A: status must be one of pending, in_progress, completed, blocked, got "weird".',
    )
  })

  test('has one criterion per line', () => {
    const [task] = tasksOf(stories({ title: 'a', acceptanceCriteria: ['one\ntwo', ' ', 'three'] }))
    expect(task?.description).toBe('Acceptance criteria:\n- one two\n- three')
  })

  test('gives the spec its heading and text', () => {
    const text = JSON.stringify(stories({ title: 'a' }))
    expect(importSpec(text, { file: 'prd.json', project: 'shop' })).toBe('# MyApp\n\nPriorities for tasks.\n')
    expect(importSpec('{"userStories":[]}', { file: 'prd.json', project: 'shop' })).toBe('# shop\n')
    expect(importSpec('{"name":"Cart","userStories":[]}', { file: 'prd.json', project: 'shop' })).toBe('# Cart\n')
  })
})

describe('checkboxes', () => {
  test.each<[story: string, text: string, expected: string[]]>([
    [
      'every kind of bullet and mark',
      '- [ ] a\n* [x] b\n+ [X] c\n1. [/] d\n2) [~] e\n- [] f',
      ['T1 a', 'T2+ b', 'T3+ c', 'T4~ d', 'T5~ e', 'T6 f'],
    ],
    [
      'a box waits for those nested in it',
      '- [ ] a\n  - [x] b\n    - [ ] c\n  - [ ] d\n- [ ] e',
      ['T1<T2,T4 a', 'T2+<T3 b', 'T3 c', 'T4 d', 'T5 e'],
    ],
    ['tabs nest too', '- [ ] a\n\t- [ ] b\n\t- [ ] c', ['T1<T2,T3 a', 'T2 b', 'T3 c']],
    ['below a plain bullet a box stands alone', '- Backend\n  - [ ] a\n  - [ ] b', ['T1 a', 'T2 b']],
    ['a heading ends the nesting', '- [ ] a\n## B\n  - [ ] b', ['T1 a', 'T2 b']],
    ['what is optional comes last', '## Optional\n- [ ] a\n## High\n- [ ] b', ['T1 b', 'T2 a']],
    [
      'also below such a heading, and under its other names',
      '# Nice to Have\n## Sub\n- [ ] a\n# Future Enhancements\n- [ ] b\n# Now\n- [ ] c\n# Futures market\n- [ ] d',
      ['T1 c', 'T2 d', 'T3 a', 'T4 b'],
    ],
    ['code is no box', '```md\n- [ ] a\n```\n- [ ] b\n~~~~\n~~~\n- [ ] c\n~~~~\n- [ ] d', ['T1 b', 'T2 d']],
    ['nor is a fence that is never closed', '- [ ] a\n\n```\n- [ ] b', ['T1 a']],
    ['nor a comment', '<!-- one line -->\n<!--\n- [ ] a\n-->\n- [ ] b', ['T1 b']],
    ['a box without words is none', '- [ ]\n- [ ]   \n- [](x)\n- [ ](x)\n- [y] z\n[ ] q\n- [ ] a', ['T1 a']],
    ['ids in front of the title are kept', '- [ ] T2: a\n- [x] **US-001**: b\n- [ ] c', ['T2 a', 'US-001+ b', 'T1 c']],
    ['unless two have the same', '- [ ] S3: a\n- [ ] S3: b', ['T1 S3: a', 'T2 S3: b']],
    ['words in front of a colon are no id', '- [ ] Phase 1: a\n- [ ] Fix: b', ['T1 Phase 1: a', 'T2 Fix: b']],
    ['lines may end as on Windows, after a byte order mark', '\uFEFF- [ ] a\r\n- [x] b\r\n', ['T1 a', 'T2+ b']],
  ])('%s', (_, text, expected) => {
    expect(tasksOf(text).map(inShort)).toEqual(expected)
  })

  test.each<[story: string, text: string, description: string]>([
    ['headings', '# Plan\n## High\n### Login\n- [ ] a', 'Part of: High / Login'],
    ['headings of the first level, if there are several', '# One\n- [ ] a\n# Two\n', 'Part of: One'],
    ['what is indented below it', '- [ ] a\n  more\n\n  - a note\n    deeper', 'more\n\n- a note\n  deeper'],
    ['a continuation without a blank line', '- [ ] a\nmore', 'more'],
    [
      'code with its form',
      '- [ ] a\n  ```sh\n  # no heading\n    - [ ] no box\n  ```',
      '```sh\n# no heading\n  - [ ] no box\n```',
    ],
    ['nothing of the next paragraph', '- [ ] a\n\nOther words.', ''],
    ['nothing after a rule', '- [ ] a\n---\n  words', ''],
    ['nothing of the next bullet', '- [ ] a\n- note', ''],
  ])('%s: part of the description', (_, text, description) => {
    expect(tasksOf(text)[0]?.description).toBe(description)
  })

  test('cut a long title and keep it in the description', () => {
    const words = `${'🦉'.repeat(119)} and more`
    expect(tasksOf(`- [ ] ${words}`)[0]).toMatchObject({ title: `${'🦉'.repeat(119)}…`, description: words })
  })

  test('leave the surrounding text to the spec, without empty headings', () => {
    const text =
      '# Plan\n\nWhy.\n\n## High\n- [ ] a\n  about a\n\n---\n\n## Notes\n\n```\n# a comment\n- [ ] no box\n```\n\n### More\nLast.\n### End\n\n* * *\n'
    expect(importSpec(text, { file: 'plan.md', project: 'shop' })).toBe(
      '# Plan\n\nWhy.\n\n## Notes\n\n```\n# a comment\n- [ ] no box\n```\n\n### More\n\nLast.\n',
    )
    expect(importSpec('- [ ] a', { file: 'plan.md', project: 'shop' })).toBe('# shop\n')
  })

  test('may be ten thousand', () => {
    const text = Array.from({ length: 10_000 }, (_, n) => `${' '.repeat(n % 7)}- [ ] task ${n}\n`).join('')
    expect(tasksOf(text)).toHaveLength(10_000)
  })
})

test('a tasks.json stays as it is, under the name of the project', () => {
  const task = { id: 'A', title: 'a', status: 'blocked', max_attempts: 5, verify: 'npm test', owner: 'me' }
  const text = JSON.stringify({ project_name: 'other', version: 2, tasks: [task], more: true })
  const list = importTasks(text, { file: 'tasks.json', project: 'shop' })
  expect(list).toMatchObject({ project_name: 'shop', version: 2, more: true })
  expect(list.tasks[0]).toMatchObject({ ...task, verify: ['npm test'], blocked: true })
  expect(importSpec(text, { file: 'tasks.json', project: 'shop' })).toBe('# shop\n')
})

const EXPECTED =
  'Expected a prd.json (an object with a list of "userStories"), a tasks.json (with a list of "tasks") or Markdown with checkboxes (- [ ] a task).'

describe('a file that cannot be imported is reported', () => {
  test.each<[story: string, file: string, text: string, code: string, message: string]>([
    ['it is empty', 'a.md', ' \n', 'input-invalid', `a.md is empty. ${EXPECTED}`],
    ['it has only a byte order mark', 'a.md', '\uFEFF', 'input-invalid', `a.md is empty. ${EXPECTED}`],
    ['it has no boxes', 'a.md', '# Plan\n- one', 'input-invalid', `a.md contains no tasks. ${EXPECTED}`],
    ['it has no stories', 'a.json', '{"userStories":[]}', 'input-invalid', `a.json contains no tasks. ${EXPECTED}`],
    ['it has another shape', 'a.json', '{"prd":{}}', 'input-invalid', `a.json contains {"prd":{}}. ${EXPECTED}`],
    ['it is a list', 'a.json', '[1,2]', 'input-invalid', `a.json contains [1,2]. ${EXPECTED}`],
    ['it is a number', 'a.md', '7', 'input-invalid', `a.md contains 7. ${EXPECTED}`],
    [
      'an id is there twice',
      'a.json',
      '{"userStories":[{"id":"A 1","title":"a"},{"id":"A 1","title":"b"}]}',
      'tasks-invalid',
      'a.json: two stories have the id "A 1". Ids must be unique.',
    ],
    [
      'a dependency is unknown',
      'a.json',
      '{"userStories":[{"id":"A","title":"a","dependsOn":["B"]}]}',
      'tasks-invalid',
      'a.json: task A depends on "B", which is not in the list (A). Fix the id, or remove the dependency.',
    ],
    [
      'stories wait for each other',
      'a.json',
      '{"userStories":[{"id":"A","title":"a","dependsOn":["B"]},{"id":"B","title":"b","dependsOn":["A"]}]}',
      'tasks-invalid',
      'a.json: these tasks form a dependency cycle: A → B → A. Remove one of the dependencies.',
    ],
    [
      'fields are wrong',
      'a.json',
      '{"userStories":[5,{"id":"A","title":" ","passes":"no"},{"description":7,"title":"c","priority":"soon"}]}',
      'tasks-invalid',
      'a.json: story 1 must be an object, got 5. And 4 more: story A: title must be a string, got " ". story A: passes must be true or false, got "no". story 3 of the list: description must be a string, got 7. story 3 of the list: priority must be a number, or one of high, medium, low, got "soon".',
    ],
    [
      'a tasks.json is wrong',
      'a.json',
      '{"tasks":[{"id":"A"}]}',
      'tasks-invalid',
      'a.json: task A: title must be a string, got nothing.',
    ],
  ])('%s', (_, file, text, code, message) => {
    expect(() => importTasks(text, { file, project: 'shop' })).toThrow(expect.objectContaining({ code, message }))
  })

  test.each([
    ['a.md', '{"userStories": [\n  oops'],
    ['prd.json', 'oops\n'],
  ])('%s is not JSON', (file, text) => {
    expect(() => importTasks(text, { file, project: 'shop' })).toThrow(
      expect.objectContaining({
        code: 'input-invalid',
        message: expect.stringMatching(/^\S+: it is not valid JSON \([^\n]*\)\. Fix it, then import it again\.$/),
      }),
    )
  })
})

describe('whatever is imported is a valid tasks.json', () => {
  const word = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('a', 'T1', 'T1: x', '**A-1**: x', '```', '#', ' '),
  )

  /** True when it was refused with a sentence, or when tasks.json takes it back unchanged. */
  function holds(text: string, file: string): boolean {
    let list: ReturnType<typeof importTasks>
    try {
      list = importTasks(text, { file, project: 'shop' })
    } catch (error) {
      expect(error).toMatchObject({ name: 'RalphError' })
      return false
    }
    expect(readTasks(printTasks(list))).toEqual({ list })
    return true
  }

  test('from checkboxes', () => {
    const line = fc.oneof(
      fc
        .tuple(fc.nat(8), fc.constantFrom('- [ ] ', '* [x] ', '1. [/] ', '- [] '), word)
        .map(([spaces, bullet, words]) => `${' '.repeat(spaces)}${bullet}${words}`),
      fc
        .tuple(fc.constantFrom('# ', '## ', '### Optional ', '```', '  ', '<!-- ', ''), word)
        .map((parts) => parts.join('')),
    )
    fc.assert(fc.property(fc.array(line), (lines) => void holds(lines.join('\n'), 'plan.md')))
    fc.assert(fc.property(fc.array(line), (lines) => holds(['- [ ] one', ...lines].join('\n'), 'plan.md')))
  })

  test('from stories', () => {
    const id = fc.oneof(word, fc.nat(5), fc.constant(undefined))
    const story = fc.record({
      id,
      title: word,
      description: word,
      acceptanceCriteria: fc.array(word),
      priority: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
      passes: fc.boolean(),
      dependsOn: fc.array(fc.constantFrom('0', 'a', 'T1'), { maxLength: 1 }),
    })
    fc.assert(fc.property(fc.array(story), (userStories) => void holds(JSON.stringify({ userStories }), 'prd.json')))
    const sound = fc
      .uniqueArray(word.map((text) => `x${text}`))
      .map((ids) => ids.map((name, n) => ({ id: name, title: name, dependsOn: ids.slice(0, n).slice(-2) })))
    fc.assert(
      fc.property(
        sound.filter(
          (list) =>
            list.length > 0 &&
            new Set(list.map(({ id: name }) => name.replace(/[\s\p{Cc}]+/gu, ' ').trim())).size === list.length,
        ),
        (userStories) => holds(JSON.stringify({ userStories }), 'prd.json'),
      ),
    )
  })

  test('from anything', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void holds(text, 'x')))
    fc.assert(fc.property(fc.json(), (text) => void holds(text, 'x.json')))
  })
})
