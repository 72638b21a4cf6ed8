/** The proof trailer of accepted work: it claims only what holds for exactly the files in the commit. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Loop } from '../engine/loop.ts'
import { setRefs } from '../host/checkpoint.ts'
import { commitsFile } from '../host/pin.ts'
import { temporaryFolder } from '../host/place.test-support.ts'
import { makeRepository, type TestRepository } from '../host/repository.test-support.ts'
import { type OperationPlace, openPlace } from './place.test-support.ts'

const DONE = 'echo work > work.txt; echo "<promise>COMPLETE</promise>"'
const COMMITS = 'git add -A; git commit -qm mine'

type Worked = OperationPlace & TestRepository & { loop: Loop; path: string }

/** A loop that ended as verified, with its work in its own worktree. */
async function worked(lines = DONE): Promise<Worked> {
  const repository = await makeRepository({ 'README.md': 'x\n' })
  const place = openPlace({ cwd: repository.dir })
  const asked = { prompt: 'Build it', agent: place.agent(lines), worktree: true, checks: ['test -e work.txt'] }
  const { loop: id } = await place.run('start_loop', asked)
  const loop = await place.drive(id)
  expect(loop.next).toMatchObject({ kind: 'complete', proof: 'verified' })
  return { ...place, ...repository, loop, path: loop.spec.work.worktree?.path ?? '' }
}

const trailers = ({ git, loop }: Worked, commit = 'HEAD') =>
  git('log', '-1', '--format=%(trailers:only)', commit).trim().replace(loop.id, 'ID').split('\n')

const accept = (place: Worked, how: 'merge' | 'squash' | 'branch' = 'merge') =>
  place.run('accept', { loop: place.loop.id, how })

function addHook({ git, dir }: Worked, name: string, lines: string): void {
  const hooks = join(dir, git('rev-parse', '--git-path', 'hooks').trim())
  mkdirSync(hooks, { recursive: true })
  writeFileSync(join(hooks, name), `#!/bin/sh\n${lines}\n`)
  chmodSync(join(hooks, name), 0o755)
}

describe('files that are exactly the checked ones', () => {
  test.each([
    ['uncommitted', DONE],
    ['committed by the agent', `${DONE}; ${COMMITS}`],
  ])('keep their proof: %s', async (_, lines) => {
    const place = await worked(lines)
    expect(await accept(place)).toMatchObject({ proof: 'verified' })
    expect(trailers(place)).toEqual(['Ralph-Loop: ID', 'Ralph-Proof: verified'])
  })

  test('keep it next to what hooks add to the message', async () => {
    const place = await worked()
    addHook(place, 'commit-msg', 'echo "Change-Id: 1" >> "$1"')
    await accept(place)
    expect(trailers(place)).toEqual(['Ralph-Loop: ID', 'Ralph-Proof: verified', 'Change-Id: 1'])
  })

  test('keep it on their own branch', async () => {
    const place = await worked()
    expect(await accept(place, 'branch')).toMatchObject({ proof: 'verified' })
    expect(trailers(place, `ralph/${place.loop.id}`)).toEqual(['Ralph-Loop: ID', 'Ralph-Proof: verified'])
  })
})

describe('a branch that has moved on', () => {
  test.each([
    ['uncommitted', DONE],
    ['committed by the agent', `${DONE}; ${COMMITS}`],
  ])('gets a merge that names the checked files: %s', async (_, lines) => {
    const place = await worked(lines)
    place.commit('Mine', { 'mine.txt': 'mine\n' })
    const tree = place.loop.tally.tree?.slice(0, 12)
    const proof = `verified (tree ${tree}, before the merge)`
    expect(await accept(place)).toMatchObject({ proof, unchecked: 'merged' })
    expect(trailers(place)).toEqual(['Ralph-Loop: ID', `Ralph-Proof: ${proof}`])
    expect(place.git('rev-parse', 'HEAD^2^{tree}').slice(0, 12)).toBe(tree)
  })
})

describe('a branch that moves on while the work is accepted', () => {
  test('does not count as checked', async () => {
    const place = await worked()
    // Right after ralph checked whether the branch moved on.
    const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim()
    const bin = temporaryFolder()
    writeFileSync(
      join(bin, 'git'),
      `#!/bin/sh
case "$*" in *merge-base*refs/heads/main*) if mkdir ${bin}/once 2>/dev/null; then
  ${real} "$@"; ended=$?
  cd ${place.dir} && echo mine > mine.txt && ${real} add mine.txt && ${real} commit -qm Mine; exit $ended; fi;;
esac
exec ${real} "$@"\n`,
      { mode: 0o755 },
    )
    vi.stubEnv('PATH', `${bin}:${process.env.PATH}`)
    onTestFinished(() => void vi.unstubAllEnvs())
    const accepted = await accept(place)
    vi.unstubAllEnvs()
    expect(place.log()).toContain('Mine')
    expect(accepted).toMatchObject({ proof: expect.stringContaining('before the merge'), unchecked: 'merged' })
    expect(trailers(place)).toEqual(['Ralph-Loop: ID', expect.stringMatching(/^Ralph-Proof: .*before the merge/)])
  })
})

describe('files that were changed after the loop ended', () => {
  const NO_PROOF = ['Ralph-Loop: ID']

  test.each<[how: string, lines: string, changes: (place: Worked) => void]>([
    ['by hand', DONE, ({ path }) => writeFileSync(join(path, 'work.txt'), 'other\n')],
    ['with a new one', DONE, ({ path }) => writeFileSync(join(path, 'other.txt'), 'other\n')],
    ['after the agent committed', `${DONE}; ${COMMITS}`, ({ path }) => writeFileSync(join(path, 'work.txt'), 'x\n')],
    ['by a commit hook', DONE, (place) => addHook(place, 'pre-commit', 'echo tidy >> work.txt; git add work.txt')],
  ])('have no proof: %s', async (_, lines, changes) => {
    const place = await worked(lines)
    changes(place)
    const accepted = await accept(place)
    expect(accepted).toMatchObject({ unchecked: 'changed' })
    expect(accepted).not.toHaveProperty('proof')
    expect(trailers(place)).toEqual(NO_PROOF)
    expect(place.git('log', '-1', '--format=%b')).toContain('complete after 1 iteration, but with different files')
    expect(place.git('log', '--format=%B')).not.toContain('verified')
  })

  test('have no proof in a merge either', async () => {
    const place = await worked()
    writeFileSync(join(place.path, 'work.txt'), 'other\n')
    place.commit('Mine', { 'mine.txt': 'mine\n' })
    expect(await accept(place)).toMatchObject({ unchecked: 'changed' })
    expect(trailers(place)).toEqual(NO_PROOF)
    expect(place.git('log', '--format=%B')).not.toContain('verified')
  })

  test('have it again once they are restored', async () => {
    const place = await worked()
    writeFileSync(join(place.path, 'work.txt'), 'other\n')
    writeFileSync(join(place.path, 'work.txt'), 'work\n')
    expect(await accept(place)).toMatchObject({ proof: 'verified' })
  })
})

describe('one commit', () => {
  test('has the task as its subject, the proof, and all the work', async () => {
    const place = await worked(`${DONE}; ${COMMITS}; echo more > more.txt`)
    const standing = async () => (await place.run('get_loop', { loop: place.loop.id })).standing
    expect(await standing()).toMatchObject({ acceptable: true })
    expect(await accept(place, 'squash')).toMatchObject({ base: 'main', proof: 'verified' })
    expect(place.log()).toEqual(['Build it', 'Start'])
    expect(trailers(place)).toEqual(['Ralph-Loop: ID', 'Ralph-Proof: verified'])
    expect(place.git('log', '-1', '--format=%an')).toBe('Somebody')
    expect([place.read('work.txt'), place.read('more.txt'), place.status()]).toEqual(['work\n', 'more\n', []])
    expect(place.git('branch', '--list', 'ralph/*')).toBe('')
    expect(place.git('worktree', 'list').split('\n')).toHaveLength(1)
    await expect(accept(place, 'squash')).rejects.toThrow('has already been accepted: its work was merged')
    const { acceptable, hint } = await standing()
    expect([acceptable, hint]).toEqual([undefined, `Details: ralph show ${place.loop.id}`])
  })

  test('builds on what was committed meanwhile, and names the checked files', async () => {
    const place = await worked()
    place.commit('Mine', { 'mine.txt': 'mine\n' })
    const proof = `verified (tree ${place.loop.tally.tree?.slice(0, 12)}, before the merge)`
    expect(await accept(place, 'squash')).toMatchObject({ proof, unchecked: 'merged' })
    expect(place.log()).toEqual(['Build it', 'Mine', 'Start'])
    expect(trailers(place)).toEqual(['Ralph-Loop: ID', `Ralph-Proof: ${proof}`])
    expect(place.git('log', '-1', '--format=%P').split(' ')).toHaveLength(1)
  })

  test("leaves the user's uncommitted work alone, staged or not", async () => {
    const place = await worked()
    place.write('staged.txt', 'staged\n')
    place.git('add', 'staged.txt')
    place.write('README.md', 'changed\n')
    const before = place.status()
    await accept(place, 'squash')
    expect(place.status()).toEqual(before)
    expect(place.git('show', '--format=', '--name-only', 'HEAD')).toBe('work.txt')
  })

  test('loses its proof if a hook changes it', async () => {
    const place = await worked(`${DONE}; ${COMMITS}`)
    addHook(place, 'pre-commit', 'echo tidy >> work.txt; git add work.txt')
    expect(await accept(place, 'squash')).toMatchObject({ unchecked: 'changed' })
    expect(trailers(place)).toEqual(['Ralph-Loop: ID'])
    expect(place.git('log', '--format=%B')).not.toContain('verified')
    expect(place.read('work.txt')).toBe('work\ntidy\n')
  })

  test('is not made, and nothing changes, if something is in the way', async () => {
    const place = await worked(`${DONE}; ${COMMITS}`)
    const { git, write, commit, dir } = place
    const obstacles: [says: string, put: () => unknown, clear: () => unknown][] = [
      ['Cannot merge the work of loop', () => write('work.txt', 'x\n'), () => rmSync(join(dir, 'work.txt'))],
      [
        'Too short',
        () => addHook(place, 'commit-msg', 'echo "Too short" >&2; exit 1'),
        () => addHook(place, 'commit-msg', 'true'),
      ],
      ['is on other', () => git('switch', '--quiet', '--create', 'other'), () => git('switch', '--quiet', 'main')],
      ['both changed work.txt.', () => commit('Mine', { 'work.txt': 'x\n' }), () => git('reset', '--hard', 'HEAD~1')],
    ]
    const state = () => [place.log(), place.status(), place.read('work.txt')]
    for (const [says, put, clear] of obstacles) {
      put()
      const before = state()
      await expect(accept(place, 'squash')).rejects.toThrow(says)
      expect(state()).toEqual(before)
      expect(git('-C', place.path, 'status', '--porcelain', '--branch')).toBe(`## ralph/${place.loop.id}`)
      clear()
    }
    await accept(place, 'squash')
    expect(place.log()).toEqual(['Build it', 'Start'])
  })

  test('is made by the next accept if the previous one was killed halfway', async () => {
    const place = await worked(`${DONE}; ${COMMITS}`)
    place.commit('Mine', { 'mine.txt': 'mine\n' })
    const branch = `ralph/${place.loop.id}`
    place.git('update-ref', `refs/ralph/${place.loop.id}/squash`, branch)
    place.git('-C', place.path, 'checkout', '--quiet', '--detach', 'main')
    place.git('-C', place.path, 'merge', '--quiet', '--squash', branch)
    await accept(place, 'squash')
    expect(place.log()).toEqual(['Build it', 'Mine', 'Start'])
    expect(trailers(place)).toHaveLength(2)
  })

  test('is made only once if the previous accept was killed at the end', async () => {
    const place = await worked()
    await accept(place, 'squash')
    const made = place.git('rev-parse', 'HEAD')
    place.git('branch', `ralph/${place.loop.id}`, `refs/ralph/${place.loop.id}/merged`)
    place.git('update-ref', '-d', `refs/ralph/${place.loop.id}/merged`)
    const again = await accept(place, 'squash')
    expect(again).toMatchObject({ base: 'main', nothing: true })
    expect(again).not.toHaveProperty('proof')
    expect(place.git('rev-parse', 'HEAD')).toBe(made)
  })
})

describe('an accept that continues a killed one', () => {
  test.each(['merge', 'squash', 'branch'] as const)('ignores the lock that its git left: %s', async (how) => {
    const place = await worked()
    const lock = join(place.git('-C', place.path, 'rev-parse', '--absolute-git-dir'), 'index.lock')
    writeFileSync(lock, '')
    expect(await accept(place, how)).toMatchObject({ proof: 'verified' })
  })

  test.each<[fact: string, left: (place: Worked) => void]>([
    ['its link', ({ path }) => rmSync(join(path, '.git'))],
    ['all of it but the branch', ({ git, path }) => git('worktree', 'remove', '--force', path)],
  ])('removes the rest of the worktree after it had removed %s', async (_, left) => {
    const place = await worked()
    const branch = `ralph/${place.loop.id}`
    place.git('-C', place.path, 'add', '--all')
    place.git('-C', place.path, 'commit', '--quiet', '--message', 'The work')
    place.git('merge', '--quiet', branch)
    const notes = { ...place.repo, commits: commitsFile(place.context.home, place.loop.id) }
    await setRefs(notes, [`refs/ralph/${place.loop.id}/merged`], place.git('rev-parse', branch))
    left(place)
    await expect(accept(place)).rejects.toThrow('has already been accepted: its work was merged.')
    expect(existsSync(place.path)).toBe(false)
    expect(place.git('worktree', 'list').split('\n')).toHaveLength(1)
    expect(place.git('branch', '--list', branch)).toBe('')
  })

  test('does not mistake the finished merge for work that arrived later', async () => {
    const place = await worked(`${DONE}; ${COMMITS}`)
    place.git('merge', '--quiet', '--no-ff', '-m', 'Merge', `ralph/${place.loop.id}`)
    expect(await accept(place)).toEqual({
      loop: place.loop.id,
      branch: `ralph/${place.loop.id}`,
      base: 'main',
      proof: 'verified',
    })
  })
})

test('an old git without merge-tree first merges in the worktree of the loop', async () => {
  const place = await worked(`${DONE}; ${COMMITS}`)
  place.commit('Mine', { 'mine.txt': 'mine\n' })
  const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim()
  const bin = temporaryFolder()
  const lines = `case "$*" in *merge-tree*) echo "usage: git merge-tree" >&2; exit 129;; esac\nexec ${real} "$@"`
  writeFileSync(join(bin, 'git'), `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
  vi.stubEnv('PATH', `${bin}:${process.env.PATH}`)
  onTestFinished(() => void vi.unstubAllEnvs())
  const conflict = place.commit('In the way', { 'work.txt': 'x\n' })
  await expect(accept(place)).rejects.toThrow('both changed work.txt. Nothing was changed.')
  expect([place.git('rev-parse', 'HEAD'), place.status()]).toEqual([conflict, []])
  place.git('reset', '--quiet', '--hard', 'HEAD~1')
  expect(await accept(place)).toMatchObject({ unchecked: 'merged' })
  expect(place.read('work.txt')).toBe('work\n')
})
