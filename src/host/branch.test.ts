import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  bringBack,
  changedPaths,
  commitPaths,
  historySince,
  holdsHistory,
  mustHaveIdentity,
  readHead,
  repositoryAt,
  uncommitted,
} from './branch.ts'
import { temporaryFolder } from './place.test-support.ts'
import { makeRepository, type TestRepository } from './repository.test-support.ts'

describe('commitPaths', () => {
  /** What the last commit changed. */
  function committed({ git }: TestRepository): string[] {
    return git('show', '--format=', '--name-status', '--no-renames', 'HEAD').replaceAll('\t', ' ').split('\n')
  }

  test.each<[fact: string, paths: string[], change: (place: TestRepository) => void, commit: string[]]>([
    ['a new file', ['new.txt'], ({ write }) => write('new.txt', 'n\n'), ['A new.txt']],
    ['a changed file', ['a.txt'], ({ write }) => write('a.txt', 'b\n'), ['M a.txt']],
    ['a removed file', ['a.txt'], ({ dir }) => rmSync(join(dir, 'a.txt')), ['D a.txt']],
    ['a file that was also removed from the index', ['a.txt'], ({ git }) => git('rm', '--quiet', 'a.txt'), ['D a.txt']],
    ['a moved file', ['a.txt', 'b.txt'], ({ git }) => git('mv', 'a.txt', 'b.txt'), ['D a.txt', 'A b.txt']],
    ['a file that is now executable', ['a.txt'], ({ dir }) => chmodSync(join(dir, 'a.txt'), 0o755), ['M a.txt']],
    [
      'a name that looks like a pattern',
      ['*.txt'],
      ({ write }) => {
        write('*.txt', 'x')
        write('a.txt', 'x')
      },
      ['A *.txt'],
    ],
    ['a name that looks like pathspec magic', [':(top)'], ({ write }) => write(':(top)', 'x'), ['A :(top)']],
    ['only what is left of it', ['a.txt', 'gone.txt'], ({ write }) => write('a.txt', 'b\n'), ['M a.txt']],
  ])('commits %s', async (_, paths, change, commit) => {
    const place = await makeRepository()
    change(place)
    await commitPaths(place.repo, paths, 'T1: work')
    expect(place.log()).toEqual(['T1: work', 'Start'])
    expect(committed(place)).toEqual(commit)
  })

  test.each<[fact: string, paths: string[]]>([
    ['nothing is named', []],
    ['what is named was committed', ['a.txt']],
    ['what is named was created and removed', ['gone.txt']],
  ])('makes no commit when %s', async (_, paths) => {
    const place = await makeRepository()
    await commitPaths(place.repo, paths, 'T1: work')
    expect(place.log()).toEqual(['Start'])
  })

  test('leaves all other changes of the person alone, staged or not', async () => {
    const place = await makeRepository({ 'a.txt': 'a\n', 'mine.txt': 'm\n', 'staged.txt': 's\n', 'gone.txt': 'g\n' })
    place.write('mine.txt', 'changed\n')
    place.write('staged.txt', 'staged\n')
    place.write('added.txt', 'added\n')
    place.git('add', 'staged.txt', 'added.txt')
    place.git('rm', '--quiet', 'gone.txt')
    place.write('staged.txt', 'staged, and changed after\n')
    const before = place.status()
    place.write('a.txt', 'work\n')
    place.write('new.txt', 'work\n')
    await commitPaths(place.repo, ['a.txt', 'new.txt'], 'T1: work')
    expect(committed(place)).toEqual(['M a.txt', 'A new.txt'])
    expect(place.status()).toEqual(before)
    expect(place.git('show', ':staged.txt')).toBe('staged')
  })

  test('commits as the person, with their hooks, and reports what a hook says', async () => {
    const place = await makeRepository()
    place.write('.git/hooks/pre-commit', '#!/bin/sh\necho "no tabs please" >&2\nexit 1\n')
    chmodSync(join(place.dir, '.git/hooks/pre-commit'), 0o755)
    place.write('a.txt', 'b\n')
    await expect(commitPaths(place.repo, ['a.txt'], 'T1: work')).rejects.toThrow(
      /git commit failed in .*: no tabs please\. Fix the cause or commit yourself, then resume\.$/,
    )
    expect(place.log()).toEqual(['Start'])
  })

  test.each<[fact: string, name: Buffer, git: string]>([
    ['beyond ASCII', Buffer.from('grün'), '"gr\\303\\274n"'],
    ['that is not valid text', Buffer.from('gr\u00fcn', 'latin1'), '"gr\\374n"'],
    ['with a line break', Buffer.from('a\nb'), '"a\\nb"'],
  ])('accepts a name %s', async (_, name, shown) => {
    const place = await makeRepository()
    const before = place.git('rev-parse', 'HEAD^{tree}')
    writeFileSync(Buffer.concat([Buffer.from(`${place.dir}/`), name]), 'x\n')
    place.git('add', '--all')
    const after = place.git('write-tree')
    place.git('reset', '--quiet')
    await commitPaths(place.repo, (await changedPaths(place.repo, before, after)) ?? [], 'T1: work')
    expect(place.git('show', '--format=', '--name-only', 'HEAD')).toBe(shown)
    expect(place.status()).toEqual([])
  })

  test('makes the first commit of a repository', async () => {
    const place = await makeRepository()
    place.git('checkout', '--quiet', '--orphan', 'empty')
    place.git('rm', '--quiet', '--cached', '-r', '.')
    await commitPaths(place.repo, ['a.txt'], 'T1: first')
    expect(place.log()).toEqual(['T1: first'])
  })
})

describe('bringBack', () => {
  test.each<[fact: string, leave: (place: TestRepository) => void, log: string[]]>([
    ['from another branch', ({ git }) => git('switch', '--quiet', '-c', 'mine'), ['Work', 'Start']],
    ['from a detached HEAD', ({ git }) => git('switch', '--quiet', '--detach'), ['Work', 'Start']],
    [
      'when the branch was deleted',
      ({ git }) => {
        git('switch', '--quiet', '-c', 'mine')
        git('branch', '--quiet', '-D', 'main')
      },
      ['Work', 'Start'],
    ],
  ])('brings commits back %s', async (_, leave, log) => {
    const place = await makeRepository()
    leave(place)
    place.commit('Work', { 'b.txt': 'b\n' })
    place.write('c.txt', 'not committed\n')
    expect(await bringBack(place.repo, 'main')).toBe(true)
    expect(await readHead(place.repo)).toMatchObject({ branch: 'main' })
    expect(place.log('main')).toEqual(log)
    expect(place.status()).toEqual(['?? c.txt'])
  })

  test('refuses commits that do not build on the branch', async () => {
    const place = await makeRepository()
    place.git('switch', '--quiet', '-c', 'mine')
    place.commit('Work', { 'b.txt': 'b\n' })
    place.git('switch', '--quiet', 'main')
    place.commit('Other', { 'c.txt': 'c\n' })
    place.git('switch', '--quiet', 'mine')
    expect(await bringBack(place.repo, 'main')).toBe(false)
    expect(await readHead(place.repo)).toMatchObject({ branch: 'mine' })
    expect(place.log('main')).toEqual(['Other', 'Start'])
  })
})

describe('holdsHistory', () => {
  test.each<[fact: string, change: (place: TestRepository) => void, holds: boolean]>([
    ['a commit that was added keeps it', (place) => place.commit('More'), true],
    ['nothing at all keeps it', () => {}, true],
    [
      'a commit that was changed does not',
      ({ git }) => git('commit', '--quiet', '--allow-empty', '--amend', '--message', 'Other'),
      false,
    ],
    ['a reset does not', ({ git }) => git('reset', '--quiet', '--hard', 'HEAD~1'), false],
    [
      'an orphan does not',
      (place) => {
        place.git('checkout', '--quiet', '--orphan', 'x')
        place.commit('Alone')
      },
      false,
    ],
  ])('%s', async (_, change, holds) => {
    const place = await makeRepository()
    const base = place.commit('Second')
    change(place)
    expect(await holdsHistory(place.repo, base)).toBe(holds)
  })
})

describe('historySince', () => {
  test('lists commits, oldest first, and counts lines, except those of one folder', async () => {
    const place = await makeRepository()
    const since = place.git('rev-parse', 'HEAD')
    place.commit('One', { 'a.txt': 'a\nb\n', 'notes/x.json': '{}\n', 'dir with space/ü.txt': '1\n' })
    place.commit('Two', { 'a.txt': 'b\n', 'bin.dat': '\0\0' })
    const { commits, files } = await historySince(place.repo, since, join(place.dir, 'notes'))
    expect(commits.map(({ subject }) => subject)).toEqual(['One', 'Two'])
    expect(files).toEqual([
      { path: 'a.txt', added: 1, removed: 1 },
      { path: 'bin.dat', added: undefined, removed: undefined },
      { path: 'dir with space/ü.txt', added: 1, removed: 0 },
    ])
  })

  test('starts from nothing if there was no commit', async () => {
    const place = await makeRepository()
    const { commits, files } = await historySince(place.repo, undefined, join(place.dir, 'notes'))
    expect(commits.map(({ subject }) => subject)).toEqual(['Start'])
    expect(files).toEqual([{ path: 'a.txt', added: 1, removed: 0 }])
  })

  test('is empty if there is still no commit', async () => {
    const place = await makeRepository()
    place.git('checkout', '--quiet', '--orphan', 'empty')
    expect(await historySince(place.repo, undefined, place.dir)).toEqual({ commits: [], files: [] })
  })
})

describe('uncommitted', () => {
  test('lists changed tracked files, staged or not, except those of one folder', async () => {
    const place = await makeRepository({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'notes/x': 'x\n' })
    expect(await uncommitted(place.repo, join(place.dir, 'notes'))).toEqual([])
    place.write('a.txt', '1\n')
    place.write('b.txt', '1\n')
    place.git('add', 'b.txt')
    place.write('notes/x', '1\n')
    place.write('untracked.txt', '1\n')
    expect(await uncommitted(place.repo, join(place.dir, 'notes'))).toEqual(['a.txt', 'b.txt'])
  })
})

test('a commit needs an author', async () => {
  const place = await makeRepository()
  await mustHaveIdentity(place.repo)
  place.git('config', 'user.name', '')
  await expect(mustHaveIdentity(place.repo)).rejects.toThrow(
    /git has no user name and email here\. Set them with git config/,
  )
})

test('a folder outside a repository has none', async () => {
  expect(await repositoryAt(temporaryFolder())).toBeUndefined()
})
