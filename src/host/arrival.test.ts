import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { arrive, type Coming, repairCheckout, repairCheckouts, repairedWords } from './arrival.ts'
import type { Answer } from './git.ts'
import { eventually, temporaryFolder } from './place.test-support.ts'
import { makeRepository, type TestRepository } from './repository.test-support.ts'

const OLD: Record<string, string> = {
  'changed.txt': 'old and long enough\n',
  'removed.txt': 'old\n',
  kind: 'old\n',
  'script.sh': 'true\n',
  'deep/folder/old.txt': 'old\n',
  'other.txt': 'other\n',
  'last.txt': 'old and last\n',
}

/** What the work turns them into, with every kind of change there is. */
function workIn({ dir, write, git }: TestRepository): void {
  git('rm', '--quiet', 'removed.txt', 'kind', 'deep/folder/old.txt')
  write('changed.txt', 'NEW and long enough\n')
  write('kind/inside.txt', 'NEW\n')
  write('deep/folder', 'NEW\n')
  write('new/sub/added.txt', 'NEW\n')
  write('ö and\nspace.txt', 'NEW\n')
  write('last.txt', 'NEW and last\n')
  chmodSync(join(dir, 'script.sh'), 0o755)
  symlinkSync('script.sh', join(dir, 'link'))
}

const DONE: Answer = { ok: true, out: '' }
const KILLED: Answer = { ok: false, code: undefined, says: 'it was killed' }

/** A checkout on main, and a commit that is about to arrive there. */
async function makeComing(work = workIn) {
  const place = await makeRepository(OLD)
  const onto = place.git('rev-parse', 'HEAD')
  place.git('switch', '--quiet', '--create', 'work')
  work(place)
  const commit = place.commit('The work')
  place.git('switch', '--quiet', 'main')
  const coming: Coming = { loop: 'a1', branch: 'main', onto, commit, work: commit }
  const checkout = { home: temporaryFolder(), repo: place.repo }
  const notes = () => readdirSync(join(checkout.home, 'arrivals')).filter((name) => name.endsWith('.json'))
  return {
    ...place,
    coming,
    checkout,
    notes,
    repair: () => repairCheckout(checkout),
    step: (step: () => Answer) => arrive(checkout, coming, async () => step()),
    /** git writes all files, and has not replaced the index yet. */
    writeFiles: () => readTree(place, { GIT_INDEX_FILE: copyIndex(place) }),
    /** git is about to move the branch. */
    writeAll: () => readTree(place, {}),
    /** ralph is killed when git has got this far. */
    async cutOff(half: () => void) {
      let [name = '', text] = ['', '']
      await arrive(checkout, coming, async () => {
        name = join(checkout.home, 'arrivals', notes()[0] ?? '')
        text = readFileSync(name, 'utf8')
        half()
        return DONE
      })
      writeFileSync(name, text)
    },
  }
}

function copyIndex({ dir }: TestRepository): string {
  const file = join(temporaryFolder(), 'index')
  copyFileSync(join(dir, '.git/index'), file)
  return file
}

function readTree({ dir }: TestRepository, env: Record<string, string>): void {
  const args = ['read-tree', '-m', '-u', 'main', 'work']
  execFileSync('git', args, { cwd: dir, env: { ...process.env, ...env }, stdio: 'pipe' })
}

/** The whole tree as in the first commit. */
function expectAsBefore({ dir, git, status, read }: TestRepository): void {
  expect(status()).toEqual([])
  expect(git('diff', '--stat', 'HEAD')).toBe('')
  for (const [name, text] of Object.entries(OLD)) expect(read(name)).toBe(text)
  expect(['new', 'link', 'ö and\nspace.txt'].filter((name) => existsSync(join(dir, name)))).toEqual([])
  expect(lstatSync(join(dir, 'script.sh')).mode & 0o100).toBe(0)
  expect(readdirSync(join(dir, '.git')).filter((name) => name.endsWith('.lock'))).toEqual([])
}

type Made = Awaited<ReturnType<typeof makeComing>>

describe('an interrupted arrival', () => {
  test.each<[fact: string, half: (place: Made) => void]>([
    ['all files are written', ({ writeFiles }) => writeFiles()],
    ['the index is replaced as well', ({ writeAll }) => writeAll()],
    ['a few files are written', ({ write }) => write('changed.txt', 'NEW and long enough\n')],
    ['a file is partly written', ({ write }) => write('changed.txt', 'NEW and l')],
    ['a new file is partly written', ({ write }) => write('new/sub/added.txt', 'N')],
    ['a file is empty', ({ write }) => write('changed.txt', '')],
    ['a new file is empty', ({ write }) => write('new/sub/added.txt', '')],
    ['a file is missing', ({ dir }) => rmSync(join(dir, 'changed.txt'))],
    ['a file is missing, and its folder does not exist yet', ({ dir }) => rmSync(join(dir, 'kind'))],
    [
      'a folder is missing, and its file does not exist yet',
      ({ dir }) => rmSync(join(dir, 'deep'), { recursive: true }),
    ],
    [
      'the ralph that took it back was killed as well',
      ({ writeAll, write }) => {
        writeAll()
        write('changed.txt', 'old an')
      },
    ],
  ])('is taken back when %s', async (_, half) => {
    const place = await makeComing()
    await place.cutOff(() => {
      half(place)
      writeFileSync(join(place.dir, '.git/index.lock'), 'half')
    })
    expect(place.status()).not.toEqual([])
    expect(await place.repair()).toMatchObject({ loop: 'a1', branch: 'main', left: [] })
    expectAsBefore(place)
    expect(place.notes()).toEqual([])
    expect(place.git('for-each-ref', 'refs/ralph')).toBe('')
    expect(await place.repair()).toBeUndefined()
  })

  test('is reported in one sentence that counts the files', async () => {
    const place = await makeComing()
    await place.cutOff(place.writeAll)
    const [repaired, ...more] = await repairCheckouts(place.checkout.home)
    expect(more).toEqual([])
    expect(repaired && repairedWords(repaired)).toBe(
      `ralph was killed while merging the work of loop a1 into main in ${place.dir}. 11 files were restored, and nothing was merged.`,
    )
    expect(await repairCheckouts(place.checkout.home)).toEqual([])
  })

  test('can be repeated', async () => {
    const place = await makeComing()
    await place.cutOff(place.writeFiles)
    await place.repair()
    const { repo } = place.checkout
    const moved = await arrive(place.checkout, place.coming, (asking) =>
      repo.ask(['merge', '--ff-only', 'work'], asking),
    )
    expect(moved.ok).toBe(true)
    expect(place.status()).toEqual([])
    expect(place.read('kind/inside.txt')).toBe('NEW\n')
  })

  test('is taken back at once if only git was killed', async () => {
    const place = await makeComing()
    const answer = await place.step(() => {
      place.writeFiles()
      writeFileSync(join(place.dir, '.git/index.lock'), 'half')
      return KILLED
    })
    expect(answer).toEqual(KILLED)
    expectAsBefore(place)
    expect(place.notes()).toEqual([])
  })

  test('is taken back before the next one, even one of another loop', async () => {
    const place = await makeComing()
    await place.cutOff(place.writeFiles)
    place.git('branch', 'more', 'main')
    let status: string[] = []
    await arrive(place.checkout, { ...place.coming, loop: 'b2' }, async () => {
      status = place.status()
      return DONE
    })
    expect(status).toEqual([])
  })

  test('is taken back with line endings that differ from those git stores', async () => {
    const place = await makeComing()
    place.git('config', 'core.autocrlf', 'true')
    rmSync(join(place.dir, 'changed.txt'))
    place.git('checkout', '--', 'changed.txt')
    await place.cutOff(() => {
      place.write('changed.txt', 'NEW and long enough\r\n')
      place.write('last.txt', 'NEW and last\r')
    })
    expect(await place.repair()).toMatchObject({ files: 2, left: [] })
    expect([place.read('changed.txt'), place.read('last.txt')]).toEqual(['old and long enough\r\n', 'old and last\r\n'])
  })

  test('that waits for a hook during a merge is not mistaken for a merge of the person', async () => {
    const place = await makeComing()
    await place.cutOff(() => place.git('merge', '--quiet', '--no-ff', '--no-commit', 'work'))
    expect(existsSync(join(place.dir, '.git/MERGE_HEAD'))).toBe(true)
    await place.repair()
    expectAsBefore(place)
    expect(existsSync(join(place.dir, '.git/MERGE_HEAD'))).toBe(false)
  })
})

describe("what is the person's own", () => {
  test('is left alone and named if they changed it since', async () => {
    const place = await makeComing()
    await place.cutOff(place.writeFiles)
    place.write('changed.txt', 'NEW and long enough, and by a person\n')
    place.write('new/sub/added.txt', 'by a person\n')
    place.write('last.txt', 'old, and by a person\n')
    const repaired = await place.repair()
    expect(repaired).toMatchObject({ left: ['changed.txt', 'last.txt', 'new/sub/added.txt'] })
    expect(repaired && repairedWords(repaired)).toMatch(
      / Changed since then and left alone: changed\.txt, last\.txt, new\/sub\/added\.txt\.$/,
    )
    expect(place.status()).toEqual([' M changed.txt', ' M last.txt', '?? new/sub/added.txt'])
    expect(place.read('new/sub/added.txt')).toBe('by a person\n')
  })

  test('stays in a folder that was a file, and the file does not come back', async () => {
    const place = await makeComing()
    await place.cutOff(place.writeFiles)
    place.write('kind/mine.txt', 'by a person\n')
    expect(await place.repair()).toMatchObject({ left: ['kind'] })
    expect(place.read('kind/mine.txt')).toBe('by a person\n')
    expect(place.status()).toEqual([' D kind', '?? kind/mine.txt'])
  })

  test('stays where a link now points elsewhere', async () => {
    const place = await makeComing()
    const elsewhere = temporaryFolder()
    mkdirSync(join(elsewhere, 'sub'))
    writeFileSync(join(elsewhere, 'sub/added.txt'), 'NEW\n')
    await place.cutOff(place.writeFiles)
    rmSync(join(place.dir, 'new'), { recursive: true })
    symlinkSync(elsewhere, join(place.dir, 'new'))
    await place.repair()
    expect(readFileSync(join(elsewhere, 'sub/added.txt'), 'utf8')).toBe('NEW\n')
  })

  test.each<[fact: string, before: (place: Made) => void]>([
    ['changed', ({ write }) => write('changed.txt', 'by a person\n')],
    ['changed exactly as the work does', ({ write }) => write('changed.txt', 'NEW and long enough\n')],
    ['untracked', ({ write }) => write('new/sub/added.txt', 'by a person\n')],
    [
      'staged',
      ({ write, git }) => {
        write('changed.txt', 'by a person\n')
        git('add', 'changed.txt')
      },
    ],
    [
      'hidden from git',
      ({ write, git }) => {
        git('update-index', '--assume-unchanged', 'changed.txt')
        write('changed.txt', 'by a person\n')
      },
    ],
  ])('was there before, and git refused: %s', async (_, before) => {
    const place = await makeComing()
    before(place)
    const look = () => [place.status(), place.read('changed.txt'), place.read('new/sub/added.txt')]
    const had = look()
    const answer = await arrive(place.checkout, place.coming, (asking) =>
      place.repo.ask(['merge', '--quiet', '--ff-only', 'work'], asking),
    )
    expect(answer).toMatchObject({ ok: false })
    expect(look()).toEqual(had)
  })

  test('stays staged, changed or untracked next to what is taken back', async () => {
    const place = await makeComing()
    place.write('staged.txt', 'staged\n')
    place.git('add', 'staged.txt')
    place.write('other.txt', 'changed\n')
    place.write('untracked.txt', 'untracked\n')
    const had = place.status()
    await place.cutOff(place.writeAll)
    await place.repair()
    expect(place.status()).toEqual(had)
  })

  test('stays if it was committed since; the rest of the step is removed', async () => {
    const place = await makeComing()
    await place.cutOff(place.writeFiles)
    place.git('commit', '--quiet', '--message', 'Mine', 'last.txt')
    expect(await place.repair()).toMatchObject({ left: [] })
    expect(place.status()).toEqual([])
    expect([place.read('last.txt'), place.read('changed.txt')]).toEqual(['NEW and last\n', 'old and long enough\n'])
  })

  test('is another branch since: no file is touched, and that is reported', async () => {
    const place = await makeComing()
    await place.cutOff(place.writeFiles)
    place.git('symbolic-ref', 'HEAD', 'refs/heads/work')
    const had = place.status()
    const repaired = await place.repair()
    expect(repaired && repairedWords(repaired)).toMatch(
      /main is no longer checked out as it was then, so no file was touched\.$/,
    )
    expect(place.status()).toEqual(had)
    expect(await place.repair()).toBeUndefined()
  })
})

test('an arrival that finished is simply forgotten', async () => {
  const place = await makeComing()
  await place.cutOff(() => place.git('merge', '--quiet', '--ff-only', 'work'))
  expect(await place.repair()).toBeUndefined()
  expect([place.notes(), place.status(), place.log()[0]]).toEqual([[], [], 'The work'])
})

test('a merge whose last hook was killed has ended', async () => {
  const place = await makeComing()
  await place.cutOff(() => {
    place.git('merge', '--quiet', '--no-ff', '-m', 'Merge', 'work')
    writeFileSync(join(place.dir, '.git/MERGE_HEAD'), `${place.coming.work}\n`)
  })
  expect(await place.repair()).toBeUndefined()
  expect(existsSync(join(place.dir, '.git/MERGE_HEAD'))).toBe(false)
})

describe('a lock', () => {
  test('that was there before stays', async () => {
    const place = await makeComing()
    const lock = join(place.dir, '.git/index.lock')
    writeFileSync(lock, '')
    const answer = await arrive(place.checkout, place.coming, (asking) =>
      place.repo.ask(['merge', '--quiet', '--ff-only', 'work'], asking),
    )
    expect(answer).toMatchObject({ ok: false, says: expect.stringContaining('index.lock') })
    expect(existsSync(lock)).toBe(true)
  })

  test('of a running git is left to it, and the rest waits', async () => {
    const place = await makeComing()
    await place.cutOff(place.writeFiles)
    const child = spawn('git', ['cat-file', '--batch'], { cwd: place.dir, stdio: 'pipe' })
    onTestFinished(() => void child.kill('SIGKILL'))
    await eventually(() => readFileSync(`/proc/${child.pid}/comm`, 'utf8') === 'git\n')
    writeFileSync(join(place.dir, '.git/index.lock'), '')
    await expect(place.repair()).rejects.toThrow(
      /^Another git process is running in .* Try again when git has finished\.$/,
    )
    expect(existsSync(join(place.dir, '.git/index.lock'))).toBe(true)
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
    expect(await place.repair()).toMatchObject({ left: [] })
    expectAsBefore(place)
  })

  test('does not wait for a git that cleans up in the background', async () => {
    const place = await makeComing()
    await place.cutOff(place.writeFiles)
    const child = spawn('git', ['-c', 'gc.auto=0', 'pack-objects', '--stdout'], { cwd: place.dir, stdio: 'pipe' })
    onTestFinished(() => void child.kill('SIGKILL'))
    await eventually(() => readFileSync(`/proc/${child.pid}/comm`, 'utf8') === 'git\n')
    writeFileSync(join(place.dir, '.git/index.lock'), '')
    expect(await place.repair()).toMatchObject({ left: [] })
    expectAsBefore(place)
  })
})

test('two arrivals in one checkout run one after the other', async () => {
  const place = await makeComing()
  const seen: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = arrive(place.checkout, place.coming, async () => {
    seen.push('first begins')
    await promise
    seen.push('first ends')
    return DONE
  })
  await eventually(() => seen.length > 0)
  const second = place.step(() => {
    seen.push('second')
    return DONE
  })
  expect(await place.repair()).toBeUndefined() // another one is in progress
  resolve()
  await Promise.all([first, second])
  expect(seen).toEqual(['first begins', 'first ends', 'second'])
})
