/** Checkpoints, rollback, undo and accept in every kind of git repository a user may have. */
import { isUtf8 } from 'node:buffer'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { carriers, commitAll, LAUNCHER, makePlace, onlyLoop, type Place, query, type Ran, until } from './ralph.ts'

const CLAIMS = 'echo "<promise>COMPLETE</promise>"'
const PAUSES = `'${process.execPath}' '${LAUNCHER}' pause "$RALPH_LOOP_ID"`

function gitIn(place: Place, dir: string = place.dir): (...args: string[]) => string {
  const env = { ...place.env, GIT_OPTIONAL_LOCKS: '0' }
  return (...args) => execFileSync('git', args, { cwd: dir, env, encoding: 'utf8', stdio: 'pipe' })
}

/** The same where git may fail: then nothing. */
function tryGit(place: Place, ...args: string[]): string {
  try {
    return gitIn(place)(...args).trim()
  } catch {
    return ''
  }
}

type State = { commit: string; branch: string; index: string; changes: string; files: Record<string, string> }

/** What the user would miss: HEAD, the index, what git reports as changed, every file. */
function stateOf(place: Place): State {
  const git = gitIn(place)
  const status = git('status', '--porcelain=v2', '--branch', '--untracked-files=all', '-z').split('\0')
  const [commit = '', branch = '', ...changes] = status.map((line) => line.replace(/^# branch\.(oid|head) /, ''))
  return {
    commit,
    branch,
    index: git('ls-files', '--stage', '-v', '-z').replaceAll('\0', '\n'),
    changes: changes.join('\n'),
    files: filesIn(place.dir),
  }
}

/**
 * Every file below a folder with its content, except git's own. Names are bytes, one character each where they are not
 * UTF-8.
 */
function filesIn(dir: string): Record<string, string> {
  const files: Record<string, string> = {}
  const walk = (folder: Buffer, prefix: string) => {
    for (const entry of readdirSync(folder, { encoding: 'buffer' })) {
      const path = Buffer.concat([folder, Buffer.from('/'), entry])
      const name = prefix + (isUtf8(entry) ? entry.toString('utf8') : entry.toString('latin1'))
      const stat = lstatSync(path)
      if (entry.toString() === '.git') continue
      if (stat.isDirectory()) walk(path, `${name}/`)
      else if (stat.isSymbolicLink()) files[name] = `-> ${readlinkSync(path)}`
      else
        files[name] =
          `${stat.mode & 0o100 ? '(may be run) ' : ''}${stat.size > 1e6 ? `${stat.size} bytes` : readFileSync(path, 'utf8')}`
    }
  }
  walk(Buffer.from(dir), '')
  return files
}

/** A loop of these turns; the last one claims. */
async function work(
  place: Place,
  turns: string | readonly string[],
  ...flags: string[]
): Promise<{ id: string; ran: Ran }> {
  const arms = [turns]
    .flat()
    .map((lines, index, all) => `${index + 1})\n${lines}\n${index === all.length - 1 ? CLAIMS : ''}\n;;`)
  const agent = place.agent(`case "$RALPH_ITERATION" in\n${arms.join('\n')}\nesac`)
  const ran = await place.ralph(['run', 'Do the task.', '--agent', agent, ...flags])
  return { id: /loop (\w{8})\b/.exec(ran.stdout)?.[1] ?? '', ran }
}

async function succeeds(place: Place, ...args: string[]): Promise<string> {
  const { code, stderr, stdout } = await place.ralph(args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

/** Ends with this exit code and one sentence, which is returned. */
async function refuses(place: Place, code: number, ...args: string[]): Promise<string> {
  const ran = await place.ralph(args)
  expect(ran).toMatchObject({ code, stderr: expect.stringMatching(/^ralph: .+\n$/) })
  return ran.stderr
}

type Journey = { id: string; before: State; rolled: string }

/** Runs a loop, rolls back to its start, then forward again: both states are restored completely. */
async function goesBackAndForth(place: Place, turns: string | readonly string[]): Promise<Journey> {
  const before = stateOf(place)
  const { id, ran } = await work(place, turns)
  expect(ran.code).toBe(0)
  const after = stateOf(place)
  expect(after).not.toEqual(before)
  const rolled = await succeeds(place, 'rollback', id, '0')
  expect(stateOf(place)).toEqual(before)
  await succeeds(place, 'undo', id)
  expect(stateOf(place)).toEqual(after)
  return { id, before, rolled }
}

/** The names below `refs/ralph/<loop>/`. */
function checkpoints(place: Place, id: string, dir?: string): string[] {
  const prefix = `refs/ralph/${id}/`
  const refs = gitIn(place, dir)('for-each-ref', '--format=%(refname)', prefix).trim()
  const names = refs.split('\n').flatMap((ref) => (ref ? [ref.slice(prefix.length)] : []))
  return names.filter((name) => name !== 'now')
}

function times(text: string, part: string): number {
  return text.split(part).length - 1
}

function hook(place: Place, name: string, words = 'no'): void {
  mkdirSync(join(place.dir, '.git/hooks'), { recursive: true })
  writeFileSync(join(place.dir, '.git/hooks', name), `#!/bin/sh\necho "${words}" >&2\nexit 1\n`, { mode: 0o755 })
}

/** Two branches that changed the same line. */
function diverged(): Place {
  const place = makePlace()
  place.write('file.txt', 'base\n')
  commitAll(place)
  const git = gitIn(place)
  git('branch', 'other')
  place.write('file.txt', 'mine\n')
  commitAll(place)
  git('checkout', '--quiet', 'other')
  place.write('file.txt', 'theirs\n')
  place.write('theirs.txt', 'theirs\n')
  commitAll(place)
  git('checkout', '--quiet', '-')
  return place
}

function withSubmodule(): Place {
  const place = makePlace()
  const library = join(place.root, 'library')
  mkdirSync(library)
  writeFileSync(join(library, 'lib.txt'), 'lib\n')
  const git = gitIn(place, library)
  git('init', '--quiet')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'Library')
  gitIn(place)('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'lib')
  commitAll(place)
  return place
}

const COMMITS = 'git add --all && git commit --quiet --message'

describe.concurrent('a folder that is not a git repository', () => {
  test('works, and says once that there are no checkpoints', async () => {
    const place = makePlace({ git: false })
    const { id, ran } = await work(place, ['echo 1 > a', 'echo 2 > a'])
    expect(ran.code).toBe(0)
    expect(times(ran.stdout, 'o checkpoint')).toBe(1)
    expect(ran.stdout).toContain('No checkpoints: this is not a git repository')
    expect(await refuses(place, 2, 'rollback', id, '0')).toContain('has no checkpoints: this is not a git repository')
    expect(await refuses(place, 2, 'undo', id)).toContain('has no checkpoints: this is not a git repository')
    expect(place.read('a')).toBe('2\n')
  })

  test.each([[['--on-halt', 'best']], [['--on-halt', 'restore']], [['--worktree']]])('refuses %j', async (flags) => {
    const place = makePlace({ git: false })
    const ran = await place.ralph(['run', 'x', '--agent', place.agent(CLAIMS), ...flags])
    expect(ran.code).toBe(2)
    expect(ran.stderr).toMatch(/^ralph: .*this is not a git repository.*\n/)
    expect(place.calls()).toEqual([])
    expect(query(place, 'SELECT id FROM loop')).toEqual([])
  })
})

describe.concurrent('a repository without a commit', () => {
  function emptyRepository(): Place {
    const place = makePlace({ git: false })
    gitIn(place)('init', '--quiet')
    place.write('staged.txt', 'staged\n')
    gitIn(place)('add', 'staged.txt')
    place.write('loose.txt', 'loose\n')
    return place
  }

  test('is rolled back to its start', async () => {
    const { before } = await goesBackAndForth(
      emptyRepository(),
      'echo more >> staged.txt; rm loose.txt; echo new > new.txt',
    )
    expect(before.commit).toBe('(initial)')
  })

  test('has no commit and no branch again after the agent made the first one', async () => {
    const place = emptyRepository()
    const { id, before } = await goesBackAndForth(place, `echo new > new.txt; ${COMMITS} First`)
    expect(before.commit).toBe('(initial)')
    expect(gitIn(place)('log', '--format=%s')).toBe('First\n')
    await succeeds(place, 'rollback', id, '0')
    expect(gitIn(place)('branch', '--list')).toBe('')
  })

  test('that had no index has none again', async () => {
    const place = makePlace({ git: false })
    gitIn(place)('init', '--quiet')
    await goesBackAndForth(place, 'echo new > new.txt; git add new.txt')
  })

  test('refuses --worktree with a sentence', async () => {
    const place = emptyRepository()
    const words = await refuses(place, 2, 'run', 'x', '--agent', place.agent(CLAIMS), '--worktree')
    expect(words).toContain('--worktree needs a commit')
    expect(place.calls()).toEqual([])
  })
})

describe.concurrent('a rollback', () => {
  test('restores a detached HEAD, detached and where it was', async () => {
    const place = makePlace()
    place.write('second.txt', 'second\n')
    commitAll(place)
    gitIn(place)('checkout', '--quiet', '--detach', 'HEAD~1')
    const { id, before } = await goesBackAndForth(place, [
      `echo new > new.txt; ${COMMITS} New`,
      `git switch --quiet --create side; echo side > side.txt; ${COMMITS} Side`,
    ])
    expect(before.branch).toBe('(detached)')
    await succeeds(place, 'rollback', id, '1')
    expect(stateOf(place)).toMatchObject({
      branch: '(detached)',
      commit: tryGit(place, 'rev-parse', 'side~1'),
      changes: '',
    })
  })

  test.each<[string, string]>([
    ['edits and stages', 'for file in *; do echo agent >> "$file"; done; rm README.md; git add --all'],
    ['commits', `echo agent >> tracked.txt; ${COMMITS} Agent`],
    ['stashes', 'git stash --quiet --include-untracked; echo agent > agent.txt'],
  ])('restores a dirty working tree exactly when the agent %s', async (_, lines) => {
    const place = makePlace()
    for (const name of ['tracked.txt', 'staged.txt', 'twice.txt', 'gone.txt', 'unstaged-gone.txt', 'mode.sh'])
      place.write(name, `${name}\n`)
    commitAll(place)
    place.write('tracked.txt', 'changed\n')
    place.write('staged.txt', 'staged\n')
    place.write('new-staged.txt', 'new\n')
    place.write('twice.txt', 'staged once\n')
    rmSync(join(place.dir, 'gone.txt'))
    gitIn(place)('add', 'staged.txt', 'new-staged.txt', 'twice.txt', 'gone.txt')
    place.write('twice.txt', 'and changed again\n')
    place.write('loose/untracked.txt', 'untracked\n')
    place.write('intended.txt', 'intended\n')
    gitIn(place)('add', '--intent-to-add', 'intended.txt')
    rmSync(join(place.dir, 'unstaged-gone.txt'))
    chmodSync(join(place.dir, 'mode.sh'), 0o755)
    await goesBackAndForth(place, lines)
  })

  test('restores branch, HEAD and files after commits, an amend, a rebase, a switch and a deleted branch', async () => {
    const place = makePlace()
    for (const name of ['second', 'third']) {
      place.write(`${name}.txt`, `${name}\n`)
      commitAll(place)
    }
    const branch = gitIn(place)('branch', '--show-current').trim()
    const tip = tryGit(place, 'rev-parse', branch)
    const { id } = await goesBackAndForth(place, [
      `echo one > one.txt; ${COMMITS} One; echo more >> one.txt; git commit --quiet --all --amend --message Amended`,
      'git rebase --quiet --onto HEAD~2 HEAD~1',
      `git switch --quiet --create other; echo other > other.txt; ${COMMITS} Other; git branch --quiet -D ${branch}`,
    ])
    expect(gitIn(place)('branch', '--format=%(refname:short)')).toBe('other\n')
    expect(gitIn(place)('log', '--format=%s', '-2')).toBe('Other\nAmended\n')
    const other = tryGit(place, 'rev-parse', 'HEAD')
    await succeeds(place, 'rollback', id, '0')
    expect(gitIn(place)('branch', '--show-current').trim()).toBe(branch)
    expect([tryGit(place, 'rev-parse', branch), tryGit(place, 'rev-parse', 'other')]).toEqual([tip, other])
    await succeeds(place, 'rollback', id, '2')
    expect(gitIn(place)('log', '--format=%s', '-2')).toBe('Amended\nA state\n')
    expect(gitIn(place)('status', '--porcelain')).toBe('')
  })

  test('goes to every iteration, and two of them are undone step by step', async () => {
    const place = makePlace()
    const { id } = await work(place, [
      'echo 1 > n.txt',
      `echo 2 > n.txt; ${COMMITS} Two`,
      'echo 3 > n.txt; git add n.txt',
    ])
    const last = stateOf(place)
    await succeeds(place, 'rollback', id, '2')
    expect(place.read('n.txt')).toBe('2\n')
    const second = stateOf(place)
    await succeeds(place, 'rollback', id, '1')
    expect(place.read('n.txt')).toBe('1\n')
    await succeeds(place, 'undo', id)
    expect(stateOf(place)).toEqual(second)
    await succeeds(place, 'undo', id)
    expect(stateOf(place)).toEqual(last)
    expect(await refuses(place, 2, 'undo', id)).toContain('Nothing to undo')
    expect(await refuses(place, 2, 'rollback', id, '7')).toContain('It has 0 to 3')
  })

  test('is refused while the loop is running', async () => {
    const place = makePlace()
    const agent = place.agent(`echo new > new.txt; while [ ! -e '${place.root}/go' ]; do sleep 0.02; done; ${CLAIMS}`)
    const running = place.start(['run', 'x', '--agent', agent])
    await until('the agent at work', () => existsSync(join(place.dir, 'new.txt')))
    const id = onlyLoop(place)
    expect(await refuses(place, 1, 'rollback', id, '0')).toContain('is running in')
    expect(await refuses(place, 1, 'undo', id)).toContain('is running in')
    expect(place.read('new.txt')).toBe('new\n')
    writeFileSync(join(place.root, 'go'), '')
    expect((await running.ended).code).toBe(0)
    await succeeds(place, 'rollback', id, '0')
    expect(existsSync(join(place.dir, 'new.txt'))).toBe(false)
  })

  test('of a paused loop is mentioned to the next iteration', async () => {
    const place = makePlace()
    const { id, ran } = await work(place, [`echo 1 > n.txt; ${PAUSES}`, 'cat n.txt > seen.txt; echo 2 > two.txt'])
    expect(ran.code).toBe(130)
    await succeeds(place, 'rollback', id, '0')
    expect((await place.ralph(['resume', id])).code).toBe(0)
    expect(place.prompt(2)).toContain('The files were restored to their state at the start.')
    expect(place.read('seen.txt')).toBe('')
    await succeeds(place, 'rollback', id, '1')
    expect(place.read('n.txt')).toBe('1\n')
  })

  test('restores an ignored file that the agent staged', async () => {
    const place = makePlace()
    place.write('.gitignore', '*.log\n')
    commitAll(place)
    const { id } = await work(place, [
      `echo kept > forced.log; git add --force forced.log; git commit --quiet --message Forced`,
      'rm forced.log; echo 2 > two.txt',
    ])
    await succeeds(place, 'rollback', id, '1')
    expect(gitIn(place)('status', '--porcelain')).toBe('')
    expect(place.read('forced.log')).toBe('kept\n')
  })
})

describe.concurrent('a repository of another kind', () => {
  const JOURNEY = [`echo 1 > n.txt; ${COMMITS} One`, 'echo 2 > n.txt; git add n.txt; echo 3 > n.txt; rm README.md']

  test('rolls back and forth with an unusual index', async () => {
    const place = makePlace()
    for (const setting of ['core.splitIndex=true', 'core.untrackedCache=true', 'index.version=4'])
      gitIn(place)('config', ...setting.split('='))
    gitIn(place)('update-index', '--force-write-index', '--refresh')
    await goesBackAndForth(place, JOURNEY)
  })

  test('rolls back and forth with SHA-256', async () => {
    const place = makePlace({ git: false })
    gitIn(place)('init', '--quiet', '--object-format=sha256')
    place.write('README.md', 'A project.\n')
    commitAll(place)
    await goesBackAndForth(place, JOURNEY)
  })

  test('rolls back and forth in a worktree that the user linked, and only there', async () => {
    const place = makePlace()
    const before = stateOf(place)
    const linked = { ...place, dir: join(place.root, 'linked') }
    gitIn(place)('worktree', 'add', '--quiet', '-b', 'linked', linked.dir)
    const how = { cwd: linked.dir }
    await goesBackAndForth({ ...linked, ralph: (args) => place.ralph(args, how) }, JOURNEY)
    expect(stateOf(place)).toEqual(before)
  })

  test('rolls back and forth although the agent deletes unreachable objects', async () => {
    const place = makePlace()
    place.write('loose.txt', 'loose\n')
    gitIn(place)('add', 'loose.txt')
    place.write('loose.txt', 'changed\n')
    const clears = 'git reflog expire --expire=now --all; git gc --quiet --prune=now'
    await goesBackAndForth(place, [
      `git reset --quiet --hard; ${clears}`,
      `echo 2 > n.txt; ${clears}`,
      `rm n.txt; ${clears}`,
    ])
  })
})

describe.concurrent('a repository inside a repository', () => {
  test('that is a submodule counts as progress and is left alone by a rollback', async () => {
    const place = withSubmodule()
    const turns = [
      'echo 1 >> lib/lib.txt',
      'echo 2 > lib/new.txt',
      `(cd lib && ${COMMITS} Inside)`,
      'rm lib/new.txt; echo 4 > outside.txt',
    ]
    const { id, ran } = await work(place, turns, '--no-progress', '1')
    expect(ran.code).toBe(0)
    expect(ran.stdout).toContain('after 4 iterations')
    const inside = {
      files: filesIn(join(place.dir, 'lib')),
      commit: gitIn(place, join(place.dir, 'lib'))('rev-parse', 'HEAD'),
    }
    await succeeds(place, 'rollback', id, '0')
    expect(existsSync(join(place.dir, 'outside.txt'))).toBe(false)
    expect(filesIn(join(place.dir, 'lib'))).toEqual(inside.files)
    expect(gitIn(place, join(place.dir, 'lib'))('rev-parse', 'HEAD')).toBe(inside.commit)
    await succeeds(place, 'undo', id)
    expect(place.read('outside.txt')).toBe('4\n')
    expect(filesIn(join(place.dir, 'lib'))).toEqual(inside.files)
  })

  test('that the agent added as a submodule survives a rollback', async () => {
    const place = makePlace()
    const library = join(place.root, 'library')
    const lines = `git init --quiet '${library}'; (cd '${library}'; echo lib > lib.txt; ${COMMITS} Library)
git -c protocol.file.allow=always submodule --quiet add '${library}' lib; echo work > lib/work.txt; git commit --quiet --all --message Added`
    const { id } = await work(place, lines)
    await succeeds(place, 'rollback', id, '0')
    expect(existsSync(join(place.dir, '.gitmodules'))).toBe(false)
    expect(place.read('lib/work.txt')).toBe('work\n')
    await succeeds(place, 'undo', id)
    expect(place.read('.gitmodules')).toContain('lib')
    expect(gitIn(place)('status', '--porcelain', '--ignore-submodules=all')).toBe('')
    expect(place.read('lib/work.txt')).toBe('work\n')
  })

  test('that is untracked and has no commit does not prevent checkpoints', async () => {
    const place = makePlace()
    gitIn(place)('init', '--quiet', 'nested')
    place.write('nested/inner.txt', 'inner\n')
    const { id, ran } = await work(place, 'echo agent >> nested/inner.txt; echo new > new.txt')
    expect(ran.code).toBe(0)
    expect(ran.stdout).not.toContain('!')
    expect(checkpoints(place, id)).toEqual(['0', '1'])
    await succeeds(place, 'rollback', id, '0')
    expect(existsSync(join(place.dir, 'new.txt'))).toBe(false)
    expect(place.read('nested/inner.txt')).toBe('inner\nagent\n')
  })

  test('that the agent put in place of a file is not lost by a rollback', async () => {
    const place = makePlace()
    place.write('lib', 'a file\n')
    commitAll(place)
    const { id } = await work(place, `rm lib; git init --quiet lib; (cd lib; echo inner > inner.txt; ${COMMITS} Inner)`)
    const before = filesIn(place.dir)
    const ran = await place.ralph(['rollback', id, '0'])
    if (ran.code === 0) await succeeds(place, 'undo', id)
    expect(filesIn(place.dir)).toEqual(before)
    expect(gitIn(place, join(place.dir, 'lib'))('log', '--format=%s')).toBe('Inner\n')
  })
})

describe.concurrent('files that git treats specially', () => {
  const POINTER = 'version https://git-lfs.github.com/spec/v1\noid sha256:0000\nsize 12\n'

  function withLfs(...settings: [string, string][]): Place {
    const place = makePlace()
    place.write('.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n')
    place.write('model.bin', POINTER)
    commitAll(place)
    for (const [name, value] of settings) gitIn(place)('config', name, value)
    return place
  }

  test('LFS pointers without git-lfs are ordinary files', async () => {
    await goesBackAndForth(withLfs(), 'echo weights > model.bin; echo more > other.bin; echo new > new.txt')
  })

  test('a required filter whose program is missing costs the checkpoints, not the loop', async () => {
    const place = withLfs(['filter.lfs.clean', 'no-such-lfs clean -- %f'], ['filter.lfs.required', 'true'])
    const turns = ['echo weights > model.bin; echo 1 > one.txt', 'echo 2 > two.txt']
    const { id, ran } = await work(place, turns, '--verify', 'test -e two.txt')
    expect(ran.code).toBe(0)
    expect(times(ran.stdout, 'No checkpoint was saved')).toBe(1)
    expect(ran.stdout).toMatch(/^✓ complete, proof: altered, after 2 iterations/m)
    expect(await refuses(place, 2, 'rollback', id, '1')).toContain('has no checkpoint 1')
    expect(filesIn(place.dir)).toMatchObject({ 'model.bin': 'weights\n', 'two.txt': '2\n' })
  })

  test('a required filter that fails during the rollback loses nothing', async () => {
    const place = withLfs(['filter.lfs.clean', 'cat'], ['filter.lfs.required', 'true'])
    // The original settings apply, but what they name may break.
    const smudge = join(place.root, 'smudge')
    const smudgeWith = (line: string) => writeFileSync(smudge, `#!/bin/sh\n${line}\n`, { mode: 0o755 })
    smudgeWith('cat')
    gitIn(place)('config', 'filter.lfs.smudge', smudge)
    place.write('a.txt', 'a\n')
    place.write('z.txt', 'z\n')
    commitAll(place)
    const before = stateOf(place)
    const { id } = await work(
      place,
      'for name in a.txt model.bin z.txt; do echo agent > $name; done; echo new > new.txt',
    )
    const after = stateOf(place)
    smudgeWith('no-such-lfs')
    expect(await refuses(place, 1, 'rollback', id, '0')).toContain('no-such-lfs')
    smudgeWith('cat')
    await succeeds(place, 'undo', id)
    expect(stateOf(place)).toEqual(after)
    await succeeds(place, 'rollback', id, '0')
    expect(stateOf(place)).toEqual(before)
  })

  test('a huge untracked file is left out and left alone, which ralph says once', async () => {
    const place = makePlace()
    place.write('huge.bin', '')
    truncateSync(join(place.dir, 'huge.bin'), 100_000_000)
    const sizeBefore = folderSize(join(place.dir, '.git'))
    const { id, ran } = await work(place, ['echo 1 > n.txt; truncate -s 50000000 agent.bin', 'echo 2 > n.txt'])
    expect(times(ran.stdout, 'huge.bin is untracked and too large')).toBe(1)
    expect(times(ran.stdout, 'agent.bin is untracked and too large')).toBe(1)
    await succeeds(place, 'rollback', id, '0')
    expect(filesIn(place.dir)).toMatchObject({ 'huge.bin': '100000000 bytes', 'agent.bin': '50000000 bytes' })
    expect(existsSync(join(place.dir, 'n.txt'))).toBe(false)
    await succeeds(place, 'undo', id)
    expect(filesIn(place.dir)).toMatchObject({
      'huge.bin': '100000000 bytes',
      'agent.bin': '50000000 bytes',
      'n.txt': '2\n',
    })
    expect(folderSize(join(place.dir, '.git')) - sizeBefore).toBeLessThan(100_000)
  })

  function folderSize(dir: string): number {
    return readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .map((name) => statSync(join(dir, name)))
      .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0)
  }

  const NAMES = [
    'with space',
    ' both ends ',
    'new\nline',
    'owl 🦉',
    'cafe\u0301',
    '-rf',
    '--all',
    ':(glob)*',
    ':!exclude',
    '*',
    '[a-z]',
    `"double" and 'single'`,
    'back\\slash',
    'tab\there',
    '#hash',
    '!bang',
    'folder with space/-deep\n🦉',
  ]

  test('names of every kind are restored, tracked or not', async () => {
    const place = makePlace()
    for (const name of NAMES) place.write(`tracked/${name}`, `${name}\n`)
    commitAll(place)
    for (const name of NAMES) place.write(name, `${name}\n`)
    await goesBackAndForth(place, [
      'find . -path ./.git -prune -o -type f -exec sh -c \'echo agent >> "$1"\' sh {} \\;',
      "rm -r ./* ./tracked/*; echo 'new' > './:(top)new'; echo new > './-new 🦉'",
    ])
  })

  test('a name that is not UTF-8 is restored', async () => {
    const place = makePlace()
    writeFileSync(Buffer.concat([Buffer.from(`${place.dir}/`), Buffer.from([0x63, 0x61, 0x66, 0xe9])]), 'latin\n')
    await goesBackAndForth(place, 'rm caf*; echo new > new.txt')
  })

  test.each<[string, boolean]>([
    ['', false],
    [' with core.ignorecase', true],
  ])('a rename that changes only the case is undone%s', async (_, ignore) => {
    const place = makePlace()
    place.write('src/Name.txt', 'name\n')
    commitAll(place)
    gitIn(place)('config', 'core.ignorecase', String(ignore))
    await goesBackAndForth(place, [
      'mv README.md readme.md; mv src Src',
      `mv Src/Name.txt Src/NAME.txt; ${COMMITS} Renamed`,
    ])
  })

  test('what became a folder, a file or a link is restored as what it was', async () => {
    const place = makePlace()
    place.write('run.sh', '#!/bin/sh\n', 0o755)
    symlinkSync('nowhere', join(place.dir, 'link'))
    for (const name of ['to-file', 'to-link']) place.write(`${name}/deep/file.txt`, 'file\n')
    commitAll(place)
    await goesBackAndForth(place, [
      'chmod -x run.sh; rm link; mkdir link; echo deep > link/deep',
      'rm -r to-file to-link; echo file > to-file; ln -s nowhere to-link',
    ])
  })

  test('a folder that became a link to its moved files is restored', async () => {
    const place = makePlace()
    place.write('folder/deep/file.txt', 'file\n')
    commitAll(place)
    await goesBackAndForth(place, 'mv folder ../moved; ln -s ../moved folder')
    expect(readFileSync(join(place.root, 'moved/deep/file.txt'), 'utf8')).toBe('file\n')
  })

  test('a change that the user hid from git with skip-worktree is not lost', async () => {
    const place = makePlace()
    place.write('config.txt', 'shared\n')
    commitAll(place)
    gitIn(place)('update-index', '--skip-worktree', 'config.txt')
    place.write('config.txt', 'mine\n')
    await goesBackAndForth(place, `echo new > new.txt; ${COMMITS} New`)
    expect(place.read('config.txt')).toBe('mine\n')
  })

  function withCrlf(): Place {
    const place = makePlace()
    gitIn(place)('config', 'core.autocrlf', 'true')
    place.write('tracked.txt', 'one\r\ntwo\r\n')
    commitAll(place)
    gitIn(place)('config', 'core.safecrlf', 'true')
    place.write('untracked.txt', 'one\r\ntwo\r\n')
    return place
  }

  test('files with CRLF are restored byte for byte under core.autocrlf and core.safecrlf', async () => {
    const place = withCrlf()
    await goesBackAndForth(place, [
      String.raw`printf 'other\r\n' > tracked.txt; rm untracked.txt`,
      String.raw`printf 'x\r\n' > new.txt; git -c core.safecrlf=false commit --quiet --all --message CRLF`,
    ])
  })

  test.each<[string, (place: Place) => void]>([
    ['core.autocrlf', (place) => gitIn(place)('config', 'core.autocrlf', 'true')],
    ['the attribute text=auto', (place) => place.write('.gitattributes', '* text=auto\n')],
  ])('files are restored with the line endings that git gives them under %s', async (_, set) => {
    const place = makePlace()
    set(place)
    commitAll(place)
    place.write('dos.txt', 'one\r\ntwo\r\n')
    place.write('unix.txt', 'one\ntwo\n')
    place.write('mixed.txt', 'one\r\ntwo\n')
    const { id } = await work(place, 'rm mixed.txt dos.txt; echo agent > unix.txt')
    await succeeds(place, 'rollback', id, '0')
    for (const name of ['dos.txt', 'unix.txt', 'mixed.txt'])
      expect(place.read(name).replaceAll('\r', '')).toBe('one\ntwo\n')
  })
})

describe.concurrent('a sparse checkout', () => {
  function sparse(): Place {
    const place = makePlace()
    place.write('in/file.txt', 'in\n')
    place.write('out/file.txt', 'out\n')
    place.write('out/deep/file.txt', 'deep\n')
    commitAll(place)
    gitIn(place)('sparse-checkout', 'set', 'in')
    expect(existsSync(join(place.dir, 'out'))).toBe(false)
    return place
  }

  test('stays sparse', async () => {
    const place = sparse()
    const { before } = await goesBackAndForth(
      place,
      `echo agent >> in/file.txt; echo new > in/new.txt; ${COMMITS} Agent`,
    )
    expect(before.index).toMatch(/^S .*out\/file\.txt$/m)
    expect(before.changes).toBe('')
  })

  test.each([
    ['a new file and one that is not checked out', 'mkdir out; echo new > out/new.txt; echo agent > out/file.txt'],
    [
      'and commits a new file',
      'mkdir out; echo agent > out/new.txt; git add --sparse --all; git commit --quiet --message Agent',
    ],
  ])('rolls back and forth when the agent writes %s outside', async (_, lines) => {
    await goesBackAndForth(sparse(), lines)
  })
})

describe.concurrent('a git operation in progress', () => {
  test.each<[string, string]>([
    ['resolves and commits it', `echo both > file.txt; ${COMMITS} Merged`],
    ['aborts it', 'git merge --abort; echo new > new.txt'],
  ])('a merge with conflicts is restored as files and index when the agent %s', async (_, lines) => {
    const place = diverged()
    expect(tryGit(place, 'merge', 'other')).toBe('')
    expect(place.read('file.txt')).toContain('<<<<<<<')
    const { before, rolled } = await goesBackAndForth(place, lines)
    expect(before.changes).toMatch(/^u UU .*file\.txt$/m)
    expect(rolled).toContain('A merge was in progress then')
  })

  test('a stopped rebase is restored as files and index', async () => {
    const place = diverged()
    expect(tryGit(place, 'rebase', 'other')).toBe('')
    const { rolled } = await goesBackAndForth(
      place,
      'echo both > file.txt; git add --all; GIT_EDITOR=true git rebase --continue > /dev/null',
    )
    expect(rolled).toContain('A rebase was in progress then')
  })

  test.each(['merge', 'rebase'])('a %s that the agent left behind is named by the rollback', async (command) => {
    const place = diverged()
    const before = stateOf(place)
    const { id } = await work(place, `git ${command} other > /dev/null 2>&1; true`)
    expect(await succeeds(place, 'rollback', id, '0')).toContain(
      `A ${command} is still in progress; \`git ${command} --quit\``,
    )
    expect(stateOf(place)).toEqual(before)
    gitIn(place)(command, '--quit')
    expect(stateOf(place)).toEqual(before)
  })

  test('an index.lock that the agent left behind blocks no checkpoint, only the rollback', async () => {
    const place = makePlace()
    const { id, ran } = await work(place, ['echo 1 > n.txt; : > .git/index.lock', 'echo 2 > n.txt'])
    expect(ran.code).toBe(0)
    expect(checkpoints(place, id)).toEqual(['0', '1', '2'])
    const lock = join(place.dir, '.git/index.lock')
    expect(await refuses(place, 1, 'rollback', id, '1')).toContain(`${lock} exists`)
    expect(place.read('n.txt')).toBe('2\n')
    rmSync(lock)
    await succeeds(place, 'rollback', id, '1')
    expect(place.read('n.txt')).toBe('1\n')
    writeFileSync(lock, '')
    expect(await refuses(place, 1, 'undo', id)).toContain(`${lock} exists`)
    rmSync(lock)
    await succeeds(place, 'undo', id)
    expect(place.read('n.txt')).toBe('2\n')
  })

  test('an index.lock that the agent removes does not matter', async () => {
    const place = makePlace()
    writeFileSync(join(place.dir, '.git/index.lock'), '')
    const { id, ran } = await work(place, 'rm .git/index.lock; echo new > new.txt')
    expect(ran.code).toBe(0)
    await succeeds(place, 'rollback', id, '0')
    expect(existsSync(join(place.dir, 'new.txt'))).toBe(false)
  })
})

describe.concurrent('failing hooks', () => {
  test('block no checkpoint, no rollback and no undo', async () => {
    const place = makePlace()
    const names = ['pre-commit', 'commit-msg', 'post-checkout', 'reference-transaction', 'post-index-change']
    for (const name of [...names, 'post-commit', 'fsmonitor-watchman']) hook(place, name)
    gitIn(place)('config', 'core.fsmonitor', '.git/hooks/fsmonitor-watchman')
    const { id } = await goesBackAndForth(place, ['echo 1 > n.txt', 'echo 2 > n.txt; rm README.md'])
    expect(checkpoints(place, id)).toEqual(['0', '1', '2', 'undone/1'])
  })

  test('block no loop in its own worktree', async () => {
    const place = makePlace()
    for (const name of ['post-checkout', 'reference-transaction', 'post-index-change']) hook(place, name)
    const { id, ran } = await work(place, 'echo new > new.txt', '--worktree')
    expect(ran.code).toBe(0)
    expect(checkpoints(place, id)).toEqual(['0', '1'])
  })

  test('block accept with their own message, and nothing is lost', async () => {
    const place = makePlace()
    const { id } = await work(place, 'echo new > new.txt', '--worktree')
    const before = stateOf(place)
    hook(place, 'pre-commit', 'the linter is unhappy')
    expect(await refuses(place, 1, 'accept', id)).toContain('the linter is unhappy')
    expect(stateOf(place)).toEqual(before)
    expect(readFileSync(join(worktreeOf(place, id), 'new.txt'), 'utf8')).toBe('new\n')
    rmSync(join(place.dir, '.git/hooks/pre-commit'))
    await succeeds(place, 'accept', id)
    expect(place.read('new.txt')).toBe('new\n')
  })
})

describe.concurrent('an agent that deletes .git', () => {
  test('ends its loop like any other; there is no checkpoint', async () => {
    const place = makePlace()
    const { id, ran } = await work(place, ['echo 1 > n.txt', 'rm -rf .git; echo 2 > n.txt', 'echo 3 > n.txt'])
    expect(ran.code).toBe(0)
    expect(ran.stdout).toContain('No checkpoint was saved')
    expect(ran.stdout).toMatch(/^✓ complete, proof: claimed, after 3 iterations/m)
    expect(await refuses(place, 2, 'rollback', id, '0')).toContain('has no checkpoints: this is not a git repository')
    expect(place.read('n.txt')).toBe('3\n')
  })

  function withinAnother(): { place: Place; outer: (...args: string[]) => string } {
    const place = makePlace({ git: false })
    const outer = gitIn(place, place.root)
    outer('init', '--quiet')
    writeFileSync(join(place.root, '.gitignore'), '/calls\n/prompts\n/agent.sh\n')
    outer('add', '.gitignore')
    outer('commit', '--quiet', '--message', 'Outer')
    place.write('inner.txt', 'inner\n')
    commitAll(place)
    return { place, outer }
  }

  test('does not affect a repository further up', async () => {
    const { place, outer } = withinAnother()
    const { id, ran } = await work(place, ['echo 1 > n.txt', 'rm -rf .git; echo 2 > n.txt', 'echo 3 > n.txt'])
    expect(ran.code).toBe(0)
    expect(outer('for-each-ref', 'refs/ralph')).toBe('')
    for (const args of [
      ['rollback', id, '0'],
      ['rollback', id, '2'],
      ['undo', id],
    ])
      expect((await place.ralph(args)).code).toBe(2)
    expect(place.read('n.txt')).toBe('3\n')
    expect(outer('for-each-ref', 'refs/ralph')).toBe('')
  })

  test('does not affect a repository further up when its loop is resumed', async () => {
    const { place, outer } = withinAnother()
    const { id, ran } = await work(place, [`rm -rf .git; echo 1 > n.txt; ${PAUSES}`, 'echo 2 > n.txt'])
    expect(ran.code).toBe(130)
    const resumed = await place.ralph(['resume', id])
    expect(resumed.code).toBe(0)
    expect(outer('for-each-ref', 'refs/ralph')).toBe('')
    expect(resumed.stdout).toMatch(/no checkpoint/i)
  })
})

/** The folder of a loop that was started with --worktree. */
function worktreeOf(place: Place, id: string): string {
  return join(place.home, 'worktrees', id)
}

describe.concurrent('a loop in its own worktree', () => {
  test("leaves the user's files, index and branch alone while it runs", async () => {
    const place = makePlace()
    place.write('mine.txt', 'staged\n')
    gitIn(place)('add', 'mine.txt')
    place.write('README.md', 'Changed by me.\n')
    const before = stateOf(place)
    const lines = `echo agent >> README.md; echo new > new.txt; ${COMMITS} Agent; echo loose > loose.txt`
    const agent = place.agent(`${lines}; while [ ! -e '${place.root}/go' ]; do sleep 0.02; done; ${CLAIMS}`)
    const running = place.start(['run', 'x', '--agent', agent, '--worktree'])
    const id = await until('the agent at work', () => {
      const [made] = existsSync(join(place.home, 'worktrees')) ? readdirSync(join(place.home, 'worktrees')) : []
      return made && existsSync(join(worktreeOf(place, made), 'loose.txt')) && made
    })
    expect(stateOf(place)).toEqual(before)
    writeFileSync(join(place.root, 'go'), '')
    const ran = await running.ended
    expect(ran.code).toBe(0)
    expect(ran.stderr).toContain('2 uncommitted changes are not included')
    expect(ran.stdout).toContain(`branch ralph/${id}`)
    expect(stateOf(place)).toEqual(before)
  })

  test('is merged by accept, which removes its worktree and its branch', async () => {
    const place = makePlace()
    const { id } = await work(
      place,
      `echo one > one.txt; ${COMMITS} One; echo two > two.txt; rm README.md`,
      '--worktree',
    )
    place.write('mine.txt', 'not committed\n')
    expect(await succeeds(place, 'accept', id)).toMatch(/^Merged into \S+\.\n$/m)
    expect(filesIn(place.dir)).toEqual({ 'mine.txt': 'not committed\n', 'one.txt': 'one\n', 'two.txt': 'two\n' })
    expect(gitIn(place)('status', '--porcelain')).toBe('?? mine.txt\n')
    expect(gitIn(place)('log', '--format=%s').split('\n').slice(0, 2)).toEqual(['Do the task.', 'One'])
    expect(gitIn(place)('branch', '--list', 'ralph/*')).toBe('')
    expect(gitIn(place)('worktree', 'list').trim().split('\n')).toHaveLength(1)
    expect(existsSync(worktreeOf(place, id))).toBe(false)
    expect(await refuses(place, 2, 'accept', id)).toContain('has already been accepted')
    expect(await refuses(place, 2, 'rollback', id, '0')).toContain('has already been accepted')
    expect(existsSync(worktreeOf(place, id))).toBe(false)
  })

  test('is merged with what the user committed meanwhile', async () => {
    const place = makePlace()
    const { id } = await work(place, 'echo new > new.txt', '--worktree')
    place.write('mine.txt', 'mine\n')
    commitAll(place)
    await succeeds(place, 'accept', id)
    expect(filesIn(place.dir)).toMatchObject({ 'mine.txt': 'mine\n', 'new.txt': 'new\n' })
    expect(gitIn(place)('status', '--porcelain')).toBe('')
  })

  test('is left as a branch by accept --branch', async () => {
    const place = makePlace()
    const before = stateOf(place)
    const { id } = await work(place, 'echo new > new.txt', '--worktree')
    expect(await succeeds(place, 'accept', id, '--branch')).toContain(`The branch ralph/${id} is ready`)
    expect(stateOf(place)).toEqual(before)
    expect(gitIn(place)('show', `ralph/${id}:new.txt`)).toBe('new\n')
    expect(gitIn(place)('worktree', 'list').trim().split('\n')).toHaveLength(1)
    expect(await refuses(place, 2, 'accept', id)).toContain(`on the branch ralph/${id}`)
  })

  test('works in the subfolder of the repository where it was started', async () => {
    const place = makePlace()
    place.write('packages/one/file.txt', 'one\n')
    commitAll(place)
    const agent = place.agent(`echo agent >> file.txt; ${CLAIMS}`)
    const cwd = join(place.dir, 'packages/one')
    expect((await place.ralph(['run', 'x', '--agent', agent, '--worktree'], { cwd })).code).toBe(0)
    expect((await place.ralph(['accept', onlyLoop(place)], { cwd })).code).toBe(0)
    expect(place.read('packages/one/file.txt')).toBe('one\nagent\n')
  })

  test('is rolled back and forth there, not where the user is', async () => {
    const place = makePlace()
    const before = stateOf(place)
    const { id } = await work(place, [`echo 1 > n.txt; ${COMMITS} One`, 'echo 2 > n.txt'], '--worktree')
    await succeeds(place, 'rollback', id, '0')
    expect(Object.keys(filesIn(worktreeOf(place, id)))).toEqual(['README.md'])
    await succeeds(place, 'undo', id)
    expect(filesIn(worktreeOf(place, id))).toMatchObject({ 'n.txt': '2\n' })
    await succeeds(place, 'rollback', id, '1')
    expect(stateOf(place)).toEqual(before)
    await succeeds(place, 'accept', id)
    expect(place.read('n.txt')).toBe('1\n')
  })

  const OTHER_BRANCH = 'is on other'
  const acts: [string, (place: Place) => void, string][] = [
    ['the user is on another branch', (place) => gitIn(place)('switch', '--quiet', '--create', 'other'), OTHER_BRANCH],
    ['the user is on no branch', (place) => gitIn(place)('checkout', '--quiet', '--detach'), 'HEAD is detached'],
    [
      'both changed the same lines',
      (place) => {
        place.write('README.md', 'Mine.\n')
        commitAll(place)
      },
      'both changed README.md.',
    ],
    ['the user has uncommitted changes to the same file', (place) => place.write('README.md', 'Mine.\n'), 'README.md'],
    ['an untracked file is in the way', (place) => place.write('new.txt', 'Mine.\n'), 'new.txt'],
  ]

  test.each(acts)('is not merged, not even half, when %s', async (_, act, words) => {
    const place = makePlace()
    const { id } = await work(place, 'echo agent > README.md; echo new > new.txt', '--worktree')
    act(place)
    const before = stateOf(place)
    expect(await refuses(place, 1, 'accept', id)).toContain(words)
    expect(stateOf(place)).toEqual(before)
    expect(existsSync(join(place.dir, '.git/MERGE_HEAD'))).toBe(false)
  })

  test('is left as a branch instead of being merged into a merge in progress', async () => {
    const place = diverged()
    const { id } = await work(place, 'echo new > new.txt', '--worktree')
    tryGit(place, 'merge', 'other')
    const before = stateOf(place)
    expect(await refuses(place, 1, 'accept', id)).toContain('A merge is in progress')
    expect(existsSync(join(place.dir, '.git/MERGE_HEAD'))).toBe(true)
    await succeeds(place, 'accept', id, '--branch')
    expect(gitIn(place)('show', `ralph/${id}:new.txt`)).toBe('new\n')
    expect(stateOf(place)).toEqual(before)
  })

  test('cannot be accepted before it has ended', async () => {
    const place = makePlace()
    const { id, ran } = await work(place, [`echo 1 > n.txt; ${PAUSES}`, 'echo 2 > n.txt'], '--worktree')
    expect(ran.code).toBe(130)
    expect(await refuses(place, 2, 'accept', id)).toContain(`ralph resume ${id}`)
    expect((await place.ralph(['resume', id])).code).toBe(0)
    await succeeds(place, 'accept', id)
    expect(place.read('n.txt')).toBe('2\n')
  })

  test('cannot be accepted if it had no worktree', async () => {
    const place = makePlace()
    const { id } = await work(place, 'echo new > new.txt')
    expect(await refuses(place, 2, 'accept', id)).toContain('there is nothing to accept')
    expect(place.read('new.txt')).toBe('new\n')
  })

  test('is resumed with the files of its last checkpoint if its worktree was removed by hand', async () => {
    const place = makePlace()
    const turns = [
      `echo committed > one.txt; ${COMMITS} One; echo loose > loose.txt; echo agent >> README.md; ${PAUSES}`,
      'echo 2 > two.txt',
    ]
    const { id } = await work(place, turns, '--worktree')
    const lost = filesIn(worktreeOf(place, id))
    rmSync(worktreeOf(place, id), { recursive: true })
    expect((await place.ralph(['resume', id])).code).toBe(0)
    expect(filesIn(worktreeOf(place, id))).toEqual({ ...lost, 'two.txt': '2\n' })
    await succeeds(place, 'accept', id)
    expect(filesIn(place.dir)).toEqual({ ...lost, 'two.txt': '2\n' })
  })

  test('can be accepted even if its worktree was removed by hand after its end', async () => {
    const place = makePlace()
    const { id } = await work(place, ['echo 1 > n.txt', `${COMMITS} One; echo loose > loose.txt`], '--worktree')
    rmSync(worktreeOf(place, id), { recursive: true })
    await succeeds(place, 'accept', id)
    expect(filesIn(place.dir)).toMatchObject({ 'n.txt': '1\n', 'loose.txt': 'loose\n' })
    expect(existsSync(worktreeOf(place, id))).toBe(false)
  })

  test('can be accepted even if its worktree and branch were removed by hand', async () => {
    const place = makePlace()
    const { id } = await work(place, `echo 1 > n.txt; ${COMMITS} One; echo loose > loose.txt`, '--worktree')
    gitIn(place)('worktree', 'remove', '--force', worktreeOf(place, id))
    gitIn(place)('branch', '--quiet', '-D', `ralph/${id}`)
    await succeeds(place, 'accept', id)
    expect(filesIn(place.dir)).toMatchObject({ 'n.txt': '1\n', 'loose.txt': 'loose\n' })
    expect(gitIn(place)('log', '--format=%s')).toContain('One\n')
  })

  test.each([
    ['another branch', 'git switch --quiet --create mine'],
    ['no branch', 'git checkout --quiet --detach'],
  ])('whose agent switched to %s is not called merged without its work', async (_, goes) => {
    const place = makePlace()
    const { id } = await work(place, `${goes}; echo new > new.txt; ${COMMITS} New; echo rest > rest.txt`, '--worktree')
    const { code } = await place.ralph(['accept', id])
    const where = code === 0 ? place.dir : worktreeOf(place, id)
    expect(filesIn(where)).toMatchObject({ 'new.txt': 'new\n', 'rest.txt': 'rest\n' })
  })

  test('whose agent created a repository inside keeps that repository', async () => {
    const place = makePlace()
    const lines = `echo new > new.txt; git init --quiet app; cd app; echo app > app.txt; ${COMMITS} App`
    const { id } = await work(place, lines, '--worktree')
    const { code } = await place.ralph(['accept', id])
    const where = code === 0 ? place.dir : worktreeOf(place, id)
    expect(filesIn(where)).toMatchObject({ 'new.txt': 'new\n', 'app/app.txt': 'app\n' })
  })

  test('whose agent committed in a submodule keeps that commit', async () => {
    const place = withSubmodule()
    const update = 'git -c protocol.file.allow=always submodule --quiet update --init'
    const { id } = await work(place, `${update}; cd lib; echo agent >> lib.txt; ${COMMITS} Inside`, '--worktree')
    const { code } = await place.ralph(['accept', id])
    const commit = gitIn(place)('ls-tree', code === 0 ? 'HEAD' : `ralph/${id}`, 'lib').split(/\s/)[2] ?? ''
    const lib = join(code === 0 ? place.dir : worktreeOf(place, id), 'lib')
    expect(gitIn(place, lib)('cat-file', '-t', commit)).toBe('commit\n')
  })

  test('is refused with a sentence if a branch has the prefix of its branches as its name', async () => {
    const place = makePlace()
    gitIn(place)('branch', 'ralph')
    const ran = await place.ralph(['run', 'x', '--agent', place.agent(CLAIMS), '--worktree'])
    expect(ran.code).not.toBe(0)
    expect(ran.stderr).toMatch(/^ralph: .*refs\/heads\/ralph\b/)
    expect(place.calls()).toEqual([])
    expect(gitIn(place)('worktree', 'list').trim().split('\n')).toHaveLength(1)
  })
})

describe.concurrent('--on-halt', () => {
  const SPENT = ['--verify', 'false', '--max-iterations', '2']

  test('restore leaves the files as they were at the start, says so, and can be undone', async () => {
    const place = makePlace()
    place.write('README.md', 'Changed by me.\n')
    const before = stateOf(place)
    const { id, ran } = await work(
      place,
      [`echo 1 > n.txt; ${COMMITS} One`, 'echo 2 > n.txt'],
      ...SPENT,
      '--on-halt',
      'restore',
    )
    expect(ran.code).toBe(1)
    expect(ran.stdout).toContain('halted (max-iterations)')
    expect(ran.stdout).toContain('The files were restored to their state before the loop began.')
    expect(stateOf(place)).toEqual(before)
    await succeeds(place, 'undo', id)
    expect(place.read('n.txt')).toBe('2\n')
    expect(gitIn(place)('log', '--format=%s', '-1')).toBe('One\n')
  })

  test('best leaves the state with the fewest failures, says so, and can be undone', async () => {
    const place = makePlace()
    place.write(
      'check.sh',
      '#!/bin/sh\necho "Tests: $(wc -l < failures | tr -d " ") failed"\n[ ! -s failures ]\n',
      0o755,
    )
    place.write('failures', 'a\nb\nc\nd\n')
    commitAll(place)
    const turns = [
      'printf "a\\nb\\nc\\n" > failures',
      'printf "a\\n" > failures; echo best > best.txt',
      'printf "a\\nb\\n" > failures; echo 3 > n.txt',
    ]
    const { id, ran } = await work(place, turns, '--until', './check.sh', '--max-iterations', '3', '--on-halt', 'best')
    expect(ran.code).toBe(1)
    expect(ran.stdout).toContain('The files were restored to their state after iteration 2, the best so far.')
    expect(filesIn(place.dir)).toMatchObject({ failures: 'a\n', 'best.txt': 'best\n' })
    expect(existsSync(join(place.dir, 'n.txt'))).toBe(false)
    await succeeds(place, 'undo', id)
    expect(filesIn(place.dir)).toMatchObject({ failures: 'a\nb\n', 'n.txt': '3\n' })
  })

  test('restore does nothing to a completed loop', async () => {
    const place = makePlace()
    const { id, ran } = await work(place, 'echo new > new.txt', '--on-halt', 'restore')
    expect(ran.code).toBe(0)
    expect(place.read('new.txt')).toBe('new\n')
    expect(await refuses(place, 2, 'undo', id)).toContain('Nothing to undo')
  })

  test('restore applies when a paused loop is cancelled', async () => {
    const place = makePlace()
    const before = stateOf(place)
    const { id } = await work(place, [`echo 1 > n.txt; ${PAUSES}`, 'echo 2 > n.txt'], '--on-halt', 'restore')
    expect(place.read('n.txt')).toBe('1\n')
    expect(await succeeds(place, 'cancel', id)).toContain(
      'The files were restored to their state before the loop began.',
    )
    expect(stateOf(place)).toEqual(before)
    await succeeds(place, 'undo', id)
    expect(place.read('n.txt')).toBe('1\n')
  })

  test('restore says what prevented it, and the loop ends anyway', async () => {
    const place = makePlace()
    const { id, ran } = await work(
      place,
      ['echo 1 > n.txt', ': > .git/index.lock; echo 2 > n.txt'],
      ...SPENT,
      '--on-halt',
      'restore',
    )
    expect(ran.code).toBe(1)
    expect(ran.stdout).toMatch(/The files could not be restored: .*index\.lock exists/)
    expect(place.read('n.txt')).toBe('2\n')
    rmSync(join(place.dir, '.git/index.lock'))
    await succeeds(place, 'rollback', id, '0')
    expect(existsSync(join(place.dir, 'n.txt'))).toBe(false)
  })

  test('restore is not reversed by recreating a worktree that was removed by hand', async () => {
    const place = makePlace()
    const { id } = await work(place, 'echo new > new.txt', ...SPENT, '--worktree', '--on-halt', 'restore')
    rmSync(worktreeOf(place, id), { recursive: true })
    await succeeds(place, 'accept', id)
    expect(Object.keys(filesIn(place.dir))).toEqual(['README.md'])
  })

  test('restore ends a cancelled loop whose worktree was removed by hand', async () => {
    const place = makePlace()
    const { id } = await work(
      place,
      [`echo 1 > n.txt; ${PAUSES}`, 'echo 2 > n.txt'],
      '--on-halt',
      'restore',
      '--worktree',
    )
    rmSync(worktreeOf(place, id), { recursive: true })
    await succeeds(place, 'cancel', id)
    expect(query(place, 'SELECT status FROM loop')).toEqual([{ status: 'cancelled' }])
  })
})

describe.concurrent('ignored files', () => {
  test('that stop being ignored are not deleted by a rollback', async () => {
    const place = makePlace()
    place.write('.gitignore', 'secret.txt\nbuild/\n')
    commitAll(place)
    place.write('secret.txt', 'secret\n')
    place.write('build/out.txt', 'built\n')
    const { id } = await work(place, ['echo > .gitignore', 'echo new > new.txt'])
    expect(gitIn(place)('status', '--porcelain')).toContain('?? secret.txt')
    await succeeds(place, 'rollback', id, '0')
    expect(filesIn(place.dir)).toMatchObject({ 'secret.txt': 'secret\n', 'build/out.txt': 'built\n' })
    expect(gitIn(place)('status', '--porcelain')).toBe('')
    await succeeds(place, 'undo', id)
    expect(filesIn(place.dir)).toMatchObject({
      'secret.txt': 'secret\n',
      'build/out.txt': 'built\n',
      'new.txt': 'new\n',
    })
  })

  test('that the target tracks are overwritten, and restored by undo', async () => {
    const place = makePlace()
    place.write('settings.txt', 'tracked\n')
    commitAll(place)
    await goesBackAndForth(place, [
      `git rm --quiet settings.txt; git commit --quiet --message Removed`,
      `echo settings.txt > .gitignore; echo later > settings.txt; ${COMMITS} Ignored`,
    ])
  })

  test('whose folder is where the target has a file are restored by undo', async () => {
    const place = makePlace()
    place.write('out', 'a file\n')
    place.write('deep/er/file.txt', 'deep\n')
    commitAll(place)
    await goesBackAndForth(place, [
      'rm -r out deep; echo 1 > n.txt',
      'printf "out\\ndeep\\n" > .gitignore; mkdir out; echo built > out/built.txt; echo ignored > deep',
    ])
  })

  test('that the agent started to ignore stay from then on, and are restored from before', async () => {
    const place = makePlace()
    place.write('cache.txt', 'first\n')
    const { id } = await work(place, [
      'echo cache.txt > .gitignore; echo second > cache.txt',
      'echo third > cache.txt; echo 2 > n.txt',
    ])
    await succeeds(place, 'rollback', id, '1')
    expect(filesIn(place.dir)).toEqual({
      '.gitignore': 'cache.txt\n',
      'README.md': 'A project.\n',
      'cache.txt': 'third\n',
    })
    await succeeds(place, 'rollback', id, '0')
    expect(filesIn(place.dir)).toEqual({ 'README.md': 'A project.\n', 'cache.txt': 'first\n' })
    await succeeds(place, 'undo', id)
    expect(place.read('cache.txt')).toBe('third\n')
  })

  test('survive every rollback', async () => {
    const place = makePlace()
    place.write('.gitignore', 'node_modules\n.env\n')
    commitAll(place)
    place.write('.env', 'KEY=1\n')
    place.write('node_modules/dep/index.js', 'dep\n')
    const { id } = await work(place, [
      'echo KEY=2 > .env; echo new > node_modules/dep/new.js; echo 1 > n.txt',
      `echo KEY=3 > .env; mkdir -p node_modules/other; echo other > node_modules/other/index.js; rm .gitignore; ${COMMITS} All`,
    ])
    const kept = {
      '.env': 'KEY=3\n',
      'node_modules/dep/index.js': 'dep\n',
      'node_modules/dep/new.js': 'new\n',
      'node_modules/other/index.js': 'other\n',
    }
    for (const args of [
      ['rollback', id, '0'],
      ['rollback', id, '1'],
      ['undo', id],
      ['undo', id],
    ]) {
      await succeeds(place, ...args)
      expect(filesIn(place.dir)).toMatchObject(kept)
    }
  })
})

describe.concurrent('the story of a loop', () => {
  test('shows the lines added and removed, and the diff of one iteration', async () => {
    const place = makePlace()
    place.write('n.txt', 'a\nb\nc\n')
    commitAll(place)
    const { id, ran } = await work(place, [
      'printf "a\\nB\\n" > n.txt; echo new > new.txt',
      `${COMMITS} Nothing; echo more >> new.txt`,
    ])
    expect(ran.stdout).toMatch(/^ {2}1 .*\+2 −2/m)
    const story = await succeeds(place, 'show', id)
    expect(story).toMatch(/^\s*1 .*\+2 −2/m)
    expect(story).toMatch(/^\s*2 .*\+1 −0/m)
    const first = await succeeds(place, 'show', id, '1')
    expect(first).toContain('changes (+2 −2)')
    expect(first).toContain('--- a/n.txt\n+++ b/n.txt\n@@ -1,3 +1,2 @@\n a\n-b\n-c\n+B\n')
    const second = await succeeds(place, 'show', id, '2')
    expect(second).toContain('+more\n')
    expect(second).not.toContain('n.txt\n@@')
    const [diff] = (await place.ralph(['show', id, '2', '--json'])).lines.flatMap((line) =>
      line.diff ? [line.diff] : [],
    )
    expect(diff).toContain('+more')
  })

  test('shows the diff of a loop in a worktree, even after it was accepted', async () => {
    const place = makePlace()
    const { id } = await work(place, 'echo new > new.txt', '--worktree')
    expect(await succeeds(place, 'show', id, '1')).toContain('+++ b/new.txt')
    await succeeds(place, 'accept', id)
    expect(await succeeds(place, 'show', id, '1')).toContain('+++ b/new.txt')
  })

  test('loses only its checkpoints to prune', async () => {
    const place = makePlace()
    const { id } = await work(place, ['echo 1 > n.txt', 'echo 2 > n.txt'])
    await succeeds(place, 'rollback', id, '1')
    expect(checkpoints(place, id)).toEqual(['0', '1', '2', 'before/1'])
    const before = stateOf(place)
    expect(await succeeds(place, 'prune', '--days', '0')).toContain(', 4 checkpoints,')
    expect(gitIn(place)('for-each-ref', 'refs/ralph')).toBe('')
    expect(readdirSync(join(place.home, 'index'))).toEqual([])
    expect(stateOf(place)).toEqual(before)
    expect(await refuses(place, 2, 'rollback', id, '0')).toContain('It has none.')
    expect(await succeeds(place, 'show', id)).toContain('complete')
  })
})

describe.concurrent("the user's files", () => {
  test('a file that git was told not to look at is not lost', async () => {
    const place = makePlace()
    place.write('config.txt', 'shared\n')
    commitAll(place)
    gitIn(place)('update-index', '--assume-unchanged', 'config.txt')
    place.write('config.txt', 'mine\n')
    await goesBackAndForth(place, 'echo new > new.txt')
    expect(place.read('config.txt')).toBe('mine\n')
  })

  test('a file that only its owner may read keeps its mode', async () => {
    const place = makePlace()
    place.write('key.pem', 'one\n', 0o600)
    const { id } = await work(place, 'echo two >> key.pem')
    await succeeds(place, 'rollback', id, '0')
    expect(statSync(join(place.dir, 'key.pem')).mode & 0o777).toBe(0o600)
    await succeeds(place, 'undo', id)
    expect(statSync(join(place.dir, 'key.pem')).mode & 0o777).toBe(0o600)
  })

  test('the folder a loop was started in stays, even if it is empty', async () => {
    const place = makePlace()
    mkdirSync(join(place.dir, 'sub/folder'), { recursive: true })
    const { id } = await work(place, 'echo new > new.txt', '--dir', 'sub/folder')
    await succeeds(place, 'rollback', id, '0')
    place.write('mine.txt', 'mine\n')
    expect(await succeeds(place, 'undo', id)).toContain(`refs/ralph/${id}/undone/1`)
    expect(place.read('sub/folder/new.txt')).toBe('new\n')
  })

  test("what today's rollback set aside is not pruned with its old loop", async () => {
    const place = makePlace()
    const { id } = await work(place, 'echo new > new.txt')
    place.write('precious.txt', 'three hours\n')
    await succeeds(place, 'rollback', id, '0')
    const database = new DatabaseSync(join(place.home, 'ralph.db'))
    database.exec('UPDATE loop SET updated_at = updated_at - 40 * 86400000')
    database.close()
    await succeeds(place, 'prune')
    await succeeds(place, 'undo', id)
    expect(place.read('precious.txt')).toBe('three hours\n')
  })

  test('environment variables that point git elsewhere do not mislead ralph', async () => {
    const place = makePlace()
    const other = makePlace()
    const env = {
      GIT_DIR: join(other.dir, '.git'),
      GIT_INDEX_FILE: join(other.dir, '.git/alt'),
      GIT_WORK_TREE: other.dir,
    }
    const agent = place.agent(
      'unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE; echo new > new.txt; echo "<promise>COMPLETE</promise>"',
    )
    const ran = await place.ralph(['run', 'x', '--agent', agent, '--json'], { env })
    const id = String(ran.lines[0]?.loop_id)
    expect([checkpoints(place, id), checkpoints(other, id)]).toEqual([['0', '1'], []])
    await succeeds(place, 'rollback', id, '0')
    expect(existsSync(join(place.dir, 'new.txt'))).toBe(false)
  })

  test('a repository that the agent put in place of a folder is not written to', async () => {
    const place = makePlace()
    place.write('lib/file.txt', 'file\n')
    commitAll(place)
    const { id } = await work(place, 'rm -r lib; git init --quiet lib; echo other > lib/file.txt')
    expect(await refuses(place, 1, 'rollback', id, '0')).toContain('contains another git repository')
    expect(place.read('lib/file.txt')).toBe('other\n')
  })
})

describe.concurrent('a killed rollback', () => {
  test('leaves no git process running, and undo reverses it', async () => {
    const place = makePlace()
    const files = 'for n in $(seq 1 6000); do echo "$RALPH_ITERATION $n" > "many/$n.txt"; done'
    const { id } = await work(place, [`mkdir many; ${files}`, files])
    const before = stateOf(place)
    const going = place.start(['rollback', id, '1'])
    await until('files change', () => place.read('many/1.txt').startsWith('1 '))
    going.child.kill('SIGKILL')
    await going.ended
    await succeeds(place, 'undo', id)
    expect(stateOf(place)).toEqual(before)
    expect(carriers(`RALPH_LOOP_ID=${id}`)).toEqual([])
  })
})
