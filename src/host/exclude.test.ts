import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { excludeFaces, excludeFromGit } from './exclude.ts'
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

test('a folder is kept out of commits, once, whether it exists yet or not', async () => {
  const dir = makeRepository()
  expect(await excludeFromGit(dir, '.artefacts')).toBe('excluded')
  expect(await excludeFromGit(dir, '.artefacts')).toBe('ignored')
  makeArtefacts(dir)
  expect(await excludeFromGit(dir, '.artefacts')).toBe('ignored')
  expect(rules(dir)).toEqual(['/.artefacts/'])
  expect(git(dir, 'status', '--porcelain')).toBe('')
})

test('in a subfolder only that folder is named, whatever its name', async () => {
  const dir = makeRepository()
  const odd = join(dir, 'a [b]* \\c')
  makeArtefacts(odd)
  makeArtefacts(join(dir, 'other'))
  expect(await excludeFromGit(odd, '.artefacts')).toBe('excluded')
  expect(await excludeFromGit(odd, '.artefacts')).toBe('ignored')
  expect(rules(dir)).toEqual(['/a \\[b\\]\\* \\\\c/.artefacts/'])
  expect(git(dir, 'status', '--porcelain', '--untracked-files=all')).toBe('?? other/.artefacts/demo/spec.md\n')
})

test('a linked worktree shares the list of its repository', async () => {
  const dir = makeRepository()
  git(dir, 'commit', '--quiet', '--allow-empty', '--message', 'A state')
  const linked = join(temporaryFolder(), 'linked')
  git(dir, 'worktree', 'add', '--quiet', linked)
  expect(await excludeFromGit(linked, '.artefacts')).toBe('excluded')
  expect(rules(dir)).toEqual(['/.artefacts/'])
})

test('a list without a final line break is completed, and a missing list is created', async () => {
  const dir = makeRepository()
  writeFileSync(join(dir, '.git', 'info', 'exclude'), '/mine')
  await excludeFromGit(dir, '.artefacts')
  expect(rules(dir)).toEqual(['/mine', '/.artefacts/'])
  rmSync(join(dir, '.git', 'info'), { recursive: true })
  expect(await excludeFromGit(dir, '.artefacts')).toBe('excluded')
  expect(rules(dir)).toEqual(['/.artefacts/'])
})

test('what is already ignored, or wanted in commits, is left alone', async () => {
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

test('the line is written only once if a rule of the repository overrides it', async () => {
  const dir = makeRepository()
  writeFileSync(join(dir, '.gitignore'), '!/.artefacts/\n')
  expect(await excludeFromGit(dir, '.artefacts')).toBe('excluded')
  expect(await excludeFromGit(dir, '.artefacts')).toBe('ignored')
  expect(rules(dir)).toEqual(['/.artefacts/'])
})

test('nothing is written outside a repository', async () => {
  const dir = temporaryFolder()
  expect(await excludeFromGit(dir, '.artefacts')).toBe('none')
  expect(existsSync(join(dir, '.git'))).toBe(false)
})

describe('the face of a loop in a session', () => {
  function makeFaces(dir: string): void {
    mkdirSync(join(dir, '.claude'), { recursive: true })
    for (const name of [
      'ralph-loop.local.md',
      'ralph-loop.s-2.local.md',
      'ralph-loop.local.md.broken-20261116T060814Z',
    ])
      writeFileSync(join(dir, '.claude', name), '')
  }

  test('is kept out of commits, with its related files, once', async () => {
    const dir = makeRepository()
    await excludeFaces(dir, '.claude')
    makeFaces(dir)
    await excludeFaces(dir, '.claude')
    expect(rules(dir)).toEqual(['/.claude/ralph-loop*.local.md*'])
    expect(git(dir, 'status', '--porcelain', '--untracked-files=all')).toBe('')
    writeFileSync(join(dir, '.claude', 'settings.json'), '')
    expect(git(dir, 'status', '--porcelain', '--untracked-files=all')).toBe('?? .claude/settings.json\n')
  })

  test('in a subfolder is named from there', async () => {
    const dir = makeRepository()
    makeFaces(join(dir, 'a [b]'))
    makeFaces(join(dir, 'other'))
    await excludeFaces(join(dir, 'a [b]'), '.claude')
    expect(rules(dir)).toEqual(['/a \\[b\\]/.claude/ralph-loop*.local.md*'])
    expect(git(dir, 'status', '--porcelain')).toBe('?? other/\n')
  })

  test('is left alone if the project ignores or commits it', async () => {
    const ignored = makeRepository()
    writeFileSync(join(ignored, '.gitignore'), '.claude/\n')
    await excludeFaces(ignored, '.claude')
    const tracked = makeRepository()
    makeFaces(tracked)
    git(tracked, 'add', '--all')
    await excludeFaces(tracked, '.claude')
    expect([rules(ignored), rules(tracked)]).toEqual([[], []])
  })

  test('needs no repository', async () => {
    const dir = temporaryFolder()
    await excludeFaces(dir, '.claude')
    expect(existsSync(join(dir, '.git'))).toBe(false)
  })
})
