/**
 * `ralph watch`, as users and their other programs see it: files are dropped, moved by hand, renamed, and ralph is
 * killed.
 */
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text as readAll } from 'node:stream/consumers'
import { test as alone, describe, expect } from 'vitest'
import type { TaskState } from '../src/formats/task-state.ts'
import { RalphWiggum } from '../src/index.ts'
import { carriers, commitAll, LAUNCHER, type Line, makePlace, type Place, query, type Running, until } from './ralph.ts'

// A watcher spends most of its time waiting.
const test = alone.concurrent

/** A step that a shell runs in the vault. */
const sh = (line: string) => ({ shell: ['sh', '-c', line] })
const log = sh('echo "$RALPH_TASK_ID $RALPH_ITERATION $RALPH_ATTEMPT" >> "$LOG"')
const done = sh('mv "$RALPH_TASK_FILE" "$RALPH_VAULT/Done/"')
const ask = sh('mv "$RALPH_TASK_FILE" "$RALPH_VAULT/Pending_Approval/"')
const untilGo = (go: string) => sh(`while [ ! -e '${go}' ]; do sleep 0.05; done`)

/** A vault whose agent plays these turns, and writes a line for each. */
function makeVault(turns: readonly (readonly object[])[], tasks: Readonly<Record<string, object[][]>> = {}): Place {
  const place = makePlace({ git: false })
  place.env.LOG = join(place.root, 'log')
  place.env.RALPH_QUIET_SECONDS = '0.3'
  const logged = (each: readonly (readonly object[])[]) => each.map((steps) => [log, ...steps])
  const byTask = Object.fromEntries(Object.entries(tasks).map(([id, each]) => [id, logged(each)]))
  writeFileSync(join(place.root, 'script.json'), JSON.stringify({ turns: logged(turns), tasks: byTask }))
  mkdirSync(join(place.dir, 'Needs_Action'))
  return place
}

/** A file that has not been written to for a while. */
function drop({ dir }: Place, name: string, text = 'Do it.\n', age = 60): void {
  const hidden = join(dir, 'Needs_Action', `.${Buffer.from(name).toString('hex').slice(0, 100)}`)
  writeFileSync(hidden, text)
  const then = Date.now() / 1_000 - age
  utimesSync(hidden, then, then)
  renameSync(hidden, join(dir, 'Needs_Action', name))
}

const command = ({ root, dir }: Place, ...more: string[]) => [
  ...['watch', dir, '--agent', `scripted:${root}/script.json`, '--json', ...more],
]

const logOf = ({ root }: Place): string[] =>
  existsSync(join(root, 'log')) ? readFileSync(join(root, 'log'), 'utf8').trim().split('\n') : []

const names = ({ dir }: Place, folder: string): string[] =>
  existsSync(join(dir, folder))
    ? readdirSync(join(dir, folder))
        .filter((name) => !name.startsWith('.'))
        .sort()
    : []

const stateOf = (place: Place, id: string): TaskState => JSON.parse(place.read(`Ralph_State/${id}.json`))

const saw = (running: Running, type: string, task_id?: string) =>
  until(`${type} ${task_id ?? ''}`, () =>
    running.lines().find((line) => line.type === type && (task_id === undefined || line.task_id === task_id)),
  )

const ends = (lines: readonly Line[]) =>
  lines.filter(({ type }) => type === 'task-end').map(({ task_id, status }) => `${task_id} ${status}`)

async function stop(running: Running): Promise<void> {
  running.child.kill('SIGINT')
  expect(await running.ended).toMatchObject({ code: 130, stderr: '' })
}

/** None of ralph's own files are left. */
function expectTidy(place: Place): void {
  expect(readdirSync(join(place.dir, 'Ralph_State')).filter((name) => name.endsWith('.tmp'))).toEqual([])
  expectReleased(place)
}

/** No session is held back. */
function expectReleased(place: Place): void {
  expect(readdirSync(join(place.dir, 'Ralph_State', '.locks')).filter((name) => !name.endsWith('.db'))).toEqual([])
  const hook = join(place.dir, 'Ralph_State', '.hook') // created with the first task
  expect(existsSync(hook) ? readdirSync(hook) : []).toEqual([])
}

const FILES = 200

alone(`${FILES} files and two watchers: each is done exactly once`, { timeout: 300_000 }, async () => {
  const place = makeVault([])
  const agent = place.agent([log, done].map(({ shell }) => shell[2]).join('\n'))
  const ids = Array.from({ length: FILES }, (_, n) => `task_${String(n).padStart(3, '0')}`)
  for (const id of ids.slice(0, FILES / 4)) drop(place, `${id}.md`)
  const watchers = [1, 2].map(() => place.start(['watch', place.dir, '--agent', agent, '--json', '--concurrency', '4']))
  await until('both watchers', () => watchers.every((each) => each.lines().length > 0))
  for (const id of ids.slice(FILES / 4)) drop(place, `${id}.md`)
  await until('the end of all tasks', () => names(place, 'Done').length === FILES, 280_000)
  await until('all agents to stop', () => watchers.every((each) => each.lines().at(-1)?.type === 'idle'))
  for (const each of watchers) await stop(each)
  expect(logOf(place).sort()).toEqual(ids.map((id) => `${id} 1 1`))
  expect(names(place, 'Needs_Action')).toEqual([])
  expect(names(place, 'Failed')).toEqual([])
  expect(ids.map((id) => stateOf(place, id).status)).toEqual(ids.map(() => 'completed'))
  expect(watchers.flatMap((each) => ends(each.lines())).sort()).toEqual(ids.map((id) => `${id} completed`))
  expectTidy(place)
})

test('two watchers with their own homes do not do a file twice', async () => {
  const place = makeVault([[sh('sleep 0.1'), done]])
  const ids = Array.from({ length: 20 }, (_, n) => `t${n}`).sort()
  for (const id of ids) drop(place, `${id}.md`)
  const homes = ['one', 'two'].map((name) => ({ env: { RALPH_HOME: join(place.root, name) } }))
  const watchers = homes.map((how) => place.start(command(place, '--concurrency', '2'), how))
  await until('the end of all tasks', () => names(place, 'Done').length === ids.length)
  for (const each of watchers) await stop(each)
  expect(logOf(place).sort()).toEqual(ids.map((id) => `${id} 1 1`))
  expect(watchers.flatMap((each) => ends(each.lines())).sort()).toEqual(ids.map((id) => `${id} completed`))
  expect(names(place, 'Failed')).toEqual([])
  expectTidy(place)
})

test('a task in progress with another home is left alone, and so is one that ended there', async () => {
  const place = makeVault([[sh('true')]])
  drop(place, 'mine.md')
  drop(place, 'over.md')
  const state: TaskState = {
    task_id: 'mine',
    task_file: `${place.dir}/Needs_Action/mine.md`,
    status: 'in_progress',
    iteration: 1,
    max_iterations: 10,
    started_at: '2026-01-15T10:00:00Z',
    last_updated: '2026-01-15T10:00:00Z',
    timeout_at: '2026-01-15T10:30:00Z',
    iterations_history: [],
    progress: { steps_total: 0, steps_completed: 0, current_step: '', percentage: 0 },
  }
  const over = { ...state, task_id: 'over', status: 'completed', last_updated: '2126-01-15T10:00:00Z' }
  place.write('Ralph_State/mine.json', JSON.stringify(state))
  place.write('Ralph_State/over.json', JSON.stringify(over))
  const ran = await place.ralph(command(place, '--once'))
  expect(ran).toMatchObject({ code: 0 })
  expect(logOf(place)).toEqual([])
  const notes = ran.lines.filter(({ type }) => type === 'note').map(({ text }) => text)
  expect(notes).toEqual([
    expect.stringContaining('another ralph is working on it'),
    expect.stringContaining('has ended'),
  ])
})

test('urgent files come first, then the oldest, then by name', async () => {
  const place = makeVault([[done]])
  drop(place, 'old.md', 'Do it.\n', 900)
  drop(place, 'b.md', 'Do it.\n', 300)
  drop(place, 'a.md', 'Do it.\n', 300)
  drop(place, 'low.md', '---\npriority: low\n---\nDo it.\n', 9_000)
  drop(place, 'urgent.md', '---\npriority: urgent\n---\nDo it.\n', 30)
  drop(place, 'seven.md', '---\npriority: 7\n---\nDo it.\n', 30)
  utimesSync(join(place.dir, 'Needs_Action/b.md'), 1_700_000_000, 1_700_000_000)
  utimesSync(join(place.dir, 'Needs_Action/a.md'), 1_700_000_000, 1_700_000_000)
  expect(await place.ralph(command(place, '--once'))).toMatchObject({ code: 0 })
  expect(logOf(place).map((line) => line.split(' ')[0])).toEqual(['seven', 'urgent', 'a', 'b', 'old', 'low'])
})

test('ralph waits for a file that was just written, and leaves those of other programs alone', async () => {
  const place = makeVault([[sh('cp "$RALPH_TASK_FILE" "$RALPH_VAULT/seen.txt"'), done]])
  const others = ['.hidden.md', 'x.md~', '~$x.md', 'x.tmp', 'x.part', 'x.crdownload', '.x.md.swp']
  for (const name of others) writeFileSync(join(place.dir, 'Needs_Action', name), 'not yet')
  mkdirSync(join(place.dir, 'Needs_Action', 'folder'))
  drop(place, 'folder/inside.md')
  drop(place, 'slow.md', 'a line\n')
  appendFileSync(join(place.dir, 'Needs_Action', 'slow.md'), 'another\n')
  const ran = await place.ralph(command(place, '--once'))
  expect([ran.code, ends(ran.lines)]).toEqual([0, ['slow completed']])
  expect(place.read('seen.txt')).toBe('a line\nanother\n')
  expect(readdirSync(join(place.dir, 'Needs_Action')).sort()).toEqual(['folder', ...others].sort())
})

test('a time in the future is ignored, but an empty file is waited for', async () => {
  const place = makeVault([[done]])
  drop(place, 'future.md', 'Do it.\n', -100_000)
  drop(place, 'empty.md', '')
  const running = place.start(command(place))
  await saw(running, 'task-end', 'future')
  expect(running.lines().filter(({ type }) => type === 'note')).toEqual([
    { type: 'note', text: 'Needs_Action/empty.md is empty. It is skipped until it has content.' },
  ])
  drop(place, 'empty.md')
  await saw(running, 'task-end', 'empty')
  await stop(running)
})

test('Needs_Action is created if it is missing, and recreated', async () => {
  const place = makeVault([[done]])
  rmSync(join(place.dir, 'Needs_Action'), { recursive: true })
  const running = place.start(command(place))
  await saw(running, 'idle')
  drop(place, 'a.md')
  await saw(running, 'task-end', 'a')
  renameSync(join(place.dir, 'Needs_Action'), join(place.dir, 'Old'))
  await until('the folder to be back', () => existsSync(join(place.dir, 'Needs_Action')))
  drop(place, 'b.md')
  await saw(running, 'task-end', 'b')
  await stop(running)
})

test.each(['--max-cost abc', '--silence 0', '--check-timeout x', '--verify no-such-program'])(
  'an invalid option costs no file: %s',
  async (option) => {
    const place = makeVault([[done]])
    drop(place, 'a.md')
    expect(await place.ralph(command(place, '--once', ...option.split(' ')))).toMatchObject({ code: 2 })
    expect(names(place, 'Needs_Action')).toEqual(['a.md'])
  },
)

test('an agent that crashes with every file ends the watcher, and the other files stay', async () => {
  const place = makeVault([[{ fail: 'boom' }]])
  for (const name of ['a.md', 'b.md', 'c.md', 'd.md']) drop(place, name)
  expect(await place.ralph(command(place, '--once'))).toMatchObject({ code: 3 })
  expect(names(place, 'Needs_Action')).toEqual(['c.md', 'd.md'])
})

test.each(['1', '2'])(
  'of two files with the same name, the second waits until the first has ended: %s slots',
  async (slots) => {
    const place = makeVault([[sh('sleep 0.2'), done]])
    drop(place, 'a.md', 'Do it.\n', 90)
    drop(place, 'a.txt')
    const { code, lines } = await place.ralph(command(place, '--once', '--concurrency', slots))
    expect([code, ends(lines)]).toEqual([0, ['a completed', 'a completed']])
    expect(names(place, 'Done')).toEqual(['a.md', 'a.txt'])
    expect(names(place, 'Failed')).toEqual([])
  },
)

test('a file waits if an open task has the same name, which is reported once', async () => {
  const place = makeVault([[untilGo('../go'), done]])
  const running = place.start(command(place, '--concurrency', '2'))
  drop(place, 'a.md')
  await saw(running, 'task-start', 'a')
  drop(place, 'a.txt')
  expect(await saw(running, 'note')).toMatchObject({
    text: 'Needs_Action/a.txt waits until the task a (Needs_Action/a.md) has ended.',
  })
  expect(running.lines().filter(({ type }) => type === 'task-start')).toHaveLength(1)
  writeFileSync(join(place.root, 'go'), '')
  await until('the end of both', () => ends(running.lines()).length === 2)
  await stop(running)
  expect(running.lines().filter(({ type }) => type === 'note')).toHaveLength(2) // and that of Ctrl-C
  expect(names(place, 'Done')).toEqual(['a.md', 'a.txt'])
})

test('a vault that is unavailable for a while is waited for, and so are its tasks', async () => {
  const place = makeVault([[done]], { pay: [[ask], [done]], long: [[untilGo('../go'), sh('true')], [done]] })
  drop(place, 'pay.md')
  const running = place.start(command(place))
  await saw(running, 'task-wait', 'pay')
  drop(place, 'long.md')
  await saw(running, 'task-start', 'long')
  renameSync(place.dir, `${place.dir}.away`)
  mkdirSync(place.dir) // a disk's empty mount point stays
  writeFileSync(join(place.root, 'go'), '')
  await saw(running, 'task-wait', 'long')
  expect(readdirSync(place.dir)).toEqual([])
  rmSync(place.dir, { recursive: true })
  renameSync(`${place.dir}.away`, place.dir)
  expect(await saw(running, 'task-end', 'long')).toMatchObject({ status: 'completed' })
  drop(place, 'b.md')
  await saw(running, 'task-end', 'b')
  renameSync(join(place.dir, 'Pending_Approval/pay.md'), join(place.dir, 'Needs_Action/pay.md'))
  expect(await saw(running, 'task-end', 'pay')).toMatchObject({ status: 'completed' })
  await stop(running)
})

test('a file that cannot be moved now is moved later, and its end is reported then', async () => {
  const place = makeVault([[sh('date > x.txt')]])
  place.env.RALPH_CHECK_INTERVAL_SECONDS = '0.2'
  place.write('Failed', 'in the way')
  drop(place, 'a.md')
  const running = place.start(command(place, '--max-iterations', '1'))
  await saw(running, 'note')
  rmSync(join(place.dir, 'Failed'))
  expect(await saw(running, 'task-end', 'a')).toMatchObject({ status: 'max_iterations_reached', file: 'Failed/a.md' })
  await stop(running)
  expect(ends(running.lines())).toHaveLength(1)
  expect(names(place, 'Failed')).toEqual(['a.md', 'a.md.why.md'])
})

describe('what cannot be a task is moved to Failed, with a note', () => {
  test.each<[name: string, make: (place: Place) => void, why: RegExp]>([
    ['done.md', (place) => place.write('Done/done.md', 'x'), /Done\/done\.md already exists/],
    ['binary.bin', (place) => drop(place, 'binary.bin', '\0\u0001\0'), /is not UTF-8 text/],
    ['large.md', (place) => drop(place, 'large.md', 'x'.repeat(50 << 20)), /50 MB; the limit is 1 MB/],
    ['link.md', ({ dir }) => symlinkSync('/etc/hosts', join(dir, 'Needs_Action/link.md')), /is a link/],
    ['head.md', (place) => drop(place, 'head.md', '---\nmax_iterations: many\n---\nx'), /max_iterations must be/],
    ['agent.md', (place) => drop(place, 'agent.md', '---\nagent: command:x\n---\nx'), /cannot name other programs/],
    [
      'script.md',
      (place) => drop(place, 'script.md', '---\nagent: scripted\n---\nx'),
      /A task file cannot name the agent "scripted"/,
    ],
    [
      'shell.md',
      (place) => drop(place, 'shell.md', '---\nagent: sh\n---\nx'),
      /A task file cannot name the agent "sh", only claude, .*kilo\. Name one of them/,
    ],
    ['nobody.md', (place) => drop(place, 'nobody.md', '---\nagent: nobody\n---\nx'), /cannot name the agent "nobody"/],
    [
      'cost.md',
      (place) => drop(place, 'cost.md', '---\nagent: kilo\nmax_cost_usd: 1\n---\nx'),
      /not found|cannot be enforced/,
    ],
    [`${'n'.repeat(240)}.md`, (place) => drop(place, `${'n'.repeat(240)}.md`), /has an invalid name/],
  ])('%s', async (name, make, why) => {
    const place = makeVault([[done]])
    make(place)
    if (name === 'done.md') drop(place, name)
    const ran = await place.ralph(command(place, '--once'))
    expect(ran).toMatchObject({ code: 1, stderr: '' })
    expect(ran.lines).toContainEqual(
      expect.objectContaining({ type: 'task-refused', reason: expect.stringMatching(why), file: `Failed/${name}` }),
    )
    expect(names(place, 'Needs_Action')).toEqual([])
    const note = names(place, 'Failed').find((each) => each.endsWith('.why.md')) ?? ''
    expect(place.read(`Failed/${note}`)).toMatch(why)
    expect(names(place, 'Failed')).toHaveLength(2)
    expect(logOf(place)).toEqual([])
  })
})

test('the note next to a refused file is the one in the docs', async () => {
  const place = makeVault([[done]])
  drop(place, 'report.md', '---\nmax_iterations: many\n---\nx')
  await place.ralph(command(place, '--once'))
  const [, sample] = /```markdown\n(---\nralph: .*?)```/s.exec(readFileSync('docs/vault.md', 'utf8')) ?? []
  expect(place.read('Failed/report.md.why.md')).toBe(sample)
})

test('a task that is done after a retry leaves no note behind', async () => {
  const place = makeVault([[sh('test -e ../go && mv "$RALPH_TASK_FILE" Done/; date +%N > x.txt')]])
  drop(place, 'once.md', '---\nmax_iterations: 1\n---\nDo it.\n')
  place.write('Failed/mine.md.why.md', 'A note of a person.\n')
  drop(place, 'mine.md', '---\nmax_iterations: 1\n---\nDo it.\n')
  expect(await place.ralph(command(place, '--once'))).toMatchObject({ code: 1 })
  expect(names(place, 'Failed')).toEqual(['mine.md', 'mine.md.why.md', 'once.md', 'once.md.why.md'])
  place.write('Failed/mine.md.why.md', 'A note of a person.\n')
  for (const name of ['mine.md', 'once.md'])
    renameSync(join(place.dir, 'Failed', name), join(place.dir, 'Needs_Action', name))
  writeFileSync(join(place.root, 'go'), '')
  expect(await place.ralph(command(place, '--once'))).toMatchObject({ code: 0 })
  expect(names(place, 'Done')).toEqual(['mine.md', 'once.md'])
  expect(names(place, 'Failed')).toEqual(['mine.md.why.md'])
})

test('what could not be refused is refused later', async () => {
  const place = makeVault([[done]])
  place.env.RALPH_CHECK_INTERVAL_SECONDS = '0.2'
  place.write('Failed', 'in the way')
  drop(place, 'bad.md', '---\npriority: soon\n---\nDo it.\n')
  const running = place.start(command(place))
  await saw(running, 'note')
  rmSync(join(place.dir, 'Failed'))
  expect(await saw(running, 'task-refused', 'bad')).toMatchObject({ file: 'Failed/bad.md' })
  await stop(running)
  expect(running.lines().at(-1)).toMatchObject({ type: 'watch-end', failed: 1 })
})

test('an unreadable vault is a failure of --once', async () => {
  // A link is replaced atomically, so that nothing finds it missing and recreates the folder.
  const place = makeVault([[done, sh('ln -s nowhere link; mv -T link Needs_Action')]])
  renameSync(join(place.dir, 'Needs_Action'), join(place.dir, 'Inbox'))
  symlinkSync('Inbox', join(place.dir, 'Needs_Action'))
  drop(place, 'a.md')
  drop(place, 'b.md')
  const ran = await place.ralph(command(place, '--once'))
  expect(ends(ran.lines)).toEqual(['a completed'])
  expect(ran.code).toBe(1)
  expect(ran.stderr).toContain('Needs_Action cannot be read')
})

test('a task that fails goes to Failed with a note, and is not started again before it comes back', async () => {
  const place = makeVault([[{ text: 'Not yet.' }, sh('date +%N > changed.txt')]])
  drop(place, 'hard.md', '---\nmax_iterations: 2\n---\nDo it.\n')
  const running = place.start(command(place))
  expect(await saw(running, 'task-end', 'hard')).toMatchObject({
    status: 'max_iterations_reached',
    reason: 'max-iterations',
    iterations: 2,
    file: 'Failed/hard.md',
  })
  expect(place.read('Failed/hard.md.why.md')).toMatch(
    /Reached the limit of 2 iterations\.[\s\S]*move Failed\/hard\.md back/,
  )
  expect(stateOf(place, 'hard')).toMatchObject({ status: 'max_iterations_reached', iteration: 2 })
  await saw(running, 'idle')
  renameSync(join(place.dir, 'Failed/hard.md'), join(place.dir, 'Needs_Action/hard.md'))
  await until('its second failure', () => ends(running.lines()).length === 2)
  await stop(running)
  expect(logOf(place)).toEqual(['hard 1 1', 'hard 2 1', 'hard 1 1', 'hard 2 1'])
})

test('checks of the file and of --verify must pass', async () => {
  const place = makeVault([[done], [sh('touch one.txt')], [sh('touch two.txt')]])
  drop(place, 'a.md', '---\nverify: test -e one.txt\n---\nDo it.\n')
  const ran = await place.ralph(command(place, '--once', '--verify', 'test -e two.txt'))
  expect(ran).toMatchObject({ code: 0 })
  expect(ends(ran.lines)).toEqual(['a completed'])
  expect(stateOf(place, 'a')).toMatchObject({ status: 'completed', iteration: 3 })
})

test('an agent whose file is in Done is reminded of that while checks refuse it', async () => {
  const place = makeVault([[done], [sh('cat "$RALPH_TASK_FILE" > seen.txt; touch one.txt')]])
  drop(place, 'a.md', '---\nverify: test -e one.txt\n---\nDo it.\n')
  const ran = await place.ralph(command(place, '--once'))
  expect(ran).toMatchObject({ code: 0 })
  expect(place.read('seen.txt')).toContain('Do it.')
  expect(names(place, 'Done')).toEqual(['a.md'])
})

test('a check that never passes sends the file from Done to Failed', async () => {
  const place = makeVault([[done], [sh('date +%N > changed.txt')]])
  drop(place, 'a.md', '---\nverify: test -e never.txt\n---\nDo it.\n')
  const ran = await place.ralph(command(place, '--once', '--max-iterations', '2'))
  expect(ran).toMatchObject({ code: 1 })
  expect(names(place, 'Done')).toEqual([])
  expect(names(place, 'Failed')).toEqual(['a.md', 'a.md.why.md'])
  expect(logOf(place)).toEqual(['a 1 1', 'a 2 1'])
})

test('a read-only Failed folder is reported, and the file stays', async () => {
  const place = makeVault([[sh('date +%N > changed.txt')]])
  place.write('Failed', 'a file in the way')
  drop(place, 'a.md', '---\nmax_iterations: 1\n---\nDo it.\n')
  drop(place, 'bad.md', '---\nmax_iterations: 0\n---\nDo it.\n')
  for (const turns of [1, 1]) {
    const ran = await place.ralph(command(place, '--once'))
    expect(ran).toMatchObject({ code: 1 })
    const notes = ran.lines.filter(({ type }) => type === 'note').map(({ text }) => text)
    expect(notes.sort()).toEqual([
      expect.stringMatching(/Failed must be a readable and writable folder/),
      expect.stringMatching(/max_iterations must be .*Failed must be a readable and writable folder/),
    ])
    expect(logOf(place)).toHaveLength(turns)
  }
  expect(names(place, 'Needs_Action')).toEqual(['a.md', 'bad.md'])
})

test('a state file that is not a regular file does not stop the work', async () => {
  const place = makeVault([[sh('rm Ralph_State/a.json; mkdir -p Ralph_State/a.json/x'), done]])
  drop(place, 'a.md')
  const ran = await place.ralph(command(place, '--once'))
  expect(ran).toMatchObject({ code: 0 })
  expect(ran.lines.filter(({ type }) => type === 'note').map(({ text }) => text)).toEqual([
    expect.stringContaining('Ralph_State/a.json was damaged'),
  ])
  expect(names(place, 'Done')).toEqual(['a.md'])
})

test('an agent that cannot be used fails one task, not all of them', async () => {
  const place = makeVault([[sh('rm ../script.json'), done]])
  for (const id of ['a', 'b', 'c']) drop(place, `${id}.md`)
  const ran = await place.ralph(command(place))
  expect(ran).toMatchObject({ code: 3 })
  expect(ends(ran.lines)).toEqual(['a completed', 'b failed'])
  expect(names(place, 'Failed')).toEqual(['b.md', 'b.md.why.md'])
  expect(names(place, 'Needs_Action')).toEqual(['c.md'])
})

test('Needs_Action may be a link to another folder of the vault', async () => {
  const place = makeVault([[sh('sleep 0.2')], [done]])
  renameSync(join(place.dir, 'Needs_Action'), join(place.dir, 'Inbox'))
  symlinkSync('Inbox', join(place.dir, 'Needs_Action'))
  drop(place, 'a.md')
  const ran = await place.ralph(command(place, '--once', '--concurrency', '2'))
  expect(ends(ran.lines)).toEqual(['a completed'])
  expect(names(place, 'Failed')).toEqual([])
})

test("an agent's rate limit is waited for", async () => {
  const place = makeVault([[{ attempt: 1, 'rate-limit': { resetsInSeconds: 1 } }, done]])
  drop(place, 'a.md')
  const ran = await place.ralph(command(place, '--once'))
  expect(ran.lines).toContainEqual(expect.objectContaining({ type: 'iteration', end: 'limited' }))
  expect(ends(ran.lines)).toEqual(['a completed'])
  expect(logOf(place)).toEqual(['a 1 1', 'a 1 2'])
})

test('a task can name its agent', async () => {
  const place = makeVault([[done]])
  const bin = join(place.root, 'bin')
  mkdirSync(bin)
  const claude = '#!/bin/sh\ncat > /dev/null\necho claude >> "$LOG"\nmv "$RALPH_TASK_FILE" "$RALPH_VAULT/Done/"\n'
  writeFileSync(join(bin, 'claude'), claude, { mode: 0o755 })
  drop(place, 'a.md', '---\nagent: claude\n---\nDo it.\n')
  const ran = await place.ralph(command(place, '--once'), { env: { PATH: `${bin}:${place.env.PATH}` } })
  expect(ran).toMatchObject({ code: 0 })
  expect(ran.lines).toContainEqual(expect.objectContaining({ type: 'task-start', agents: ['claude'] }))
  expect(logOf(place)).toEqual(['claude'])
})

test('a vault in a repository that ignores its folders needs no second turn', async () => {
  const place = makeVault([[done]])
  place.write('.gitignore', '/*\n')
  commitAll(place)
  drop(place, 'a.md')
  const ran = await place.ralph(command(place, '--once'))
  expect(ends(ran.lines)).toEqual(['a completed'])
  expect(logOf(place)).toEqual(['a 1 1'])
})

test('a user who is away is notified of what failed and what waits for them', async ({ onTestFinished }) => {
  const received: object[] = []
  const server = createServer(async (request, response) => {
    received.push(JSON.parse(await readAll(request)))
    response.end()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await until('the server to listen', () => server.listening)
  const place = makeVault([[done]], { pay: [[ask]] })
  const { port } = server.address() as AddressInfo
  place.write('ralph.config.json', JSON.stringify({ notify_webhook: `http://127.0.0.1:${port}/` }))
  for (const id of ['good', 'pay']) drop(place, `${id}.md`)
  drop(place, 'bad.md', '---\npriority: soon\n---\n')
  expect(await place.ralph(command(place, '--once'))).toMatchObject({ code: 1, stderr: '' })
  expect(received).toHaveLength(2)
  expect(received).toContainEqual(expect.objectContaining({ task_id: 'pay', status: 'waiting_approval' }))
  expect(received).toContainEqual(expect.objectContaining({ task_id: 'bad', status: 'refused' }))
})

describe('the progress of a task', () => {
  const tick = (text: string) =>
    sh(`sed 's/\\[ \\] ${text}/[x] ${text}/' "$RALPH_TASK_FILE" > new.tmp && cat new.tmp > "$RALPH_TASK_FILE"`)
  const written = (text: string) => sh(`until grep -q '${text}' Ralph_State/a.json; do sleep 0.05; done`)
  const BOXES = 'Write the report.\n\n- [ ] outline\n- [ ] text\n\n```\n- [ ] no box\n```\n'

  test('is read from the checkboxes in its file', async () => {
    const place = makeVault([
      [tick('outline'), sh('cp Ralph_State/a.json first.json')],
      [written('"steps_completed": 1'), sh('cp Ralph_State/a.json second.json'), tick('text'), done],
    ])
    drop(place, 'a.md', BOXES)
    expect(await place.ralph(command(place, '--once'))).toMatchObject({ code: 0, stderr: '' })
    const progress = (file: string) => (JSON.parse(place.read(file)) as TaskState).progress
    expect([progress('first.json'), progress('second.json'), stateOf(place, 'a').progress]).toEqual([
      { steps_total: 2, steps_completed: 0, current_step: 'outline', percentage: 0 },
      { steps_total: 2, steps_completed: 1, current_step: 'text', percentage: 50 },
      { steps_total: 2, steps_completed: 2, current_step: '', percentage: 100 },
    ])
    const [loop] = query(place, 'SELECT spec FROM loop')
    expect(JSON.parse(String(loop?.spec)).prompt).toContain('Tick the checkboxes in the file as you go')
  })

  test('is reported by the agent, with the command in its prompt; checkboxes count when they change', async () => {
    const ralph = (completed: number) =>
      sh(
        `'${process.execPath}' '${LAUNCHER}' task progress "$RALPH_TASK_ID" --total 4 --completed ${completed} --step Sums`,
      )
    const place = makeVault([[done]], {
      plain: [[ralph(1)], [done]],
      boxes: [[ralph(1)], [sh('cp Ralph_State/boxes.json kept.json'), tick('text'), done]],
    })
    drop(place, 'plain.md')
    drop(place, 'boxes.md', BOXES)
    expect(await place.ralph(command(place, '--once'))).toMatchObject({ code: 0, stderr: '' })
    const told = { steps_total: 4, steps_completed: 1, current_step: 'Sums', percentage: 25 }
    expect(stateOf(place, 'plain').progress).toEqual(told)
    expect((JSON.parse(place.read('kept.json')) as TaskState).progress).toEqual(told)
    expect(stateOf(place, 'boxes').progress).toMatchObject({
      steps_total: 2,
      steps_completed: 1,
      current_step: 'outline',
    })
    const prompts = query(place, "SELECT json_extract(spec, '$.prompt') AS prompt FROM loop").map(({ prompt }) =>
      String(prompt),
    )
    expect(
      prompts.filter((text) => text.includes("`ralph task progress --total N --completed N --step '…' plain`")),
    ).toHaveLength(1)
  })
})

test('a file that was only copied to Done stays, which is reported once', async () => {
  const place = makeVault([[sh('cp "$RALPH_TASK_FILE" "$RALPH_VAULT/Done/"')]])
  drop(place, 'a.md')
  const running = place.start(command(place))
  await saw(running, 'task-end', 'a')
  await saw(running, 'note')
  drop(place, 'b.md')
  await saw(running, 'task-end', 'b')
  await until('both reports', () => running.lines().filter(({ type }) => type === 'note').length === 2)
  await stop(running)
  expect(logOf(place)).toEqual(['a 1 1', 'b 1 1'])
  expect(names(place, 'Needs_Action')).toEqual(['a.md', 'b.md'])
})

describe('a task that waits for approval', () => {
  const turns = [[ask], [done]]

  async function waiting(): Promise<{ place: Place; running: Running }> {
    const place = makeVault(turns, { other: [[done]] })
    drop(place, 'pay.md')
    const running = place.start(command(place))
    expect(await saw(running, 'task-wait', 'pay')).toMatchObject({ status: 'waiting_approval' })
    expect(stateOf(place, 'pay').status).toBe('waiting_approval')
    drop(place, 'other.md')
    await saw(running, 'task-end', 'other')
    return { place, running }
  }

  test('continues when it is approved', async () => {
    const { place, running } = await waiting()
    const ralph = new RalphWiggum({ vaultPath: place.dir, home: place.home, env: {} })
    await ralph.approveTask({ task_id: 'pay', note: 'up to 100' })
    await ralph.close()
    expect(await saw(running, 'task-end', 'pay')).toMatchObject({ status: 'completed', iterations: 2 })
    await stop(running)
    expect(logOf(place)).toEqual(['pay 1 1', 'other 1 1', 'pay 2 1'])
  })

  test('fails when it is rejected', async () => {
    const { place, running } = await waiting()
    const ralph = new RalphWiggum({ vaultPath: place.dir, home: place.home, env: {} })
    await ralph.rejectTask({ task_id: 'pay', reason: 'too much' })
    await ralph.close()
    expect(await saw(running, 'task-end', 'pay')).toMatchObject({ status: 'failed', file: 'Failed/pay.md' })
    await stop(running)
    expect(names(place, 'Failed')).toEqual(['pay.md', 'pay.md.why.md'])
  })

  test('leaves older files alone when it is rejected', async () => {
    const { place, running } = await waiting()
    place.write('Failed/pay.md', 'An older one.\n')
    place.write('Failed/pay.md.why.md', 'Why that was.\n')
    const ralph = new RalphWiggum({ vaultPath: place.dir, home: place.home, env: {} })
    await ralph.rejectTask({ task_id: 'pay' })
    await ralph.updateProgress({ task_id: 'pay', steps_total: 1, steps_completed: 0, current_step: 'none' })
    await ralph.close()
    expect(await saw(running, 'task-end', 'pay')).toMatchObject({ status: 'failed', file: 'Failed/pay-2.md' })
    await stop(running)
    expect(names(place, 'Failed')).toEqual(['pay-2.md', 'pay-2.md.why.md', 'pay.md', 'pay.md.why.md'])
    expect(place.read('Failed/pay.md')).toBe('An older one.\n')
    expect(place.read('Failed/pay.md.why.md')).toBe('Why that was.\n')
  })

  test('continues when its file is moved back by hand', async () => {
    const { place, running } = await waiting()
    renameSync(join(place.dir, 'Pending_Approval/pay.md'), join(place.dir, 'Needs_Action/pay.md'))
    const { loop_id } = await saw(running, 'task-end', 'pay')
    await stop(running)
    const facts = query(place, 'SELECT fact FROM event WHERE loop = ?', String(loop_id)).map(({ fact }) => String(fact))
    expect(facts.filter((fact) => fact.includes('Approved. Continue.'))).toHaveLength(1)
    expect(logOf(place)).toEqual(['pay 1 1', 'other 1 1', 'pay 2 1'])
  })

  test.each([
    ['Done', 'completed'],
    ['Failed', 'failed'],
  ])('has ended when its file is moved to %s by hand', async (folder, status) => {
    const { place, running } = await waiting()
    mkdirSync(join(place.dir, folder), { recursive: true })
    renameSync(join(place.dir, 'Pending_Approval/pay.md'), join(place.dir, folder, 'pay.md'))
    expect(await saw(running, 'task-end', 'pay')).toMatchObject({ status, iterations: 1, file: `${folder}/pay.md` })
    await stop(running)
    expect(stateOf(place, 'pay').status).toBe(status)
  })

  test('fails when its file is deleted, or when it is cancelled', async () => {
    const { place, running } = await waiting()
    rmSync(join(place.dir, 'Pending_Approval/pay.md'))
    expect(await saw(running, 'task-end', 'pay')).toMatchObject({ status: 'failed', file: null })
    drop(place, 'pay2.md')
    const { loop_id } = await saw(running, 'task-wait', 'pay2')
    expect(await place.ralph(['cancel', String(loop_id)])).toMatchObject({ code: 0 })
    expect(await saw(running, 'task-end', 'pay2')).toMatchObject({ status: 'failed', file: 'Failed/pay2.md' })
    await stop(running)
  })

  test('is remembered by the next watcher', async () => {
    const { place, running } = await waiting()
    await stop(running)
    expect(await place.ralph(command(place, '--once'))).toMatchObject({ code: 4 })
    renameSync(join(place.dir, 'Pending_Approval/pay.md'), join(place.dir, 'Needs_Action/pay.md'))
    expect(await place.ralph(command(place, '--once'))).toMatchObject({ code: 0 })
    expect(logOf(place)).toEqual(['pay 1 1', 'other 1 1', 'pay 2 1'])
  })
})

describe('a killed watcher', () => {
  test('continues with the same iteration, and none is done twice', async () => {
    const place = makeVault([[sh('date > first.txt')], [{ attempt: 1, ...sh('touch ../inside; sleep 60') }, done]])
    drop(place, 'a.md')
    const running = place.start(command(place))
    await until('the agent is in its second turn', () => existsSync(join(place.root, 'inside')))
    const { loop_id } = await saw(running, 'task-start')
    await until('the first turn is written down', () => stateOf(place, 'a').iteration === 2)
    running.child.kill('SIGKILL')
    await running.ended
    const ran = await place.ralph(command(place, '--once'))
    expect(ran).toMatchObject({ code: 0 })
    expect(ends(ran.lines)).toEqual(['a completed'])
    expect(logOf(place)).toEqual(['a 1 1', 'a 2 1', 'a 2 2'])
    expect(stateOf(place, 'a')).toMatchObject({ status: 'completed', iteration: 2 })
    expect(carriers(`RALPH_LOOP_ID=${loop_id}`)).toEqual([])
    expectReleased(place)
  })

  test('next to another one, again and again, leaves nothing undone', async () => {
    const place = makeVault([[sh('sleep 0.1; date > "w-$RALPH_TASK_ID"')], [sh('sleep 0.1'), done]])
    const ids = Array.from({ length: 12 }, (_, n) => `t${n}`)
    for (const id of ids) drop(place, `${id}.md`)
    const env = { RALPH_CHECK_INTERVAL_SECONDS: '0.5' }
    const start = () => place.start(command(place, '--concurrency', '2'), { env })
    const watchers = [start(), start()]
    for (const [n, turns] of [2, 5, 9, 12, 16, 20].entries()) {
      await until(`turn ${turns}`, () => logOf(place).length >= turns)
      watchers[n % 2]?.child.kill('SIGKILL')
      await watchers[n % 2]?.ended
      watchers[n % 2] = start()
    }
    const statuses = () => ids.filter((id) => stateOf(place, id).status === 'completed')
    await until(
      'the end of all tasks',
      () => names(place, 'Done').length === ids.length && statuses().length === ids.length,
    )
    await until('all agents to stop', () => watchers.every((each) => each.lines().at(-1)?.type === 'idle'))
    for (const each of watchers) await stop(each)
    expect(logOf(place)).toHaveLength(new Set(logOf(place)).size)
    expect(names(place, 'Failed')).toEqual([])
    expect(names(place, 'Needs_Action')).toEqual([])
  })

  test('does not start an agent on what is already done', async () => {
    const place = makeVault([[done, sh('touch ../inside; sleep 60')]])
    drop(place, 'a.md')
    const running = place.start(command(place))
    await until('the file is done', () => existsSync(join(place.root, 'inside')))
    running.child.kill('SIGKILL')
    await running.ended
    expect(await place.ralph(command(place, '--once'))).toMatchObject({ code: 0 })
    expect(logOf(place)).toEqual(['a 1 1'])
    expect(stateOf(place, 'a').status).toBe('completed')
  })
})

describe('while a task runs', () => {
  const turns = [[untilGo('../go'), sh('true')]]
  const go = ({ root }: Place) => writeFileSync(join(root, 'go'), '')

  test('its file is renamed: the new name waits until that task has ended', async () => {
    const place = makeVault([[done]], { a: turns[0] ? [turns[0]] : [] })
    drop(place, 'a.md')
    const running = place.start(command(place, '--concurrency', '2'))
    await saw(running, 'task-start', 'a')
    renameSync(join(place.dir, 'Needs_Action/a.md'), join(place.dir, 'Needs_Action/b.md'))
    drop(place, 'c.md')
    await saw(running, 'task-end', 'c')
    expect(logOf(place).sort()).toEqual(['a 1 1', 'c 1 1'])
    go(place)
    expect(await saw(running, 'task-end', 'a')).toMatchObject({
      status: 'failed',
      sentence: expect.stringContaining('renamed to Needs_Action/b.md'),
    })
    await saw(running, 'task-end', 'b')
    await stop(running)
    expect(names(place, 'Done')).toEqual(['b.md', 'c.md'])
  })

  test('its file is deleted: it has failed', async () => {
    const place = makeVault(turns)
    drop(place, 'a.md')
    const running = place.start(command(place))
    await saw(running, 'task-start', 'a')
    rmSync(join(place.dir, 'Needs_Action/a.md'))
    go(place)
    expect(await saw(running, 'task-end', 'a')).toMatchObject({ status: 'failed', file: null })
    await stop(running)
    expect(place.read('Failed/a.md.why.md')).toContain('no longer in the vault')
    expect(stateOf(place, 'a').status).toBe('failed')
  })

  test('its file is deleted while Failed has an older one: it has failed, and the older one stays', async () => {
    const place = makeVault(turns)
    place.write('Failed/a.md', 'An older one.\n')
    drop(place, 'a.md')
    const running = place.start(command(place))
    await saw(running, 'task-start', 'a')
    rmSync(join(place.dir, 'Needs_Action/a.md'))
    go(place)
    expect(await saw(running, 'task-end', 'a')).toMatchObject({ status: 'failed', file: null })
    await stop(running)
    expect(place.read('Failed/a-2.md.why.md')).toContain('no longer in the vault')
    expect(names(place, 'Failed')).toEqual(['a-2.md.why.md', 'a.md'])
  })

  test('it is cancelled from elsewhere: its agent stops at once', async () => {
    const place = makeVault(turns)
    drop(place, 'a.md')
    const running = place.start(command(place))
    const { loop_id } = await saw(running, 'task-start', 'a')
    expect(stateOf(place, 'a').status).toBe('in_progress')
    expect(await place.ralph(['cancel', String(loop_id)])).toMatchObject({ code: 0 })
    expect(await saw(running, 'task-end', 'a')).toMatchObject({ reason: 'cancelled', file: 'Failed/a.md' })
    await stop(running)
    expect(carriers(`RALPH_LOOP_ID=${loop_id}`)).toEqual([])
  })

  test('it is paused: another takes its place until it is resumed', async () => {
    const place = makeVault([[untilGo('../go'), sh('date > x.txt')], [done]], { other: [[done]] })
    drop(place, 'a.md')
    const running = place.start(command(place))
    const { loop_id } = await saw(running, 'task-start', 'a')
    expect(await place.ralph(['pause', String(loop_id)])).toMatchObject({ code: 0 })
    go(place)
    await saw(running, 'task-pause', 'a')
    drop(place, 'other.md')
    await saw(running, 'task-end', 'other')
    const told = await place.ralph(['resume', String(loop_id)])
    expect(told).toMatchObject({ code: 0, stdout: expect.stringContaining('Loop ') })
    expect(await saw(running, 'task-end', 'a')).toMatchObject({ status: 'completed', iterations: 2 })
    await stop(running)
    expectTidy(place)
  })

  test('a caller of the task API has it: it is left alone', async () => {
    const place = makeVault([[done]])
    drop(place, 'a.md')
    const ralph = new RalphWiggum({ vaultPath: place.dir, home: place.home, env: {} })
    await ralph.startTask({ task_file: 'Needs_Action/a.md' })
    const ran = await place.ralph(command(place, '--once'))
    await ralph.close()
    expect(ran.lines.filter(({ type }) => type === 'note').map(({ text }) => text)).toEqual([
      'a.md is skipped: a caller of the task API is working on it.',
    ])
    expect(logOf(place)).toEqual([])
  })
})

describe('a task that is no longer watched', () => {
  const leftAlone = async (turns: object[][]) => {
    const place = makeVault([[untilGo('../go'), sh('date > x.txt')], ...turns])
    drop(place, 'a.md')
    const running = place.start(command(place))
    const { loop_id } = await saw(running, 'task-start', 'a')
    running.child.kill('SIGINT')
    await saw(running, 'note')
    writeFileSync(join(place.root, 'go'), '')
    expect(await running.ended).toMatchObject({ code: 130 })
    return { place, loop: String(loop_id) }
  }

  test('can be resumed by hand, with all that its agent needs', async () => {
    const { place, loop } = await leftAlone([[done]])
    expect(await place.ralph(['resume', loop])).toMatchObject({ code: 0 })
    expect(stateOf(place, 'a')).toMatchObject({ status: 'completed', iteration: 2 })
    expectTidy(place)
  })

  test.each(['watch', 'resume'])('loses no time while nobody works on it: %s', async (verb) => {
    const { place, loop } = await leftAlone([[done]])
    const long = 86_400_000
    const database = new DatabaseSync(join(place.home, 'ralph.db'))
    database.exec(
      `UPDATE loop SET tally = json_set(tally, '$.startedAt', started_at - ${long}), updated_at = updated_at - ${long}`,
    )
    database.close()
    const ran = await place.ralph(verb === 'watch' ? command(place, '--once') : ['resume', loop])
    expect(ran.code).toBe(0)
    expect(stateOf(place, 'a')).toMatchObject({ status: 'completed', iteration: 2 })
  })

  test('goes to Failed when it is cancelled', async () => {
    const { place, loop } = await leftAlone([])
    expect(await place.ralph(['cancel', loop])).toMatchObject({ code: 0 })
    expect(names(place, 'Failed')).toEqual(['a.md', 'a.md.why.md'])
  })

  test('has failed when its file disappears', async () => {
    const { place, loop } = await leftAlone([[sh('rm "$RALPH_TASK_FILE"')]])
    expect(await place.ralph(['resume', loop])).toMatchObject({ code: 130 })
    expect(stateOf(place, 'a')).toMatchObject({ status: 'failed', iteration: 2 })
  })
})

describe('Ctrl-C', () => {
  test('lets the iteration end, and the next watcher continues', async () => {
    const place = makeVault([[untilGo('../go'), sh('date > x.txt')], [done]])
    drop(place, 'a.md')
    drop(place, 'b.md')
    const running = place.start(command(place))
    await saw(running, 'task-start', 'a')
    running.child.kill('SIGINT')
    await saw(running, 'note')
    writeFileSync(join(place.root, 'go'), '')
    expect(await running.ended).toMatchObject({ code: 130 })
    expect(logOf(place)).toEqual(['a 1 1'])
    expect(stateOf(place, 'a')).toMatchObject({ status: 'in_progress', iteration: 2 })
    expect(await place.ralph(command(place, '--once'))).toMatchObject({ code: 0 })
    expect(logOf(place)).toEqual(['a 1 1', 'a 2 1', 'b 1 1', 'b 2 1'])
  })

  test.each<[string, NodeJS.Signals[]]>([
    ['twice', ['SIGINT', 'SIGINT']],
    ['as SIGTERM', ['SIGTERM']],
  ])('%s stops the agent at once', async (_, signals) => {
    const place = makeVault([[sh('sleep 60')]])
    drop(place, 'a.md')
    const running = place.start(command(place))
    const { loop_id } = await saw(running, 'task-start', 'a')
    await until('the agent is at work', () => logOf(place).length === 1)
    for (const [n, signal] of signals.entries()) {
      if (n > 0) await saw(running, 'note')
      running.child.kill(signal)
    }
    expect(await running.ended).toMatchObject({ code: 130 })
    expect(carriers(`RALPH_LOOP_ID=${loop_id}`)).toEqual([])
    expect(names(place, 'Needs_Action')).toEqual(['a.md'])
  })
})

test('names are taken literally, whatever they contain', async () => {
  const place = makeVault([[done]])
  const ids = ['with spaces', '🚀 launch', '$(touch PWNED)', "it's; rm -rf x", '-rf', 'a"b', '`id`', '%s', '日本語']
  for (const id of ids) drop(place, `${id}.md`)
  const ran = await place.ralph(command(place, '--once'))
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect(names(place, 'Done')).toEqual(ids.map((id) => `${id}.md`).sort())
  expect(readdirSync(place.dir).sort()).toEqual(['Done', 'Needs_Action', 'Pending_Approval', 'Ralph_State'])
  expectTidy(place)
})

test('people see calm lines', async () => {
  const place = makeVault([[{ text: 'I wrote the letter.' }, done]], { pay: [[ask]] })
  drop(place, 'letter.md')
  drop(place, 'pay.md', 'Pay.\n', 30)
  drop(place, 'bad.md', '---\npriority: soon\n---\n', 10)
  const args = command(place, '--once').filter((arg) => arg !== '--json')
  const { code, stdout } = await place.ralph(args)
  expect(code).toBe(1)
  const time = '\\d\\d:\\d\\d:\\d\\d'
  for (const line of [
    'ralph vault .*work · agent scripted:.*',
    `${time}  ▸  letter  started with scripted:.*`,
    `${time}  ✓  letter  iteration 1 of 10: claimed done.*`,
    `${time}  ✓  letter  completed in 1 iteration, \\d+:\\d\\d, proof: claimed\\. There is no check.*`,
    `${time}  \\?  pay  waiting for you: pay.md is waiting in Pending_Approval for your approval. Approve: ralph task approve --vault \\S+ pay, or .*`,
    `${time}  ✗  bad.md  was not started. .*priority must be .* Now in Failed/bad.md`,
  ])
    expect(stdout).toMatch(new RegExp(`^${line}$`, 'm'))
})

test('a folder inside a vault is not a vault', async () => {
  const place = makeVault([[done]])
  expect(await place.ralph(['watch', join(place.dir, 'Needs_Action'), '--once'])).toMatchObject({ code: 2 })
})

test('a missing check program, a folder that is not a vault and meaningless options are reported at once', async () => {
  const place = makeVault([[done]])
  expect(await place.ralph(['watch'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Missing vault folder'),
  })
  expect(await place.ralph(['watch', 'nowhere'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Vault folder not found'),
  })
  for (const wrong of [
    ['--concurrency', '0'],
    ['--max-iterations', '0'],
    ['--timeout', 'soon'],
    ['--model', 'x'],
    ['--verify', 'a | b'],
  ])
    expect(await place.ralph(command(place, ...wrong))).toMatchObject({ code: 2 })
})

test('--once continues everything that was started, even with fewer slots than tasks', async () => {
  const place = makeVault([[ask], [done]])
  for (const id of ['a', 'b', 'c']) drop(place, `${id}.md`)
  expect(await place.ralph(command(place, '--once'))).toMatchObject({ code: 4 })
  for (const id of ['a', 'b', 'c']) await place.ralph(['task', 'approve', id, '--vault', place.dir])
  const ran = await place.ralph(command(place, '--once'))
  expect(ran).toMatchObject({ code: 0 })
  expect(ends(ran.lines).sort()).toEqual(['a completed', 'b completed', 'c completed'])
})

test('an agent that keeps renaming its file is not started on it forever', async () => {
  const place = makeVault([[sh('mv "$RALPH_TASK_FILE" "$RALPH_VAULT/Needs_Action/report-v$(wc -l < "$LOG").md"')]])
  drop(place, 'report.md')
  const ran = await place.ralph(command(place, '--once'))
  expect(ran).toMatchObject({ code: 1 })
  expect(logOf(place)).toEqual(['report 1 1', 'report-v1 1 1'])
  expect(names(place, 'Needs_Action')).toEqual(['report-v2.md'])
  expect(ran.lines.filter(({ type }) => type === 'note').at(-1)).toMatchObject({
    text: expect.stringContaining('it is the file of task report-v1, which has ended'),
  })
  // Whoever moves it out and back wants it done.
  renameSync(join(place.dir, 'Needs_Action/report-v2.md'), join(place.dir, 'report.md'))
  writeFileSync(join(place.root, 'script.json'), JSON.stringify({ turns: [[done]] }))
  renameSync(join(place.dir, 'report.md'), join(place.dir, 'Needs_Action/again.md'))
  expect(await place.ralph(command(place, '--once'))).toMatchObject({ code: 0 })
  expect(names(place, 'Done')).toEqual(['again.md'])
})

describe('killed while it moves a file to Failed, the next watcher leaves the file there with its note', () => {
  const failing = '---\nmax_iterations: 1\n---\nDo it.\n'
  const refused = '---\nmax_iterations: many\n---\nDo it.\n'

  test.each<[what: string, when: 'before' | 'after', to: string, text: string, left: string[], told: string]>([
    ['failed, while it writes the note', 'before', 'a.md.why.md', failing, [], 'task-end'],
    ['failed, before it moves the file', 'after', 'a.md.why.md', failing, ['a.md.why.md'], 'task-end'],
    ['failed, before it reports the end', 'after', 'a.md', failing, ['a.md', 'a.md.why.md'], 'task-end'],
    ['refused, while it writes the note', 'before', 'a.md.why.md', refused, [], 'task-refused'],
    ['refused, before it moves the file', 'after', 'a.md.why.md', refused, ['a.md.why.md'], 'task-refused'],
  ])('%s', async (_, when, to, text, left, told) => {
    const place = makeVault([[sh('date > x.txt')]])
    const trap = join(place.root, 'trap.cjs')
    writeFileSync(
      trap,
      `const fs = require('node:fs'), rename = fs.renameSync
       fs.renameSync = (from, to) => {
         const here = String(to).endsWith('/Failed/${to}')
         if (!here || '${when}' === 'after') rename(from, to)
         if (here) process.kill(process.pid, 'SIGKILL')
       }`,
    )
    drop(place, 'a.md', text)
    const killed = await place.ralph(command(place, '--once'), { env: { NODE_OPTIONS: `--require ${trap}` } })
    expect(killed).toMatchObject({ signal: 'SIGKILL' })
    expect(names(place, 'Failed')).toEqual(left)
    const ran = await place.ralph(command(place, '--once'))
    expect(ran).toMatchObject({ code: 1 })
    expect(ran.lines.filter(({ type }) => type === 'task-end' || type === 'task-refused')).toMatchObject([
      { type: told, task_id: 'a', file: 'Failed/a.md' },
    ])
    expect(readdirSync(join(place.dir, 'Failed')).sort()).toEqual(['a.md', 'a.md.why.md'])
    expect(names(place, 'Needs_Action')).toEqual([])
    expectTidy(place)
  })
})

test("a killed caller's task is ended, and the next file of that name is picked up", async () => {
  const place = makeVault([[done]])
  drop(place, 'a.md')
  const api = new RalphWiggum({ vaultPath: place.dir, home: place.home, env: {} })
  await api.startTask({ task_file: 'Needs_Action/a.md', max_iterations: 1 })
  const trap = join(place.root, 'trap.cjs')
  writeFileSync(trap, `require('node:fs/promises').rename = () => process.kill(process.pid, 'SIGKILL')`)
  const iterate = ['task', 'iterate', 'a', '--action', 'x', '--vault', place.dir]
  expect(await place.ralph(iterate, { env: { NODE_OPTIONS: `--require ${trap}` } })).toMatchObject({
    signal: 'SIGKILL',
  })
  await api.close()
  rmSync(join(place.dir, 'Needs_Action/a.md'))
  drop(place, 'a.md')
  const ran = await place.ralph(command(place, '--once'))
  expect(ends(ran.lines)).toEqual(['a completed'])
  expect(ran).toMatchObject({ code: 0 })
  expectTidy(place)
})

test('a task that another home has started meanwhile does not stop a watcher from working', async () => {
  const place = makeVault([[ask], [done]])
  drop(place, 'a.md')
  expect(await place.ralph(command(place, '--once'))).toMatchObject({ code: 4 })
  rmSync(join(place.dir, 'Ralph_State'), { recursive: true })
  renameSync(join(place.dir, 'Pending_Approval/a.md'), join(place.dir, 'Needs_Action/a.md'))
  const other = new RalphWiggum({ vaultPath: place.dir, home: join(place.root, 'other'), env: {} })
  await other.startTask({ task_file: 'Needs_Action/a.md' })
  await other.close()
  drop(place, 'b.md')
  const ran = await place.ralph(command(place, '--once'))
  expect(ran.lines.filter(({ type }) => type === 'task-start').map(({ task_id }) => task_id)).toContain('b')
})

test('killed while it starts a task: the next watcher tells the Stop hook about it', async () => {
  const place = makeVault([[ask]])
  const trap = join(place.root, 'trap.cjs')
  writeFileSync(
    trap,
    `const fs = require('node:fs/promises'), rename = fs.rename
     fs.rename = (from, to) => String(to).endsWith('/.hook/a') ? process.kill(process.pid, 'SIGKILL') : rename(from, to)`,
  )
  drop(place, 'a.md')
  const killed = await place.ralph(command(place, '--once'), { env: { NODE_OPTIONS: `--require ${trap}` } })
  expect(killed).toMatchObject({ signal: 'SIGKILL' })
  expect(names(place, 'Ralph_State/.hook')).toEqual([])
  expect(await place.ralph(command(place, '--once'))).toMatchObject({ code: 4 })
  expect(place.read('Ralph_State/.hook/a')).toContain('a.md\n')
})

test('a state file that a killed watcher left behind is corrected by the next one', async () => {
  const place = makeVault([[ask]])
  drop(place, 'a.md')
  expect(await place.ralph(command(place, '--once'))).toMatchObject({ code: 4 })
  place.write('Ralph_State/a.json', JSON.stringify({ ...stateOf(place, 'a'), status: 'in_progress', iteration: 0 }))
  expect(await place.ralph(command(place, '--once'))).toMatchObject({ code: 4 })
  expect(stateOf(place, 'a')).toMatchObject({ status: 'waiting_approval', iteration: 1 })
})

test('a vault that was moved while a task waited: it continues there', async () => {
  const place = makeVault([[ask], [done]])
  drop(place, 'a.md')
  expect(await place.ralph(command(place, '--once'))).toMatchObject({ code: 4 })
  const moved = join(place.root, 'moved')
  renameSync(place.dir, moved)
  mkdirSync(place.dir)
  const there = ['watch', moved, '--agent', `scripted:${place.root}/script.json`, '--json', '--once']
  expect(await place.ralph(there)).toMatchObject({ code: 4 })
  expect(await place.ralph(['task', 'approve', 'a', '--vault', moved])).toMatchObject({ code: 0 })
  expect(await place.ralph(there)).toMatchObject({ code: 0 })
  expect(readdirSync(join(moved, 'Done'))).toEqual(['a.md'])
})

test('a name that is not UTF-8 is reported; pipes are refused; leftovers of editors and systems are skipped', async () => {
  const place = makeVault([[done]])
  const folder = join(place.dir, 'Needs_Action')
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/bad`), Buffer.from([0xff]), Buffer.from('.md')]), 'Do it.\n')
  for (const name of ['#a.md#', 'a.bak', '4913', 'Thumbs.db', '#1 invoice.md']) drop(place, name)
  execFileSync('sh', ['-c', 'mkfifo "$0"', join(folder, 'pipe.md')])
  utimesSync(join(folder, 'pipe.md'), 1, 1)
  const ran = await place.ralph(command(place, '--once'))
  expect(ran.lines.filter(({ type }) => type === 'note')).toMatchObject([
    { text: expect.stringContaining('not valid UTF-8') },
  ])
  expect(names(place, 'Done')).toEqual(['#1 invoice.md'])
  expect(place.read('Failed/pipe.md.why.md')).toContain('is not a regular file')
})

test('a vault that is unavailable when a watcher starts is waited for, and not recreated', async () => {
  const place = makeVault([[ask], [done]])
  drop(place, 'a.md')
  expect(await place.ralph(command(place, '--once'))).toMatchObject({ code: 4 })
  renameSync(place.dir, `${place.dir}-away`)
  mkdirSync(place.dir)
  const ran = await place.ralph(command(place, '--once'), { cwd: place.root })
  expect(ran.code).not.toBe(0)
  expect(ran.stderr).toContain('is the disk mounted?')
  expect(readdirSync(place.dir)).toEqual([])
  rmSync(place.dir, { recursive: true })
  renameSync(`${place.dir}-away`, place.dir)
  expect(await place.ralph(['task', 'approve', 'a', '--vault', place.dir])).toMatchObject({ code: 0 })
  expect(await place.ralph(command(place, '--once'))).toMatchObject({ code: 0 })
})

test('names that no task can have are all refused at once', async () => {
  const place = makeVault([[done]])
  for (const n of [1, 2, 3, 4]) drop(place, `back\\slash${n}.md`)
  expect(await place.ralph(command(place, '--once', '--concurrency', '3'))).toMatchObject({ code: 1 })
  expect(names(place, 'Needs_Action')).toEqual([])
})

test('ralph resume starts no agent on a file that the user has moved to Failed meanwhile; paused is shown as paused', async () => {
  const place = makeVault([[untilGo('../go'), done]])
  drop(place, 'a.md')
  const running = place.start(command(place))
  await saw(running, 'task-start', 'a')
  await until('the agent is at work', () => logOf(place).length === 1)
  running.child.kill('SIGKILL')
  await running.ended
  const loop = String(query(place, 'SELECT loop FROM task')[0]?.loop)
  await place.ralph(['pause', loop])
  const { stdout } = await place.ralph(['briefing', place.dir])
  expect(stdout).toContain(`Resume a, which is paused: \`ralph resume ${loop}\``)
  expect(stdout).not.toContain('that nobody works on')
  mkdirSync(join(place.dir, 'Failed'))
  renameSync(join(place.dir, 'Needs_Action/a.md'), join(place.dir, 'Failed/a.md'))
  await place.ralph(['resume', loop])
  expect(logOf(place)).toEqual(['a 1 1'])
  expect(stateOf(place, 'a').status).toBe('failed')
})
