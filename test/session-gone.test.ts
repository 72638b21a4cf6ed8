/** A loop in a session whose client has ended: ralph notices, although the client never reported its process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makePlace, onlyLoop, type Place } from './ralph.ts'
import { GATE } from './session-place.ts'

const hasProc = existsSync('/proc/self/stat')

/** A client with this name runs its hook with a prompt, through a shell, and stays until it is killed. */
async function openClient(place: Place, { name = 'gemini', session = 'g-1', prompt = '/ralph:loop Build it' } = {}) {
  const program = join(place.root, name)
  writeFileSync(
    program,
    `const [gate, input] = process.argv.slice(2)
     const { stdout } = require('child_process').spawnSync('sh', ['-c', 'sh "$0" prompt; true', gate], { input })
     process.stdout.write(stdout)
     process.stdin.resume()`,
  )
  const event = name === 'gemini' ? 'BeforeAgent' : 'UserPromptSubmit'
  const payload = { session_id: session, cwd: place.dir, hook_event_name: event, prompt }
  const client = spawn(process.execPath, [program, GATE, JSON.stringify(payload)], {
    env: { ...place.env, RALPH_NODE: process.execPath },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [answer] = await once(client.stdout, 'data')
  return {
    answer: String(answer),
    async end() {
      client.kill('SIGKILL')
      await once(client, 'exit')
    },
  }
}

const statusOf = async (place: Place) => (await place.ralph(['status'])).stdout

test('a closed session is interrupted, and its loop continues elsewhere', async ({ skip }) => {
  skip(!hasProc, 'only works on Linux')
  const place = makePlace({ git: false })
  const first = await openClient(place)
  const loop = onlyLoop(place)
  expect(await statusOf(place)).toContain('running in a session of Gemini')
  const early = await openClient(place, { session: 'g-2', prompt: `/ralph:resume ${loop}` })
  expect(early.answer).toContain('is running in another session of Gemini')
  await early.end()

  await first.end()
  expect(await statusOf(place)).toContain('  interrupted  ')
  expect((await place.ralph(['status', loop])).stdout).toContain(`Resume it in a session with /ralph:resume ${loop}`)
  const second = await openClient(place, { session: 'g-2', prompt: `/ralph:resume ${loop}` })
  expect(await statusOf(place)).toContain('running in a session of Gemini')
  await second.end()
})

test('a session that was closed and reopened is still there', async ({ skip }) => {
  skip(!hasProc, 'only works on Linux')
  const place = makePlace({ git: false })
  await (await openClient(place)).end()
  const again = await openClient(place, { prompt: '/ralph:resume' })
  expect(again.answer).toContain('This is iteration 1')
  expect(await statusOf(place)).toContain('running in a session of Gemini')
  await again.end()
})

test('a process number that was reused is not mistaken for the client', async ({ skip }) => {
  skip(!hasProc, 'only works on Linux')
  const place = makePlace({ git: false })
  const client = await openClient(place)
  const path = join(place.home, 'armed', 'g-1')
  const armed = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, JSON.stringify({ ...armed, born: armed.born.replace(/\d+$/, '1') }))
  expect(await statusOf(place)).toContain('interrupted')
  await client.end()
})

test('a program with another name may exit while the client runs, so it is ignored', async () => {
  const place = makePlace({ git: false })
  const wrapper = await openClient(place, { name: 'wrapper' })
  await wrapper.end()
  expect(await statusOf(place)).toContain('running in a session of Claude Code')
})
