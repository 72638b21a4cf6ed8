import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { excludeFromGit } from './exclude.ts'
import { temporaryFolder } from './place.test-support.ts'

const PERSON = ['-c', 'user.name=Somebody', '-c', 'user.email=somebody@localhost']

function git(dir: string, ...args: string[]): string {
  return execFileSync('git', [...PERSON, ...args], { cwd: dir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}

function makeRepository(): string {
  const dir = temporaryFolder()
  git(dir, 'init', '--quiet')
  return dir
}

function makeArtefacts(dir: string): void {
  mkdirSync(join(dir, '.artefacts', 'demo'), { recursive: true })
  writeFileSync(join(dir, '.artefacts', 'demo', 'spec.md'), '')
}

function rules(dir: string): string[] {
  const text = readFileSync(join(dir, '.git', 'info', 'exclude'), 'utf8')
  return text.split('\n').filter((line) => line && !line.startsWith('#'))
}

test('a folder is kept out of commits, once, whether it is there yet or not', async () => {
  const dir = makeRepository()
  expect(await excludeFromGit(dir, '.artefacts')).toBe('excluded')
  expect(await excludeFromGit(dir, '.artefacts')).toBe('ignored')
  makeArtefacts(dir)
  expect(await excludeFromGit(dir, '.artefacts')).toBe('ignored')
  expect(rules(dir)).toEqual(['/.artefacts/'])
  expect(git(dir, 'status', '--porcelain')).toBe('')
})

test('in a folder further down only that folder is named, whatever its name', async () => {
  const dir = makeRepository()
  const strange = join(dir, 'a [b]* \\c')
  makeArtefacts(strange)
  makeArtefacts(join(dir, 'other'))
  expect(await excludeFromGit(strange, '.artefacts')).toBe('excluded')
  expect(await excludeFromGit(strange, '.artefacts')).toBe('ignored')
  expect(rules(dir)).toEqual(['/a \\[b\\]\\* \\\\c/.artefacts/'])
  expect(git(dir, 'status', '--porcelain', '--untracked-files=all')).toBe('?? other/.artefacts/demo/spec.md\n')
})

test('a linked work tree shares the list of its repository', async () => {
  const dir = makeRepository()
  git(dir, 'commit', '--quiet', '--allow-empty', '--message', 'A state')
  const linked = join(temporaryFolder(), 'linked')
  git(dir, 'worktree', 'add', '--quiet', linked)
  expect(await excludeFromGit(linked, '.artefacts')).toBe('excluded')
  expect(rules(dir)).toEqual(['/.artefacts/'])
})

test('a list without a last line break, or no list at all, is mended', async () => {
  const dir = makeRepository()
  writeFileSync(join(dir, '.git', 'info', 'exclude'), '/mine')
  await excludeFromGit(dir, '.artefacts')
  expect(rules(dir)).toEqual(['/mine', '/.artefacts/'])
  rmSync(join(dir, '.git', 'info'), { recursive: true })
  expect(await excludeFromGit(dir, '.artefacts')).toBe('excluded')
  expect(rules(dir)).toEqual(['/.artefacts/'])
})

test('what is ignored already, or wanted in commits, is left alone', async () => {
  const ignoring = makeRepository()
  writeFileSync(join(ignoring, '.gitignore'), '.artefacts\n')
  expect(await excludeFromGit(ignoring, '.artefacts')).toBe('ignored')
  expect(rules(ignoring)).toEqual([])

  const tracking = makeRepository()
  makeArtefacts(tracking)
  git(tracking, 'add', '--all')
  expect(await excludeFromGit(tracking, '.artefacts')).toBe('tracked')
  expect(rules(tracking)).toEqual([])
})

test('where a rule of the repository brings it back, the line is written only once', async () => {
  const dir = makeRepository()
  writeFileSync(join(dir, '.gitignore'), '!/.artefacts/\n')
  expect(await excludeFromGit(dir, '.artefacts')).toBe('excluded')
  expect(await excludeFromGit(dir, '.artefacts')).toBe('ignored')
  expect(rules(dir)).toEqual(['/.artefacts/'])
})

test('without a repository nothing is written', async () => {
  const dir = temporaryFolder()
  expect(await excludeFromGit(dir, '.artefacts')).toBe('none')
  expect(existsSync(join(dir, '.git'))).toBe(false)
})
