import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually, running, source, startScript, temporaryFolder } from './place.test-support.ts'

/** Runs a program in the terminal of a separate process, which stops it when it reads "stop". */
function start(argv: readonly string[], dir: string = temporaryFolder(), graceMs = 2_000) {
  const env = { PATH: process.env.PATH, HERE: dir }
  return startScript(
    `import { runInTerminal } from ${source('host/terminal.ts')}
const stop = new AbortController()
process.on('SIGUSR2', () => stop.abort())
const talking = ${JSON.stringify({ argv, dir, env, graceMs })}
const ended = await runInTerminal({ ...talking, signal: stop.signal }).catch(({ code, message }) => ({ code, message }))
console.log(JSON.stringify(ended))`,
  )
}

async function endOf({ ended }: ReturnType<typeof start>): Promise<unknown> {
  const { out } = await ended
  return JSON.parse(out.trim().split('\n').at(-1) ?? '')
}

test("the program uses ralph's terminal, and its end is reported", async () => {
  const child = start(['sh', '-c', 'echo "$0 $1"; exit 3', "it's", '$HOME'])
  expect(await endOf(child)).toEqual({ code: 3, signal: null })
  expect(child.lines()[0]).toBe("it's $HOME")
})

test('what it left running is ended with it', async () => {
  const dir = temporaryFolder()
  const child = start(['sh', '-c', 'setsid sleep 1000 & exit 0'], dir)
  expect(await endOf(child)).toEqual({ code: 0, signal: null })
  expect(running(`HERE=${dir}`)).toEqual([])
})

test('a stop asks it first, then kills it with everything it started', async () => {
  const dir = temporaryFolder()
  const lines = 'trap "echo asked > asked" TERM; setsid sleep 1000 & while :; do sleep 0.1; done'
  const child = start(['sh', '-c', lines], dir, 300)
  await eventually(() => running(`HERE=${dir}`).length >= 2)
  process.kill(child.pid, 'SIGUSR2')
  expect(await endOf(child)).toEqual({ code: null, signal: 'SIGKILL', stopped: 'told' })
  expect(readFileSync(join(dir, 'asked'), 'utf8')).toBe('asked\n')
  expect(running(`HERE=${dir}`)).toEqual([])
})

test('a program that cannot be started says why, and a missing folder is reported', async () => {
  const missing = start(['no-such-program'])
  expect(await endOf(missing)).toMatchObject({ code: 127 })
  expect((await missing.ended).err).toContain('no-such-program')
  const gone = join(temporaryFolder(), 'gone')
  mkdirSync(gone)
  rmSync(gone, { recursive: true })
  expect(await endOf(start(['true'], gone))).toMatchObject({ code: 'home-unusable' })
})
