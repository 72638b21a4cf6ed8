/** The docs match the program: it prints the option pages, and accepts every sample command. */
import { execFile, execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { COSTS } from '../bench/fleet-sim/costs.ts'
import { agents } from '../src/agents/index.ts'
import { STATES } from '../src/dispatch/crew.ts'
import { parseCommandLine } from '../src/formats/command-line.ts'
import { parseConfig } from '../src/formats/config.ts'
import { parseCrewConfig } from '../src/formats/crew-config.ts'
import { parseLoopCommand } from '../src/formats/loop-command.ts'
import { parseLoopFile, printLoopFile } from '../src/formats/loop-file.ts'
import { readObstacles } from '../src/formats/obstacles.ts'
import { readProgress } from '../src/formats/progress.ts'
import { parseScript } from '../src/formats/script.ts'
import { parseTaskFile } from '../src/formats/task-file.ts'
import { parseTasks, printTasks } from '../src/formats/tasks.ts'
import { type CommandSpec, parseArgs, printHelp } from '../src/fronts/cli/args.ts'
import { COMMANDS } from '../src/fronts/cli/commands.ts'
import { specFor } from '../src/fronts/cli/context.ts'
import { printAgents } from '../src/fronts/cli/dispatch-view.ts'
import { allTools, fleetTools } from '../src/fronts/server/mcp-tools.ts'
import { startServer } from '../src/fronts/server/serve.test-support.ts'
import { dropDatabase, inPostgres, postgresMissing, testDatabase } from '../src/host/postgres/postgres.test-support.ts'
import { openPostgres } from '../src/host/postgres/store.ts'
import { findProgram } from '../src/host/process.ts'
import type { Listed } from '../src/operations/agents.ts'
import { OPERATIONS } from '../src/operations/index.ts'
import { parseExecute, parseInit, parseInterview } from '../src/project/templates.ts'
import { TASK_ERRORS } from '../src/vault/errors.ts'
import { CALLS, TRANSITIONS } from '../src/vault/lifecycle.ts'
import { printTable, TABLE, TRIED_IN } from './situations.ts'
import { sourceTexts } from './source-texts.ts'

const PAGES = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))

const DOCS = ['README.md', 'CONTRIBUTING.md', ...PAGES.map((name) => `docs/${name}`)]

test('docs/cli.md is what `ralph help` prints; `npx vitest run test/docs.test.ts -u` rewrites it', async () => {
  const page = (level: string, spec: CommandSpec) =>
    `${level} ralph ${spec.name}\n\n\`\`\`\n${printHelp(spec).trimEnd()}\n\`\`\`\n`
  const pages = Object.values(COMMANDS).flatMap(({ spec, verbs = {} }) => [
    page('##', spec),
    ...Object.values(verbs).map((verb) => page('###', verb)),
  ])
  await expect(`# Commands\n\n${pages.join('\n')}`).toMatchFileSnapshot('../docs/cli.md')
})

test('the table in docs/agents.md is the table of agents; -u rewrites it', async () => {
  const rows = Object.values(agents).flatMap(({ name, probe, settings, reports, bypass }) => {
    if (!probe) return []
    const can = (has: boolean) => (has ? 'yes' : 'no')
    const cells = [
      ...[`\`${name}\``, probe.tested, probe.install, can(settings.includes('model'))],
      ...[bypass ? `\`${bypass}\`` : 'no', can(settings.includes('context')), can(settings.includes('mcp'))],
      ...[can(reports.includes('tokens')), can(reports.includes('cost'))],
    ]
    return [`| ${cells.join(' | ')} |\n`]
  })
  const page = readFileSync('docs/agents.md', 'utf8')
  const table = /(?<=^\|(?:---\|)+\n)(?:\|.*\n)*/m
  await expect(page.replace(table, rows.join(''))).toMatchFileSnapshot('../docs/agents.md')
})

test('the table in docs/sessions.md shows what the live tests try; -u rewrites it', async () => {
  const page = readFileSync('docs/sessions.md', 'utf8')
  const table = /(?<=^## Tested in each client\n\n.*\n\n)(?:\|.*\n)+\n(?:\d+\. .*\n|1\.\n)*/m
  await expect(page.replace(table, printTable())).toMatchFileSnapshot('../docs/sessions.md')
})

test.each(Object.keys(TABLE))('every situation is tried in the real client: %s', (client) => {
  const { files = [`session-${client}.live.ts`], titles } = TRIED_IN[client] ?? {}
  const live = files.map((file) => readFileSync(`test/${file}`, 'utf8')).join('')
  if (!titles) expect(live).toMatch(/^(situations|eachSituation)\(/m)
  for (const title of Object.values(titles ?? {})) expect(live).toContain(title)
})

test('the table in docs/task-api.md matches the lifecycle and the errors; -u rewrites it', async () => {
  const names = (words: readonly string[]) => words.map((word) => `\`${word}\``).join(', ') || 'nothing: it has ended'
  const states = Object.entries(TRANSITIONS).map(([state, to]) => {
    const calls = Object.entries(CALLS).filter(([, { from }]) => from.some((each) => each === state))
    return [`\`${state}\``, names(calls.map(([call]) => call)), names(to), '', '']
  })
  const errors = Object.entries(TASK_ERRORS).map(([name, { when, recoverable, action }]) => [
    ...[`\`${name}\``, when, '', recoverable ? 'yes' : 'no', `\`${action}\``],
  ])
  const rows = [...states, ...errors].map((cells) => `| ${cells.join(' | ')} |\n`)
  const page = readFileSync('docs/task-api.md', 'utf8')
  const table = /(?<=^\| state or error .*\n\|(?:---\|)+\n)(?:\|.*\n)*/m
  expect(page).toMatch(table)
  await expect(page.replace(table, () => rows.join(''))).toMatchFileSnapshot('../docs/task-api.md')
})

test('the table in docs/operations.md is the table of operations; -u rewrites it', async () => {
  const rows = Object.values(OPERATIONS).map(
    ({ name, effect, summary }) => `| \`${name}\` | ${effect} | ${summary} |\n`,
  )
  const page = readFileSync('docs/operations.md', 'utf8')
  const table = /(?<=^\| operation .*\n\|(?:---\|)+\n)(?:\|.*\n)*/m
  expect(page).toMatch(table)
  await expect(page.replace(table, () => rows.join(''))).toMatchFileSnapshot('../docs/operations.md')
})

test('the table in docs/mcp.md is the table of tools; -u rewrites it', async () => {
  const effects = Object.values(OPERATIONS).map(({ name, effect, agent }) => [agent?.tool ?? name, effect] as const)
  const effectOf = new Map<string, string>(effects)
  const rows = [...allTools(), ...fleetTools()].map(
    ({ name, description }) => `| \`${name}\` | ${effectOf.get(name)} | ${description} |\n`,
  )
  const page = readFileSync('docs/mcp.md', 'utf8')
  const table = /(?<=^\| tool .*\n\|(?:---\|)+\n)(?:\|.*\n)*/m
  expect(page).toMatch(table)
  await expect(page.replace(table, () => rows.join(''))).toMatchFileSnapshot('../docs/mcp.md')
})

test('the example in docs/mcp.md runs', () => {
  const [example = ''] = codeBlocks('docs/mcp.md', 'ts')
  const printed = runExample(example, (dir) => {
    symlinkSync(resolve('node_modules/@modelcontextprotocol'), join(dir, 'node_modules', '@modelcontextprotocol'))
    const lines = '#!/bin/sh\ntouch hello.txt\necho "<promise>COMPLETE</promise>"\n'
    writeFileSync(join(dir, 'agent.sh'), lines, { mode: 0o755 })
  })
  expect(printed).toBe('verified\n')
})

test('the table in docs/dispatch.md shows how agents report from a pane; -u rewrites it', async () => {
  const rows = Object.values(agents).flatMap(({ name, probe, pane, screen, reportsCost }) => {
    if (!probe || !screen) return []
    const { args, env } = pane?.({ hook: ['node', 'hook'], plugins: 'plugins', folder: 'folder' }) ?? {
      args: [],
      env: {},
    }
    const flags = new Set(args.filter((word) => word.startsWith('--')))
    const names = flags.size > 0 ? flags : new Set(Object.keys(env).filter((key) => !key.startsWith('RALPH_')))
    const hooks = pane ? [...names].map((word) => `\`${word}\``).join(', ') : 'none: ralph reads its screen'
    return [`| \`${name}\` | ${hooks} | ${reportsCost ? 'yes' : 'no'} | ${screen.client}, ${screen.seen} |\n`]
  })
  const page = readFileSync('docs/dispatch.md', 'utf8')
  const table = /(?<=^\| agent .*\n\|(?:---\|)+\n)(?:\|.*\n)*/m
  expect(page).toMatch(table)
  await expect(page.replace(table, () => rows.join(''))).toMatchFileSnapshot('../docs/dispatch.md')
})

test('the example in docs/operations.md runs', () => {
  const [example = ''] = codeBlocks('docs/operations.md', 'ts')
  expect(runExample(example, (dir) => writeFileSync(join(dir, 'agent.sh'), '#!/bin/sh\n', { mode: 0o755 }))).toBe(
    'started\n',
  )
})

test.each([
  [0, 'Task completed in 1 iterations\n'],
  [1, 'completed, 100% after 2 iterations\n'],
])('example %i in docs/task-api.md runs in a new project, in a file with the name given there', (n, printed) => {
  const page = readFileSync('docs/task-api.md', 'utf8')
  const examples = [...page.matchAll(/^.*`([\w-]+\.m?[jt]s)`.*\n\n```ts\n([\s\S]*?)^```$/gm)]
  expect(examples).toHaveLength(codeBlocks('docs/task-api.md', 'ts').length)
  const [, name = '', example = ''] = examples[n] ?? []
  const [setup = ''] = codeBlocks('docs/task-api.md', 'sh')
  expect(setup).toContain('npm init -y\nnpm link ralphloop\n')
  const dir = mkdtempSync(join(tmpdir(), 'ralph-test-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const env = { PATH: process.env.PATH, HOME: dir, RALPH_HOME: join(dir, 'home') }
  execFileSync('sh', ['-e', '-c', setup.replace(/^npm link.*$/m, 'mkdir node_modules')], { cwd: dir, env })
  symlinkSync(process.cwd(), join(dir, 'node_modules', 'ralphloop'))
  writeFileSync(join(dir, name), example)
  expect(execFileSync(process.execPath, [name], { cwd: dir, env, encoding: 'utf8' })).toBe(printed)
})

test('the samples in docs/server.md run against a server', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'ralph-test-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  for (const name of ['agent.sh', 'check.sh']) writeFileSync(join(dir, name), '#!/bin/sh\n', { mode: 0o755 })
  const env = { PATH: process.env.PATH, HOME: dir, RALPH_HOME: join(dir, '.ralph') }
  const { port, stop } = await startServer({ cwd: dir, env })
  onTestFinished(stop)
  const run = promisify(execFile) // the server answers from this process
  const [, script = ''] = codeBlocks('docs/server.md', 'sh')
  const { stdout } = await run('sh', ['-e', '-c', script.replaceAll('4444', String(port))], { cwd: dir, env })
  expect(stdout).toMatch(/^\{"loops":\[\]\}\{"loop":"\w+","queued":true\}.*"priority":5.*\{"task_id":"\w+"\}/)
  const wrong = await fetch(`http://127.0.0.1:${port}/api/loops?limit=ten`, {
    headers: { authorization: `Bearer ${readFileSync(join(dir, '.ralph', 'server-token'), 'utf8').trim()}` },
  })
  const [error = ''] = codeBlocks('docs/server.md', 'json')
  expect(await wrong.json()).toEqual(JSON.parse(error))
  const printed = codeBlocks('docs/server.md', 'ts').map(async (example, n) => {
    const asked = writeExample(example, { dir: join(dir, `example-${n}`) })
    return (await run(process.execPath, ['example.ts'], { cwd: asked, env })).stdout
  })
  expect(await Promise.all(printed)).toEqual(['Fix the login: 5\n', 'hello\n'])
})

/** Returns what the example prints in a folder with the package installed. */
function runExample(example: string, prepare: (dir: string) => void): string {
  const dir = mkdtempSync(join(tmpdir(), 'ralph-test-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  writeExample(example, { dir })
  prepare(dir)
  const env = { PATH: process.env.PATH, RALPH_HOME: join(dir, 'home') }
  return execFileSync(process.execPath, ['example.ts'], { cwd: dir, env, encoding: 'utf8' })
}

function writeExample(example: string, { dir }: { dir: string }): string {
  mkdirSync(join(dir, 'node_modules'), { recursive: true })
  symlinkSync(process.cwd(), join(dir, 'node_modules', 'ralphloop'))
  writeFileSync(join(dir, 'package.json'), '{"type":"module"}')
  writeFileSync(join(dir, 'example.ts'), example)
  return dir
}

test('the example in docs/proof.md prints what is shown there', () => {
  const dir = mkdtempSync(join(tmpdir(), 'ralph-test-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const project = join(dir, 'project')
  mkdirSync(project)
  for (const block of codeBlocks('docs/proof.md', 'js')) {
    const [, name = '', content = ''] = /^\/\/ (\S+)\n([\s\S]*)$/.exec(block) ?? []
    writeFileSync(join(project, name), content)
  }
  const [diff = ''] = codeBlocks('docs/proof.md', 'diff')
  writeFileSync(join(dir, 'turn.diff'), diff)
  const turn = [{ shell: ['git', 'apply', '../turn.diff'] }, { text: '<promise>COMPLETE</promise>' }]
  writeFileSync(join(dir, 'turn.json'), JSON.stringify({ turns: [turn] }))
  const env = { PATH: process.env.PATH, RALPH_HOME: join(dir, 'home'), NO_COLOR: '1' }
  const run = (program: string, args: readonly string[]) =>
    execFileSync(program, args, { cwd: project, env, encoding: 'utf8' })
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@localhost']
  run('git', ['init', '--quiet'])
  run('git', ['add', '--all'])
  run('git', [...identity, 'commit', '--quiet', '--message', 'start'])
  const shown = codeBlocks('docs/proof.md', 'console')
  expect(shown).toHaveLength(2)
  for (const block of shown) {
    const [, line = '', output = ''] = /^\$ ralph (.+)\n([\s\S]*)$/.exec(block) ?? []
    const printed = run(process.execPath, [join(process.cwd(), 'bin', 'ralph.cjs'), ...parseCommandLine(line)])
    expect(withoutChance(printed)).toContain(withoutChance(output))
  }
})

/** Loop ids, git objects, times and dates differ from run to run. */
function withoutChance(text: string): string {
  return text
    .replace(/\b(loop|show) [a-z0-9]{8}\b/g, '$1 LOOP')
    .replace(/\b(tree|commit|of) [0-9a-f]{12}\b/g, '$1 OBJECT')
    .replace(/\b\d+:\d\d$/gm, 'TIME')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, 'DATE')
}

const samples = [
  ...DOCS.flatMap((file) =>
    codeBlocks(file, 'sh').flatMap((block) => block.split('\n').map((line) => [file, line] as const)),
  ),
  ...Object.values(COMMANDS).flatMap(({ spec }) => (spec.examples ?? []).map(([line]) => ['help', line] as const)),
].filter(([, line]) => line.startsWith('ralph '))

test.each(samples)('%s: %s', (_, line) => {
  const [, name = '', ...argv] = parseCommandLine(line.replace(/\s+#.*$/, ''))
  const command = COMMANDS[name]
  expect(command).toBeDefined()
  if (command) expect(() => parseArgs(specFor(command, argv), argv)).not.toThrow()
})

test('the systemd units in config/fleet start commands that exist', () => {
  const units = readdirSync('config/fleet').filter((name) => name.endsWith('.service'))
  expect(units).toEqual(['ralph-server.service', 'ralph-worker.service'])
  for (const name of units) {
    const unit = readFileSync(join('config/fleet', name), 'utf8')
    const [, line = ''] = /^ExecStart=\/usr\/bin\/env (ralph .*)$/m.exec(unit) ?? []
    expectCommand(parseCommandLine(line).slice(1))
    expect(unit).toMatch(/^\[Unit\]$[\s\S]*^\[Service\]$[\s\S]*^\[Install\]$/m)
    if (findProgram('systemd-analyze', '.', process.env.PATH))
      execFileSync('systemd-analyze', ['verify', join('config/fleet', name)], { stdio: 'pipe' })
  }
})

test('the services in config/fleet/compose.yaml run commands that exist, in one image, with one database', () => {
  const { services } = parse(readFileSync('config/fleet/compose.yaml', 'utf8'), { merge: true })
  expect(Object.keys(services)).toEqual(['postgres', 'server', 'worker'])
  const { POSTGRES_USER: user, POSTGRES_DB: database } = services.postgres.environment
  for (const { command, environment, build, depends_on } of [services.server, services.worker]) {
    expectCommand(command)
    expect(environment.RALPH_DATABASE).toBe(`postgres://${user}:\${POSTGRES_PASSWORD}@postgres/${database}`)
    expect(build.dockerfile_inline).toContain('ENTRYPOINT ["ralph"]')
    expect(Object.keys(depends_on)).toEqual(['postgres'])
  }
})

function expectCommand([name = '', ...argv]: readonly string[]): void {
  const command = COMMANDS[name]
  expect(command).toBeDefined()
  if (command) parseArgs(specFor(command, argv), argv)
}

const postgres = await postgresMissing()

test.skipIf(postgres)('Postgres accepts the SQL in docs/fleet.md after config/fleet/roles.sql', async () => {
  const url = await testDatabase()
  onTestFinished(() => dropDatabase(url))
  const store = openPostgres({ url, home: mkdtempSync(join(tmpdir(), 'ralph-test-')), now: Date.now })
  await store.fleet?.health()
  await store.close()
  await inPostgres(url, readFileSync('config/fleet/roles.sql', 'utf8'))
  const [users = '', epochs = '', ...more] = codeBlocks('docs/fleet.md', 'sql')
  expect(more).toEqual([])
  const names = [...users.matchAll(/^CREATE ROLE (\w+) .* IN ROLE (\w+);$/gm)]
  expect(names.map(([, , role]) => role)).toEqual(['ralph_worker', 'ralph_submitter', 'ralph_reader'])
  await inPostgres(url, `BEGIN; ${users} ROLLBACK`)
  await inPostgres(url, epochs)
})

test('docs/fleet.md shows the costs that the simulation uses', () => {
  const page = readFileSync('docs/fleet.md', 'utf8')
  const { calls, bytes, database } = COSTS
  const cell = (what: string, value: string) => expect(page).toMatch(new RegExp(`\\| ${what} \\| ${value} \\|`))
  cell('fetch a job', `${calls.fetch.cpuMs.toFixed(1)} ms`)
  cell('save a fact', `${calls.save.cpuMs.toFixed(1)} ms`)
  cell('take a task and lease its loop', `${calls.lease.cpuMs.toFixed(1)} ms`)
  cell('settle a task', `${(calls.settle.cpuMs + calls.complete.cpuMs).toFixed(1)} ms`)
  cell('a heartbeat \\(lease and job\\)', `${(calls.beat.cpuMs + calls.touch.cpuMs).toFixed(2)} ms`)
  cell('until it is on disk', `${database.commitMs} ms`)
  cell('the row that numbers events is held for', `${database.commitMs + database.counterMs} ms`)
  cell('a task, its job', `${(bytes.task / 1_000).toFixed(1)} kB`)
  cell('a loop', `${(bytes.loop / 1_000).toFixed(1)} kB`)
})

const typed = ['README.md', 'docs/coming-from.md', 'docs/sessions.md', 'docs/install.md'].flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/^\/ralph[:-]loop (.+)$|`\/ralph[:-]loop ([^`]*--[^`]*)`/gm)].map(
    ([, line, inline]) => [file, line ?? inline ?? ''] as const,
  ),
)

test.each(typed)('%s: /ralph:loop %s', (_, args) => {
  expect(parseLoopCommand(args)).toMatchObject({ checks: ['npm test'] })
})

test('the samples in docs/formats.md are valid', () => {
  const [config = '', script = '', tasks = '', progress = '', obstacles = ''] = codeBlocks('docs/formats.md', 'json')
  expect(parseConfig(config, 'sample').max_iterations).toBe(10)
  expect(parseScript(script, 'sample').turns).toHaveLength(2)
  expect(JSON.parse(printTasks(parseTasks(tasks, 'sample')))).toEqual(JSON.parse(tasks))
  expect(readProgress(progress)).toEqual({ entries: JSON.parse(progress) })
  expect(readObstacles(obstacles)).toEqual(JSON.parse(obstacles))
})

test('the config.yaml in docs/formats.md is valid, and its error is the real one', () => {
  const [sample = ''] = codeBlocks('docs/formats.md', 'yaml')
  expect(parseCrewConfig(sample, 'sample').agents.map(({ name }) => name)).toEqual(['Council', 'Research'])
  const [, error = ''] = /`(config\.yaml:\d[^`]*)`/.exec(readFileSync('docs/formats.md', 'utf8')) ?? []
  expect(() => parseCrewConfig(sample.replace('max_iterations: 10', 'max_iteration: 10'), 'config.yaml')).toThrow(error)
})

test('the config.yaml in docs/dispatch.md is valid', () => {
  const [sample = ''] = codeBlocks('docs/dispatch.md', 'yaml')
  expect(parseCrewConfig(sample, 'sample').agents).toMatchObject([
    { name: 'api', agent: 'claude', checks: ['npm test'] },
    { name: 'web', agent: 'codex', worktree: true },
  ])
})

test('docs/dispatch.md shows the agents as `ralph dispatch status` prints them, and explains each state', () => {
  const at = Date.now()
  const loop: NonNullable<Listed['loop']> = {
    ...{ id: 'k3f9x2ma', iteration: 3, most: 10, last: 'Fixing test failures', breaker: 'closed' },
    ...{ costUsd: 0, tokens: 0, startedAt: at - 245_000, open: true },
  }
  const api: Listed = {
    ...{ number: 1, name: 'api', agent: 'claude', dir: '/api', state: 'WORKING', since: at, words: '' },
    ...{ tells: 'hook', restarts: 0, queue: [{ number: 1, prompt: 'Next.' }], loop },
  }
  const web: Listed = {
    ...{ ...api, number: 2, name: 'web', agent: 'codex', state: 'DONE', since: at - 90_000, queue: [] },
    words: 'verified. `npm test` failed before the loop began and passes now.',
    loop: {
      ...{ ...loop, id: 'p7w1c8zd', iteration: 2, last: 'The router is ported.' },
      ...{ open: false, proof: 'verified' },
    },
  }
  const out = { write: () => {}, bell: () => {}, color: false, live: false, columns: 120 }
  const [sample] = codeBlocks('docs/dispatch.md', 'text')
  expect(printAgents([api, web], { out, now: () => at })).toBe(sample)
  const rows = [...readFileSync('docs/dispatch.md', 'utf8').matchAll(/^\| ([A-Z ]+) \|/gm)].map(([, state]) => state)
  expect(rows).toEqual(STATES)
})

test('the loop file in docs/formats.md is valid', () => {
  const [, sample = ''] = codeBlocks('docs/formats.md', 'yaml')
  const file = parseLoopFile(sample)
  expect(file && printLoopFile(file)).toBe(sample)
})

test('the task file in docs/vault.md is valid', () => {
  const [sample = ''] = codeBlocks('docs/vault.md', 'yaml')
  expect(parseTaskFile(sample, 'sample')).toEqual({
    head: {
      agent: 'claude',
      priority: 2,
      maxIterations: 5,
      timeoutMinutes: 20,
      maxCostUsd: 2,
      checks: ['npm test'],
    },
    body: 'Write the quarterly report from the numbers in data/.\n',
  })
})

test('docs/formats.md lists exactly the variables that a template may use', () => {
  const rows = [...readFileSync('docs/formats.md', 'utf8').matchAll(/^\| `(\w+)` \| (all|`(\w+\.md)`) \|/gm)]
  const dir = mkdtempSync(join(tmpdir(), 'ralph-test-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  mkdirSync(join(dir, '.artefacts', 'templates'), { recursive: true })
  const task = { id: 'T1', title: 'a', description: 'b', attempts: 1, max_attempts: 3 }
  const prompts: [file: string, render: () => string][] = [
    ['init.md', () => parseInit('shop', { dir })],
    ['interview.md', () => parseInterview('shop', 1, 3, { dir })],
    ['execute.md', () => parseExecute('shop', 1, 10, task, { dir })],
  ]
  for (const [file, render] of prompts) {
    const names = rows.filter(([, , place, only]) => place === 'all' || only === file).map(([, name = '']) => name)
    const own = join(dir, '.artefacts', 'templates', file)
    writeFileSync(own, `${names.map((name) => `{{${name}}}`).join()} {{unknown}}`)
    expect(render).toThrow(`Known variables: ${names.join(', ')}.`)
  }
})

test('docs/formats.md lists everything in RALPH_HOME', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    // `home` means something else in these two: a package's home page, and Copilot's folder.
    (file) => file.endsWith('.ts') && !/test|store-contract|runner-packages|session.record/.test(file),
  )
  const held = files.flatMap((file) => {
    const text = readFileSync(join('src', file), 'utf8')
    return [...text.matchAll(/join\((?:realpathSync\()?(?:context\.)?home\)?, '([\w.-]+)'/g)].map(
      ([, name = '']) => name,
    )
  })
  const section = /^## RALPH_HOME.*?^## /ms.exec(readFileSync('docs/formats.md', 'utf8'))?.[0] ?? ''
  expect(held.length).toBeGreaterThan(40)
  expect([...new Set(held)].filter((name) => !new RegExp(`\`${name}[\`/]`).test(section))).toEqual([])
})

test('docs/formats.md lists every line that a project prints with --json', () => {
  const view = readFileSync('src/fronts/cli/project-view.ts', 'utf8')
  const types = [...view.matchAll(/type: '([\w-]+)'/g)].map(([, type = '']) => type)
  const docs = readFileSync('docs/formats.md', 'utf8')
  expect(types).toContain('project-start')
  expect([...types, 'task_id'].filter((type) => !docs.includes(`\`${type}\``))).toEqual([])
})

test('the README and AGENTS.md stay short', () => {
  expect(readFileSync('README.md', 'utf8').split('\n').length).toBeLessThan(150)
  expect(readFileSync('AGENTS.md', 'utf8').split('\n').length).toBeLessThan(100)
})

const printed = ['src', 'bin', 'web'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|tsx|cjs)$/.test(file) && !/\.test/.test(file))
    .flatMap((file) => sourceTexts(readFileSync(join(folder, file), 'utf8')))
    .map(({ text }) => text.replace(/\\(?=[`'"])/g, '')),
)
const quoted = [...readFileSync('docs/troubleshooting.md', 'utf8').matchAll(/^- `([^`]+)`:/gm)].map(
  ([, text = '']) => text,
)

test.each(quoted)('docs/troubleshooting.md: ralph prints "%s"', (message) => {
  const parts = message.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const pattern = new RegExp(parts.join('.*'))
  expect(printed.some((text) => pattern.test(text))).toBe(true)
})

test.each(DOCS)('every link in %s leads to a file and a heading', (page) => {
  const links = [...withoutCode(page).matchAll(/\]\((?!\w+:)([^)#]*)(?:#([^)]*))?\)/g)]
  const broken = links.filter(([, path = '', heading]) => {
    const file = path ? join(dirname(page), path) : page
    return !existsSync(file) || (heading !== undefined && !headings(file).includes(heading))
  })
  expect(broken.map(([link]) => link)).toEqual([])
})

/** The anchors that GitHub gives the headings of a page. */
function headings(file: string): string[] {
  return [...withoutCode(file).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function withoutCode(file: string): string {
  return readFileSync(file, 'utf8').replace(/^```[\s\S]*?^```$/gm, '')
}

function codeBlocks(file: string, language: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, block = '']) => block,
  )
}
