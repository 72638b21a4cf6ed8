/**
 * The Stop hook of a vault, as `ralph install claude --vault` sets it up: the real script, the built hook program, real
 * tasks.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Fact } from '../src/engine/loop.ts'
import { step } from '../src/engine/step.ts'
import { openStore } from '../src/host/sqlite.ts'
import { RalphWiggum } from '../src/index.ts'
import { makePlace, type Place, query, until } from './ralph.ts'
import { type Call, callGate, callHook, type HookResult, type Json, openSession } from './session-place.ts'

const PASSES = { code: 0, out: '', err: '' }
const COMPLETES = completesIn('/Done/')

function completesIn(folder: string): { code: number; err: string; json: Json } {
  return { code: 0, err: '', json: { systemMessage: `✅ Task complete! File found in ${folder} folder.` } }
}

type Vault = {
  place: Place
  dir: string
  api: RalphWiggum
  /** Puts a task into Needs_Action and starts it. */
  start(name: string, more?: { text?: string; max_iterations?: number; timeout_minutes?: number }): Promise<string>
  /** A turn of a session ends, as Claude Code reports it to the installed command. */
  stop(
    env?: Call['env'],
    how?: { message?: string; session?: string; shell?: string; payload?: string },
  ): Promise<HookResult>
  move(name: string, to: string, from?: string): void
  state(id: string): Json
  hookFiles(): string[]
}

const open: RalphWiggum[] = []
afterAll(async () => {
  for (const api of open.splice(0)) await api.close()
})

type Making = { name?: string; config?: Json; env?: Record<string, string>; now?: () => number }

async function makeVault({ name = 'vault', config, env = {}, now }: Making = {}): Promise<Vault> {
  const place = makePlace({ git: false })
  const dir = join(place.root, name)
  for (const folder of ['Needs_Action', 'Done']) mkdirSync(join(dir, folder), { recursive: true })
  if (config) writeFileSync(join(dir, 'ralph.config.json'), JSON.stringify(config))
  expect(await place.ralph(['install', 'claude', '--vault', dir, '--yes'])).toMatchObject({ code: 0, stderr: '' })
  const api = new RalphWiggum({ vaultPath: dir, home: place.home, env, ...(now ? { now } : {}) })
  open.push(api)
  const stateDir = String(config?.state_dir ?? 'Ralph_State')
  return {
    place,
    dir,
    api,
    async start(file, { text = `Do what ${file} says.`, ...limits } = {}) {
      writeFileSync(join(dir, 'Needs_Action', file), text)
      return (await api.startTask({ task_file: join(dir, 'Needs_Action', file), ...limits })).task_id
    },
    stop: (more, how) => stopIn(place, dir, more, how),
    move: (file, to, from = 'Needs_Action') => renameSync(join(dir, from, file), join(dir, to, file)),
    state: (id) => JSON.parse(readFileSync(join(dir, stateDir, `${id}.json`), 'utf8')) as Json,
    hookFiles: () => readdirSync(join(dir, stateDir, '.hook')),
  }
}

function commandIn(dir: string): string {
  const settings = JSON.parse(readFileSync(join(dir, '.claude', 'settings.local.json'), 'utf8'))
  return settings.hooks.Stop[0].hooks[0].command
}

function stopIn(
  place: Place,
  dir: string,
  env: Call['env'] = {},
  {
    message,
    session = 's-1',
    shell = 'sh',
    payload,
  }: { message?: string; session?: string; shell?: string; payload?: string } = {},
): Promise<HookResult> {
  const told = openSession({ ...place, dir }, { id: session }).stopPayload(message)
  const host = { CLAUDE_PROJECT_DIR: dir, CLAUDE_CODE_SESSION_ID: session }
  return callHook(place, [shell, '-c', commandIn(dir)], payload ?? told, { env: { ...host, ...env }, cwd: place.root })
    .ended
}

/** A program in place of Node, which logs that it was started. */
function standIn({ root }: Place, lines = ''): { path: string; started: () => boolean } {
  const path = join(root, 'stand-in')
  writeFileSync(path, `#!/bin/sh\ncat > /dev/null\n: > '${root}/started'\n${lines}\n`, { mode: 0o755 })
  return { path, started: () => existsSync(join(root, 'started')) }
}

/** Ends the loop of the only task, like a process that is killed before it can update the vault. */
async function cancel({ place }: Vault): Promise<void> {
  const store = openStore(place.home, Date.now)
  const id = String(query(place, 'SELECT loop FROM task')[0]?.loop)
  const lease = await store.lease(id)
  if ('heldBy' in lease) throw new Error(`Held by ${lease.heldBy}.`)
  const fact: Fact = { kind: 'told', at: Date.now(), by: 'you', order: { kind: 'cancel' } }
  await store.save(lease, step(await store.load(id), fact), fact)
  await lease.release()
  await store.close()
}

const isArmed = ({ place }: Vault, session = 's-1') => existsSync(join(place.home, 'armed', session))

describe.concurrent('a stop passes without Node', () => {
  test.each<[what: string, env: Call['env'], session?: string]>([
    ['if no task is named', {}],
    ['for an agent that ralph itself started', { RALPH_TASK_ID: 'a', RALPH_LOOP_ID: 'x' }],
    ['for a session whose link leads elsewhere', {}, '../../planted'],
    ['for a session with a command', {}, '$(touch PWNED)'],
    ['for an unknown task, which is reported', { RALPH_TASK_ID: 'other' }],
    ['for a path out of the folder', { RALPH_TASK_ID: '../a' }],
    ['for a path through the folder', { RALPH_TASK_ID: '../.hook/a' }],
    ['for a hidden name', { RALPH_TASK_ID: '.hidden' }],
    ['for dots', { RALPH_TASK_ID: '..' }],
    ['for an absolute path', { RALPH_TASK_ID: '/etc/passwd' }],
    ['for a command', { RALPH_TASK_ID: '$(touch PWNED)' }],
    ['for a command in backticks', { RALPH_TASK_ID: '`touch PWNED`' }],
    ['for a command after quotes', { RALPH_TASK_ID: `'; touch PWNED; '"; touch PWNED; "` }],
    ['for a line break', { RALPH_TASK_ID: 'a\ntouch PWNED' }],
    ['for a pattern', { RALPH_TASK_ID: '*' }],
    ['for an option', { RALPH_TASK_ID: '-n' }],
  ])('%s', async (_, env, session) => {
    const vault = await makeVault()
    await vault.start('a.md')
    for (const name of ['Ralph_State/a', 'Ralph_State/.hook/.hidden', 'planted', 'Ralph_State/planted'])
      writeFileSync(join(vault.dir, name), 'a\n\n')
    const { path, started } = standIn(vault.place)
    const result = await vault.stop({ RALPH_NODE: path, ...env }, session ? { session } : {})
    const isTold = env?.RALPH_TASK_ID !== undefined && env.RALPH_LOOP_ID === undefined
    expect(result).toMatchObject(isTold ? { code: 0 } : PASSES)
    if (isTold)
      expect(result.json).toEqual({ systemMessage: expect.stringContaining('this vault has no task with that name') })
    expect(started()).toBe(false)
    for (const folder of [vault.dir, vault.place.root]) expect(readdirSync(folder)).not.toContain('PWNED')
    expect(vault.state('a')).toMatchObject({ status: 'initializing', iteration: 0 })
  })

  test('whatever the size of the payload, which is read', async () => {
    const vault = await makeVault()
    const payload = 'x'.repeat(1 << 20)
    const { child, ended } = callHook(vault.place, ['sh', '-c', commandIn(vault.dir)], payload, {
      env: { CLAUDE_PROJECT_DIR: vault.dir },
    })
    const [broken] = await Promise.race([once(child.stdin ?? child, 'error'), ended.then(() => [undefined])])
    expect(broken).toBeUndefined()
    expect(await ended).toMatchObject(PASSES)
  })

  test.each([false, true])('without any payload (in Done: %s)', async (isDone) => {
    const vault = await makeVault()
    await vault.start('a.md')
    if (isDone) vault.move('a.md', 'Done')
    const line = `exec sh '${vault.dir}/.claude/hooks/stop.sh' a <&-`
    for (const shell of ['sh', 'bash'])
      expect((await callHook(vault.place, [shell, '-c', line], '').ended).code).not.toBe(2) // which would block it
  })

  test('if the script is missing', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    rmSync(join(vault.dir, '.claude', 'hooks'), { recursive: true })
    expect(await vault.stop({ RALPH_TASK_ID: 'a' })).toMatchObject(PASSES)
  })
})

describe.concurrent('a file in Done', () => {
  test('lets the stop pass before Node has ended', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    vault.move('a.md', 'Done')
    const { root } = vault.place
    const { path } = standIn(vault.place, `while [ ! -e '${root}/go' ]; do sleep 0.05; done; : > '${root}/after'`)
    expect(await vault.stop({ RALPH_TASK_ID: 'a', RALPH_NODE: path })).toMatchObject(COMPLETES)
    expect(existsSync(join(root, 'after'))).toBe(false)
    writeFileSync(join(root, 'go'), '')
    await until('the bookkeeping to finish', () => existsSync(join(root, 'after')))
  })

  test('completes the task a moment later, with this turn as its last iteration', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    expect((await vault.stop({ RALPH_TASK_ID: 'a' })).prompt).toContain('Do what a.md says.')
    vault.move('a.md', 'Done')
    expect(await vault.stop({ RALPH_TASK_ID: 'a' })).toMatchObject(COMPLETES)
    await until('the end of the task', () => vault.state('a').status === 'completed')
    expect(vault.state('a')).toMatchObject({ iteration: 2 })
    await until('the cleanup', () => vault.hookFiles().length === 0 && !isArmed(vault))
    expect(await vault.stop({ RALPH_TASK_ID: 'a' })).toMatchObject(PASSES)
  })

  test('counts even without Node', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    vault.move('a.md', 'Done')
    const env = { RALPH_TASK_ID: 'a', RALPH_NODE: '/no/such/node', PATH: pathWithoutNode(vault.place) }
    expect(await vault.stop(env)).toMatchObject(COMPLETES)
    expect(await vault.api.checkTaskComplete('a')).toBe(true)
  })

  test('is in a folder whose name is not valid JSON: that is not named', async () => {
    const vault = await makeVault({ config: { done_folder: 'the "done"' } })
    await vault.start('a.md')
    vault.move('a.md', 'the "done"')
    expect(await vault.stop({ RALPH_TASK_ID: 'a' })).toMatchObject(completesIn('its'))
  })

  test("is found by the script alone, with the path from other tools' settings", async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    vault.move('a.md', 'Done')
    const call = [join(vault.dir, '.claude', 'hooks', 'stop.sh'), 'a']
    const payload = openSession(vault.place).stopPayload()
    expect(await callHook(vault.place, call, payload).ended).toMatchObject(COMPLETES)
  })

  test.each<[what: string, make: (vault: Vault) => void]>([
    ['a link', ({ dir }) => symlinkSync(join(dir, 'Needs_Action', 'a.md'), join(dir, 'Done', 'a.md'))],
    ['a folder', ({ dir }) => mkdirSync(join(dir, 'Done', 'a.md'))],
    ['another file', ({ dir }) => writeFileSync(join(dir, 'Done', 'b.md'), 'x')],
    ['another name', ({ dir }) => writeFileSync(join(dir, 'Done', 'a'), 'x')],
    ['nothing, not even Done', ({ dir }) => rmSync(join(dir, 'Done'), { recursive: true })],
  ])('is not %s', async (_, make) => {
    const vault = await makeVault()
    await vault.start('a.md')
    make(vault)
    expect((await vault.stop({ RALPH_TASK_ID: 'a' })).json).toMatchObject({ decision: 'block' })
    expect(vault.state('a')).toMatchObject({ status: 'in_progress', iteration: 2 })
  })
})

describe.concurrent('a file that is not in Done', () => {
  test('repeats the prompt, counts the turn and arms the session', async () => {
    const vault = await makeVault()
    await vault.start('a.md', { text: 'Write the "report".\nThen $(touch PWNED).' })
    const result = await vault.stop({ RALPH_TASK_ID: 'a' }, { message: 'I have begun.' })
    expect(result).toMatchObject({ code: 0, err: '', json: { decision: 'block' }, said: 'ralph: iteration 2 of 10' })
    expect(result.prompt).toContain('Write the "report".\nThen $(touch PWNED).')
    expect(result.prompt).toContain('Done/a.md')
    expect(vault.state('a')).toMatchObject({
      status: 'in_progress',
      iteration: 2,
      iterations_history: [{ iteration: 1, action: 'I have begun.', result: 'success' }],
    })
    expect(isArmed(vault)).toBe(true)
    expect(readFileSync(join(vault.dir, 'Ralph_State', '.hook', 'session.s-1'), 'utf8')).toBe('a\n')
    expect((await vault.stop()).said).toBe('ralph: iteration 3 of 10') // from now on the session is enough
  })

  test('words do not count: a promise ends nothing', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    const result = await vault.stop({ RALPH_TASK_ID: 'a' }, { message: 'TASK_COMPLETE\n<promise>DONE</promise>' })
    expect(result.json).toMatchObject({ decision: 'block' })
  })

  test('is identified by the session it was started in', async () => {
    const vault = await makeVault({ env: { CLAUDE_CODE_SESSION_ID: 's-7' } })
    await vault.start('a.md')
    expect(await vault.stop()).toMatchObject(PASSES)
    expect((await vault.stop({}, { session: 's-7' })).said).toBe('ralph: iteration 2 of 10')
  })

  test('is identified by the argument first', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    await vault.start('b.md')
    const script = join(vault.dir, '.claude', 'hooks', 'stop.sh')
    const payload = openSession(vault.place).stopPayload()
    const result = await callHook(vault.place, ['sh', script, 'b'], payload, { env: { RALPH_TASK_ID: 'a' } }).ended
    expect(result.prompt).toContain('Do what b.md says.')
    const inside = { cwd: vault.dir, env: { RALPH_TASK_ID: 'a' } }
    const relative = await callHook(vault.place, ['sh', '.claude/hooks/stop.sh', 'b'], payload, inside).ended
    expect(relative.prompt).toContain('Do what b.md says.')
  })

  test.each(['dash', 'bash', 'busybox'].filter((shell) => spawnSync(shell, ['-c', ':']).status === 0))(
    'works in %s',
    async (shell) => {
      const vault = await makeVault()
      await vault.start('a.md')
      const script = join(vault.dir, '.claude', 'hooks', 'stop.sh')
      const stop = () =>
        callHook(vault.place, [shell, script], openSession(vault.place).stopPayload(), { env: { RALPH_TASK_ID: 'a' } })
          .ended
      expect((await stop()).said).toBe('ralph: iteration 2 of 10')
      vault.move('a.md', 'Done')
      expect(await stop()).toMatchObject(COMPLETES)
      await until('the end of the task', () => vault.state('a').status === 'completed')
    },
  )
})

describe.concurrent('names', () => {
  test.each([
    'two words.md',
    'grüße 🎉.md',
    `it's "quoted".md`,
    '$(touch PWNED).md',
    '`touch PWNED`; touch PWNED.md',
    '-rf.md',
    'a*b?[c].md',
    'back\\slash\\n.md'.replaceAll('\\', '%'),
    'no-ending',
    'two.endings.md',
    '%s %d.md',
  ])('%s is a task like any other', async (file) => {
    const vault = await makeVault()
    const id = await vault.start(file)
    const result = await vault.stop({ RALPH_TASK_ID: id })
    expect(result).toMatchObject({ code: 0, err: '', said: 'ralph: iteration 2 of 10' })
    vault.move(file, 'Done')
    expect(await vault.stop({ RALPH_TASK_ID: id })).toMatchObject(COMPLETES)
    await until('the end of the task', () => vault.state(id).status === 'completed')
    for (const folder of [vault.dir, vault.place.root]) expect(readdirSync(folder)).not.toContain('PWNED')
  })

  test.each([`my "vault" 🎉's`, '$(touch PWNED) `touch PWNED`', 'a.claude/hooks/b', '-v'])(
    'a vault may be called %s',
    async (name) => {
      const vault = await makeVault({ name })
      await vault.start('a.md')
      expect(await vault.stop({ RALPH_TASK_ID: 'a' })).toMatchObject({ err: '', said: 'ralph: iteration 2 of 10' })
      vault.move('a.md', 'Done')
      expect(await vault.stop({ RALPH_TASK_ID: 'a' })).toMatchObject(COMPLETES)
      await until('the end of the task', () => vault.state('a').status === 'completed')
      expect(readdirSync(vault.place.root)).not.toContain('PWNED')
    },
  )

  test('a vault that was moved keeps its hook', async () => {
    const vault = await makeVault()
    const moved = join(vault.place.root, 'moved')
    renameSync(vault.dir, moved)
    const api = new RalphWiggum({ vaultPath: moved, home: vault.place.home, env: {} })
    open.push(api)
    writeFileSync(join(moved, 'Needs_Action', 'a.md'), 'Do it.')
    await api.startTask({ task_file: 'Needs_Action/a.md' })
    expect((await stopIn(vault.place, moved, { RALPH_TASK_ID: 'a' })).prompt).toContain('Do it.')
  })
})

describe.concurrent('folders', () => {
  test('are those configured at install time', async () => {
    const config = { state_dir: `state's "own" $(touch PWNED)`, done_folder: 'Fertig/heute' }
    const vault = await makeVault({ config })
    await vault.start('a.md')
    expect((await vault.stop({ RALPH_TASK_ID: 'a' })).prompt).toContain('Fertig/heute/a.md')
    vault.move('a.md', 'Fertig/heute')
    expect(await vault.stop({ RALPH_TASK_ID: 'a' })).toMatchObject(completesIn('/Fertig/heute/'))
    await until('the end of the task', () => vault.state('a').status === 'completed')
    for (const folder of [vault.dir, vault.place.root]) expect(readdirSync(folder)).not.toContain('PWNED')
  })

  test.each([(_: string) => 'Elsewhere', (dir: string) => join(dir, 'Elsewhere')])(
    'the environment overrides that (%#)',
    async (folder) => {
      const env: Record<string, string> = { RALPH_STATE_DIR: 'S' }
      const vault = await makeVault()
      env.RALPH_DONE_FOLDER = folder(vault.dir)
      const api = new RalphWiggum({ vaultPath: vault.dir, home: vault.place.home, env })
      open.push(api)
      writeFileSync(join(vault.dir, 'Needs_Action', 'a.md'), 'Do it.')
      await api.startTask({ task_file: 'Needs_Action/a.md' })
      expect((await vault.stop({ RALPH_TASK_ID: 'a' })).out).toContain('this vault has no task with that name')
      expect((await vault.stop({ RALPH_TASK_ID: 'a', ...env })).json).toMatchObject({ decision: 'block' })
      vault.move('a.md', 'Elsewhere')
      expect(await vault.stop({ RALPH_TASK_ID: 'a', ...env })).toMatchObject(completesIn('/Elsewhere/'))
      const state = () => JSON.parse(readFileSync(join(vault.dir, 'S', 'a.json'), 'utf8'))
      await until('the end of the task', () => state().status === 'completed')
    },
  )
})

describe.concurrent('checks', () => {
  test('prove what is in Done, or the task continues', async () => {
    const vault = await makeVault()
    await vault.start('a.md', { text: '---\nverify: test -f proof.txt\n---\nMake the proof.' })
    vault.move('a.md', 'Done')
    const refused = await vault.stop({ RALPH_TASK_ID: 'a' })
    expect(refused.json).toMatchObject({ decision: 'block' })
    expect(refused.prompt).toContain('The check `test -f proof.txt` failed')
    expect(vault.state('a')).toMatchObject({ status: 'in_progress', iteration: 2 })
    writeFileSync(join(vault.dir, 'proof.txt'), '')
    const proven = await vault.stop()
    expect(proven).toMatchObject({
      prompt: '',
      said: expect.stringContaining('ralph: task a is done after 2 iterations, proof: kept.'),
    })
    expect(vault.state('a')).toMatchObject({ status: 'completed', iteration: 2 })
    expect([vault.hookFiles(), isArmed(vault)]).toEqual([[], false])
  })
})

describe.concurrent('the end', () => {
  test('by the limit: reported with its sentence and by the webhook, and then never again', async () => {
    const bodies: Json[] = []
    const server = createServer((request, response) => {
      let text = ''
      request.on('data', (piece) => (text += piece)).on('end', () => bodies.push(JSON.parse(text)) && response.end())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const vault = await makeVault({ config: { notify_webhook: address } })
    await vault.start('a.md', { max_iterations: 2 })
    expect((await vault.stop({ RALPH_TASK_ID: 'a' })).said).toBe('ralph: iteration 2 of 2')
    const last = await vault.stop({ RALPH_TASK_ID: 'a' })
    const sentence = 'Task reached maximum 2 iterations. Manual intervention required.'
    expect(last.json).toEqual({ systemMessage: `ralph: task a stopped after 2 iterations. ${sentence}` })
    expect(bodies).toMatchObject([
      { task_id: 'a', vault: vault.dir, text: sentence, reason: 'max-iterations', iterations: 2 },
    ])
    expect(vault.state('a')).toMatchObject({ status: 'max_iterations_reached', iteration: 2 })
    expect([vault.hookFiles(), isArmed(vault)]).toEqual([[], false])
    expect(await vault.stop({ RALPH_TASK_ID: 'a' })).toMatchObject(PASSES)
    expect(bodies).toHaveLength(1)
    server.close()
  })

  test('by a deadline that something else noticed: reported anyway, once', async () => {
    const vault = await makeVault({ now: () => Date.now() - 31 * 60_000 })
    await vault.start('a.md')
    const later = new RalphWiggum({ vaultPath: vault.dir, home: vault.place.home, env: {} })
    open.push(later)
    expect(await later.listTasks()).toMatchObject([{ task_id: 'a', status: 'timeout' }])
    const result = await vault.stop({ RALPH_TASK_ID: 'a' })
    expect(result).toMatchObject({ prompt: '', said: expect.stringContaining('Task exceeded 30 minute timeout') })
    expect(vault.hookFiles()).toEqual([])
    expect(await vault.stop({ RALPH_TASK_ID: 'a' })).toMatchObject(PASSES)
  })

  test('by the deadline, although nothing answers the webhook', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const address = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`
    const vault = await makeVault({ config: { notify_webhook: address }, now: () => Date.now() - 31 * 60_000 })
    await vault.start('a.md')
    const begun = performance.now()
    const last = await vault.stop({ RALPH_TASK_ID: 'a' })
    expect(performance.now() - begun).toBeLessThan(10_000)
    expect(last.json.decision).toBeUndefined()
    expect(last.said).toContain(
      'Task exceeded 30 minute timeout. Progress saved.\nralph: the webhook could not be reached',
    )
    expect(vault.state('a')).toMatchObject({ status: 'timeout' })
    expect([vault.hookFiles(), isArmed(vault)]).toEqual([[], false])
    silent.closeAllConnections()
    silent.close()
  })

  const hasScript = spawnSync('script', ['--version']).status === 0
  test.skipIf(!hasScript)('rings the terminal bell', async () => {
    const vault = await makeVault()
    await vault.start('a.md', { max_iterations: 1 })
    const payload = join(vault.place.root, 'payload.json')
    writeFileSync(payload, JSON.stringify(openSession(vault.place).stopPayload()))
    const line = `sh '${vault.dir}/.claude/hooks/stop.sh' a < '${payload}' > /dev/null`
    const env = { ...vault.place.env, RALPH_NODE: process.execPath }
    expect(execFileSync('script', ['-qec', line, '/dev/null'], { env, encoding: 'utf8' })).toBe('\u0007')
  })

  test('by something else: reported once', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    await vault.stop({ RALPH_TASK_ID: 'a' })
    await cancel(vault)
    expect((await vault.stop({ RALPH_TASK_ID: 'a' })).said).toContain('ralph: task a stopped after 1 iteration.')
    expect(vault.state('a')).toMatchObject({ status: 'failed', iteration: 1 })
    expect(isArmed(vault)).toBe(false)
    expect(await vault.stop({ RALPH_TASK_ID: 'a' })).toMatchObject(PASSES)
  })

  test.each<[what: string, act: (path: string) => void, words: string]>([
    ['removed', (path) => rmSync(path), 'a.md is no longer in the vault'],
    ['renamed', (path) => renameSync(path, path.replace('a.md', 'b.md')), 'a.md was renamed to Needs_Action/b.md'],
  ])('by a file that was %s', async (_, act, words) => {
    const vault = await makeVault()
    await vault.start('a.md')
    act(join(vault.dir, 'Needs_Action', 'a.md'))
    const result = await vault.stop({ RALPH_TASK_ID: 'a' })
    expect(result.json).toEqual({ systemMessage: expect.stringContaining(words) })
    expect(vault.state('a')).toMatchObject({ status: 'failed' })
    expect([vault.hookFiles(), isArmed(vault)]).toEqual([[], false])
  })

  test('leaves another loop of the session alone', async () => {
    const vault = await makeVault()
    await vault.start('a.md', { max_iterations: 1 })
    const session = openSession({ ...vault.place, dir: vault.dir })
    await session.type('/ralph:loop Something else.')
    await cancel(vault)
    expect((await vault.stop({ RALPH_TASK_ID: 'a' })).said).toContain('ralph: task a stopped')
    expect((await session.work()).prompt).toContain('This is iteration 2 of at most 10 in the loop')
  })

  test('by completing it through the API: the session no longer loops', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    await vault.stop({ RALPH_TASK_ID: 'a' })
    vault.move('a.md', 'Done')
    await vault.api.completeTask('a')
    expect(await vault.stop({ RALPH_TASK_ID: 'a' })).toMatchObject(PASSES)
    expect(vault.state('a')).toMatchObject({ status: 'completed', iteration: 1 })
  })
})

test('a task that waits for approval lets the stop pass, and continues once the user has approved', async () => {
  const vault = await makeVault()
  await vault.start('a.md')
  mkdirSync(join(vault.dir, 'Pending_Approval'), { recursive: true })
  vault.move('a.md', 'Pending_Approval')
  const waits = await vault.stop({ RALPH_TASK_ID: 'a' })
  expect(waits).toMatchObject({
    prompt: '',
    said: expect.stringContaining(`\`ralph task approve --vault ${vault.dir} a\``),
  })
  expect(vault.state('a')).toMatchObject({ status: 'waiting_approval', iteration: 1 })
  await vault.api.approveTask({ task_id: 'a' })
  expect((await vault.stop({ RALPH_TASK_ID: 'a' })).json).toMatchObject({ decision: 'block' })
  expect(vault.state('a')).toMatchObject({ status: 'in_progress', iteration: 3 })
})

describe.concurrent('a paused task', () => {
  async function waiting() {
    const vault = await makeVault()
    await vault.start('a.md')
    for (const folder of ['Pending_Approval', 'Failed']) mkdirSync(join(vault.dir, folder))
    vault.move('a.md', 'Pending_Approval')
    await vault.stop({ RALPH_TASK_ID: 'a' })
    return vault
  }

  test('is completed by the user who moves its file to Done', async () => {
    const vault = await waiting()
    vault.move('a.md', 'Done', 'Pending_Approval')
    expect(await vault.stop({ RALPH_TASK_ID: 'a' })).toMatchObject(COMPLETES)
    await until('the end of the task', () => vault.state('a').status === 'completed')
    await until('the cleanup', () => vault.hookFiles().length === 0 && !isArmed(vault))
  })

  test('continues when the user moves its file back', async () => {
    const vault = await waiting()
    vault.move('a.md', 'Needs_Action', 'Pending_Approval')
    expect((await vault.stop({ RALPH_TASK_ID: 'a' })).json).toMatchObject({ decision: 'block' })
    expect(vault.state('a')).toMatchObject({ status: 'in_progress', iteration: 2 })
  })

  test('ends when its file is moved to Failed, by whomever', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    mkdirSync(join(vault.dir, 'Failed'))
    vault.move('a.md', 'Failed')
    const result = await vault.stop({ RALPH_TASK_ID: 'a' })
    expect(result).toMatchObject({ prompt: '', said: expect.stringContaining('whoever moved it to Failed') })
    expect(vault.state('a')).toMatchObject({ status: 'failed' })
  })

  test('gets the answer to its question with the next prompt', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    const asks = await vault.stop({ RALPH_TASK_ID: 'a' }, { message: '<ask>To whom?</ask>' })
    expect(asks.said).toContain('To whom?')
    expect(asks.said).toContain("--note 'your answer'")
    await vault.api.approveTask({ task_id: 'a', note: 'To the office only' })
    expect((await vault.stop({ RALPH_TASK_ID: 'a' })).json).toMatchObject({
      decision: 'block',
      reason: expect.stringContaining('A person says: Approved: To the office only'),
    })
    expect((await vault.stop({ RALPH_TASK_ID: 'a' })).prompt).not.toContain('To the office only')
  })

  test('gets the answer whatever is tried in between, and also one from ralph steer', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    const asks = () => vault.stop({ RALPH_TASK_ID: 'a' }, { message: '<ask>Which color?</ask>' })
    await asks()
    await vault.api.approveTask({ task_id: 'a', note: 'Blue' })
    await expect(vault.api.completeTask({ task_id: 'a' })).rejects.toThrow('not in Done')
    expect((await vault.stop({ RALPH_TASK_ID: 'a' })).prompt).toContain('A person says: Approved: Blue')
    await asks()
    const loop = String(query(vault.place, 'SELECT loop FROM task')[0]?.loop)
    await vault.place.ralph(['steer', loop, 'Green'])
    expect((await vault.stop({ RALPH_TASK_ID: 'a' })).prompt).toContain('A person says: Green')
  })

  test('gets what is said during its turn once', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    await vault.stop({ RALPH_TASK_ID: 'a' })
    await vault.place.ralph(['steer', String(query(vault.place, 'SELECT loop FROM task')[0]?.loop), 'Use green ink'])
    const stops = [1, 2, 3].map(() => async () => (await vault.stop({ RALPH_TASK_ID: 'a' })).prompt)
    const prompts: string[] = []
    for (const stop of stops) prompts.push(await stop())
    expect(prompts.map((text) => text.split('Use green ink').length - 1)).toEqual([1, 0, 0])
  })

  test('waits again when it asks again: an earlier answer does not count', async () => {
    const vault = await waiting()
    await vault.api.approveTask({ task_id: 'a', note: 'Yes, the letter' })
    vault.move('a.md', 'Pending_Approval')
    expect(await vault.stop({ RALPH_TASK_ID: 'a' })).toMatchObject({ prompt: '' })
    expect(vault.state('a')).toMatchObject({ status: 'waiting_approval', iteration: 2 })
  })
})

test('tasks that one session ends at the same time are all counted', async () => {
  const vault = await makeVault()
  const ids = ['a', 'b', 'c', 'd']
  for (const id of ids) {
    await vault.start(`${id}.md`)
    vault.move(`${id}.md`, 'Done')
  }
  await Promise.all(ids.map((id) => vault.stop({ RALPH_TASK_ID: id })))
  await until('the end of all tasks', () => ids.every((id) => vault.state(id).status === 'completed'))
  expect(ids.map((id) => vault.state(id).iteration)).toEqual([1, 1, 1, 1])
})

test('a vault that was moved is recognized', async () => {
  const vault = await makeVault()
  await vault.start('a.md')
  await vault.stop({ RALPH_TASK_ID: 'a' })
  const moved = `${vault.dir} elsewhere`
  renameSync(vault.dir, moved)
  const result = await stopIn(vault.place, moved, { RALPH_TASK_ID: 'a' })
  expect(result.json).toMatchObject({ decision: 'block' })
  expect(JSON.parse(readFileSync(join(moved, 'Ralph_State/a.json'), 'utf8'))).toMatchObject({ iteration: 3 })
})

describe.concurrent('the forms of a name', () => {
  test.each(['a', 'a.md', 'Needs_Action/a.md', './a'])('%s is task a', async (name) => {
    const vault = await makeVault()
    await vault.start('a.md')
    expect((await vault.stop({ RALPH_TASK_ID: name })).json).toMatchObject({ decision: 'block' })
  })

  test.each(['a.v2', 'a.txt', 'Done/a.v2.md'])('%s is not', async (name) => {
    const vault = await makeVault()
    await vault.start('a.md')
    expect((await vault.stop({ RALPH_TASK_ID: name })).out).toContain('this vault has no task with that name')
    expect(vault.state('a')).toMatchObject({ iteration: 0 })
  })

  test('a task that has ended passes silently', async () => {
    const vault = await makeVault()
    await vault.start('v1.2.md')
    await vault.api.handleTimeout('v1.2')
    for (const name of ['v1.2', 'v1.2.md']) expect(await vault.stop({ RALPH_TASK_ID: name })).toMatchObject(PASSES)
  })
})

describe.concurrent('one at a time', () => {
  test('a second session may stop while the first has the task, and takes it over once the first has ended', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    const gone = spawnSync('true').pid
    const first = { RALPH_TASK_ID: 'a', CLAUDE_PID: String(process.pid) }
    expect((await vault.stop(first)).said).toBe('ralph: iteration 2 of 10')
    const second = await vault.stop({ RALPH_TASK_ID: 'a' }, { session: 's-2' })
    expect(second.json).toEqual({ systemMessage: expect.stringContaining('in another session of Claude Code') })
    expect(vault.state('a')).toMatchObject({ iteration: 2 })
    await vault.stop({ ...first, CLAUDE_PID: String(gone) })
    const armed = join(vault.place.home, 'armed', 's-1')
    writeFileSync(armed, readFileSync(armed, 'utf8').replace(`"pid":${process.pid}`, `"pid":${gone}`))
    expect((await vault.stop({ RALPH_TASK_ID: 'a' }, { session: 's-2' })).said).toBe('ralph: iteration 4 of 10')
    expect([isArmed(vault, 's-1'), isArmed(vault, 's-2')]).toEqual([false, true])
  })

  test('with two sessions at once, only one gets the task', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    const sessions = ['s-1', 's-2', 's-3']
    const result = await Promise.all(sessions.map((session) => vault.stop({ RALPH_TASK_ID: 'a' }, { session })))
    expect(result.filter(({ prompt }) => prompt)).toHaveLength(1)
    expect(sessions.filter((session) => isArmed(vault, session))).toHaveLength(1)
    expect(vault.state('a')).toMatchObject({ iteration: 2 })
  })

  test('a session that starts another task has the newer one', async () => {
    const vault = await makeVault({ env: { CLAUDE_CODE_SESSION_ID: 's-1' } })
    await vault.start('a.md')
    expect((await vault.stop()).prompt).toContain('Do what a.md says.')
    await vault.start('b.md')
    expect((await vault.stop()).prompt).toContain('Do what b.md says.')
    expect([vault.state('a').iteration, vault.state('b').iteration]).toEqual([2, 2])
  })

  test('a session with its own loop keeps it', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    const session = openSession({ ...vault.place, dir: vault.dir })
    await session.type('/ralph:loop Something else.')
    expect(await vault.stop({ RALPH_TASK_ID: 'a' })).toMatchObject(PASSES)
    expect((await session.work()).prompt).toContain('This is iteration 2 of at most 10 in the loop')
    expect(vault.state('a')).toMatchObject({ iteration: 0 })
  })

  test('a loop that something else drives is left alone', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    const store = openStore(vault.place.home, Date.now)
    const lease = await store.lease(String(query(vault.place, 'SELECT id FROM loop')[0]?.id))
    const result = await vault.stop({ RALPH_TASK_ID: 'a' })
    expect(result.json).toEqual({ systemMessage: expect.stringContaining('in another process') })
    expect(isArmed(vault)).toBe(false)
    if (!('heldBy' in lease)) await lease.release()
    await store.close()
    expect((await vault.stop({ RALPH_TASK_ID: 'a' })).said).toBe('ralph: iteration 2 of 10')
  })

  test('together with the hooks for all folders, every turn is counted and requested once', async () => {
    const vault = await makeVault()
    const { place } = vault
    await place.ralph(['install', 'claude', '--yes'])
    await vault.start('a.md')
    const payload = openSession({ ...place, dir: vault.dir }).stopPayload()
    const both = async () => {
      const env = { CLAUDE_PROJECT_DIR: vault.dir, CLAUDE_CODE_SESSION_ID: 's-1', RALPH_TASK_ID: 'a' }
      const gate = callGate(place, 'stop', payload, { env, gate: join(place.home, 'hook.sh') })
      return Promise.all([gate.ended, vault.stop({ RALPH_TASK_ID: 'a' })])
    }
    for (let turn = 1; turn <= 5; turn++) {
      const result = await both()
      expect(result.filter(({ prompt }) => prompt)).toHaveLength(1)
      expect(result.map(({ said }) => said).filter(Boolean)).toEqual([`ralph: iteration ${turn + 1} of 10`])
      expect(vault.state('a')).toMatchObject({ iteration: turn + 1 })
    }
    const session = openSession({ ...place, dir: vault.dir })
    expect(await session.type('What are you doing?')).toMatchObject(PASSES)
    vault.move('a.md', 'Done')
    expect((await both()).every(({ prompt }) => prompt === '')).toBe(true)
    await until('the end of the task', () => vault.state('a').status === 'completed')
    expect(vault.state('a')).toMatchObject({ iteration: 6 })
  })
})

describe.concurrent('what is missing', () => {
  test('is reported once, and the session continues', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    const env = { RALPH_TASK_ID: 'a', RALPH_NODE: '/no/such/node', PATH: pathWithoutNode(vault.place) }
    rmSync(join(vault.place.home, 'node'))
    const result = await vault.stop(env)
    expect(result).toMatchObject({
      code: 0,
      err: '',
      said: expect.stringContaining('Node 22.19 or newer was not found'),
    })
    expect(await vault.stop(env)).toMatchObject(PASSES)
  })

  test('the program is also missing', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    rmSync(join(vault.place.home, 'hook.cjs'))
    const env = { RALPH_TASK_ID: 'a', PATH: pathWithoutNode(vault.place) }
    expect((await vault.stop(env)).said).toContain('the ralph program (npm install -g ralphloop) was not found')
    expect(await vault.stop(env)).toMatchObject(PASSES)
  })

  test('the program is found as `ralph` too', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    rmSync(join(vault.place.home, 'hook.cjs'))
    const bin = join(vault.place.root, 'bin')
    mkdirSync(bin)
    symlinkSync(join(dirname(import.meta.dirname), 'bin', 'ralph.cjs'), join(bin, 'ralph'))
    const env = { RALPH_TASK_ID: 'a', PATH: `${bin}:${vault.place.env.PATH}` }
    expect((await vault.stop(env)).said).toBe('ralph: iteration 2 of 10')
  })

  test('a task that the database has forgotten does not trap the session', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    const result = await vault.stop({ RALPH_TASK_ID: 'a', RALPH_HOME: join(vault.place.root, 'other') })
    expect(result.json).toEqual({ systemMessage: expect.stringContaining('not known') })
  })

  test('a hook folder that cannot be written releases the session', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    mkdirSync(join(vault.dir, 'Ralph_State', '.hook', 'session.s-1', 'in-the-way'), { recursive: true })
    const result = await vault.stop({ RALPH_TASK_ID: 'a' })
    expect(result).toMatchObject({
      code: 0,
      err: '',
      json: { systemMessage: expect.stringContaining('cannot be written') },
    })
    expect(isArmed(vault)).toBe(false)
  })

  test('a damaged state file is renamed and reported, and the task continues', async () => {
    const vault = await makeVault()
    await vault.start('a.md')
    rmSync(join(vault.dir, 'Ralph_State', 'a.json'))
    mkdirSync(join(vault.dir, 'Ralph_State', 'a.json', 'in-the-way'), { recursive: true })
    const result = await vault.stop({ RALPH_TASK_ID: 'a' })
    expect(result.json).toMatchObject({ decision: 'block', systemMessage: expect.stringContaining('was damaged') })
    expect(vault.state('a')).toMatchObject({ status: 'in_progress', iteration: 2 })
  })
})

/** A folder with the few programs that the script itself needs. */
function pathWithoutNode({ root }: Place): string {
  const folder = join(root, 'few')
  mkdirSync(folder)
  for (const program of ['sh', 'cat', 'mkdir']) {
    const [path = ''] = execFileSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).split('\n')
    if (!lstatSync(join(folder, program), { throwIfNoEntry: false })) symlinkSync(path, join(folder, program))
  }
  return folder
}
