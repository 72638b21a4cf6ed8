/** The same over HTTP, as most workers reach their remotes: git's own server behind a small one of ours. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, dirname } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BRANCH, LOOP, openMachine } from './machine.test-support.ts'
import { temporaryFolder } from './place.test-support.ts'
import { makeRemote, type Remote } from './remote.test-support.ts'
import { openRepoCache } from './repo-cache.ts'

let remote: Remote
let server: Server
/** What the server answers instead of git. */
let status: number | undefined

beforeEach(async () => {
  const bare = await makeRemote()
  bare.git('config', 'http.receivepack', 'true')
  status = undefined
  server = createServer((request, response) => {
    if (status !== undefined) return void response.writeHead(status, { 'www-authenticate': 'Basic' }).end()
    serveGit(dirname(bare.url), request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  remote = { ...bare, url: `http://127.0.0.1:${port}/${basename(bare.url)}` }
})

afterEach(() => {
  server.closeAllConnections()
  server.close()
})

function serveGit(root: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '', 'http://localhost')
  const env = {
    ...{ PATH: process.env.PATH, GIT_PROJECT_ROOT: root, GIT_HTTP_EXPORT_ALL: '1', PATH_INFO: pathname },
    ...{ QUERY_STRING: search.slice(1), REQUEST_METHOD: request.method, REMOTE_ADDR: '127.0.0.1' },
    ...{
      CONTENT_TYPE: request.headers['content-type'],
      HTTP_GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
    HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
  }
  const child = spawn('git', ['http-backend'], { env })
  request.pipe(child.stdin)
  const parts: Buffer[] = []
  child.stdout.on('data', (part) => parts.push(part))
  child.on('close', () => {
    const all = Buffer.concat(parts)
    const end = all.indexOf('\r\n\r\n')
    const lines = all
      .subarray(0, end)
      .toString()
      .split('\r\n')
      .map((line) => line.split(': '))
    const headers = Object.fromEntries(lines)
    const { Status = '200', ...rest } = headers
    response.writeHead(Number.parseInt(Status, 10), rest).end(all.subarray(end + 4))
  })
}

test('a task is pushed, taken over and finished, and a late worker is fenced off', async () => {
  const [one, two] = [openMachine(remote), openMachine(remote)]
  const { work } = await one.begin()
  const tree = await one.work(1, { 'b.txt': 'b\n' })
  const first = await one.push(1, 1)
  if (first.kind !== 'pushed') throw new Error(JSON.stringify(first))
  const known = { epoch: 2, iteration: 1, tree, pushed: first.commit, worktree: work.worktree }
  expect(await two.takeOver(known)).toMatchObject({ kind: 'open', tree })
  await one.work(2, { 'late.txt': 'late\n' })
  expect(await one.push(2, 1, first.commit)).toEqual({ kind: 'fenced' })
  await two.work(2, { 'c.txt': 'c\n' })
  expect(await two.push(2, 2, first.commit)).toMatchObject({ kind: 'pushed' })
  expect(await two.finish(2)).toEqual({ kind: 'finished' })
  expect(remote.refs()).toEqual(['refs/heads/main', `refs/heads/${BRANCH}`])
})

test.each<[number, 'unreachable' | 'refused']>([
  [401, 'refused'],
  [403, 'refused'],
  [404, 'refused'],
  [429, 'unreachable'],
  [500, 'unreachable'],
  [503, 'unreachable'],
])('a server that answers %i is %s', async (answer, kind) => {
  status = answer
  expect(await openRepoCache(temporaryFolder()).fetch(remote.url, ['refs/heads/main'])).toMatchObject({ kind })
})

test('a server that is down is waited for', async () => {
  const machine = openMachine(remote)
  await machine.begin()
  await machine.work(1, { 'b.txt': 'b\n' })
  const { port } = server.address() as AddressInfo
  server.closeAllConnections()
  server.close()
  expect(await machine.push(1, 1)).toMatchObject({ kind: 'unreachable' })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  expect(await machine.push(1, 1)).toMatchObject({ kind: 'pushed' })
  expect(remote.refs()).toContain(`refs/ralph/${LOOP}/1`)
})
