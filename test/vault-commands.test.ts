/**
 * `ralph task` and `ralph briefing` as people, shells and programs in other languages see them; and what else ralph
 * does with a vault.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { parseCommandLine } from '../src/formats/command-line.ts'
import { verbs } from '../src/fronts/cli/task-words.ts'
import { type How, type Line, makePlace, onlyLoop, type Place, query, type Ran, until } from './ralph.ts'

type Vault = Place & {
  vault: string
  /** Puts a file into Needs_Action; its path relative to the vault. */
  put(name: string, text?: string): string
  move(file: string, to: string, from?: string): void
  /** `ralph task` in the vault. */
  task(...args: string[]): Promise<Ran>
  /** The one object it prints for programs. */
  json(...args: string[]): Promise<Line>
}

function makeVault(): Vault {
  const place = makePlace({ git: false })
  const vault = join(place.dir, 'vault')
  mkdirSync(join(vault, 'Needs_Action'), { recursive: true })
  const how: How = { cwd: vault }
  return {
    ...place,
    vault,
    put(name, text = 'Do it.\n') {
      writeFileSync(join(vault, 'Needs_Action', name), text)
      return `Needs_Action/${name}`
    },
    move(file, to, from = 'Needs_Action') {
      mkdirSync(join(vault, to), { recursive: true })
      renameSync(join(vault, from, file), join(vault, to, file))
    },
    task: (...args) => place.ralph(['task', ...args], how),
    async json(...args) {
      const { lines, code, stderr } = await place.ralph(['task', ...args, '--json'], how)
      const [line, ...more] = lines
      if (!line || more.length > 0) throw new Error(`Expected one line, found ${lines.length} (${code}): ${stderr}`)
      return line
    },
  }
}

let stock: Promise<Vault> | undefined

/** One vault for everything that changes nothing: task a is started, other files are not. */
function stocked(): Promise<Vault> {
  const prepare = async () => {
    const place = makeVault()
    for (const name of ['a.md', 'b.md']) place.put(name)
    place.put('empty.md', '')
    symlinkSync('a.md', join(place.vault, 'Needs_Action', 'link.md'))
    await place.task('start', 'Needs_Action/a.md')
    return place
  }
  stock ??= prepare()
  return stock
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const time = expect.stringMatching(TIME)

describe.concurrent('ralph task', () => {
  test('answers every call with the object of the API', async () => {
    const place = makeVault()
    const task_id = 'task_client_proposal_20260115'
    const file = place.put(`${task_id}.md`)
    const started = await place.json('start', file, '--max-iterations', '10', '--timeout-minutes', '30')
    expect(started).toEqual({
      task_id,
      state_file: `Ralph_State/${task_id}.json`,
      status: 'initializing',
      started_at: time,
      timeout_at: time,
    })
    expect(Object.keys(started)).toEqual(['task_id', 'state_file', 'status', 'started_at', 'timeout_at'])
    expect(Date.parse(String(started.timeout_at)) - Date.parse(String(started.started_at))).toBe(30 * 60_000)
    expect(await place.json('check-complete', task_id)).toEqual({ task_id, complete: false })
    expect(await place.json('iterate', task_id, '--action', 'Draft proposal outline', '--duration', '120.5')).toEqual({
      task_id,
      iteration: 1,
      max_iterations: 10,
      status: 'in_progress',
      should_continue: true,
    })
    const progress = { steps_total: 5, steps_completed: 3, current_step: 'Review and refine proposal', percentage: 60 }
    expect(
      await place.json('progress', task_id, '--total', '5', '--completed', '3', '--step', progress.current_step),
    ).toEqual({ task_id, progress })
    const head = {
      task_id,
      task_file: join(place.vault, file),
      status: 'in_progress',
      iteration: 2,
      max_iterations: 10,
      started_at: started.started_at,
      last_updated: time,
      timeout_at: started.timeout_at,
      progress,
    }
    const entry = { iteration: 1, timestamp: time, action: 'Draft proposal outline', result: 'success' }
    const state = await place.json('state', task_id)
    expect(state).toEqual({ ...head, iterations_history: [{ ...entry, duration_seconds: 120.5 }] })
    expect(JSON.parse(readFileSync(join(place.vault, String(started.state_file)), 'utf8'))).toEqual(state)
    expect(await place.json('state', task_id, '--history', '0')).toEqual({ ...head, iterations_history: [] })
    expect(await place.json('list')).toEqual(head)

    place.move(`${task_id}.md`, 'Done')
    expect((await place.task('check-complete', task_id)).code).toBe(0)
    const done = await place.json('complete', task_id)
    expect(done).toEqual({
      task_id,
      status: 'completed',
      completed_at: time,
      exit_reason: 'completed',
      metrics: {
        total_duration_seconds: expect.any(Number),
        iterations: 1,
        api_calls: null,
        files_created: 0,
        files_modified: 0,
      },
    })
    expect(Object.keys(done)).toEqual(['task_id', 'status', 'completed_at', 'exit_reason', 'metrics'])
  })

  test('says in a few words what it did', async () => {
    const place = makeVault()
    expect((await place.task('start', place.put('letter.md'), '--max-iterations', '3')).stdout).toMatch(
      /^Started letter; it times out at \d\d:\d\d:\d\d.*\.\n {2}State file: Ralph_State\/letter\.json\n$/,
    )
    expect(await place.task('check-complete', 'letter')).toMatchObject({
      code: 1,
      stdout: 'Task letter is not done yet.\n',
    })
    expect((await place.task('iterate', 'letter', '--action', 'Read it', '--result', 'ok')).stdout).toBe(
      'Counted iteration 1 of 3. The task continues.\n',
    )
    expect((await place.task('progress', 'letter', '--total', '5', '--completed', '2', '--step', 'Write')).stdout).toBe(
      'letter: ████░░░░░░ 40% · 2 of 5 steps · Write\n',
    )
    const { stdout } = await place.task('state', 'letter')
    expect(stdout).toContain('… letter · in progress\n  file       ')
    expect(stdout).toContain('  iteration  2 of 3\n  progress   ████░░░░░░ 40%')
    expect(stdout).toMatch(/\n\n {2}1 {2}\d:\d\d {2}ok {2}Read it\n$/)
    place.move('letter.md', 'Done')
    expect((await place.task('iterate', 'letter', '--action', 'Send it')).stdout).toBe(
      'Counted iteration 2 of 3. Its file is in the done folder: the task is completed.\n',
    )
    expect((await place.task('complete', 'letter', '--exit-reason', 'sent')).stdout).toMatch(
      /^Completed letter \(sent\) after 2 iterations and \d:\d\d; 0 files created, 0 changed\.\n$/,
    )
  })

  test('measures how long an iteration took if nobody reports it', async () => {
    const place = makeVault()
    await place.task('start', place.put('a.md'))
    await place.task('iterate', 'a', '--action', 'x')
    await place.task('iterate', 'a', '--action', 'y', '--duration', '0')
    const { iterations_history, started_at } = await place.json('state', 'a')
    const [first, second] = iterations_history as { duration_seconds: number }[]
    expect(first?.duration_seconds).toBeGreaterThan(0)
    expect(first?.duration_seconds).toBeLessThanOrEqual((Date.now() - Date.parse(String(started_at))) / 1_000)
    expect(second?.duration_seconds).toBe(0)
  })

  test('a task waits for a person, who lets it continue or not', async () => {
    const place = makeVault()
    await place.task('start', place.put('offer 🎉.md'))
    place.move('offer 🎉.md', 'Pending_Approval')
    expect((await place.task('iterate', 'offer 🎉', '--action', 'x')).stdout).toContain(
      "It is waiting for you: ralph task approve 'offer 🎉', or ralph task reject 'offer 🎉'.",
    )
    expect((await place.task('list')).stdout).toMatch(
      /^\? {2}offer 🎉 {2}waiting approval {2}1\/10 {2}just now {2}ralph task approve 'offer 🎉'\n$/,
    )
    expect((await place.task('list', '--vault', place.vault)).stdout).toContain(
      `ralph task approve --vault ${place.vault} 'offer 🎉'`,
    )
    const { stdout } = await place.task('state', 'offer 🎉')
    expect(stdout).toContain('is waiting in Pending_Approval for your approval')
    expect(stdout).toContain("  or reject   ralph task reject 'offer 🎉'\n")
    expect(await place.json('approve', 'offer 🎉', '--note', 'but cheaper')).toMatchObject({ status: 'in_progress' })
    expect(existsSync(join(place.vault, 'Needs_Action', 'offer 🎉.md'))).toBe(true)

    place.move('offer 🎉.md', 'Pending_Approval')
    await place.task('iterate', 'offer 🎉', '--action', 'x')
    const rejected = await place.task('reject', 'offer 🎉', '--reason', 'too dear')
    expect(rejected.stdout).toContain('✗ offer 🎉 · failed')
    expect(rejected.stdout).toContain('You rejected it: too dear.')
    expect(existsSync(join(place.vault, 'Failed', 'offer 🎉.md'))).toBe(true)
    expect((await place.task('approve', 'offer 🎉')).code).toBe(1)
  })

  test('ends at the time or iteration limit, and then says so', async () => {
    const place = makeVault()
    await place.task('start', place.put('a.md'))
    await place.task('start', place.put('b.md'), '--max-iterations', '1')
    const stopped = { exit_reason: 'timeout', completed_at: time }
    expect(await place.json('timeout', 'a')).toEqual({
      task_id: 'a',
      status: 'timeout',
      ...stopped,
      message: 'Task exceeded 30 minute timeout. Progress saved.',
    })
    expect((await place.task('iterate', 'b', '--action', 'x')).stdout).toContain('That was the last one.')
    expect(await place.json('max-iterations', 'b')).toEqual({
      task_id: 'b',
      status: 'max_iterations_reached',
      ...stopped,
      exit_reason: 'max_iterations',
      message: 'Task reached maximum 1 iterations. Manual intervention required.',
    })
    expect((await place.task('list', '--status', 'timeout')).stdout).toMatch(/^✗ {2}a {2}timeout /)
    expect((await place.task('list', '--status', 'failed')).stdout).toContain('No tasks found.')
    expect((await place.task('state', 'b')).stdout).toContain('why         Reached the limit of 1 iteration.')
  })

  test('its errors are printed as the response that callers know', async () => {
    const place = makeVault()
    await place.task('start', place.put('a.md'), '--max-iterations', '1')
    await place.task('iterate', 'a', '--action', 'x')
    await place.task('start', place.put('b.md'))
    await place.task('timeout', 'b')
    writeFileSync(join(place.vault, 'Ralph_State', 'c.json'), 'nonsense')
    const [most, late, none, damaged] = await Promise.all([
      ...[place.task('iterate', 'a', '--action', 'x', '--json'), place.task('iterate', 'b', '--action', 'x', '--json')],
      ...[place.task('check-complete', 'nobody', '--json'), place.task('state', 'c', '--json')],
    ])
    expect(most).toMatchObject({ code: 1, stderr: 'ralph: Task reached maximum 1 iterations\n' })
    expect(most?.lines).toEqual([
      {
        error: {
          type: 'MaxIterationsError',
          message: 'Task reached maximum 1 iterations',
          task_id: 'a',
          recoverable: false,
          action_required: 'manual_review',
        },
      },
    ])
    expect(late).toMatchObject({
      code: 1,
      lines: [{ error: { type: 'TimeoutError', action_required: 'notify_user' } }],
    })
    expect(none).toMatchObject({ code: 2, lines: [{ error: { type: 'TaskNotFoundError', task_id: 'nobody' } }] })
    expect(damaged).toMatchObject({ code: 1, lines: [{ error: { type: 'StateCorruptedError', recoverable: true } }] })
  })

  test('a task whose time is up is reported by the webhook and on the desktop, as by ralph watch', async ({
    onTestFinished,
  }) => {
    const bodies: Line[] = []
    const server = createServer(async (request, response) => {
      bodies.push(JSON.parse(await readAll(request)))
      response.end()
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await until('the server to listen', () => server.listening)
    const place = makeVault()
    const { port } = server.address() as AddressInfo
    const [bin, shown] = [join(place.root, 'bin'), join(place.root, 'shown')]
    mkdirSync(bin)
    writeFileSync(join(bin, 'notify-send'), `#!/bin/sh\necho "$2|$3" >> '${shown}'\n`, { mode: 0o755 })
    Object.assign(place.env, { PATH: `${bin}:${place.env.PATH}`, DISPLAY: ':0' })
    for (const id of ['quiet', 'loud', 'told']) await place.task('start', place.put(`${id}.md`))
    await place.task('timeout', 'quiet')
    expect((await place.task('timeout', 'loud', '--notify')).code).toBe(0)
    writeFileSync(join(place.vault, 'ralph.config.json'), `{"notify_webhook":"http://127.0.0.1:${port}/"}`)
    expect((await place.task('timeout', 'told')).code).toBe(0)
    const text = 'Task exceeded 30 minute timeout. Progress saved.'
    expect(bodies).toEqual([
      { title: 'ralph: told timeout', text, type: 'task', task_id: 'told', status: 'timeout', sentence: text },
    ])
    await until('both on the desktop', () => existsSync(shown) && readFileSync(shown, 'utf8').split('\n').length > 2)
    expect(readFileSync(shown, 'utf8').trim().split('\n').sort()).toEqual([
      `ralph: loud timeout|${text}`,
      `ralph: told timeout|${text}`,
    ])
  })

  test('a damaged state file is rebuilt, which is reported next to the answer', async () => {
    const place = makeVault()
    await place.task('start', place.put('a.md'))
    writeFileSync(join(place.vault, 'Ralph_State', 'a.json'), '{')
    const ran = await place.task('state', 'a', '--json')
    expect(ran).toMatchObject({ code: 0, lines: [{ task_id: 'a' }] })
    expect(ran.stderr).toMatch(/^ralph: Ralph_State\/a\.json was damaged\./)
  })

  test.each<[what: string, args: string[], code: number, says: string]>([
    ['no verb', [], 2, 'Missing verb: ralph task start|check-complete|'],
    ['an unknown verb', ['strat', 'x'], 2, 'Did you mean "ralph task start"?'],
    ['the name of an inherited property', ['constructor'], 2, 'Unknown verb: "constructor".'],
    ['no file', ['start'], 2, 'Missing FILE'],
    ['no task', ['state'], 2, 'Missing ID'],
    ['an empty id', ['state', ''], 2, 'Missing ID'],
    ['two tasks', ['state', 'a', 'b'], 2, 'Unexpected argument: "b"'],
    ['a task for a list', ['list', 'a'], 2, 'Unexpected argument: "a"'],
    ['an option of another verb', ['state', 'a', '--action', 'x'], 2, 'Unknown option: --action.'],
    ['a misspelt option', ['iterate', 'a', '--acton', 'x'], 2, 'Did you mean --action?'],
    ['no action', ['iterate', 'a'], 2, 'Missing option: --action TEXT.'],
    ['no step', ['progress', 'a', '--total', '1', '--completed', '1'], 2, 'Missing option: --step'],
    ['a total in words', ['progress', 'a', '--total', 'two', '--completed', '1', '--step', 'x'], 2, 'whole number'],
    ['more than all', ['progress', 'a', '--total', '1', '--completed', '2', '--step', 'x'], 2, 'only 1 steps'],
    ['a negative duration', ['iterate', 'a', '--action', 'x', '--duration', '-1'], 2, 'above 0'],
    ['an unknown status', ['list', '--status', 'complete'], 2, 'Did you mean completed?'],
    ['another end as a reason', ['complete', 'a', '--exit-reason', 'timeout'], 2, 'which stands for another outcome'],
    ['a path out of the vault', ['state', '../x'], 2, 'Task not found: ../x.'],
    ['an unknown task', ['approve', 'nobody'], 2, 'Task not found: nobody.'],
    ['a task that does not wait', ['approve', 'a'], 1, 'cannot become in_progress'],
    ['a task that is not done', ['complete', 'a'], 1, 'a.md is not in Done'],
    ['a task with iterations left', ['max-iterations', 'a'], 1, 'cannot become max_iterations_reached'],
    ['a task in progress', ['start', 'Needs_Action/a.md'], 1, 'is already in progress'],
    ['a folder as a task', ['start', 'Needs_Action'], 2, 'is a folder'],
    ['a missing file', ['start', 'Needs_Action/none.md'], 2, 'Task file not found'],
    ['a file below a file', ['start', 'Needs_Action/a.md/b.md'], 2, 'Task file not found'],
    ['an overlong name', ['start', `Needs_Action/${'n'.repeat(300)}.md`], 2, 'Task file not found'],
    ['an empty file', ['start', 'Needs_Action/empty.md'], 2, 'is empty'],
    ['a link', ['start', 'Needs_Action/link.md'], 2, 'is a link'],
    ['no iterations', ['start', 'Needs_Action/b.md', '--max-iterations', '0'], 2, 'at least 1'],
    ['a missing vault', ['list', '--vault', 'nowhere'], 2, 'Vault folder not found'],
    ['a folder that is not a vault', ['list', '--vault', '..'], 2, 'is not a vault: it contains none of Needs_Action,'],
    ['a folder of a vault', ['list', '--vault', 'Needs_Action'], 2, 'is a folder inside a vault'],
    ['a vault that is a file', ['list', '--vault', 'Needs_Action/a.md'], 2, 'is not a folder'],
  ])('refuses %s', async (_, args, code, says) => {
    const ran = await (await stocked()).task(...args)
    expect(ran).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(says) })
    expect(ran.stderr).toMatch(/^ralph: .+\n$/)
  })

  const NAMES = ['a', 'a.md', 'Needs_Action/a.md', './Needs_Action/a.md', '../vault/Needs_Action/a.md', 'Done/a.md']

  test.each(NAMES)('understands %s as the task it names', async (name) => {
    expect(await (await stocked()).json('check-complete', name)).toEqual({ task_id: 'a', complete: false })
  })

  test('a name with dots is not mistaken for another task', async () => {
    const place = makeVault()
    await place.task('start', place.put('v1.md'))
    expect((await place.task('check-complete', 'v1.2')).code).toBe(2)
    await place.task('start', place.put('v1.2.md'))
    expect(await place.json('check-complete', 'v1.2')).toMatchObject({ task_id: 'v1.2' })
    await place.task('start', place.put('-x.md'))
    expect(await place.json('state', 'Needs_Action/-x.md')).toMatchObject({ task_id: '-x' })
    expect((await place.task('state', '--', '-x')).stdout).toContain('-x · initializing')
  })

  test('a name that looks like an option can be typed as printed', async () => {
    const place = makeVault()
    await place.task('start', place.put('-x.md'))
    place.move('-x.md', 'Pending_Approval')
    await place.task('iterate', '--action', 'x', '--', '-x')
    const asked = await place.ralph(['briefing', place.vault, '--json'])
    const [{ approve }] = asked.end.waiting as [{ approve: string }]
    const [, ...words] = parseCommandLine(approve)
    expect((await place.ralph(words)).stdout).toContain('… -x · in progress')
    const more = await place.ralph(
      ['task', 'progress', '--total', '1', '--completed', '0', '--step', 'y', '--', '-x'],
      {
        cwd: place.vault,
      },
    )
    expect(more.stdout).toContain('-x: ')
  })

  test.each(['Needs_Action', 'Done', 'Pending_Approval', 'Ralph_State'])(
    'a folder that has %s is a vault for every command',
    async (folder) => {
      const place = makePlace({ git: false })
      const vault = join(place.dir, 'vault')
      mkdirSync(join(vault, folder), { recursive: true })
      for (const args of [
        ['task', 'list', '--vault', vault],
        ['briefing', vault],
        ['install', 'claude', '--vault', vault, '--yes'],
      ])
        expect(await place.ralph(args)).toMatchObject({ code: 0, stderr: '' })
    },
  )

  test.each([['task', 'list', '--vault'], ['briefing'], ['install', 'claude', '--vault']])(
    'any other folder is not a vault for any command: %s',
    async (...args) => {
      const place = makePlace({ git: false })
      mkdirSync(join(place.dir, 'Failed'))
      expect(await place.ralph([...args, '.'])).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining(
          `is not a vault: it contains none of Needs_Action, Done and Ralph_State. Make it one, then try again: mkdir ${place.dir}/Needs_Action`,
        ),
      })
    },
  )

  test("the user's settings for ralph run do not break their vaults", async () => {
    const place = makeVault()
    mkdirSync(place.home, { recursive: true })
    const config = join(place.home, 'ralph.config.json')
    writeFileSync(config, JSON.stringify({ max_iterations: 'auto' }))
    await place.task('start', place.put('a.md'))
    expect(await place.json('list')).toMatchObject({ max_iterations: 10 })
    writeFileSync(config, JSON.stringify({ max_iterations: 0 }))
    expect(await place.task('list')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`max_iterations of ${config} must be`),
    })
  })

  test('finds its vault by the option, the variable, the file, or the current folder', async () => {
    const place = makeVault()
    const other = join(place.dir, 'other')
    mkdirSync(join(other, 'Needs_Action', 'deep'), { recursive: true })
    writeFileSync(join(other, 'Needs_Action', 'deep', 'b.md'), 'Do it.')
    place.put('a.md')
    const ids = async (args: string[], how: How) =>
      (await place.ralph(['task', 'list', '--json', ...args], how)).lines.map(({ task_id }) => task_id)
    const start = (file: string) => place.ralph(['task', 'start', file])
    expect((await start('vault/Needs_Action/a.md')).code).toBe(0)
    expect((await start(join(other, 'Needs_Action/deep/b.md'))).code).toBe(0)
    expect(await ids([], { cwd: join(other, 'Needs_Action', 'deep') })).toEqual(['b'])
    expect(await ids([], { cwd: other, env: { RALPH_VAULT: place.vault } })).toEqual(['a'])
    expect(await ids(['--vault', other], { env: { RALPH_VAULT: place.vault } })).toEqual(['b'])
    const lost = await place.ralph(['task', 'list'])
    expect(lost).toMatchObject({ code: 2, stderr: expect.stringContaining('No vault found') })
    expect(lost.stderr).toContain('--vault DIR')
  })

  test('explains itself and each verb', async () => {
    const place = makePlace({ git: false })
    const { stdout } = await place.ralph(['task', '--help'])
    for (const [name, { summary, words }] of Object.entries(verbs)) {
      expect(stdout).toContain(`  ${name}`)
      expect(stdout).toContain(summary)
      const help = await place.ralph(['task', name, '--help'])
      expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining(`  ralph task ${name} ${words}\n`) })
      if (name === 'iterate') expect((await place.ralph(['help', 'task', name])).stdout).toBe(help.stdout)
    }
  })
})

describe.concurrent('the loop of a task', () => {
  test('cannot be run here, and says what can be done', async () => {
    const place = makeVault()
    await place.task('start', place.put('a.md'))
    const loop = onlyLoop(place)
    expect((await place.ralph(['status', loop])).stdout).toContain(
      `task a of the vault ${place.vault}\nworked on by the program that started it\n`,
    )
    expect((await place.ralph(['status'])).stdout).not.toContain(', no process')
    const resumed = await place.ralph(['resume', loop])
    expect(resumed).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the program that started it does the work'),
    })
    expect(resumed.stderr).toContain(`ralph task iterate --vault ${place.vault} --action '…' a.`)
    place.move('a.md', 'Pending_Approval')
    await place.task('iterate', 'a', '--action', 'x')
    for (const order of [
      ['resume', loop],
      ['steer', loop, 'yes'],
    ])
      expect(await place.ralph(order)).toMatchObject({ code: 2, stderr: expect.stringContaining('ralph task approve') })
    expect((await place.ralph(['status', loop])).stdout).toContain(
      `Approve it: ralph task approve --vault ${place.vault} a`,
    )
    await place.task('reject', 'a', '--reason', 'no')
    expect((await place.ralph(['show', loop])).stdout).toContain('You rejected it: no.')
  })

  test('can be paused, and then counts nothing', async () => {
    const place = makeVault()
    await place.task('start', place.put('a.md'))
    const loop = onlyLoop(place)
    expect((await place.ralph(['pause', loop])).stdout).toContain('paused')
    expect(await place.task('iterate', 'a', '--action', 'x')).toMatchObject({
      code: 1,
      stderr: `ralph: Task a is paused, so no iteration is counted. \`ralph resume ${loop}\` resumes it.\n`,
    })
    expect((await place.ralph(['resume', loop])).code).toBe(0)
    expect(await place.json('iterate', 'a', '--action', 'x')).toMatchObject({ iteration: 1, status: 'in_progress' })
  })

  test('can be cancelled, and the files of the task follow', async () => {
    const place = makeVault()
    await place.task('start', place.put('a.md'))
    expect((await place.ralph(['cancel', onlyLoop(place)])).stdout).toContain('cancelled')
    expect(JSON.parse(readFileSync(join(place.vault, 'Ralph_State/a.json'), 'utf8'))).toMatchObject({
      status: 'failed',
    })
    expect(readdirSync(join(place.vault, 'Ralph_State', '.hook'))).toEqual([])
  })
})

describe.concurrent('ralph briefing', () => {
  test('says what happened and what to do', async () => {
    const place = makeVault()
    await place.task('start', place.put('done.md'))
    place.move('done.md', 'Done')
    await place.task('iterate', 'done', '--action', 'x', '--duration', '75')
    await place.task('start', place.put('slow | `b` <i>.md'))
    await place.task('timeout', 'slow | `b` <i>')
    place.put('new.md')
    const ran = await place.ralph(['briefing', 'vault'])
    expect(ran.code).toBe(0)
    expect(
      ran.stdout
        .replaceAll(place.vault, '/Vault')
        .replace(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, 'TIME')
        .replace(/ralph show \w+/, 'ralph show LOOP'),
    ).toBe(`# Briefing: TIME to TIME

Vault: \`/Vault\`.

## Completed: 1

| task | iterations | time | proof | cost |
|---|--:|--:|---|--:|
| done | 1 | 1 min 15 s | claimed | unknown |

Claimed: the file is in the done folder; there was no check.

## Stuck: 1

- **slow \\| \\\`b\\\` \\<i>** (timeout): Reached the time limit of 30 minutes. Its file: \`\` Needs_Action/slow | \`b\` <i>.md \`\`. To try it again: \`\` ralph task start --vault /Vault 'Needs_Action/slow | \`b\` <i>.md' \`\`

## New in Needs_Action

- **new.md**, since TIME

## Time and cost

- Working time: 1 min 15 s
- Iterations: 1
- Tokens: unknown
- Cost: unknown

## Next actions

1. See why slow \\| \\\`b\\\` \\<i> stopped: \`ralph show LOOP\`
2. Start 1 new task: \`ralph watch /Vault\`
`)
  })

  test('knows the tasks that another ralph keeps, and how to answer there', async () => {
    const place = makeVault()
    const elsewhere = { cwd: place.vault, env: { RALPH_HOME: join(place.root, 'other home') } }
    place.put('offer.md')
    await place.ralph(['task', 'start', 'Needs_Action/offer.md'], elsewhere)
    place.move('offer.md', 'Pending_Approval')
    await place.ralph(['task', 'iterate', 'offer', '--action', 'x'], elsewhere)
    const { stdout } = await place.ralph(['briefing', place.vault])
    expect(stdout).not.toContain('nothing waits')
    expect(stdout).toContain('offer.md is waiting in Pending_Approval for your approval.')
    const { end } = await place.ralph(['briefing', place.vault, '--json'])
    const [{ approve }] = end.waiting as [{ approve: string }]
    expect(approve).toBe(`RALPH_HOME='${elsewhere.env.RALPH_HOME}' ralph task approve --vault ${place.vault} offer`)
    const [, , ...words] = parseCommandLine(`env ${approve}`).slice(1)
    expect(await place.ralph(words)).toMatchObject({ code: 1, stderr: expect.stringContaining('another ralph') })
    expect((await place.ralph(words, elsewhere)).stdout).toContain('in progress')
  })

  test('reports what ralph watch refused, and why', async () => {
    const place = makeVault()
    place.put('bad.md', '---\npriority: soon\n---\nDo it.\n')
    const agent = place.agent('true')
    expect((await place.ralph(['watch', place.vault, '--once', '--agent', agent])).code).toBe(1)
    const { end } = await place.ralph(['briefing', place.vault, '--json'])
    const command = `mv ${place.vault}/Failed/bad.md ${place.vault}/Needs_Action/bad.md`
    expect(end).toMatchObject({
      stuck: [{ task_id: 'bad', status: 'refused', why: expect.stringContaining('priority'), command }],
      next_actions: [{ text: 'Fix Failed/bad.md, then move it back:', command }],
    })
  })

  test('is one object for programs, and contains its time span', async () => {
    const place = makeVault()
    const { end, code } = await place.ralph(['briefing', '--since', '90m', '--json'], { cwd: place.vault })
    expect(code).toBe(0)
    expect(end).toMatchObject({ vault: place.vault, completed: [], next_actions: [] })
    const span = Date.parse(String(end.until)) - Date.parse(String(end.since))
    expect(Math.round(span / 60_000)).toBe(90)
    expect((await place.ralph(['briefing', place.vault])).stdout).toContain('Nothing to do.')
  })

  test.each<[what: string, args: string[], says: string]>([
    ['an invalid time', ['vault', '--since', 'yesterday'], 'such as 90m, 24h, 7d, 2026-11-15'],
    ['a time in the future', ['vault', '--since', '2999-01-01'], 'must be a time in the past'],
    ['a folder that is not a vault', ['.'], 'is not a vault'],
    ['a missing vault', ['nowhere'], 'Vault folder not found'],
    ['no vault at all', [], 'No vault found'],
    ['two vaults', ['vault', 'vault'], 'Unexpected argument'],
  ])('refuses %s', async (_, args, says) => {
    const ran = await makeVault().ralph(['briefing', ...args])
    expect(ran).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(says) })
  })
})

describe.concurrent('history', () => {
  test('ralph prune removes the state of ended tasks, and nothing else', async () => {
    const place = makeVault()
    await place.task('start', place.put('over.md'))
    await place.task('timeout', 'over')
    await place.task('start', place.put('open.md'))
    const state = join(place.vault, 'Ralph_State')
    writeFileSync(join(state, 'mine.json'), '{"mine": true}')
    writeFileSync(join(state, '.hook', 'session.s1'), 'over\n')
    writeFileSync(join(place.home, 'vaults', `${loopOf(place, 'over')}.json`), '{}')
    expect((await place.ralph(['prune'])).stdout).toContain('Nothing to remove.')
    expect((await place.ralph(['prune', '--days', '0'])).stdout).toContain('the state of 1 vault task.')
    expect(readdirSync(state).sort()).toEqual(['.hook', 'mine.json', 'open.json'])
    expect(readdirSync(join(state, '.hook'))).toEqual(['open'])
    expect(readdirSync(join(place.home, 'vaults'))).toEqual([`${loopOf(place, 'open')}.json`])
    expect((await place.task('state', 'over')).code).toBe(2)
    expect(existsSync(join(place.vault, 'Needs_Action', 'over.md'))).toBe(true)
    expect((await place.task('start', 'Needs_Action/over.md')).code).toBe(0)
  })

  test('ralph prune leaves a file with other content', async () => {
    const place = makeVault()
    await place.task('start', place.put('a.md'))
    await place.task('timeout', 'a')
    await place.task('start', place.put('b.md'))
    await place.task('timeout', 'b')
    const state = join(place.vault, 'Ralph_State')
    writeFileSync(join(state, 'a.json'), 'a list of mine')
    const other = JSON.parse(readFileSync(join(state, 'b.json'), 'utf8'))
    writeFileSync(join(state, 'b.json'), JSON.stringify({ ...other, status: 'in_progress' }))
    await place.ralph(['prune', '--days', '0'])
    expect(readdirSync(state).sort()).toEqual(['.hook', 'a.json', 'b.json'])
  })

  test('ralph prune leaves the tasks of a vault that is currently unavailable', async () => {
    const place = makeVault()
    await place.task('start', place.put('a.md'))
    await place.task('timeout', 'a')
    renameSync(place.vault, `${place.vault}-away`)
    expect((await place.ralph(['prune', '--days', '0'])).stdout).toContain('Nothing to remove.')
    renameSync(`${place.vault}-away`, place.vault)
    expect(await place.json('state', 'a')).toMatchObject({ status: 'timeout' })
  })

  test('old state is removed silently when a task starts', async () => {
    const place = makeVault()
    await place.task('start', place.put('a.md'))
    await place.task('timeout', 'a')
    place.put('b.md')
    const how = { cwd: place.vault, env: { RALPH_KEEP_DAYS: '0' } }
    expect((await place.ralph(['task', 'start', 'Needs_Action/b.md'], how)).stderr).toBe('')
    expect(query(place, 'SELECT id FROM task')).toEqual([{ id: 'b' }])
  })

  test('a rebuilt database knows the tasks', async () => {
    const place = makeVault()
    await place.task('start', place.put('a.md'))
    await place.task('timeout', 'a')
    await place.task('start', 'Needs_Action/a.md')
    await place.task('iterate', 'a', '--action', 'x')
    await place.task('progress', 'a', '--total', '2', '--completed', '1', '--step', 'y')
    const { last_updated: _, ...before } = await place.json('state', 'a')
    expect((await place.ralph(['doctor', '--rebuild'])).stdout).toContain('2 loops')
    expect(await place.json('state', 'a')).toMatchObject(before)
    expect(await place.json('iterate', 'a', '--action', 'z')).toMatchObject({ iteration: 2 })
  })
})

function loopOf(place: Place, task: string): string {
  return String(query(place, 'SELECT loop FROM task WHERE id = ?', task)[0]?.loop ?? '')
}
