import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { eventually, temporaryFolder } from '../../host/place.test-support.ts'
import { dropDatabase, postgresMissing, testDatabase } from '../../host/postgres/postgres.test-support.ts'
import { main } from './main.ts'
import { openRecorder } from './screen.test-support.ts'

const missing = await postgresMissing()
const ROOT = resolve(import.meta.dirname, '../../..')
const DONE = `echo '<promise>COMPLETE</promise>'`

type Ran = { code: number; out: string; err: string }
type Line = Record<string, unknown>

/** A clone of a remote repository, with an agent next to it and a database for all commands below. */
async function openPlace(finish = onTestFinished) {
  const url = await testDatabase()
  finish(() => dropDatabase(url))
  const folder = temporaryFolder()
  const [remote, clone] = [join(folder, 'remote.git'), join(folder, 'clone')]
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a', ...args], { cwd, encoding: 'utf8' }).trim()
  git(folder, 'init', '--quiet', '--bare', '--initial-branch', 'main', remote)
  git(folder, 'clone', '--quiet', remote, clone)
  git(clone, 'config', 'user.email', 'ada@example.com')
  writeFileSync(join(clone, 'a.txt'), 'a\n')
  git(clone, 'add', '--all')
  git(clone, 'commit', '--quiet', '--message', 'start')
  git(clone, 'push', '--quiet', 'origin', 'HEAD:main')

  const start = (argv: readonly string[], home: string, env: Record<string, string> = {}) => {
    const [out, err] = [openRecorder(), openRecorder()]
    const machine = {
      env: { PATH: process.env.PATH, HOME: folder, RALPH_HOME: join(folder, home), RALPH_DATABASE: url, ...env },
      cwd: () => clone,
      stdin: Readable.from([]),
      stdout: out.stream,
      stderr: err.stream,
    }
    const ended = main(argv, { root: ROOT, version: '0.1.0' }, machine).then(
      (code): Ran => ({ code, out: out.text(), err: err.text() }),
    )
    return { out: out.text, err: err.text, ended }
  }
  const ralph = (...argv: string[]) => start(argv, 'home').ended
  let [workers, agents] = [0, 0]
  return {
    url,
    clone,
    remote,
    git,
    start,
    ralph,
    lines: async (...argv: string[]): Promise<Line[]> => {
      const { out } = await ralph(...argv, '--json')
      return out.split('\n').flatMap((line) => (line ? [JSON.parse(line) as Line] : []))
    },
    /** `reads`: what it does with its prompt. */
    agent(lines: string, reads = 'cat > /dev/null'): string {
      const file = join(folder, `agent-${++agents}.sh`)
      writeFileSync(file, `#!/bin/sh\n${reads}\n${lines}\n`)
      chmodSync(file, 0o755)
      return `command:${file}`
    },
    /** Runs in this process until a signal, which takes effect at once; a drain waits for the next heartbeat. */
    async worker(...argv: string[]) {
      const running = start(['worker', '--agents', 'command', ...argv], `worker-${++workers}`)
      const id = await eventually(() => /^ralph worker (\S+) /.exec(running.out())?.[1])
      onTestFinished(async () => {
        process.emit('SIGHUP')
        await running.ended
      })
      return { id, ...running }
    },
  }
}

describe.skipIf(missing)(`the fleet on the command line${missing ? `: ${missing}` : ''}`, () => {
  test('a task is submitted, run, pushed and shown', async () => {
    const { ralph, worker, agent, git, remote } = await openPlace()
    const { id, out } = await worker('--labels', 'linux')
    const submitted = await ralph(
      ...[
        'submit',
        'Write b.txt',
        '--agent',
        agent(`touch b.txt; ${DONE}`),
        '--labels',
        'linux',
        '--verify',
        'test -f b.txt',
      ],
      '--wait',
    )
    expect(submitted).toMatchObject({ code: 0, err: '' })
    const [, task = ''] = /^Submitted task (\w+)\. Its branch is ralph\/\1 in /.exec(submitted.out) ?? []
    expect(submitted.out).toMatch(new RegExp(`^${task}  done  `, 'm'))
    expect(git(remote, 'ls-tree', '--name-only', `ralph/${task}`)).toBe('a.txt\nb.txt')
    expect(out()).toContain(`${task}  started: Write b.txt`)
    expect(out()).toContain(`${task}  iteration 1 finished`)
    expect((await ralph('status')).out).toMatch(new RegExp(`^${id} +alive +0/2 +command +linux`, 'm'))
    expect((await ralph('status', task)).out).toContain('submitted by ada@example.com · agents command:')
  })

  test('the diff and the proof of a task are shown without its worker or its repository', async () => {
    const { start, worker, agent, git, remote } = await openPlace()
    const board = (...argv: string[]) => start(argv, 'board').ended
    await worker()
    const writes = agent(`echo "from a worker" > b.txt; ${DONE}`)
    const submitted = await board('submit', 'Write b.txt', '--agent', writes, '--verify', 'test -f b.txt', '--wait')
    const [, task = ''] = /^Submitted task (\w+)/.exec(submitted.out) ?? []
    const pushed = git(remote, 'rev-parse', `ralph/${task}`)
    expect((await board('show', task)).out).toContain(`on branch ralph/${task} of ${remote}. Last pushed commit: `)
    expect((await board('show', task, '1')).out).toContain('+from a worker')
    expect((await board('proof', task)).out).toContain(`commit ${pushed.slice(0, 12)}`)
    const statement = JSON.parse((await board('proof', task, '--json')).out)
    expect(statement.subject).toMatchObject([{ name: 'remote.git', digest: { gitCommit: pushed } }])
    for (const again of ['--again', '--why'])
      expect(await board('proof', task, again)).toMatchObject({
        code: 2,
        err: expect.stringContaining(`Fetch it: git fetch ${remote} ralph/${task}`),
      })
    const report = join(temporaryFolder(), 'report.html')
    expect(await board('show', task, '-o', report)).toMatchObject({ code: 0, err: '' })
    expect(readFileSync(report, 'utf8')).toMatch(/^<!doctype html>/i)
  })

  test('a project is submitted as a graph, and merged task by task', async () => {
    const { ralph, lines, worker, agent, clone, git, remote } = await openPlace()
    const folder = join(clone, '.artefacts', 'shop')
    mkdirSync(folder, { recursive: true })
    const tasks = [
      { id: 'T1', title: 'Lay the ground', verify: 'test -f T1', touches: 'T1' },
      { id: 'T2', title: 'Paint it', description: 'In blue.', dependencies: ['T1', 'T0'], may_change: ['docs/**'] },
      { id: 'T0', title: 'Was done before', status: 'completed' },
    ]
    writeFileSync(join(folder, 'tasks.json'), JSON.stringify({ tasks }))
    await worker()
    const make = agent(`touch "$(echo "$RALPH_TASK_ID" | cut -d- -f2)"; ${DONE}`)
    const submitted = await ralph('submit', '--project', 'shop', '--agent', make, '--wait')
    expect(submitted.out).toMatch(/^Submitted 2 tasks, 1 ready to start:\n {2}shop-T1 {2}Lay the ground\n/)
    expect(submitted).toMatchObject({ code: 0, out: expect.stringMatching(/All 2 tasks are done\.\n$/) })
    expect(git(remote, 'ls-tree', '--name-only', 'main')).toBe('T1\nT2\na.txt')
    const [, ...shown] = await lines('status', '--all')
    expect(shown).toMatchObject([
      {
        id: 'shop-T2',
        state: 'done',
        project: 'shop',
        depends_on: ['shop-T1'],
        sentence: expect.stringMatching(/^Merged/),
      },
      { id: 'shop-T1', state: 'done', touches: ['T1'], depends_on: [] },
    ])
    const [again] = await lines('submit', '--project', 'shop', '--agent', make)
    expect(again).toMatchObject({ tasks: [{ id: 'shop-T1-2' }, { id: 'shop-T2-2', state: 'waiting' }] })
  })

  test('a task that waits for a failed one says so, and continues after a retry', async () => {
    const { ralph, lines, worker, agent, clone } = await openPlace()
    await worker()
    const flag = join(clone, 'allowed')
    const picky = agent(`test -f ${flag} || exit 1; ${DONE}`)
    const task = ['--agent', picky, '--repo', 'none', '--max-iterations', '1', '--same-error', '1']
    const [first] = await lines('submit', 'Begin', ...task, '--title', 'The beginning')
    const id = (first as { tasks: { id: string }[] }).tasks[0]?.id ?? ''
    const second = await ralph('submit', 'Go on', ...task, '--depends-on', id, '--wait')
    expect(second).toMatchObject({ code: 1 })
    expect((await ralph('status')).out).toContain(`Waiting for ${id}, which failed. Retry it: ralph retry ${id}`)
    writeFileSync(flag, '')
    expect(await ralph('retry', id, 'It is allowed now.')).toMatchObject({ code: 0, err: '' })
    await eventually(async () => /^Tasks: 2 done$/m.test((await ralph('status')).out))
    expect(await ralph('retry', id)).toMatchObject({
      code: 1,
      err: `ralph: Task ${id} is done, so there is nothing to retry.\n`,
    })
  })

  test('cancel works on a running task and on one that has not started', async () => {
    const { ralph, lines, worker, agent, clone } = await openPlace()
    const started = join(clone, 'started')
    const slow = agent(`touch ${started}; sleep 600`)
    const ids: string[] = []
    for (const labels of ['here', 'elsewhere']) {
      const [submitted] = await lines('submit', 'Wait', '--agent', slow, '--repo', 'none', '--labels', labels)
      ids.push((submitted as { tasks: { id: string }[] }).tasks[0]?.id ?? '')
    }
    await worker('--labels', 'here')
    await eventually(() => existsSync(started))
    expect((await ralph('status')).out).toContain('No worker has the label elsewhere.')
    for (const id of ids) expect(await ralph('cancel', id)).toMatchObject({ code: 0, err: '' })
    await eventually(async () => /^Tasks: 2 cancelled$/m.test((await ralph('status')).out))
  })

  test('a task is paused, steered and resumed by its id', async () => {
    const { ralph, lines, worker, agent, clone } = await openPlace()
    const [begun, allowed, heard] = ['begun', 'allowed', 'heard'].map((name) => join(clone, name))
    const wait = `touch ${begun}; while [ ! -f ${allowed} ]; do sleep 0.05; done`
    const listener = agent(`${wait}; [ "$RALPH_ITERATION" = 1 ] && exit; touch built; ${DONE}`, `cat >> ${heard}`)
    await worker()
    const [submitted] = await lines('submit', 'Build it', '--agent', listener, '--repo', 'none')
    const id = (submitted as { tasks: { id: string }[] }).tasks[0]?.id ?? ''
    await eventually(() => existsSync(begun ?? ''))
    expect((await ralph('pause', id)).out).toMatch(/^Loop \w+ will pause after its current iteration\.\n$/)
    writeFileSync(allowed ?? '', '')
    await eventually(async () => /^Tasks: 1 on hold$/m.test((await ralph('status')).out))
    expect((await ralph('status')).out).toContain('Paused.')
    expect((await ralph('steer', id, 'Use blue paint.')).out).toMatch(/^Loop \w+: /)
    expect((await ralph('resume', id)).code).toBe(0)
    await eventually(async () => /^Tasks: 1 done$/m.test((await ralph('status')).out))
    expect(readFileSync(heard ?? '', 'utf8')).toContain('Use blue paint.')
  })

  test('a budget holds tasks back until it is raised', async () => {
    const { ralph, worker, agent } = await openPlace()
    expect(await ralph('fleet', 'budget', '*', '0.5')).toMatchObject({
      out: 'Everyone else may spend $0.50 per day each.\n',
    })
    await worker()
    await ralph('submit', 'Be cheap', '--agent', agent(DONE), '--repo', 'none')
    expect((await ralph('status')).out).toContain(
      'Waiting for budget: it may cost $1.00, but its submitter has only $0.50 left today (UTC).',
    )
    expect(await ralph('fleet', 'budget', '*', 'none')).toMatchObject({ out: 'No budgets are set.\n' })
    await eventually(async () => /^Tasks: 1 done$/m.test((await ralph('status')).out))
  })

  test('agents do not see the database URL, and settings are kept', async () => {
    const { ralph, worker, agent, clone, url } = await openPlace()
    await worker()
    const file = join(clone, 'environment')
    const spy = agent(`env > ${file}; ${DONE}`)
    expect(await ralph('submit', 'Look around', '--agent', spy, '--repo', 'none', '--wait')).toMatchObject({ code: 0 })
    expect(readFileSync(file, 'utf8')).not.toContain(url)
    const changed = await ralph('fleet', 'settings', '--keep-days', '3')
    expect(changed.out).toBe('keep-days 3 · heartbeat 30 s · most-deaths 5\n')
    expect(await ralph('fleet', 'settings')).toEqual(changed)
  })

  test('a home allows only one worker, which exits when it is drained', async () => {
    const { start, ralph, worker } = await openPlace()
    const { id, ended } = await worker()
    const second = await start(['worker', '--agents', 'command'], 'worker-1').ended
    expect(second).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^ralph: A worker is already running with /),
    })
    expect(await ralph('fleet', 'drain', id)).toMatchObject({ code: 0, err: '' })
    expect(await ended).toMatchObject({ code: 0, err: '' })
  })

  test('ralph doctor checks the database and never shows its password', async () => {
    const { ralph, url, worker } = await openPlace()
    await worker()
    const { out } = await ralph('doctor')
    expect(out).toMatch(/^✓ database +Postgres \d+.*\n✓ tables +up to date/m)
    expect(out).toMatch(/^✓ rights +ralph can act as worker, submitter, reader$/m)
    expect(out).toMatch(/^✓ workers +1 alive$/m)
    const elsewhere = url.replace(/\/\w+$/, '/nowhere')
    const refused = await ralph('doctor', '--database', elsewhere)
    expect(refused.code).toBe(1)
    expect(refused.out).toMatch(/^✗ database +The database nowhere at .*: there is no such database\./m)
    expect(await ralph('status', '--database', 'postgres://bob:hunter2@[/x')).toMatchObject({ code: 2 })
    const wrong = await ralph('status', 'postgres://bob:hunter2@host/db', '--json')
    expect(wrong.code).toBe(2)
    expect(wrong.out + wrong.err).not.toContain('hunter2')
  })

  test.each<[argv: string[], says: string]>([
    [['submit'], 'Missing prompt. Say what to do: ralph submit "Make the tests pass"'],
    [['submit', ' '], 'Missing prompt.'],
    [['submit', 'x', '--repo', '../shop'], 'a relative path means something else on each worker'],
    [['submit', 'x', '--repo', 'https://a:secret@example.com/x.git'], 'it contains a password'],
    [['submit', 'x', '--repo', 'none', '--base', 'main'], 'base needs a repository'],
    [['submit', 'x', '--base', 'a..b'], 'base "a..b" is not a valid branch name.'],
    [['submit', 'x', '--base', 'ralph/k3f'], 'is the branch of a task'],
    [['submit', 'x', '--depends-on', 'nosuch'], 'depends on "nosuch", but the fleet has no such task.'],
    [['submit', 'x', '--depends-on', '../x'], 'depends_on: "../x" is not a valid id'],
    [['submit', 'x', '--labels', 'a,,b'], 'labels: a label must not be empty.'],
    [['submit', 'x', '--labels', 'a b'], 'labels: a label must not contain spaces or commas, got "a b".'],
    [['submit', 'x', '--touches', '[a'], 'touches: "[a" has an unclosed "[".'],
    [['submit', 'x', '--submitter', '*'], 'which stands for every submitter'],
    [['submit', 'x', '--submitter', 'a\nb'], 'must not contain control characters'],
    [
      ['submit', 'x', '--priority', '1.5'],
      '--priority must be a whole number between -1000000 and 1000000, got "1.5".',
    ],
    [['submit', 'x', '--agent', 'nobody'], 'Unknown agent: "nobody".'],
    [['submit', 'x', '--agent', 'command:x', '--model', 'm'], 'The agent "command" does not support --model'],
    [['submit', 'x', '--verify', 'a && b'], 'checks: The command'],
    [['submit', '--project', 'nosuch'], 'No project "nosuch"'],
    [['submit', 'x', '--project', 'shop'], 'so leave out a prompt.'],
    [['submit', '--project', 'shop', '--title', 'x'], 'so leave out --title.'],
    [['worker', '--agents', 'nobody'], 'Unknown agent: "nobody".'],
    [['worker', '--agents', 'command', '--labels', 'a b'], 'A label must not contain spaces or commas, got "a b".'],
    [['worker', '--account', 'claude'], '--account must be AGENT=NAME'],
    [['worker', '--agents', 'command', '--account', 'claude=b'], 'this worker does not run claude, only command.'],
    [['worker', '--concurrency', '0'], '--concurrency must be a whole number of at least 1'],
    [['fleet', 'drain', 'nosuch'], 'No such worker: "nosuch". No worker is running.'],
    [['fleet', 'drain'], 'Missing WORKER'],
    [['fleet', 'drian', 'x'], 'Did you mean "ralph fleet drain"?'],
    [['fleet', 'budget', 'ann'], 'Missing amount'],
    [['fleet', 'budget', 'ann', '-5'], 'must be a number of dollars'],
    [['status', 'nosuch'], 'No such loop: nosuch'],
    [['status', '--database'], '--database needs a value'],
    [['status', '--database', 'mysql://x'], 'The database must be a URL'],
    [['submit', 'x', '--database', 'none'], 'This needs a fleet database.'],
    [['doctor', '--rebuild'], 'Only the database in RALPH_HOME can be rebuilt.'],
  ])('%j is refused with a message', async (argv, says) => {
    const place = await sharedPlace()
    const ran = await place.ralph(...argv)
    expect(ran.err).toContain(says)
    expect(ran.err).toMatch(/^ralph: [^\n]+\n$/)
    expect(ran).toMatchObject({ code: 2, out: '' })
  })
})

let shared: ReturnType<typeof openPlace> | undefined

/** Nothing is stored, so the tests can share it. */
function sharedPlace(): ReturnType<typeof openPlace> {
  shared ??= openPlace(() => {})
  return shared
}
