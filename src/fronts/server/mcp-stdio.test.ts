import { resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../host/place.test-support.ts'
import { mcp } from './mcp-stdio.ts'

test('a message that is too long ends the server, though stdin stays open', async () => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const home = temporaryFolder()
  const env = { PATH: process.env.PATH, HOME: home, RALPH_HOME: home }
  const over = mcp({ root: resolve('.') }, { env, cwd: () => home, stdin, stdout, stderr })
  stdin.write('x'.repeat(11 << 20))
  expect(await over).toBe(0)
  expect(String(stderr.read())).toMatch(/^ralph: .*exceeded maximum size/)
})
