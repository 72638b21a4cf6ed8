/** A turn that is interrupted in a real client: `ralph status` says so, and the loop continues. */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { seedsFor } from './client-seeds.ts'
import { CLIENTS } from './clients/index.ts'
import { installClient, pathWith } from './clients.ts'
import { failure, type Reply, startModelServer } from './model-server.ts'
import { makePlace, until } from './ralph.ts'
import { enter } from './session-live.ts'
import { hasTmux, openTerminal, type Terminal } from './tmux.ts'

type Way = {
  agent: string
  argv: string[]
  ready(terminal: Terminal): Promise<void>
  prefix: string
  stopKey?: string
  /** Here a hook also receives Esc in a tool and errors, and the loop pauses. */
  pauses?: ('answer' | 'tool' | 'error')[]
}

const WAYS: Way[] = [
  {
    agent: 'gemini',
    argv: ['gemini', '--yolo'],
    ready: (terminal) => terminal.shows('Type your message', 60_000),
    prefix: '/ralph:',
    pauses: ['answer', 'tool', 'error'],
  },
  {
    agent: 'qwen',
    argv: ['qwen', '--yolo'],
    ready: (terminal) => terminal.shows(/Type your message|YOLO/, 60_000),
    prefix: '/ralph:',
  },
  {
    agent: 'copilot',
    argv: ['copilot', '--yolo', '--no-auto-update'],
    async ready(terminal) {
      await terminal.shows('Confirm folder trust', 60_000)
      terminal.press('Enter')
      await terminal.shows('/ commands')
    },
    prefix: '/ralph-',
    stopKey: 'C-c', // Escape must be pressed twice in quick succession
  },
  {
    agent: 'droid',
    argv: ['droid', '--auto', 'high'],
    async ready(terminal) {
      await terminal.shows('Trust this folder', 60_000)
      terminal.press('Enter')
      await terminal.shows('for help')
    },
    prefix: 'ralph:',
    pauses: ['tool', 'error'],
  },
]

describe.each(WAYS)('$agent', ({ agent, argv, ready, prefix, stopKey = 'Escape', pauses = [] }) => {
  test('is interrupted in an answer, in a tool, by an error, and by its end', async ({ skip }) => {
    skip(!hasTmux, 'tmux is not installed')
    const client = CLIENTS.find(({ name }) => name === agent)
    if (!client) throw new Error(`No client ${agent}.`)
    const installed = installClient(client)
    if ('missing' in installed) return skip(installed.missing)
    const place = makePlace()
    let replies: Reply[] = []
    let from = 0
    const server = await startModelServer((_, number) => replies[number - from] ?? replies.at(-1) ?? {}, client)
    const script = (...next: Reply[]) => {
      replies = next
      from = server.requests.length
    }
    const env = {
      ...place.env,
      PATH: pathWith(installed.bin),
      LANG: 'C.UTF-8',
      TERM: 'screen-256color',
      ...client.prepare(join(place.root, 'home'), server.url),
      ...seedsFor(agent, place),
    }
    expect(await place.ralph(['install', agent, '--user', '--yes'], { env })).toMatchObject({ code: 0 })
    await place.ralph(['status'])
    const terminal = openTerminal(argv, { dir: place.dir, env })
    await ready(terminal)
    const asked = () => server.requests.length > from
    const become = async (...words: string[]) => {
      let said = ''
      const says = async () => {
        said = (await place.ralph(['status'])).stdout
        return words.some((word) => said.includes(`  ${word}`))
      }
      const poll = expect.poll(says, { timeout: 30_000 }).toBe(true)
      await poll.catch((cause) => {
        throw new Error(`Not ${words.join(' or ')}:\n${said}`, { cause })
      })
    }
    const stands = (where: 'answer' | 'tool' | 'error') => become(pauses.includes(where) ? 'paused' : 'interrupted')
    const waits: Reply = { tools: [client.bash('touch begun; sleep 60')] }
    const begun = join(place.dir, 'begun')

    script({ text: 'Half an answer', cut: true, hang: true })
    await enter(terminal, `${prefix}loop Write the file. `, asked)
    await terminal.shows(/Half an answer|Press ESC to stop/)
    await become('running')
    terminal.press(stopKey)
    await stands('answer')

    script(waits)
    await enter(terminal, `${prefix}resume `, asked)
    await until('the tool', () => existsSync(begun), 40_000)
    await become('running')
    terminal.press(stopKey)
    await stands('tool')

    script(failure(400, 'invalid_request_error', 'This is a bad request.'))
    await enter(terminal, `${prefix}resume `, asked)
    await stands('error')

    rmSync(begun)
    script(waits)
    await enter(terminal, `${prefix}resume `, asked)
    await until('the tool', () => existsSync(begun), 40_000)
    await become('running')
    terminal.close()
    // If a hook is called once more before the client exits, the loop pauses.
    await become('interrupted', 'paused')
    await server.close()
  })
})
