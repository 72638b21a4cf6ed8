import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { countTracked } from './git-index.ts'
import { temporaryFolder } from './place.test-support.ts'
import { makeRepository } from './repository.test-support.ts'

test('counts what git tracks, from any folder of the repository and from a linked worktree', async () => {
  const { dir, git } = await makeRepository()
  const before = countTracked(dir)
  mkdirSync(join(dir, 'deep/er'), { recursive: true })
  for (const name of ['a', 'b', 'deep/c', 'deep/er/d']) writeFileSync(join(dir, name), name)
  git('add', '-A')
  git('commit', '-qm', 'more')
  expect(countTracked(dir)).toBe(before + 4)
  expect(countTracked(join(dir, 'deep/er'))).toBe(before + 4)
  const linked = join(temporaryFolder(), 'linked')
  git('worktree', 'add', '-q', linked)
  expect(countTracked(linked)).toBe(before + 4)
})

test('counts zero if there is nothing to read', () => {
  const dir = temporaryFolder()
  expect(countTracked(dir)).toBe(0)
  mkdirSync(join(dir, '.git'))
  expect(countTracked(dir)).toBe(0)
  writeFileSync(join(dir, '.git/index'), 'no index')
  expect(countTracked(dir)).toBe(0)
})
