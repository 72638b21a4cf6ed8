import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { temporaryFolder } from './place.test-support.ts'
import { openTree, type Tree } from './tree.ts'

let dir: string
let home: string

beforeEach(() => {
  dir = temporaryFolder()
  home = temporaryFolder()
})

function write(name: string, text = 'text'): void {
  mkdirSync(dirname(join(dir, name)), { recursive: true })
  writeFileSync(join(dir, name), text)
}

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@localhost', '-c', 'commit.gpgsign=false']
  return execFileSync('git', [...identity, ...args], { cwd: dir, encoding: 'utf8', stdio: 'pipe' })
}

async function open(change: Partial<Parameters<typeof openTree>[0]> = {}): Promise<Tree['look']> {
  return (await openTree({ dir, home, loop: 'a1', ...change })).look
}

/** Whether these acts, all together, change the state of the tree. */
async function changes(act: () => void, tree?: Tree['look']): Promise<boolean> {
  const state = tree ?? (await open())
  const before = await state()
  expect(before).toMatch(/\S/)
  act()
  const after = await state()
  expect(after).toMatch(/\S/)
  return before !== after
}

type Acts = [what: string, act: () => void][]

describe('the tree of a git repository', () => {
  beforeEach(() => {
    git('init', '--quiet')
    write('src/code.ts')
    write('.gitignore', 'ignored\nnode_modules\n')
    git('add', '--all')
    git('commit', '--quiet', '--message', 'first')
  })

  const seen: Acts = [
    ['an edit', () => write('src/code.ts', 'other')],
    ['an edit of the same length', () => write('src/code.ts', 'tixt')],
    ['a new file', () => write('new.ts')],
    ['a new file in a new folder', () => write('deep/er/new.ts')],
    ['a removed file', () => rmSync(join(dir, 'src/code.ts'))],
    ['a renamed file', () => renameSync(join(dir, 'src/code.ts'), join(dir, 'src/renamed.ts'))],
    ['a file that is now executable', () => chmodSync(join(dir, 'src/code.ts'), 0o755)],
    ['a file that became a link', () => link('src/code.ts')],
    ['a name with spaces, quotes and an owl', () => write(`a "b" 'c' 🦉\n.txt`)],
    ['an empty commit', () => git('commit', '--quiet', '--allow-empty', '--message', 'empty')],
    ['another branch at another commit', () => git('checkout', '--quiet', '--orphan', 'other')],
  ]

  test.each(seen)('changes with %s', async (_, act) => {
    expect(await changes(act)).toBe(true)
  })

  test('changes with a commit of what was there', async () => {
    write('src/code.ts', 'other')
    expect(await changes(() => git('commit', '--quiet', '--all', '--message', 'second'))).toBe(true)
  })

  test('changes with a second edit of a new file', async () => {
    const tree = await open()
    expect(await changes(() => write('new.ts', 'one'), tree)).toBe(true)
    expect(await changes(() => write('new.ts', 'two'), tree)).toBe(true)
  })

  test('is what it was once a change is undone', async () => {
    const tree = await open()
    const before = await tree()
    write('src/code.ts', 'other')
    write('new.ts')
    await tree()
    write('src/code.ts')
    rmSync(join(dir, 'new.ts'))
    expect(await tree()).toBe(before)
  })

  const unseen: Acts = [
    ['nothing at all', () => {}],
    ['an ignored file', () => write('ignored')],
    ['an ignored folder', () => write('node_modules/x/index.js')],
    ['the face of a loop in a session', () => write('.claude/ralph-loop.local.md')],
    ['the face of a second one, and one that was set aside', () => write('.pi/ralph-loop.s-2.local.md.broken-x')],
    ['a file that was only touched', () => utimesSync(join(dir, 'src/code.ts'), 1, 1)],
    ['an empty folder', () => mkdirSync(join(dir, 'empty'))],
    ['what is staged', () => git('add', '--all', '--force', '.')],
    ['a new branch', () => git('branch', 'other')],
    ['a look at the status', () => git('status')],
  ]

  test.each(unseen)('does not change with %s', async (_, act) => {
    expect(await changes(act)).toBe(false)
  })

  test('is determined without a trace: index, HEAD, branches, stash and files stay as they are', async () => {
    write('staged.ts', 'staged')
    git('add', 'staged.ts')
    write('staged.ts', 'and edited')
    write('src/code.ts', 'stashed')
    git('stash', 'push', '--quiet', 'src/code.ts')
    write('untracked.ts')
    const look = () => ({
      status: git('status', '--porcelain=v2', '--untracked-files=all'),
      index: readFileSync(join(dir, '.git', 'index'), 'base64'),
      refs: git('for-each-ref'),
      head: readFileSync(join(dir, '.git', 'HEAD'), 'utf8'),
      stash: git('stash', 'list'),
      lock: existsSync(join(dir, '.git', 'index.lock')),
    })
    const before = look()
    const tree = await open()
    await tree()
    write('untracked.ts', 'more')
    await tree()
    write('untracked.ts')
    expect(look()).toEqual(before)
  })

  test('is the tree of the whole repository, even from a subfolder', async () => {
    const tree = await open({ dir: join(dir, 'src') })
    expect(await changes(() => write('elsewhere.ts'), tree)).toBe(true)
    expect(await changes(() => write('src/here.ts'), tree)).toBe(true)
  })

  test.each<[where: string, from: string, home: string]>([
    ['in it', '', '.ralph'],
    ['deep in it', '', 'var/lib/ralph'],
    ['in the subfolder of it that is the working folder', 'src', 'src/.ralph'],
    ['in it, above the working folder', 'src', '.ralph'],
    ['in it, next to the working folder', 'src', 'other/.ralph'],
    ['in it, with a name that is a pattern', '', 'ralph*'],
    ['in it, with two dots before its name', '', '..ralph'],
  ])('does not see ralph’s own home %s', async (_, from, inside) => {
    const own = join(dir, inside)
    mkdirSync(own, { recursive: true })
    write('ralph-notes.md')
    const tree = await open({ dir: join(dir, from), home: own })
    expect(await changes(() => write(`${inside}/ralph.db`, 'changed'), tree)).toBe(false)
    expect(await changes(() => write('ralph-notes.md', 'changed'), tree)).toBe(true)
  })

  test('sees a folder whose name only starts like that of the home', async () => {
    mkdirSync(join(dir, '.ralph'))
    const tree = await open({ home: join(dir, '.ralph') })
    expect(await changes(() => write('.ralphs/file'), tree)).toBe(true)
  })

  test('is determined by two loops at once', async () => {
    const [one, two] = await Promise.all([open({ loop: 'a1' }), open({ loop: 'a2' })])
    const states = await Promise.all([one(), two(), one(), two()].map((state) => state))
    expect(new Set(states).size).toBe(1)
  })

  test('is determined again after a ralph that was killed while it looked', async () => {
    await (await open())()
    writeFileSync(join(home, 'index', 'a1.lock'), '')
    const tree = await open()
    expect(await changes(() => write('new.ts'), tree)).toBe(true)
  })

  test('with a nested repository changes when that gets a commit', async () => {
    const inner = join(dir, 'inner')
    mkdirSync(inner)
    const inside = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@localhost', ...args], { cwd: inner })
    inside('init', '--quiet')
    inside('commit', '--quiet', '--allow-empty', '--message', 'one')
    const tree = await open()
    expect(await changes(() => inside('commit', '--quiet', '--allow-empty', '--message', 'two'), tree)).toBe(true)
  })

  test('is known in a linked worktree', async () => {
    const linked = join(temporaryFolder(), 'linked')
    git('worktree', 'add', '--quiet', linked)
    const tree = await open({ dir: linked })
    expect(await changes(() => writeFileSync(join(linked, 'new.ts'), ''), tree)).toBe(true)
    expect(await changes(() => write('in-the-first.ts'), tree)).toBe(false)
  })

  test('whose repository is missing is unknown', async () => {
    const tree = await open()
    rmSync(join(dir, '.git'), { recursive: true })
    expect(await tree()).toBeUndefined()
  })

  function link(name: string): void {
    rmSync(join(dir, name))
    symlinkSync('elsewhere', join(dir, name))
  }
})

describe('the tree of a repository without a commit', () => {
  beforeEach(() => {
    git('init', '--quiet')
  })

  test('changes with a file, and with the first commit', async () => {
    const tree = await open()
    expect(await changes(() => write('first.ts'), tree)).toBe(true)
    const commit = () => {
      git('add', '--all')
      git('commit', '--quiet', '--message', 'first')
    }
    expect(await changes(commit, tree)).toBe(true)
  })

  test('is determined without creating an index', async () => {
    write('first.ts')
    await (await open())()
    expect(existsSync(join(dir, '.git', 'index'))).toBe(false)
  })
})

describe('the tree of a folder without git', () => {
  beforeEach(() => {
    write('src/code.ts')
    utimesSync(join(dir, 'src/code.ts'), 1, 1)
  })

  const seen: Acts = [
    ['an edit', () => write('src/code.ts', 'other')],
    ['an edit of the same length', () => write('src/code.ts', 'tixt')],
    ['a new file', () => write('new.ts')],
    ['a new file deep below', () => write('a/b/c/new.ts')],
    ['a file with almost the name of a face', () => write('.claude/my-ralph-loop.local.md')],
    ['a removed file', () => rmSync(join(dir, 'src/code.ts'))],
    ['a renamed file', () => renameSync(join(dir, 'src/code.ts'), join(dir, 'src/renamed.ts'))],
    ['a moved folder', () => renameSync(join(dir, 'src'), join(dir, 'lib'))],
    ['a file that is now executable', () => chmodSync(join(dir, 'src/code.ts'), 0o755)],
    ['a link', () => symlinkSync('nowhere', join(dir, 'link'))],
  ]

  test.each(seen)('changes with %s', async (_, act) => {
    expect(await changes(act)).toBe(true)
  })

  const unseen: Acts = [
    ['nothing at all', () => {}],
    ['what is installed', () => write('node_modules/x/index.js')],
    ['what is installed deep below', () => write('packages/one/node_modules/x/index.js')],
    ['the face of a loop in a session', () => write('.claude/ralph-loop.local.md')],
    ['the face of a second one, and one that was set aside', () => write('.pi/ralph-loop.s-2.local.md.broken-x')],
  ]

  test.each(unseen)('does not change with %s', async (_, act) => {
    write('packages/one/index.ts')
    expect(await changes(act)).toBe(false)
  })

  test.each(['.ralph', 'var/ralph', '..ralph'])('does not see ralph’s own home %s in it', async (inside) => {
    mkdirSync(join(dir, inside), { recursive: true })
    const tree = await open({ home: join(dir, inside) })
    expect(await changes(() => write(`${inside}/ralph.db`), tree)).toBe(false)
    expect(await changes(() => write('ralph.db'), tree)).toBe(true)
  })

  test('does not follow a link in a circle', async () => {
    symlinkSync('.', join(dir, 'self'))
    expect(await (await open())()).toMatch(/\S/)
  })

  test('that is too large to look through is unknown', async () => {
    for (let file = 0; file < 20_001; file++) writeFileSync(join(dir, `file-${file}`), '')
    expect(await (await open())()).toBeUndefined()
  })

  test('that disappears meanwhile is unknown', async () => {
    const tree = await open()
    rmSync(dir, { recursive: true })
    expect(await tree()).toBeUndefined()
  })

  test('that does not exist is reported in a sentence', async () => {
    await expect(open({ dir: join(dir, 'gone') })).rejects.toMatchObject({
      code: 'home-unusable',
      message: expect.stringContaining(join(dir, 'gone')),
    })
  })
})
