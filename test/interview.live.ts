/** An interview with the real clients, talking to a user in a real terminal, against a scripted model on loopback. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { agents } from '../src/agents/index.ts'
import { readTasks } from '../src/formats/tasks.ts'
import { seedsFor } from './client-seeds.ts'
import { claude } from './clients/claude.ts'
import { codex } from './clients/codex.ts'
import { gemini } from './clients/gemini.ts'
import { opencode } from './clients/opencode.ts'
import { pi } from './clients/pi.ts'
import type { Client } from './clients.ts'
import { openLive } from './conformance.ts'
import { failure, type Reply } from './model-server.ts'
import { carriers, LAUNCHER, makePlace, type Ran } from './ralph.ts'
import { hasTmux, openTerminal } from './tmux.ts'

const TASKS = { project_name: 'shop', version: 1, tasks: [{ id: 'T1', title: 'A cart' }] }

/** Every round the model asks one question, then writes down the answer and creates done.md, then says so. */
function interviewed(client: Client, rounds: number): void {
  const { live, start, requests, bash } = openLive(client)

  live(`${client.name} asks, gets an answer, and is stopped when its turn has ended`, async ({ skip }) => {
    skip(!hasTmux, 'tmux is not installed')
    const place = makePlace()
    const folder = join(place.dir, '.artefacts', 'shop')
    expect(await place.ralph(['init', 'shop'])).toMatchObject({ code: 0 })
    const numbers = Array.from({ length: rounds }, (_, index) => index + 1)
    const tasks = `echo '${JSON.stringify(TASKS)}' > '${folder}/tasks.json'`
    const replies = numbers.flatMap((n): Reply[] => [
      { text: `Question ${n}: which color?` },
      bash(`echo 'Answer ${n}' >> '${folder}/spec.md'; ${n === rounds ? tasks : ':'}; echo over > '${folder}/done.md'`),
      { text: `Noted in round ${n}.` },
    ])
    // The file that signals the end of a turn is in there.
    const odd = join(place.root, `it's "$HOME" here`)
    mkdirSync(odd)
    const env = { ...place.env, ...(await start(replies, place)), RALPH_TEST: place.root, TMPDIR: odd }
    const words = ['interview', 'shop', '--agent', client.name, '--rounds', String(rounds)]
    const terminal = openTerminal([process.execPath, LAUNCHER, ...words], {
      dir: place.dir,
      env: { ...env, ...seedsFor(client.name, place) },
    })
    for (const n of numbers) {
      await terminal.shows(`Question ${n}: which color?`, 60_000)
      await terminal.enter(`Blue, number ${n}.`)
    }
    expect(await terminal.ended(60_000)).toBe(0)
    expect(terminal.screen()).toContain('1 task in')
    const { bypass } = agents[client.name] ?? {}
    if (bypass) expect(terminal.screen()).toContain(`permissions: bypassed with ${bypass};`)
    expect(requests()).toHaveLength(3 * rounds) // the last words of every turn were waited for
    expect(JSON.stringify(requests()[1])).toContain('Blue, number 1.')
    expect(readTasks(readFileSync(join(folder, 'tasks.json'), 'utf8'))).toHaveProperty('list.tasks.0.id', 'T1')
    expect(readFileSync(join(folder, 'spec.md'), 'utf8').match(/^Answer \d$/gm)).toHaveLength(rounds)
    expect(existsSync(join(folder, 'done.md'))).toBe(false)
    expect(carriers(`RALPH_TEST=${place.root}`)).toEqual([])
    expect(['alternate_on', 'cursor_flag', 'mouse_any_flag'].map(terminal.ask)).toEqual(['0', '1', '0'])
    expect(terminal.settings()).toMatch(/(?<!-)\bicanon\b[\s\S]*(?<!-)\becho\b/)
  })
}

/** The same if nobody can be asked. */
function answered(client: Client): void {
  const { live, start, requests, bash } = openLive(client)
  const folder = '.artefacts/shop'

  async function interview(replies: Reply[]): Promise<Ran> {
    const place = makePlace()
    await place.ralph(['init', 'shop'])
    place.write('answers.md', 'It must be blue.')
    const env = await start(replies, place)
    const words = ['--agent', client.name, '--rounds', '1', '--non-interactive', 'answers.md']
    return place.ralph(['interview', 'shop', ...words], { env })
  }

  live(`${client.name} takes the answers from a file`, async () => {
    const work = bash(`echo '${JSON.stringify(TASKS)}' > ${folder}/tasks.json; echo over > ${folder}/done.md`)
    const ran = await interview([work, { text: 'Decided.' }])
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/round 1 of 1\n[\s\S]*1 task in/) })
    expect(JSON.stringify(requests()[0])).toContain('It must be blue.')
  })

  live(`${client.name} ends the interview at once if its key is invalid`, async () => {
    const ran = await interview([failure(401, 'authentication_error', 'invalid x-api-key')])
    expect(ran).toMatchObject({ code: 3, stderr: expect.stringContaining('cannot be used') })
  })
}

answered(claude)
answered(pi)
interviewed(claude, 3)
interviewed(pi, 3)
interviewed(codex, 2)
// These do not report the end of a turn, so each round waits until done.md is quiet.
interviewed(gemini, 1)
interviewed(opencode, 1)
