/** What an agent may do to its project and its repository, and what is restored. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Step } from '../src/formats/script.ts'
import type { Task } from '../src/formats/tasks.ts'
import {
  attempted,
  changesOf,
  changing,
  commit,
  does,
  done,
  edit,
  entriesOf,
  execute,
  FOLDER,
  gitIn,
  isThere,
  logOf,
  makePlain,
  makeProject,
  messages,
  obstaclesOf,
  results,
  sh,
  startExecute,
  statuses,
  taskOf,
  tasksOf,
} from './project-place.ts'
import { type Place, query, type Ran, until } from './ralph.ts'

/** A project of two tasks with a history: T1 was tried once, and has an obstacle. */
function withPast(make: typeof makePlain = makePlain): Place {
  const place = make([
    { id: 'T1', attempts: 1, max_attempts: 5, verify: ['ls T1.txt'] },
    { id: 'T2', dependencies: ['T1'] },
  ])
  const old = {
    iteration: 1,
    task_id: 'T1',
    status: 'attempted',
    summary: 'Tried it.',
    files_modified: [],
    obstacles: ['O1'],
  }
  const obstacle = { id: 'O1', task_id: 'T1', message: 'No network', resolved: false, iteration: 1 }
  place.write(`${FOLDER}/state.json`, JSON.stringify([old]))
  place.write(`${FOLDER}/obstacles.json`, JSON.stringify({ obstacles: [obstacle] }))
  return place
}

/** One turn on T1. */
function oneTurn(place: Place, steps: Step[]): Promise<Ran> {
  return execute(place, { T1: [steps] }, '--iterations', '1')
}

function brokenCopies(place: Place): string[] {
  return readdirSync(join(place.dir, FOLDER)).filter((name) => name.includes('.broken-'))
}

describe.concurrent('an agent that breaks a file', () => {
  test.each<[face: string, content: string]>([
    ['tasks.json', '{"tasks": ['],
    ['tasks.json', '{"tasks": [{"id": "T1", "title": "x", "status": "done"}]}'],
    ['state.json', 'done!'],
    ['obstacles.json', '{"obstacles": {}}'],
  ])('finds %s restored, and %s kept as a copy', async (face, content) => {
    const place = withPast()
    const [before, tasks] = [entriesOf(place), tasksOf(place)]
    const ran = await oneTurn(place, [edit('T1.txt', '1\n'), done, edit(`${FOLDER}/${face}`, content)])
    expect(ran.end.completed).toEqual(face === 'tasks.json' ? [] : ['T1'])
    expect(messages(ran)).toMatch(new RegExp(`${face} was broken: .* ralph restored it\\.`))
    expect(brokenCopies(place)).toEqual([expect.stringMatching(new RegExp(`^${face}\\.broken-`))])
    expect(place.read(`${FOLDER}/${brokenCopies(place)[0]}`)).toBe(content)
    expect(entriesOf(place)[0]).toEqual(before[0])
    expect(tasksOf(place)).toMatchObject(tasks.map(({ id, title }) => ({ id, title })))
    expect(obstaclesOf(place)).toMatchObject([
      { id: 'O1', message: 'No network' },
      { message: expect.stringContaining(`${face} was broken`), resolved: true },
    ])
  })

  test.each<[fact: string, line: string]>([
    ['all files of the project', `rm -rf ${FOLDER}`],
    ['all files of all projects', 'rm -rf .artefacts'],
    ['one file', `rm ${FOLDER}/tasks.json`],
    ['a file by a folder', `rm ${FOLDER}/tasks.json; mkdir ${FOLDER}/tasks.json; touch ${FOLDER}/tasks.json/x`],
    ['a file by a link to nowhere', `ln -sf nowhere ${FOLDER}/tasks.json`],
    ['a file by a link out of the project', `ln -sf /etc/passwd ${FOLDER}/tasks.json`],
    ['the folder by a file', `rm -rf ${FOLDER}; echo x > ${FOLDER}`],
    ['the folder of all projects by a file', 'rm -rf .artefacts; echo x > .artefacts'],
    ['the folder by a link out of it', `rm -rf ${FOLDER}; ln -s /tmp ${FOLDER}`],
  ])('and removes or replaces %s finds them restored', async (_, line) => {
    const place = withPast()
    const ran = await execute(place, { T1: [[sh(line)], does('T1')], T2: [does('T2')] })
    expect(ran).toMatchObject({ code: 0, end: { reason: 'completed', iterations: 4 } })
    expect(statuses(place)).toBe('T1 completed, T2 completed')
    expect(place.read(`${FOLDER}/spec.md`)).toBe('# Shop\n')
    expect(entriesOf(place).map(({ iteration }) => iteration)).toEqual([1, 2, 3, 4])
    expect(readFileSync('/etc/passwd', 'utf8')).toContain('root:')
  })
})

describe.concurrent('an agent that changes what it must not', () => {
  test.each<[fact: string, code: string, note: string]>([
    ['its own limit', 'it.tasks[0].max_attempts = 99', 'T1 was changed'],
    ['its own check', 'it.tasks[0].verify = ["true"]', 'T1 was changed'],
    ['that it has a check', 'delete it.tasks[0].verify', 'T1 was changed'],
    ['its own title', 'it.tasks[0].title = "Nothing"', 'T1 was changed'],
    ['another task', 'it.tasks[1].description = "Easier"', 'T2 was changed'],
    ['what another task depends on', 'it.tasks[1].dependencies = []', 'T2 was changed'],
    ['that another task exists', 'it.tasks.pop()', 'T2 was removed'],
    ['that its own task exists', 'it.tasks.shift(); it.tasks[0].dependencies = []', 'T1 was removed'],
    ['that another task is open', 'it.tasks[1].status = "completed"', 'T2 was marked as completed'],
  ])('finds it restored: %s', async (_, code, note) => {
    const place = withPast()
    const before = tasksOf(place)
    const ran = await oneTurn(place, [edit('T1.txt', '1\n'), changing('tasks.json', code)])
    expect(messages(ran)).toContain('tasks.json: ')
    expect(messages(ran)).toContain(note)
    const task = { description: '', blocked: false, status: 'pending' }
    expect(tasksOf(place)).toEqual([
      { ...task, dependencies: [], ...before[0], attempts: 2 },
      { ...task, attempts: 0, max_attempts: 3, ...before[1] },
    ])
    expect(obstaclesOf(place)[1]).toMatchObject({
      task_id: 'T1',
      resolved: true,
      message: expect.stringContaining(note),
    })
  })

  test('cannot change its number of attempts', async () => {
    const place = withPast()
    await oneTurn(place, [changing('tasks.json', 'it.tasks[0].attempts = 0'), attempted])
    expect(taskOf(place, 'T1')?.attempts).toBe(2)
  })

  test('is judged by its original check, not by the one it wrote', async () => {
    const place = withPast()
    await oneTurn(place, [edit('x', 'x'), done, changing('tasks.json', 'it.tasks[0].verify = ["true"]')])
    expect(statuses(place)).toBe('T1 pending, T2 pending')
  })

  test.each<[fact: string, code: string, note: RegExp]>([
    [
      'forges the entry of another',
      'it.push({ iteration: 2, task_id: "T2", status: "completed" })',
      /entries for T2 were added/,
    ],
    ['rewrites an old entry', 'it[0].summary = "It went well."', /older entries were changed or removed/],
    ['removes old entries', 'it.splice(0)', /older entries were changed or removed/],
  ])('that %s finds the list as it was', async (_, code, note) => {
    const place = withPast()
    const [old] = entriesOf(place)
    const ran = await oneTurn(place, [changing('state.json', code), { text: 'I looked around.' }])
    expect(messages(ran)).toMatch(note)
    expect(entriesOf(place)).toMatchObject([old, { iteration: 2, task_id: 'T1', status: 'attempted' }])
  })

  test.each<[fact: string, code: string]>([
    ['removes', 'it.obstacles = []'],
    ['rewords', 'it.obstacles[0].message = "Fine"'],
  ])('that %s an obstacle finds it restored', async (_, code) => {
    const place = withPast()
    const ran = await oneTurn(place, [changing('obstacles.json', code)])
    expect(messages(ran)).toContain('obstacles.json: O1 was changed or removed; ralph restored it.')
    expect(obstaclesOf(place)[0]).toMatchObject({ id: 'O1', message: 'No network', resolved: false })
  })
})

describe.concurrent('an agent', () => {
  test('that forgets its entry gets one, with its summary and the files it changed', async () => {
    const place = withPast(makeProject)
    await oneTurn(place, [edit('T1.txt', '1\n'), { text: 'I wrote the file.\nAnd more.' }])
    expect(entriesOf(place)[1]).toEqual({
      iteration: 2,
      task_id: 'T1',
      status: 'attempted',
      summary: 'I wrote the file.',
      files_modified: ['T1.txt'],
      obstacles: [],
    })
  })

  test('that lies about its entry is corrected', async () => {
    const place = withPast(makeProject)
    const lie =
      'it.push({ iteration: 77, task_id: "T1", status: "completed", summary: "All done", files_modified: ["x"], mood: "good" })'
    await oneTurn(place, [edit('T1.txt', '1\n'), changing('state.json', lie)])
    expect(entriesOf(place)[1]).toEqual({
      iteration: 2,
      task_id: 'T1',
      status: 'attempted',
      summary: 'All done',
      files_modified: ['T1.txt'],
      obstacles: [],
      mood: 'good',
    })
  })

  test.each<[fact: string, line: string]>([
    ['forgets to commit', ':'],
    ['only stages', 'git add --all'],
    ['moves with git and forgets to commit', 'git mv old.txt new.txt'],
    ['commits a part', 'git add T1.txt && git commit --quiet --message "T1: a part"'],
  ])('that %s gets all of it committed', async (_, line) => {
    const place = withPast(makeProject)
    commit(place, { 'old.txt': 'old\n' })
    await oneTurn(place, [edit('T1.txt', '1\n'), edit('sub/more.txt', '2\n'), sh(line), done])
    expect(statuses(place)).toBe('T1 completed, T2 pending')
    expect(logOf(place)[0]).toBe('T1: Title of T1')
    expect(changesOf(place)).toEqual([])
  })

  test('that commits by itself gets no other commit', async () => {
    const place = withPast(makeProject)
    await oneTurn(place, [edit('T1.txt', '1\n'), sh('git add --all; git commit --quiet --message "T1: mine"'), done])
    expect(logOf(place)).toEqual(['T1: mine', 'A state'])
    expect(gitIn(place)('show', '--format=', '--name-only', 'HEAD')).toBe('T1.txt')
  })

  test.each<[fact: string, code: string]>([
    ['the flag', 'it.tasks[0].blocked = true'],
    ['the status', 'it.tasks[0].status = "blocked"'],
  ])('blocks its task by %s alone', async (_, code) => {
    const place = withPast()
    const ran = await execute(place, { T1: [[changing('tasks.json', code), { text: 'I have no key.' }]] })
    expect(ran).toMatchObject({ code: 1, end: { reason: 'blocked' } })
    expect(taskOf(place, 'T1')).toMatchObject({ status: 'blocked', blocked: true })
    expect(results(place)).toContain('Look into what blocks T1')
  })

  test('can refer to obstacles in its entry by the ids they get', async () => {
    const place = withPast()
    await oneTurn(place, [
      changing(
        'obstacles.json',
        'it.obstacles.push({ id: "O1", message: "No disk" }, { id: "O7", message: "No time" }, { message: "No id" })',
      ),
      changing(
        'state.json',
        'it.push({ iteration: 2, task_id: "T1", status: "attempted", summary: "s", obstacles: ["O1", "O7", "my own words"] })',
      ),
    ])
    expect(obstaclesOf(place).map(({ id, message, task_id, iteration }) => [id, message, task_id, iteration])).toEqual([
      ['O1', 'No network', 'T1', 1],
      ['O2', 'No disk', 'T1', 2],
      ['O7', 'No time', 'T1', 2],
      ['O4', 'No id', 'T1', 2],
    ])
    expect(entriesOf(place)[1]?.obstacles).toEqual(['O2', 'O7', 'my own words', 'O4'])
  })

  test('resolves an old obstacle', async () => {
    const place = withPast()
    await oneTurn(place, [changing('obstacles.json', 'it.obstacles[0].resolved = true')])
    expect(obstaclesOf(place)).toEqual([
      { id: 'O1', task_id: 'T1', message: 'No network', resolved: true, iteration: 1 },
    ])
    expect(results(place)).toContain('## Resolved obstacles')
  })

  test('adds a task, which is executed, but without the checks it brings', async () => {
    const place = withPast()
    const more =
      'it.tasks.push({ id: "T3", title: "Also", verify: ["touch hacked"], status: "completed", attempts: 9 })'
    const ran = await execute(place, {
      T1: [[edit('T1.txt', '1\n'), done, changing('tasks.json', more)]],
      T2: [does('T2')],
      T3: [does('T3')],
    })
    expect(ran.end).toMatchObject({ reason: 'completed', completed: ['T1', 'T2', 'T3'] })
    expect(taskOf(place, 'T3')).toEqual({
      id: 'T3',
      title: 'Also',
      description: '',
      status: 'completed',
      dependencies: [],
      attempts: 1,
      max_attempts: 3,
      blocked: false,
    } satisfies Task)
    expect(isThere(place, 'hacked')).toBe(false)
  })

  test('amends the spec', async () => {
    const place = withPast()
    await oneTurn(place, [sh(`echo more >> ${FOLDER}/spec.md`), attempted])
    expect(place.read(`${FOLDER}/spec.md`)).toBe('# Shop\nmore\n')
  })
})

describe.concurrent('an agent that rewrites history', () => {
  /** Two commits of the user, and one task before. */
  function withHistory(): Place {
    const place = withPast(makeProject)
    commit(place, { 'one.txt': '1\n' })
    commit(place, { 'two.txt': '2\n' })
    return place
  }

  test.each<[fact: string, line: string]>([
    ['by a reset', 'git reset --quiet --hard HEAD~1'],
    ['by changing an older commit', 'git commit --quiet --amend --message changed'],
    ['by a rebase', 'GIT_SEQUENCE_EDITOR="sed -i 1d" git rebase --quiet --interactive HEAD~2'],
    ['by a branch without history', 'git checkout --quiet --orphan alone; git commit --quiet --message alone'],
    ['by a reset on another branch', 'git checkout --quiet -b other HEAD~1'],
  ])('%s has its turn reverted and gets the reason', async (_, line) => {
    const place = withHistory()
    const [branch, log] = [gitIn(place)('symbolic-ref', '--short', 'HEAD'), logOf(place)]
    const ran = await oneTurn(place, [
      sh(line),
      edit('T1.txt', '1\n'),
      sh('git add --all; git commit --quiet --message T1'),
      done,
    ])
    expect(gitIn(place)('symbolic-ref', '--short', 'HEAD')).toBe(branch)
    expect(logOf(place)).toEqual(log)
    expect([place.read('one.txt'), place.read('two.txt')]).toEqual(['1\n', '2\n'])
    expect(changesOf(place)).toEqual([])
    expect(statuses(place)).toBe('T1 pending, T2 pending')
    expect(messages(ran)).toContain('The agent rewrote commits from before its task; ralph undid its turn.')
    expect(obstaclesOf(place).at(-1)?.message).toContain('Only add commits.')
  })

  test('may change the commits of its own task', async () => {
    const place = withHistory()
    const ran = await execute(place, {
      T1: [
        [edit('T1.txt', '1\n'), sh('git add --all; git commit --quiet --message draft'), attempted],
        [
          sh('git commit --quiet --amend --message "T1: good"'),
          edit('x', 'x'),
          sh('git add x; git commit --quiet --amend --no-edit'),
          done,
        ],
      ],
      T2: [does('T2')],
    })
    expect(ran.end).toMatchObject({ reason: 'completed' })
    expect(logOf(place)).toEqual(['T2: Title of T2', 'T1: good', 'By a person', 'By a person', 'A state'])
  })

  test.each<[where: string, line: string]>([
    ['another branch', 'git checkout --quiet -b mine'],
    ['no branch', 'git checkout --quiet --detach'],
    ['a branch of another name', 'git branch --quiet -m renamed'],
  ])('may switch to %s: its commits are brought back', async (_, line) => {
    const place = withHistory()
    const branch = gitIn(place)('symbolic-ref', '--short', 'HEAD')
    const ran = await oneTurn(place, [
      sh(line),
      edit('T1.txt', '1\n'),
      sh('git add --all; git commit --quiet --message "T1: mine"'),
      done,
    ])
    expect(ran.end.completed).toEqual(['T1'])
    expect(gitIn(place)('symbolic-ref', '--short', 'HEAD')).toBe(branch)
    expect(logOf(place)).toEqual(['T1: mine', 'By a person', 'By a person', 'A state'])
    expect(messages(ran)).toContain(`The agent left the branch ${branch}; ralph moved its commits back.`)
  })

  test('or removes it entirely ends the execution', async () => {
    const place = withHistory()
    const ran = await execute(place, { T1: [[sh('rm -rf .git'), ...does('T1')]] })
    expect(ran).toMatchObject({ code: 1, end: { reason: 'git-failed' } })
    expect(ran.end.sentence).toBe(
      `T1: ${join(place.dir, '.git')} was removed during the turn. Restore it, then continue.`,
    )
    expect(results(place)).toContain('was removed during the turn')
  })
})

describe.concurrent('a user who returns to an unfinished task', () => {
  const turns = { T1: [[edit('half.txt', '1\n'), attempted], does('T1')], T2: [does('T2')] }

  test('may have switched to another branch, where it continues', async () => {
    const place = withPast(makeProject)
    await oneTurn(place, turns.T1[0] ?? [])
    gitIn(place)('switch', '--quiet', '-c', 'feature')
    const ran = await execute(place, turns)
    expect(ran.end).toMatchObject({ reason: 'completed' })
    expect(gitIn(place)('symbolic-ref', '--short', 'HEAD')).toBe('feature')
    expect(messages(ran)).not.toContain('The agent left the branch')
    expect(logOf(place, '@{-1}')).toEqual(['A state'])
  })

  test('may have changed the last commit', async () => {
    const place = withPast(makeProject)
    await oneTurn(place, turns.T1[0] ?? [])
    gitIn(place)('commit', '--quiet', '--allow-empty', '--amend', '--message', 'A better state')
    const ran = await execute(place, turns)
    expect(ran.end).toMatchObject({ reason: 'completed' })
    expect(logOf(place)).toEqual(['T2: Title of T2', 'T1: Title of T1', 'A better state'])
  })

  test('finds one loop per task, with all its turns', async () => {
    const place = withPast(makeProject)
    await oneTurn(place, turns.T1[0] ?? [])
    await execute(place, turns)
    expect(query(place, 'SELECT COUNT(*) AS n FROM loop')).toEqual([{ n: 2 }])
  })
})

test.concurrent('a project whose folder an agent removed stays locked', async () => {
  const place = makePlain(['T1'])
  const wait = sh('touch ../begun; while [ ! -e ../go ]; do sleep 0.02; done')
  const going = startExecute(place, {
    T1: [
      [edit('T1.txt', '1\n'), sh('rm -rf .artefacts')],
      [wait, ...does('T1')],
    ],
  })
  await until('the second turn', () => isThere(place, '../begun'))
  const second = await place.ralph(['execute', 'shop', '--agent', 'command:true'])
  expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining(`worked on by process ${going.pid} on`) })
  place.write('../go', '')
  expect(await going.ended).toMatchObject({ code: 0, end: { reason: 'completed' } })
  expect(statuses(place)).toBe('T1 completed')
})

describe.concurrent('history that is rewritten', () => {
  test.each<[fact: string, line: string]>([
    ['in every turn', 'git reset --quiet --hard HEAD~1'],
    ['in every turn, and then crashes', 'git reset --quiet --hard HEAD~1; exit 3'],
    ['by amending, and then crashes', 'git commit --quiet --amend --message amended; exit 3'],
    [
      'by leaving the branch, and then crashes',
      'git checkout --quiet -b wander; git commit --quiet --allow-empty -m x; exit 3',
    ],
  ])('%s is restored', async (_, line) => {
    const place = makeProject(['T1'])
    commit(place, { 'one.txt': '1\n' })
    commit(place, { 'two.txt': '2\n' })
    const branch = gitIn(place)('branch', '--show-current')
    const before = logOf(place)
    const ran = await place.ralph(['execute', 'shop', '--agent', place.agent(line), '--json'])
    expect(ran.code).toBe(1)
    expect(gitIn(place)('branch', '--show-current')).toBe(branch)
    expect(logOf(place).filter((subject) => subject !== 'x')).toEqual(before)
    expect(isThere(place, 'two.txt')).toBe(true)
  })
})

test.concurrent.each(['tasks.json', 'obstacles.json', 'spec.md', 'done.md'])(
  'a pipe in place of %s is replaced',
  async (face) => {
    const place = makePlain(['T1'])
    const pipe = sh(`rm -f ${FOLDER}/${face}; mkfifo ${FOLDER}/${face}`)
    const ran = await execute(place, { T1: [[edit('T1.txt', '1\n'), pipe], does('T1')] })
    expect(ran).toMatchObject({ code: 0, end: { reason: 'completed' } })
    expect(statuses(place)).toBe('T1 completed')
  },
)
