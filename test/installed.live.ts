/** Every agent exactly as `ralph install` leaves it: from the typed command to a verified loop. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { seedsFor } from './client-seeds.ts'
import { CLIENTS } from './clients/index.ts'
import { type Client, installClient, pathWith } from './clients.ts'
import { DONE, type Reply, startModelServer } from './model-server.ts'
import { makePlace, type Place } from './ralph.ts'
import { expectSessionReleased, loopOf, stands } from './session-tui.ts'
import { hasTmux, openTerminal, type Terminal } from './tmux.ts'

type Env = Record<string, string | undefined>

/** How a user gets from a fresh installation to the first loop. */
type Way = {
  agent: string
  scope?: '--project'
  /** How a command is typed. */
  prefix: string
  /** Its folder in a project. */
  folder: string
  /** One prompt without a terminal. */
  print?(prompt: string): string[]
  /** In a terminal, until it accepts a prompt. */
  terminal?: { argv: string[]; ready(terminal: Terminal): Promise<void> }
  /** What the model is asked before a loop can start. */
  before?: Reply[]
  /** What would otherwise be asked about the folder or the client. */
  settle?(place: Place): void
}

const copilot = { agent: 'copilot', prefix: '/ralph-', folder: '.copilot' } as const
const COPILOT = ['--yolo', '--no-ask-user', '--no-auto-update']

const WAYS: Way[] = [
  {
    agent: 'claude',
    prefix: '/ralph:',
    folder: '.claude',
    print: (prompt) => ['claude', '--dangerously-skip-permissions', '-p', prompt],
  },
  {
    agent: 'codex',
    prefix: '$ralph-',
    folder: '.codex',
    // Otherwise hooks are reviewed in its dialog; session-codex.live.ts covers that.
    print: (prompt) => [
      ...['codex', 'exec', '--dangerously-bypass-hook-trust'],
      ...['--dangerously-bypass-approvals-and-sandbox', prompt],
    ],
  },
  {
    agent: 'gemini',
    prefix: '/ralph:',
    folder: '.gemini',
    print: (prompt) => ['gemini', '--yolo', '--skip-trust', '-p', prompt],
  },
  {
    agent: 'opencode',
    prefix: '/ralph:',
    folder: '.opencode',
    terminal: { argv: ['opencode', '--auto'], ready: (terminal) => terminal.shows('Ask anything', 60_000) },
    settle: withoutNpm,
  },
  { ...copilot, print: (prompt) => ['copilot', ...COPILOT, '-p', prompt] },
  {
    ...copilot,
    scope: '--project',
    print: (prompt) => ['copilot', ...COPILOT, '-p', prompt],
    settle({ root, dir }) {
      mkdirSync(join(root, 'home', '.copilot'), { recursive: true })
      writeFileSync(join(root, 'home', '.copilot', 'config.json'), JSON.stringify({ trustedFolders: [dir] }))
    },
  },
  {
    ...copilot,
    terminal: {
      argv: ['copilot', '--yolo', '--no-auto-update'],
      async ready(terminal) {
        await terminal.shows('Confirm folder trust', 60_000)
        terminal.press('Enter')
        await terminal.shows('/ commands')
      },
    },
  },
  { agent: 'qwen', prefix: '/ralph:', folder: '.qwen', print: (prompt) => ['qwen', '--yolo', prompt] },
  {
    agent: 'droid',
    prefix: '/ralph-',
    folder: '.factory',
    print: (prompt) => ['droid', 'exec', '--skip-permissions-unsafe', prompt],
    before: [{ text: 'What is that?' }], // it reports a prompt to its hooks only when the turn has ended
  },
  { agent: 'pi', prefix: '/ralph-', folder: '.pi', print: (prompt) => ['pi', '-p', prompt] },
  {
    agent: 'pi',
    prefix: '/ralph-',
    folder: '.pi',
    terminal: { argv: ['pi'], ready: (terminal) => terminal.shows('scripted', 60_000) },
  },
]

/** OpenCode fetches the plugin types package from npm before it loads a plugin, unless it finds these. */
function withoutNpm({ root }: Place): void {
  const folder = join(root, 'home', '.config', 'opencode')
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  const lock = { packages: { '': { dependencies: { '@opencode-ai/plugin': '*' } } } }
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
}

const LOOP = 'loop Write the file. --verify "test -f b.txt" --completion-promise COMPLETE'

function named(agent: string): Client {
  const client = CLIENTS.find(({ name }) => name === agent)
  if (!client) throw new Error(`No client ${agent}.`)
  return client
}

async function printed(argv: string[], { dir }: Place, env: Env): Promise<string> {
  const [program = '', ...args] = argv
  const child = spawn(program, args, { cwd: dir, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const timer = setTimeout(() => child.kill('SIGKILL'), 120_000)
  await once(child, 'close')
  clearTimeout(timer)
  return output
}

describe.each(
  WAYS.map((way) => ({ ...way, where: way.scope ?? '--user', how: way.print ? 'printed' : 'in a terminal' })),
)('$agent $where, $how', ({ agent, where, prefix, folder, print, terminal, before = [], settle }) => {
  test('goes from the typed command to verified work', async ({ skip }) => {
    skip(!print && !hasTmux, 'tmux is not installed')
    const client = named(agent)
    const installed = installClient(client)
    if ('missing' in installed) return skip(installed.missing)
    const place = makePlace()
    const bash = (command: string): Reply => ({ tools: [client.bash(command)] })
    const server = await startModelServer(
      [...before, bash('echo 1 > a.txt'), DONE, { text: 'Now.', ...bash('echo 2 > b.txt') }, DONE].map(
        (reply, number) => ({ ...reply, usage: { input: 10 ** number, output: 0 } }),
      ),
      client,
    )
    const env: Env = {
      ...place.env,
      PATH: pathWith(installed.bin),
      LANG: 'C.UTF-8',
      TERM: 'screen-256color',
      ...client.prepare(join(place.root, 'home'), server.url),
      ...seedsFor(agent, place),
    }
    settle?.(place)
    expect(await place.ralph(['install', agent, where, '--yes'], { env })).toMatchObject({ code: 0, stderr: '' })

    const typed = `${prefix}${LOOP}`
    let shown = ''
    if (print) shown = await printed(print(typed), place, env)
    else if (terminal) {
      await place.ralph(['status']) // so that the database can be queried at once
      const screen = openTerminal(terminal.argv, { dir: place.dir, env })
      await terminal.ready(screen)
      await screen.submit(typed)
      await stands(place, 'completed', screen, 100_000)
      screen.close()
    }
    await server.close()
    if (process.env.RALPH_TEST_SHOW) console.log(shown)
    expect(await loopOf(place), shown).toMatchObject({
      prompt: 'Write the file.',
      status: 'completed',
      proof: 'verified',
      iterations: 2,
      false_claims: 1,
      // Requests before the loop started are not counted.
      tokens: 1_111 * 10 ** before.length,
    })
    expect(server.requests).toHaveLength(before.length + 4)
    expect(JSON.stringify(server.requests.at(-2))).toContain('The check `test -f b.txt` failed')
    expectSessionReleased(place, folder)
  })
})
