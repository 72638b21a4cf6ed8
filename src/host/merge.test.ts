import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { concludeMerge, forward, isMerging, keepTrial, leaveTrial, tipOf, tryMerge } from './merge.ts'
import { temporaryFolder } from './place.test-support.ts'
import { makeRepository, makeWorktree, type TestRepository } from './repository.test-support.ts'

const BASE = { 'both.txt': 'base\n', 'other.txt': 'other\n' }

/** A task that changed these files, while main got those. */
async function sides({ task, main }: { task: Record<string, string>; main: Record<string, string> }) {
  const place = await makeRepository(BASE)
  const work = await makeWorktree(place)
  const committed = work.commit('T1: work', task)
  const onto = Object.keys(main).length > 0 ? place.commit('Main', main) : place.git('rev-parse', 'HEAD')
  return { place, work, committed, onto, worktree: work.worktree }
}

const CONFLICT = {
  task: { 'both.txt': 'task\n', 'mine.txt': 'mine\n' },
  main: { 'both.txt': 'main\n', 'theirs.txt': 't\n' },
}
const PEACE = { task: { 'mine.txt': 'mine\n' }, main: { 'theirs.txt': 'theirs\n' } }

/** A conflict that an agent finds in the worktree. */
async function conflict(both = CONFLICT) {
  const found = await sides(both)
  const tried = await tryMerge(found.worktree, found.onto, 'Merge T1: work')
  expect(tried).toEqual({ conflicts: ['both.txt'] })
  const conclude = () => concludeMerge(found.worktree, { onto: found.onto, conflicts: ['both.txt'] }, 'Merge T1: work')
  return { ...found, conclude }
}

describe('tryMerge', () => {
  test('uses a branch that already contains the other side as it is', async () => {
    const { worktree, onto, committed, work } = await sides({ ...PEACE, main: {} })
    expect(await tryMerge(worktree, onto, 'Merge')).toEqual({ merged: committed, same: true })
    expect(work.git('symbolic-ref', '--short', 'HEAD')).toBe('ralph/task')
  })

  test('merges both sides on a detached HEAD', async () => {
    const { worktree, onto, work, committed, place } = await sides(PEACE)
    const tried = await tryMerge(worktree, onto, 'Merge T1: work')
    expect(tried).toEqual({ merged: work.git('rev-parse', 'HEAD'), same: false })
    expect(work.git('rev-parse', 'HEAD^1', 'HEAD^2').split('\n')).toEqual([onto, committed])
    expect(work.log()[0]).toBe('Merge T1: work')
    expect([work.read('mine.txt'), work.read('theirs.txt')]).toEqual(['mine\n', 'theirs\n'])
    expect([await tipOf(place.dir, 'ralph/task'), await tipOf(place.dir, 'main')]).toEqual([committed, onto])
  })

  test.each(['only', 'false'])('does so whatever merge.ff says (%s)', async (ff) => {
    const { worktree, onto, place } = await sides(PEACE)
    place.git('config', 'merge.ff', ff)
    expect(await tryMerge(worktree, onto, 'Merge')).toMatchObject({ same: false })
  })

  test('names the conflicting files and leaves the merge in progress', async () => {
    const { worktree, onto, work } = await conflict()
    expect(work.read('both.txt')).toContain('<<<<<<<')
    expect(work.read('mine.txt')).toBe('mine\n')
    expect(await isMerging(worktree, onto)).toBe(true)
  })

  test('ends where main is if the task changed nothing', async () => {
    const { worktree, onto } = await sides({ ...PEACE, task: {} })
    const { place: _, ...empty } = await sides({ ...PEACE, task: {} })
    empty.work.git('reset', '--quiet', '--hard', 'HEAD~1')
    expect(await tryMerge(empty.worktree, empty.onto, 'Merge')).toEqual({ merged: empty.onto, same: false })
    expect(await tryMerge(worktree, onto, 'Merge')).toMatchObject({ same: false })
  })
})

describe('leaveTrial', () => {
  test.each<[fact: string, what: typeof PEACE | typeof CONFLICT]>([
    ['a merge', PEACE],
    ['a conflict', CONFLICT],
  ])('returns to the branch as committed after %s', async (_, what) => {
    const { worktree, onto, committed, work } = await sides(what)
    await tryMerge(worktree, onto, 'Merge')
    await leaveTrial(worktree, { committed, onto })
    expect(work.git('symbolic-ref', '--short', 'HEAD')).toBe('ralph/task')
    expect(work.git('rev-parse', 'HEAD')).toBe(committed)
    expect(work.status()).toEqual([])
    expect(work.read('theirs.txt')).toBeUndefined()
    expect(await isMerging(worktree, onto)).toBe(false)
  })

  test('repairs an interrupted checkout', async () => {
    const { worktree, onto, committed, work } = await sides(PEACE)
    // Some files of the other side are there, HEAD and the index are not updated, and the index lock is left.
    work.write('theirs.txt', 'theirs\n')
    work.write('other.txt', 'half writ')
    writeFileSync(join(work.git('rev-parse', '--absolute-git-dir'), 'index.lock'), '')
    await leaveTrial(worktree, { committed, onto })
    expect(work.status()).toEqual([])
    expect([work.read('other.txt'), work.read('theirs.txt')]).toEqual(['other\n', undefined])
    expect(await tryMerge(worktree, onto, 'Merge')).toMatchObject({ same: false })
  })

  test('removes nothing if the task has a folder in the place of a file of the other side', async () => {
    const { worktree, onto, work } = await sides({
      task: { 'theirs.txt/inside.txt': 'inside\n' } as never,
      main: PEACE.main,
    })
    const committed = work.git('rev-parse', 'HEAD')
    await tryMerge(worktree, onto, 'Merge')
    await leaveTrial(worktree, { committed, onto })
    expect(work.status()).toEqual([])
    expect(work.read('theirs.txt/inside.txt')).toBe('inside\n')
  })

  test('removes nothing behind a link that the task has in the place of a folder of the other side', async () => {
    const elsewhere = temporaryFolder()
    writeFileSync(join(elsewhere, 'a.txt'), 'in no repository\n')
    const { worktree, work, onto } = await sides({ task: {}, main: { 'folder/a.txt': 'theirs\n' } as never })
    symlinkSync(elsewhere, join(work.dir, 'folder'))
    const committed = work.commit('T1: link')
    await leaveTrial(worktree, { committed, onto })
    expect(work.read('folder/a.txt')).toBe('in no repository\n')
  })
})

test('keepTrial makes the tried merge the branch of the task', async () => {
  const { worktree, onto, work } = await sides(PEACE)
  const tried = await tryMerge(worktree, onto, 'Merge')
  if (!('merged' in tried)) throw new Error('a conflict')
  await keepTrial(worktree, tried.merged)
  expect(work.git('symbolic-ref', '--short', 'HEAD')).toBe('ralph/task')
  expect(await tipOf(work.dir, 'ralph/task')).toBe(tried.merged)
})

describe('concludeMerge', () => {
  type Found = Awaited<ReturnType<typeof conflict>>

  test.each<[fact: string, resolve: (found: Found) => void]>([
    ['left uncommitted', ({ work }) => work.write('both.txt', 'task and main\n')],
    [
      'staged',
      ({ work }) => {
        work.write('both.txt', 'task and main\n')
        work.git('add', 'both.txt')
      },
    ],
    ['committed by the agent', ({ work }) => work.commit('Resolved', { 'both.txt': 'task and main\n' })],
    [
      'committed by the agent, and changed afterwards',
      ({ work }) => {
        work.commit('Resolved', { 'both.txt': 'draft\n' })
        work.write('both.txt', 'task and main\n')
      },
    ],
    [
      'redone after it was abandoned',
      ({ work }) => {
        work.git('merge', '--abort')
        work.git('merge', '--quiet', '--strategy-option', 'ours', '-m', 'Again', 'ralph/task')
        work.write('both.txt', 'task and main\n')
      },
    ],
  ])('accepts what is %s', async (_, resolve) => {
    const found = await conflict()
    resolve(found)
    const concluded = await found.conclude()
    expect(concluded).toEqual({ merged: found.work.git('rev-parse', 'HEAD') })
    expect(found.work.git('show', 'HEAD:both.txt')).toBe('task and main')
    expect(found.work.git('show', 'HEAD:mine.txt', 'HEAD:theirs.txt')).toBe('mine\nt')
    expect(found.work.status()).toEqual([])
  })

  test.each<[fact: string, resolve: (found: Found) => void, wrong: RegExp]>([
    ['nothing was done', () => {}, /^conflict markers are left in both\.txt\.$/],
    ['markers were committed', ({ work }) => work.commit('Done'), /^conflict markers are left in both\.txt\.$/],
    [
      'the side of the task was dropped',
      ({ work }) => work.git('checkout', '--quiet', '--ours', 'both.txt'),
      /^both\.txt is exactly what the branch had, which drops the changes of the task\.$/,
    ],
    [
      'the side of the branch was dropped',
      ({ work }) => work.git('checkout', '--quiet', '--theirs', 'both.txt'),
      /^both\.txt is exactly what the task had, which drops the changes of the branch\.$/,
    ],
    [
      'both were dropped',
      ({ work }) => rmSync(join(work.dir, 'both.txt')),
      /^both\.txt was deleted, which drops the changes of both sides\.$/,
    ],
    [
      'the merge was abandoned',
      ({ work }) => work.git('merge', '--abort'),
      /abandoned: it does not contain the commits of the task\.$/,
    ],
    [
      'the agent went back to its branch',
      ({ work }) => {
        work.git('merge', '--abort')
        work.git('checkout', '--quiet', 'ralph/task')
      },
      /abandoned: it does not contain the commits of the branch\.$/,
    ],
  ])('refuses when %s', async (_, resolve, wrong) => {
    const found = await conflict()
    resolve(found)
    expect(await found.conclude()).toEqual({ wrong: expect.stringMatching(wrong) })
  })

  test('accepts the second try after a side was dropped', async () => {
    const { work, conclude } = await conflict()
    work.git('checkout', '--quiet', '--ours', 'both.txt')
    expect(await conclude()).toHaveProperty('wrong')
    work.write('both.txt', 'main and task\n')
    expect(await conclude()).toHaveProperty('merged')
    expect(work.git('show', 'HEAD:both.txt')).toBe('main and task')
  })

  test.each<[fact: string, keep: boolean]>([
    ['kept', true],
    ['removed', false],
  ])('a file that one side deleted and the other changed may be %s', async (_, keep) => {
    const { place, work, worktree } = await sides({ task: { 'both.txt': 'task\n' }, main: {} })
    place.git('rm', '--quiet', 'both.txt')
    const onto = place.commit('Removed')
    expect(await tryMerge(worktree, onto, 'Merge')).toEqual({ conflicts: ['both.txt'] })
    if (!keep) rmSync(join(work.dir, 'both.txt'))
    expect(await concludeMerge(worktree, { onto, conflicts: ['both.txt'] }, 'Merge')).toHaveProperty('merged')
  })

  test('does not commit files that were only copied into the worktree', async () => {
    const { work, worktree, onto } = await conflict()
    work.write('both.txt', 'task and main\n')
    work.write('.env', 'SECRET=1\n')
    const copying = { ...worktree, copied: ['.env'] }
    expect(await concludeMerge(copying, { onto, conflicts: ['both.txt'] }, 'Merge')).toHaveProperty('merged')
    expect(work.status()).toEqual(['?? .env'])
  })
})

describe('forward', () => {
  /** Both sides together, about to become main. */
  async function merged(what = PEACE) {
    const found = await sides(what)
    const tried = await tryMerge(found.worktree, found.onto, 'Merge')
    if (!('merged' in tried)) throw new Error('a conflict')
    const step = { commit: tried.merged, onto: found.onto }
    return {
      ...found,
      step,
      go: () => forward({ home: temporaryFolder(), repo: found.place.repo }, found.worktree, step),
    }
  }

  test('makes it the tip of the branch, with its files', async () => {
    const { place, step, go } = await merged()
    expect(await go()).toBe(true)
    expect(await tipOf(place.dir, 'main')).toBe(step.commit)
    expect(place.read('mine.txt')).toBe('mine\n')
    expect(place.status()).toEqual([])
  })

  test('does nothing the second time', async () => {
    const { place, go } = await merged()
    await go()
    place.commit('More', { 'more.txt': 'more\n' })
    expect(await go()).toBe(true)
    expect(place.log()[0]).toBe('More')
  })

  test('reports that the branch has moved', async () => {
    const { place, go } = await merged()
    const tip = place.commit('Moved', { 'moved.txt': 'moved\n' })
    expect(await go()).toBe(false)
    expect(await tipOf(place.dir, 'main')).toBe(tip)
  })

  test.each<[where: string, leave: (place: TestRepository) => void]>([
    ['on another branch', ({ git }) => git('switch', '--quiet', '-c', 'elsewhere')],
    ['on a detached HEAD', ({ git }) => git('switch', '--quiet', '--detach')],
  ])('leaves the files alone when the person is %s', async (_, leave) => {
    const { place, step, go } = await merged()
    leave(place)
    expect(await go()).toBe(true)
    expect(await tipOf(place.dir, 'main')).toBe(step.commit)
    expect(place.read('mine.txt')).toBeUndefined()
    expect(place.status()).toEqual([])
  })

  test('leaves changes alone that are not in the way', async () => {
    const { place, go } = await merged()
    place.write('other.txt', 'changed\n')
    place.write('staged.txt', 'staged\n')
    place.git('add', 'staged.txt')
    expect(await go()).toBe(true)
    expect(place.status()).toEqual([' M other.txt', 'A  staged.txt'].sort())
    expect(place.read('other.txt')).toBe('changed\n')
  })

  test.each<[fact: string, change: (place: TestRepository) => void]>([
    ['an untracked file', ({ write }) => write('mine.txt', 'the person has one, too\n')],
    ['a changed file', ({ write }) => write('both.txt', 'changed\n')],
    [
      'a staged file',
      ({ write, git }) => {
        write('both.txt', 'changed\n')
        git('add', 'both.txt')
      },
    ],
    [
      'a changed file, where git would stash it,',
      ({ write, git }) => {
        git('config', 'merge.autoStash', 'true')
        write('both.txt', 'changed\n')
      },
    ],
  ])('does nothing when %s is in the way, and names it', async (_, change) => {
    const { place, onto, go } = await merged({
      task: { 'mine.txt': 'mine\n', 'both.txt': 'task\n' } as never,
      main: PEACE.main,
    })
    change(place)
    const before = place.status()
    await expect(go()).rejects.toThrow(
      /^Cannot merge the work of a task into main: .*(mine|both)\.txt.* Commit, stash or move these files, then resume\.$/,
    )
    expect(await tipOf(place.dir, 'main')).toBe(onto)
    expect(place.status()).toEqual(before)
  })
})
