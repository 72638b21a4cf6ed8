import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { isNewEnough, openProgram } from './hook-program.ts'

const home = mkdtempSync(join(tmpdir(), 'ralph-pi-'))
afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
const place = { session: 'a"b\n', cwd: home }

function program(script: string) {
  writeFileSync(join(home, 'hook.cjs'), script)
  return openProgram({ RALPH_HOME: home })
}

const ECHO = `const ask = JSON.parse(require('fs').readFileSync(0, 'utf8'))
process.stderr.write('{"checking":"npm test"}\\nnoise\\n')
console.log(JSON.stringify({ next: 'none', status: 'none', show: [{ text: JSON.stringify(ask) }] }))`

test('passes the question on byte for byte, and reports which check runs', async () => {
  const checking: string[] = []
  const args = `it's "$HOME" \`x\`\n--verify 'a b' é漢  `
  const called = await program(ECHO).call(
    place,
    { event: 'command', command: 'loop', args },
    { checking: (check) => void checking.push(check) },
  )
  const ask = { host: 'pi', session_id: 'a"b\n', cwd: home, event: 'command', command: 'loop', args }
  expect(called).toMatchObject({ show: [{ text: JSON.stringify(ask) }] })
  expect(checking).toEqual(['npm test'])
})

test.each([
  ['garbage', 'console.log("garbage")', 'gave no answer (0)'],
  ['a crash', 'console.error("boom"); process.exit(7)', 'gave no answer (7): boom'],
])('%s is reported and never thrown', async (_, script, words) => {
  expect(await program(script).call(place, { event: 'woke' })).toEqual({ failed: expect.stringContaining(words) })
})

test("names Pi's process", async () => {
  const pid =
    "console.log(JSON.stringify({ next: 'none', status: 'none', show: [{ text: process.env.RALPH_HOST_PID }] }))"
  expect(await program(pid).call(place, { event: 'woke' })).toMatchObject({ show: [{ text: String(process.pid) }] })
})

test('silence means that the session has no loop', async () => {
  expect(await program('').call(place, { event: 'woke' })).toMatchObject({ next: 'none', status: 'none', show: [] })
})

test('a call can be stopped, and one that takes too long is', async () => {
  const slow = program('setInterval(() => {}, 1000)')
  const stop = new AbortController()
  const call = slow.call(place, { event: 'woke' }, { signal: stop.signal })
  stop.abort()
  expect(await call).toEqual({ stopped: true })
  expect(await slow.call(place, { event: 'woke' }, { signal: stop.signal })).toEqual({ stopped: true })
  expect(await slow.call(place, { event: 'woke' }, { withinMs: 300 })).toEqual({
    failed: expect.stringContaining('SIGTERM'),
  })
})

test('says what is missing when the program or the folder does not exist', async () => {
  const nowhere = openProgram({ RALPH_HOME: join(home, 'none') })
  expect(await nowhere.call(place, { event: 'woke' })).toEqual({
    failed: expect.stringContaining('hook.cjs is missing'),
  })
  const gone = await program(ECHO).call({ session: 's', cwd: join(home, 'gone') }, { event: 'woke' })
  expect(gone).toEqual({ failed: expect.stringContaining('could not be started') })
})

test('only Node 22.19 or newer works', () => {
  expect(['v20.20.2', 'v22.18.9', 'v22.19.0\n', 'v24.0.0'].map(isNewEnough)).toEqual([false, false, true, true])
})
