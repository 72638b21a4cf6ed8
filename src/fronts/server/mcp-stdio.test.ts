import { resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../host/place.test-support.ts'
import { dropDatabase, postgresMissing, testDatabase } from '../../host/postgres/postgres.test-support.ts'
import { mcp } from './mcp-stdio.ts'

const missing = await postgresMissing()

test('a message that is too long stops the server, although stdin stays open', async () => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const home = temporaryFolder()
  const env = { PATH: process.env.PATH, HOME: home, RALPH_HOME: home }
  const over = mcp({ root: resolve('.') }, { env, cwd: () => home, stdin, stdout, stderr })
  stdin.write('x'.repeat(11 << 20))
  expect(await over).toBe(0)
  expect(String(stderr.read())).toMatch(/^ralph: .*exceeded maximum size/)
})

test.skipIf(missing)(`a client may go while its server still connects to Postgres ${missing ?? ''}`, async () => {
  const database = await testDatabase()
  onTestFinished(() => dropDatabase(database))
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const home = temporaryFolder()
  const env = { PATH: process.env.PATH, HOME: home, RALPH_HOME: home }
  const over = mcp({ root: resolve('.'), database }, { env, cwd: () => home, stdin, stdout, stderr })
  stdin.end('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
  expect(await over).toBe(0)
  await sleep(200) // long enough for what was asked last to fail
  expect(String(stderr.read() ?? '')).toBe('')
})
