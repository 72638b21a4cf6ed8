/** Real clients with what `ralph install` writes: do they load it? */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { seedsFor } from './client-seeds.ts'
import { CLIENTS } from './clients/index.ts'
import { type Client, installClient, pathWith } from './clients.ts'
import { startModelServer } from './model-server.ts'
import { makePlace, type Place } from './ralph.ts'
import { hasTmux, openTerminal } from './tmux.ts'

type Try = {
  /** What is typed. */
  prompt: string
  argv(prompt: string): string[]
  /** What the model gets when the command is known. Gemini's command repeats what was typed; Pi's asks no model. */
  shows?: string
  /** What the stand-ins log, in order. */
  notes: string[]
  /** What makes the client trust the folder. */
  trust?(place: Place): void
  /** Stands in for what was installed, and logs what happens to it. */
  standIn?(place: Place, log: string): void
}

const LOOP = readFileSync('plugins/claude/commands/loop.md', 'utf8')
const BODY = JSON.stringify(/^---\n[\s\S]*?\n---\n\s*(\S.*)/.exec(LOOP)?.[1]).slice(1, -1)
const DESCRIPTION = /^description: *"?(.*?)"?$/m.exec(LOOP)?.[1] ?? ''

const bothHooks = ['prompt', 'stop']
const NOTE = (log: string) =>
  `import { appendFileSync } from 'node:fs'\nconst note = (word) => appendFileSync(${JSON.stringify(log)}, word + '\\n')\n`

const TRIES: Readonly<Record<string, Try>> = {
  claude: { prompt: '/ralph:loop do it', argv: (prompt) => ['-p', prompt], notes: bothHooks, shows: BODY },
  codex: {
    prompt: '$ralph-loop do it',
    shows: BODY,
    argv: (prompt) => ['exec', '--dangerously-bypass-hook-trust', '--dangerously-bypass-approvals-and-sandbox', prompt],
    notes: bothHooks,
    trust: ({ root, dir }) => {
      const config = join(root, 'home', '.codex', 'config.toml')
      writeFileSync(config, `${readFileSync(config, 'utf8')}\n[projects."${dir}"]\ntrust_level = "trusted"\n`)
    },
  },
  gemini: {
    prompt: '/ralph:loop do it',
    argv: (prompt) => ['--yolo', '--skip-trust', '-p', prompt],
    notes: bothHooks,
    trust: ({ root, dir }) =>
      writeFileSync(join(root, 'home', '.gemini', 'trustedFolders.json'), JSON.stringify({ [dir]: 'TRUST_FOLDER' })),
  },
  copilot: {
    prompt: '/ralph-loop do it',
    shows: DESCRIPTION, // without a terminal it only lists its skills
    argv: (prompt) => ['-p', prompt, '--yolo', '--no-auto-update'],
    notes: bothHooks,
    trust: ({ root, dir }) => {
      mkdirSync(join(root, 'home', '.copilot'), { recursive: true })
      writeFileSync(join(root, 'home', '.copilot', 'config.json'), JSON.stringify({ trustedFolders: [dir] }))
    },
  },
  qwen: { shows: BODY, prompt: '/ralph:loop do it', argv: (prompt) => ['--yolo', prompt], notes: bothHooks },
  // Without a terminal it runs no prompt hook.
  droid: {
    shows: BODY,
    prompt: '/ralph-loop do it',
    argv: (prompt) => ['exec', '--skip-permissions-unsafe', prompt],
    notes: ['stop'],
  },
  opencode: {
    prompt: 'do it',
    argv: (prompt) =>
      existsSync('plugins/opencode/commands')
        ? ['run', '--auto', '--command', 'ralph-loop', prompt]
        : ['run', '--auto', prompt],
    notes: ['loaded', 'idle'],
    standIn({ root, dir }, log) {
      const paths = [join(root, 'home/.config/opencode/plugins/ralph.js'), join(dir, '.opencode/plugins/ralph.js')]
      const hooks = `{ event: async ({ event }) => { if (event.type === 'session.idle') note('idle') } }`
      for (const path of paths.filter(existsSync))
        writeFileSync(path, `${NOTE(log)}export const ralph = async () => { note('loaded'); return ${hooks} }\n`)
    },
  },
  pi: {
    prompt: '/ralph-note',
    argv: (prompt) => ['--approve', '-p', prompt],
    notes: ['loaded', 'called'],
    standIn({ root, home }, log) {
      const folder = join(root, 'package', 'plugins', 'pi')
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'package.json'), '{"name":"note","type":"module","pi":{"extensions":["./index.js"]}}')
      const command = `pi.registerCommand('ralph-note', { description: 'x', handler: async () => note('called') })`
      writeFileSync(join(folder, 'index.js'), `${NOTE(log)}export default (pi) => { note('loaded'); ${command} }\n`)
      rmSync(join(home, 'package'))
      symlinkSync(join(root, 'package'), join(home, 'package'))
    },
  },
}

const cases = Object.entries(TRIES).flatMap(([name, attempt]) =>
  (['--user', '--project'] as const).map((scope) => ({ name, attempt, scope })),
)

async function prepare(client: Client, bin: string, scope: string, attempt: Try) {
  const place = makePlace()
  const server = await startModelServer([{ text: 'An answer.' }], client)
  const log = join(place.root, 'log')
  mkdirSync(join(place.root, 'home', '.gemini'), { recursive: true })
  const env = {
    ...place.env,
    PATH: pathWith(bin),
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    ...client.prepare(join(place.root, 'home'), server.url),
  }
  if (scope === '--project') attempt.trust?.(place)
  const ran = await place.ralph(['install', client.name, scope, '--yes'], { env })
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  writeFileSync(join(place.home, 'hook.sh'), `#!/bin/sh\n{ echo "$1"; cat; echo; } >> '${log}'\n`)
  attempt.standIn?.(place, log)
  const notes = () =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .split('\n')
          .filter((line) => /^\w+$/.test(line))
      : []
  return { place, server, env, log, notes }
}

describe('headless', () => {
  test.for(cases)('$name $scope loads what is installed', async ({ name, attempt, scope }, { skip }) => {
    const client = CLIENTS.find((one) => one.name === name)
    if (!client) throw new Error(`No client ${name}.`)
    const installed = installClient(client)
    if ('missing' in installed) return skip(installed.missing)
    const { place, server, env, notes } = await prepare(client, installed.bin, scope, attempt)
    const child = spawn(client.program, attempt.argv(attempt.prompt), {
      cwd: place.dir,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    const timer = setTimeout(() => child.kill('SIGKILL'), 120_000)
    await once(child, 'close')
    clearTimeout(timer)
    await server.close()
    expect(notes(), output).toEqual(attempt.notes)
    if (attempt.shows !== undefined) expect(JSON.stringify(server.requests), output).toContain(attempt.shows)
    expect(await place.ralph(['uninstall', name, scope, '--yes'], { env })).toMatchObject({ code: 0 })
  })
})

describe.skipIf(!hasTmux)('in a terminal', () => {
  test('Claude Code offers the commands', async ({ skip }) => {
    const client = CLIENTS.find(({ name }) => name === 'claude')
    const installed = client ? installClient(client) : { missing: 'claude' }
    if (!client || 'missing' in installed) return skip('claude cannot be installed here')
    const { place, server, env, notes } = await prepare(client, installed.bin, '--user', TRIES.claude as Try)
    const terminal = openTerminal(['claude'], { dir: place.dir, env: { ...env, ...seedsFor('claude', place) } })
    await terminal.shows(/❯|>/)
    for (const key of '/ralph:st') terminal.press(key)
    await terminal.shows('/ralph:status')
    terminal.close()
    await server.close()
    expect(notes()).toEqual([])
  })
})
