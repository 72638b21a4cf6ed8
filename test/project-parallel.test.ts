/** `ralph execute --parallel`: several tasks at a time, each in its own worktree, merged one by one. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Step } from '../src/formats/script.ts'
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
  makeProject,
  messages,
  obstaclesOf,
  results,
  scripted,
  sh,
  startExecute,
  statuses,
  type TaskGiven,
  type Turns,
  taskOf,
  tasksOf,
} from './project-place.ts'
import { type Place, type Ran, type Running, until } from './ralph.ts'

/** Waits until a file is in the folder above the work folder. */
const waitFor = ({ root }: Place, name: string): Step =>
  sh(`i=0; while [ ! -e '${root}/${name}' ] && [ $i -lt 1500 ]; do sleep 0.02; i=$((i+1)); done`)
const mark = ({ root }: Place, name: string): Step => sh(`touch '${root}/${name}'`)

function parallel(place: Place, turns: Turns, ...flags: string[]): Promise<Ran> {
  return execute(place, turns, '--parallel', '2', ...flags)
}

/** Nothing is left behind: no worktree, no branch, no change. */
function expectTidy(place: Place): void {
  const git = gitIn(place)
  expect(git('worktree', 'list').split('\n')).toHaveLength(1)
  expect(git('branch', '--list', 'ralph/*')).toBe('')
  expect(changesOf(place)).toEqual([])
  expect(existsSync(join(place.home, 'worktrees')) ? readdirSync(join(place.home, 'worktrees')) : []).toEqual([])
}

/** Two tasks that start at the same commit and change the same line; T1 arrives first. */
function clash(tasks: readonly (string | TaskGiven)[] = ['T1', 'T2']): { place: Place; turns: Turns } {
  const place = makeProject(tasks)
  commit(place, { 'both.txt': 'base\n' })
  return {
    place,
    turns: {
      T1: [[waitFor(place, 'T2-began'), edit('both.txt', 'one\n'), done]],
      T2: [[mark(place, 'T2-began'), waitFor(place, 'T1-arrived'), edit('both.txt', 'two\n'), done]],
    },
  }
}

/** Runs a clash; T2 continues once T1 has arrived. */
async function runClash({ place, turns }: ReturnType<typeof clash>, more: Turns, ...flags: string[]): Promise<Ran> {
  return letGo(place, startExecute(place, { ...turns, ...more }, '--parallel', '2', ...flags), 'T1')
}

async function letGo(place: Place, running: Running, first: string): Promise<Ran> {
  await until(`${first} has arrived`, () => taskOf(place, first)?.status === 'completed')
  writeFileSync(join(place.root, `${first}-arrived`), '')
  return running.ended
}

describe.concurrent('several parallel tasks', () => {
  test('run together, each in its own worktree, and all arrive', async () => {
    const place = makeProject(['T1', 'T2', { id: 'T3', dependencies: ['T1', 'T2'] }])
    const ran = await parallel(place, {
      T1: [[mark(place, 'a'), waitFor(place, 'b'), ...does('T1')]],
      T2: [[mark(place, 'b'), waitFor(place, 'a'), ...does('T2')]],
      T3: [[sh('ls T1.txt T2.txt && echo both > T3.txt'), done]],
    })
    expect(ran).toMatchObject({ code: 0, stderr: '', end: { reason: 'completed', iterations: 3 } })
    expect(['T1.txt', 'T2.txt', 'T3.txt'].map((name) => isThere(place, name))).toEqual([true, true, true])
    expect(place.read('T3.txt')).toBe('both\n')
    const log = gitIn(place)('log', '--format=%s').split('\n')
    for (const id of ['T1', 'T2', 'T3']) expect(log).toContain(`${id}: Title of ${id}`)
    expect(
      entriesOf(place)
        .map(({ iteration, status }) => [iteration, status])
        .sort(),
    ).toEqual([...[1, 2, 3].map((iteration) => [iteration, 'completed'])])
    expectTidy(place)
  })

  test('are never more than requested', async () => {
    const place = makeProject(['T1', 'T2', 'T3', 'T4'])
    const count = sh(
      `echo + >> '${place.root}/count'; sleep 0.2; cat '${place.root}/count' | wc -l > '${place.root}/seen-'$RALPH_TASK_ID`,
    )
    const ran = await parallel(
      place,
      Object.fromEntries(['T1', 'T2', 'T3', 'T4'].map((id) => [id, [[count, ...does(id)]]])),
    )
    expect(ran.end).toMatchObject({ reason: 'completed' })
    const working = ran.lines.flatMap(({ type, working: now }) =>
      type === 'project-progress' ? [(now as string[]).length] : [],
    )
    expect(Math.max(...working)).toBe(2)
  })

  test("have copies of the project's files, and write the same story in the end", async () => {
    const place = makeProject(['T1', 'T2'])
    const met = (obstacle: string): Step => ({ report: { status: 'completed', summary: obstacle, obstacle } })
    await parallel(place, {
      T1: [[mark(place, 'a'), waitFor(place, 'b'), edit('T1.txt', '1\n'), met('No network')]],
      T2: [[mark(place, 'b'), waitFor(place, 'a'), edit('T2.txt', '2\n'), met('No disk')]],
    })
    expect(obstaclesOf(place).map(({ id }) => id)).toEqual(['O1', 'O2'])
    const told = Object.fromEntries(obstaclesOf(place).map(({ id, message }) => [id, message]))
    for (const { summary, obstacles } of entriesOf(place)) expect(obstacles.map((id) => told[id])).toEqual([summary])
  })

  test('get files that are not in git, and do not commit them', async () => {
    const place = makeProject(['T1', 'T2'])
    commit(place, { 'ralph.config.json': JSON.stringify({ worktree_files: ['.env', 'local'] }) })
    place.write('.env', 'KEY=1\n')
    place.write('local/settings', 'x\n')
    const ran = await parallel(place, { T1: [[sh('cat .env local/settings > T1.txt'), done]], T2: [does('T2')] })
    expect(ran.end).toMatchObject({ reason: 'completed' })
    expect(place.read('T1.txt')).toBe('KEY=1\nx\n')
    expect(gitIn(place)('ls-files')).toBe('README.md\nT1.txt\nT2.txt\nralph.config.json')
    expect(place.read('.env')).toBe('KEY=1\n')
  })

  test('are set up first, each with its own ports', async () => {
    const place = makeProject(['T1', 'T2'])
    commit(place, {
      '.gitignore': 'installed\n',
      'setup.sh': 'echo "$RALPH_PORT" > installed\n',
      'ralph.config.json': JSON.stringify({ worktree_setup: 'sh setup.sh' }),
    })
    const keep = (id: string) => [sh(`cp installed ${id}.txt`), done]
    const ran = await parallel(place, { T1: [keep('T1')], T2: [keep('T2')] }, '--verify', 'test -s installed')
    expect(ran.end).toMatchObject({ reason: 'completed' })
    const ports = ['T1.txt', 'T2.txt'].map((name) => Number(place.read(name)))
    expect(Math.abs((ports[0] ?? 0) - (ports[1] ?? 0))).toBeGreaterThanOrEqual(10)
  })

  test('that cannot be set up stop the project and show the output', async () => {
    const place = makeProject(['T1', 'T2'])
    commit(place, { 'ralph.config.json': JSON.stringify({ worktree_setup: 'sh -c "echo no network; exit 3"' }) })
    const ran = await parallel(place, { T1: [does('T1')], T2: [does('T2')] })
    expect(ran).toMatchObject({ code: 1, end: { reason: 'setup-failed' } })
    expect(String(ran.end.sentence)).toContain('no network')
  })

  test('stop when one has used its attempts, but running tasks still arrive', async () => {
    const place = makeProject([{ id: 'T1', max_attempts: 1 }, 'T2', 'T3'])
    const running = startExecute(
      place,
      { T1: [[mark(place, 'a'), edit('half.txt', '1\n'), attempted]], T2: [[waitFor(place, 'go'), ...does('T2')]] },
      ...['--parallel', '2'],
    )
    await until('the end of T1', () => isThere(place, `${FOLDER}/state.json`) && entriesOf(place).length === 1)
    writeFileSync(join(place.root, 'go'), '')
    const ran = await running.ended
    expect(ran).toMatchObject({ code: 1, end: { reason: 'max-attempts', completed: ['T2'], remaining: ['T1', 'T3'] } })
    expect(results(place)).toMatch(/The unfinished work of T1 is in .*, on the branch ralph\/\w+\./)
    giveTasks(
      place,
      tasksOf(place).map((task) => ({ ...task, attempts: 0 })),
    )
    const again = await parallel(place, { T1: [[sh('cat half.txt > T1.txt'), done]], T3: [does('T3')] })
    expect(again.end).toMatchObject({ reason: 'completed' })
    expect(place.read('T1.txt')).toBe('1\n')
    expectTidy(place)
  })

  test('take no more turns than are left', async () => {
    const place = makeProject(['T1', 'T2', 'T3'])
    const ran = await parallel(place, { T1: [does('T1')], T2: [does('T2')], T3: [does('T3')] }, '--iterations', '2')
    expect(ran.end).toMatchObject({ reason: 'max-iterations', iterations: 2 })
    expect((ran.end.completed as string[]).length).toBe(2)
    expectTidy(place)
  })

  test('may include one whose agent rewrites history, which is undone only there', async () => {
    const place = makeProject(['T1'])
    commit(place, { 'one.txt': '1\n' })
    const before = logOf(place)
    const ran = await parallel(place, { T1: [[sh('git reset --quiet --hard HEAD~1'), done], does('T1')] })
    expect(ran.end).toMatchObject({ reason: 'completed', iterations: 2 })
    expect(messages(ran)).toContain('The agent rewrote commits')
    expect(logOf(place)).toEqual(['T1: Title of T1', ...before])
    expectTidy(place)
  })

  test.each<[fact: string, lose: (path: string) => void]>([
    ['its worktree', (path) => rmSync(path, { recursive: true })],
    ['the link of its worktree to the repository', (path) => rmSync(join(path, '.git'))],
  ])('may include one that lost %s meanwhile', async (_, lose) => {
    const place = makeProject(['T1'])
    const turns = { T1: [[edit('half.txt', '1\n'), attempted], does('T1')] }
    await parallel(place, turns, '--iterations', '1')
    const [name = ''] = readdirSync(join(place.home, 'worktrees'))
    lose(join(place.home, 'worktrees', name))
    const ran = await parallel(place, turns)
    expect(ran.end).toMatchObject({ reason: 'completed' })
    expect(place.read('T1.txt')).toBe('T1\n')
    expectTidy(place)
  })

  test.each<[fact: string, tasks: TaskGiven[], says: RegExp]>([
    ['removes from the list', [{ id: 'T2' }], /T1 is no longer in tasks\.json\. The agent's work stays on the branch/],
    [
      'marks as completed',
      [{ id: 'T1', status: 'completed' }, { id: 'T2' }],
      /You marked it completed\. The agent's work stays on the branch/,
    ],
  ])('may include one that the user %s: its work stays', async (_, tasks, says) => {
    const place = makeProject(['T1', { id: 'T2', dependencies: ['T1'] }])
    await parallel(place, { T1: [[edit('half.txt', 'half\n'), attempted]] }, '--iterations', '1')
    giveTasks(place, tasks)
    const ran = await parallel(place, { T2: [does('T2')] })
    expect(ran.end).toMatchObject({ reason: 'completed' })
    expect(messages(ran)).toMatch(says)
    const [, path = ''] = /, in (\S+)\.$/m.exec(messages(ran)) ?? []
    expect(readFileSync(join(path, 'half.txt'), 'utf8')).toBe('half\n')
    expect(logOf(place)).toEqual(['T2: Title of T2', 'A state'])
  })

  test('may include one whose agent removes its worktree, which the next start recreates', async () => {
    const place = makeProject(['T1', 'T2'])
    const removes = { attempt: 1, ...sh('rm -rf "$PWD"') }
    const turns = { T1: [[removes, ...does('T1').map((step) => ({ attempt: 2, ...step }))]], T2: [does('T2')] }
    const ran = await parallel(place, turns)
    expect(ran).toMatchObject({ code: 1, end: { reason: 'git-failed', completed: ['T2'] } })
    expect(ran.end.sentence).toMatch(
      /^T1: its worktree .* was removed during the turn\. The next start recreates it\.$/,
    )
    expect((await parallel(place, turns)).end).toMatchObject({ reason: 'completed', iterations: 3 })
    expectTidy(place)
  })

  test('may include one whose agent leaves its branch', async () => {
    const place = makeProject(['T1'])
    const leaves = [
      sh('git checkout --quiet --detach'),
      ...does('T1'),
      sh('git add T1.txt; git commit --quiet --message "T1: mine"'),
    ]
    expect((await parallel(place, { T1: [leaves] })).end).toMatchObject({ reason: 'completed' })
    expect(logOf(place)[0]).toBe('T1: mine')
    expectTidy(place)
  })
})

describe.concurrent('a conflict', () => {
  test('is resolved by an agent, and both sides arrive', async () => {
    const found = clash()
    const ran = await runClash(found, { 'T2/merge': [[edit('both.txt', 'one\ntwo\n')]] })
    expect(ran.end).toMatchObject({ reason: 'completed', iterations: 3 })
    expect(found.place.read('both.txt')).toBe('one\ntwo\n')
    expect(logOf(found.place)[0]).toBe('Merge T2: Title of T2')
    expect(taskOf(found.place, 'T2')).toMatchObject({ attempts: 1, status: 'completed' })
    expectTidy(found.place)
  })

  test('whose agent crashes has its entry, and does not count as an attempt at the task', async () => {
    const found = clash()
    const crash = { attempt: 1, fail: 'out of memory' }
    const ran = await runClash(found, { 'T2/merge': [[crash, edit('both.txt', 'one\ntwo\n')]] })
    expect(ran.end).toMatchObject({ reason: 'completed', iterations: 4 })
    expect(
      entriesOf(found.place)
        .map(({ iteration }) => iteration)
        .sort(),
    ).toEqual([1, 2, 3, 4])
    expect(entriesOf(found.place)[2]?.summary).toContain('The agent crashed: out of memory')
    expect(taskOf(found.place, 'T2')).toMatchObject({ attempts: 1, status: 'completed' })
  })

  test('whose resolution drops a side is refused, and the agent gets the reason', async () => {
    const found = clash()
    const ran = await runClash(found, {
      'T2/merge': [[edit('both.txt', 'two\n')], [edit('both.txt', 'one and two\n')]],
    })
    expect(ran.end).toMatchObject({ reason: 'completed', iterations: 4 })
    expect(found.place.read('both.txt')).toBe('one and two\n')
    expect(JSON.stringify(ran.lines)).toContain('drops the changes of the branch')
  })

  test('that remains unresolved stops the project, and nothing is lost', async () => {
    const found = clash()
    const ran = await runClash(found, { 'T2/merge': [[sh('git merge --abort')]] })
    expect(ran).toMatchObject({ code: 1, end: { reason: 'conflict', completed: ['T1'] } })
    expect(ran.end.sentence).toMatch(
      /^T2 does not merge with \S+: both changed both\.txt, and no agent could merge them/,
    )
    expect(found.place.read('both.txt')).toBe('one\n')
    const [, branch = ''] = /Its work is on the branch (\S+), in /.exec(String(ran.end.sentence)) ?? []
    expect(gitIn(found.place)('show', `${branch}:both.txt`)).toBe('two')
    expect(results(found.place)).toContain('**Stopped: conflict.**')
    expect(changesOf(found.place)).toEqual([])
  })

  test('that stopped the project can be retried', async () => {
    const found = clash()
    await runClash(found, { 'T2/merge': [[sh('git merge --abort')]] })
    const again = await parallel(found.place, { ...found.turns, 'T2/merge': [[edit('both.txt', 'one\ntwo\n')]] })
    expect(again.end).toMatchObject({ reason: 'completed' })
    expect(found.place.read('both.txt')).toBe('one\ntwo\n')
    expectTidy(found.place)
  })

  test('that the user resolved in the worktree is recognized', async () => {
    const found = clash()
    const ran = await runClash(found, { 'T2/merge': [[{ text: 'I cannot.' }]] })
    const [, path = ''] = / in (\S+)\.$/.exec(String(ran.end.sentence)) ?? []
    const there = { ...found.place, dir: path }
    expect(changesOf(there)).toEqual([])
    expect(() => gitIn(there)('merge', '--quiet', gitIn(found.place)('rev-parse', 'HEAD'))).toThrow()
    writeFileSync(join(path, 'both.txt'), 'by hand\n')
    gitIn(there)('commit', '--quiet', '--all', '--message', 'By hand')
    expect((await parallel(found.place, {})).end).toMatchObject({ reason: 'completed', iterations: 5 })
    expect(found.place.read('both.txt')).toBe('by hand\n')
  })

  test('that the user resolved on the branch is recognized', async () => {
    const found = clash()
    const ran = await runClash(found, { 'T2/merge': [[]] })
    const [, branch = ''] = /Its work is on the branch (\S+), in /.exec(String(ran.end.sentence)) ?? []
    const git = gitIn(found.place)
    expect(() => git('merge', branch)).toThrow()
    found.place.write('both.txt', 'one\ntwo\n')
    git('commit', '--quiet', '--all', '--message', 'By hand')
    const again = await parallel(found.place, {})
    expect(again.end).toMatchObject({ reason: 'completed', iterations: 5 })
    expect(found.place.read('both.txt')).toBe('one\ntwo\n')
    expect(entriesOf(found.place).at(-1)).toMatchObject({ task_id: 'T2', status: 'completed' })
    expectTidy(found.place)
  })
})

describe.concurrent('a merge without a conflict', () => {
  test('whose checks fail only in combination is backed out and retried with the failures', async () => {
    const check = 'test ! -e T1.txt -o ! -e T2.txt -o -e glue.txt'
    const place = makeProject([
      { id: 'T1', verify: check },
      { id: 'T2', verify: check },
    ])
    const running = startExecute(
      place,
      {
        T1: [[waitFor(place, 'T2-began'), ...does('T1')]],
        T2: [
          [
            mark(place, 'T2-began'),
            waitFor(place, 'T1-arrived'),
            sh('if [ -e T1.txt ]; then touch glue.txt; fi'),
            ...does('T2'),
          ],
        ],
      },
      ...['--parallel', '2'],
    )
    const ran = await letGo(place, running, 'T1')
    expect(ran.end).toMatchObject({ reason: 'completed', iterations: 3 })
    expect(messages(ran)).toContain('Merged with the latest changes on the branch, its checks fail')
    expect(taskOf(place, 'T2')).toMatchObject({ attempts: 2, status: 'completed' })
    expect(entriesOf(place).map(({ task_id, status }) => `${task_id} ${status}`)).toEqual([
      ...['T1 completed', 'T2 attempted', 'T2 completed'],
    ])
    expect(obstaclesOf(place)).toMatchObject([
      { task_id: 'T2', message: expect.stringContaining(`The check \`${check}\` fails.`), resolved: true },
    ])
    expect(isThere(place, 'glue.txt')).toBe(true)
    expectTidy(place)
  })

  test('shows the next agent what fails in combination', async () => {
    const check = 'test ! -e T1.txt -o ! -e T2.txt -o -e glue.txt'
    const place = makeProject(['T1', 'T2'])
    const agent = place.agent(`
      if [ "$RALPH_TASK_ID" = T1 ]; then while [ ! -e '${place.root}/T2-began' ]; do sleep 0.02; done; fi
      if [ "$RALPH_TASK_ID" = T2 ]; then
        touch '${place.root}/T2-began'
        while [ ! -e '${place.root}/T1-arrived' ]; do sleep 0.02; done
        if [ -e T1.txt ]; then touch glue.txt; fi
      fi
      touch "$RALPH_TASK_ID.txt"
      sed -i '/"id": "'$RALPH_TASK_ID'"/,/"status"/s/in_progress/completed/' "$RALPH_PROJECT_DIR/tasks.json"`)
    const flags = ['--json', '--parallel', '2', '--verify', check]
    const ran = await letGo(place, place.start(['execute', 'shop', '--agent', agent, ...flags]), 'T1')
    expect(ran.end).toMatchObject({ reason: 'completed', iterations: 3 })
    expect(place.prompt(3)).toContain('T2: Title of T2** (attempt 2 of 3)')
    expect(place.prompt(3)).toContain(
      'Your work passed on its own. Merged with what other tasks changed in the meantime, it fails:',
    )
    expect(place.prompt(3)).toContain(`The check \`${check}\` fails.`)
  })

  test('whose checks fail in combination at the last attempt stops the project, and nothing of it arrives', async () => {
    const check = 'test ! -e T1.txt -o ! -e T2.txt -o -e glue.txt'
    const place = makeProject(['T1', { id: 'T2', max_attempts: 1 }])
    const turns = {
      T1: [[waitFor(place, 'T2-began'), ...does('T1')]],
      T2: [[mark(place, 'T2-began'), waitFor(place, 'T1-arrived'), ...does('T2')]],
    }
    const ran = await letGo(place, startExecute(place, turns, '--parallel', '2', '--verify', check), 'T1')
    expect(ran).toMatchObject({ code: 1, end: { reason: 'max-attempts', completed: ['T1'] } })
    expect([isThere(place, 'T1.txt'), isThere(place, 'T2.txt')]).toEqual([true, false])
    giveTasks(
      place,
      tasksOf(place).map((task) => ({ ...task, max_attempts: 2 })),
    )
    const glue = [sh('ls T1.txt T2.txt && touch glue.txt'), done]
    expect((await parallel(place, { T2: [glue] }, '--verify', check)).end).toMatchObject({ reason: 'completed' })
    expectTidy(place)
  })

  test('does not disturb a user who commits on the branch meanwhile', async () => {
    const place = makeProject(['T1', 'T2'])
    const running = startExecute(
      place,
      { T1: [[waitFor(place, 'T2-arrived'), ...does('T1')]], T2: [does('T2')] },
      '--parallel',
      '2',
    )
    await until('T2 has arrived', () => taskOf(place, 'T2')?.status === 'completed')
    commit(place, { 'mine.txt': 'mine\n' })
    writeFileSync(join(place.root, 'T2-arrived'), '')
    expect((await running.ended).end).toMatchObject({ reason: 'completed' })
    expect(['T1.txt', 'T2.txt', 'mine.txt'].map((name) => isThere(place, name))).toEqual([true, true, true])
    expect(gitIn(place)('log', '--format=%s').split('\n')).toContain('By a person')
    expectTidy(place)
  })

  test('goes to the branch where it started, wherever the user is by then', async () => {
    const place = makeProject(['T1', { id: 'T2', dependencies: ['T1'] }])
    const branch = gitIn(place)('symbolic-ref', '--short', 'HEAD')
    const running = startExecute(
      place,
      {
        T1: [[mark(place, 'T1-began'), waitFor(place, 'go'), ...does('T1')]],
        T2: [[sh('ls T1.txt && echo 2 > T2.txt'), done]],
      },
      ...['--parallel', '2'],
    )
    await until('T1 has begun', () => existsSync(join(place.root, 'T1-began')))
    gitIn(place)('switch', '--quiet', '-c', 'elsewhere')
    writeFileSync(join(place.root, 'go'), '')
    expect((await running.ended).end).toMatchObject({ reason: 'completed' })
    expect(gitIn(place)('symbolic-ref', '--short', 'HEAD')).toBe('elsewhere')
    expect(isThere(place, 'T1.txt')).toBe(false)
    expect(logOf(place, branch)).toEqual(['T2: Title of T2', 'T1: Title of T1', 'A state'])
    expectTidy(place)
  })

  test('stops for a file of the user that is in the way, and continues when it is removed', async () => {
    const place = makeProject(['T1'])
    place.write('T1.txt', 'of the person\n')
    const ran = await parallel(place, { T1: [does('T1')] })
    expect(ran).toMatchObject({ code: 1, end: { reason: 'git-failed', sentence: expect.stringContaining('T1.txt') } })
    expect(place.read('T1.txt')).toBe('of the person\n')
    commit(place, { 'unrelated.txt': 'x\n' })
    gitIn(place)('clean', '--quiet', '--force')
    expect((await parallel(place, { T1: [[]] })).end).toMatchObject({ reason: 'completed', iterations: 1 })
    expect(place.read('T1.txt')).toBe('T1\n')
    expectTidy(place)
  })
})

describe.concurrent('Ctrl-C', () => {
  async function begun(place: Place, running: Running, ...names: string[]): Promise<void> {
    await until('the agents work', () => names.every((name) => existsSync(join(place.root, name))))
    expect(running.lines().some(({ type }) => type === 'project-start')).toBe(true)
  }

  test('once pauses after the running iterations; execute continues', async () => {
    const place = makeProject(['T1', 'T2', 'T3'])
    const turns = {
      T1: [[mark(place, 'a'), waitFor(place, 'go'), ...does('T1')]],
      T2: [[mark(place, 'b'), waitFor(place, 'go'), edit('half.txt', '1\n'), attempted], does('T2')],
      T3: [does('T3')],
    }
    const running = startExecute(place, turns, '--parallel', '2')
    await begun(place, running, 'a', 'b')
    running.child.kill('SIGINT')
    await until('the message', () => running.stdout().includes('Pausing after the current iterations'))
    writeFileSync(join(place.root, 'go'), '')
    const ran = await running.ended
    expect(ran).toMatchObject({ code: 130, end: { reason: 'paused', completed: ['T1'], iterations: 2 } })
    expect(results(place)).toContain('Continue with `ralph execute shop`.')
    expect(statuses(place)).toBe('T1 completed, T2 pending, T3 pending')
    expect((await parallel(place, turns)).end).toMatchObject({ reason: 'completed', iterations: 4 })
    expect(taskOf(place, 'T2')?.attempts).toBe(2)
    expectTidy(place)
  })

  test('twice stops at once; what was interrupted does not count as an attempt', async () => {
    const place = makeProject(['T1', 'T2'])
    const slow = (id: string): Step[] => [
      { attempt: 1, ...mark(place, `${id}-began`) },
      { attempt: 1, sleep: 60 },
      ...does(id),
    ]
    const turns = { T1: [slow('T1')], T2: [slow('T2')] }
    const running = startExecute(place, turns, '--parallel', '2')
    await begun(place, running, 'T1-began', 'T2-began')
    running.child.kill('SIGINT')
    await until('the message', () => running.stdout().includes('Pausing after the current iterations'))
    running.child.kill('SIGINT')
    expect(await running.ended).toMatchObject({ code: 130, end: { reason: 'paused', completed: [] } })
    expect(isThere(place, `${FOLDER}/results.md`)).toBe(true)
    expect(tasksOf(place).map(({ attempts }) => attempts)).toEqual([0, 0])
    expect((await parallel(place, turns)).end).toMatchObject({ reason: 'completed', iterations: 4 })
    expect(tasksOf(place).map(({ attempts }) => attempts)).toEqual([1, 1])
    expectTidy(place)
  })

  test.each(['SIGTERM', 'SIGKILL'] as const)('%s midway loses nothing', async (signal) => {
    const place = makeProject(['T1', { id: 'T2', dependencies: ['T1'] }])
    const turns = {
      T1: [
        [edit('half.txt', '1\n'), { attempt: 1, ...mark(place, 'began') }, { attempt: 1, sleep: 60 }, ...does('T1')],
      ],
      T2: [does('T2')],
    }
    const running = startExecute(place, turns)
    await begun(place, running, 'began')
    running.child.kill(signal)
    await running.ended
    expect((await execute(place, turns)).end).toMatchObject({ reason: 'completed', iterations: 3 })
    expect(entriesOf(place).map(({ iteration, task_id, status }) => `${iteration} ${task_id} ${status}`)).toEqual([
      ...['1 T1 attempted', '2 T1 completed', '3 T2 completed'],
    ])
    expect(tasksOf(place).map(({ attempts }) => attempts)).toEqual([1, 1])
    expect(changesOf(place)).toEqual([])
  })

  test('leaves no trace when the project continues sequentially', async () => {
    const place = makeProject(['T1', 'T2'])
    const turns = { T1: [[edit('half.txt', '1\n'), attempted], does('T1')], T2: [does('T2')] }
    await parallel(place, turns, '--iterations', '1')
    expect((await execute(place, turns)).end).toMatchObject({ reason: 'completed' })
    expect(isThere(place, 'half.txt')).toBe(true)
    expectTidy(place)
  })
})

test.concurrent('a project in a folder that is in no commit can be executed', async () => {
  const place = makeProject(['T1', 'T2'])
  commit(place, { 'README.md': 'x\n' })
  const folder = join(place.dir, 'sub', 'deep')
  place.write('sub/deep/.artefacts/shop/tasks.json', place.read(`${FOLDER}/tasks.json`))
  const agent = scripted(place, { T1: [does('T1')], T2: [does('T2')] })
  const ran = await place.ralph(['execute', 'shop', '--dir', folder, '--parallel', '2', '--agent', agent, '--json'])
  expect(ran).toMatchObject({ code: 0, end: { reason: 'completed' } })
  expect(place.read('sub/deep/T1.txt')).toBe('T1\n')
  expect(gitIn(place)('worktree', 'list').split('\n')).toHaveLength(1)
})

test.concurrent('a task started sequentially is finished sequentially, even with --parallel', async () => {
  const place = makeProject(['T1', 'T2'])
  place.write('.git/hooks/pre-commit', '#!/bin/sh\nexit 1\n', 0o755)
  expect((await execute(place, { T1: [does('T1')] })).end).toMatchObject({ reason: 'git-failed' })
  gitIn(place)('commit', '--quiet', '--no-verify', '--message', 'By hand')
  rmSync(join(place.dir, '.git/hooks/pre-commit'))
  const ran = await execute(place, { T1: [[]], T2: [does('T2')] }, '--parallel', '2')
  expect(ran).toMatchObject({ code: 0, end: { reason: 'completed' } })
})
