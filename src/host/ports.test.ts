import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from './place.test-support.ts'
import { portOf } from './ports.ts'

function makeTree(home: string, name: string): string {
  const path = join(home, 'worktrees', name)
  mkdirSync(path, { recursive: true })
  return path
}

test('a worktree has its own ten ports, and keeps them', async () => {
  const home = temporaryFolder()
  const [a, b] = [makeTree(home, 'a'), makeTree(home, 'b')]
  const [first, second] = [await portOf(home, a), await portOf(home, b)]
  expect(Math.abs(Number(first) - Number(second))).toBeGreaterThanOrEqual(10)
  expect(await portOf(home, a)).toBe(first)
  expect(readdirSync(join(home, 'ports')).sort()).toEqual([String(first), String(second)].sort())
})

test('the ports of a deleted worktree are free again', async () => {
  const home = temporaryFolder()
  const a = makeTree(home, 'a')
  await portOf(home, a)
  rmSync(a, { recursive: true })
  const given = await portOf(home, makeTree(home, 'b'))
  expect(readdirSync(join(home, 'ports'))).toEqual([String(given)])
})

test('ports that a program listens on are left out', async () => {
  const home = temporaryFolder()
  const a = makeTree(home, 'a')
  const first = Number(await portOf(home, a))
  const server = createServer()
  await new Promise<void>((done) => server.listen(first + 3, '127.0.0.1', done))
  rmSync(a, { recursive: true })
  expect(await portOf(home, makeTree(home, 'b'))).not.toBe(first)
  await new Promise((done) => server.close(done))
})

test('two callers at the same time get different ports', async () => {
  const home = temporaryFolder()
  const given = await Promise.all(['a', 'b', 'c', 'd'].map((name) => portOf(home, makeTree(home, name))))
  expect(new Set(given).size).toBe(4)
})
