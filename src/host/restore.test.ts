/**
 * Random work of an agent over random iterations, rolled back and undone: files, HEAD and index must come back as they
 * were.
 */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { drawChance } from './chance.test-support.ts'
import { NOW, refOf, setRefs, UNFINISHED } from './checkpoint.ts'
import { copyModel } from './model-folder.test-support.ts'
import { temporaryFolder } from './place.test-support.ts'
import { rollBack, undoRollBack } from './roll-back.ts'
import { type Checkpoints, openTree, type Tree } from './tree.ts'

const { runs, seed } = drawChance({ runs: 12 })
const SHARES = 3
const LONG = { timeout: 60_000 + runs * 10_000 }

const TRACKED = ['a.txt', 'src/b.txt', 'src/deep/c.txt', 'run.sh', 'ö and space/d.txt']
const UNTRACKED = ['new.txt', 'src/new.txt', 'line\nbreak.txt', '-dash', ':(glob)*', 'folder/sub/e.txt', 'a.txt/inside']
const IGNORED = ['x.log', '.env', 'node_modules/m/index.js', 'src/deep/y.log', 'folder/z.log']
const IGNORE_RULES = [
  '*.log\n.env\nnode_modules/\n',
  '.env\nnode_modules/\n',
  '*.log\n.env\nnode_modules/\nnew.txt\nfolder/\n',
]

const file = fc.constantFrom(...TRACKED, ...UNTRACKED)
const any = fc.constantFrom(...TRACKED, ...UNTRACKED, ...IGNORED)
const words = fc.string({ maxLength: 8 })

/** One thing an agent may do. */
const act = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('write' as const), path: any, text: words }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), path: any }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rename' as const), path: any, to: any }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('mode' as const), path: file, executable: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('link' as const), path: file, to: any }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('ignore' as const), rules: fc.constantFrom(...IGNORE_RULES) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('stage' as const), path: file }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('commit' as const), how: fc.constantFrom('', '--amend') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('switch' as const), branch: fc.constantFrom('one', 'two') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('detach' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unstage' as const) }) },
)
type Act = typeof act extends fc.Arbitrary<infer Value> ? Value : never

function makeProject(dir: string): void {
  for (const path of TRACKED) write(join(dir, path), `${path}\n`)
  chmodSync(join(dir, 'run.sh'), 0o755)
  write(join(dir, '.gitignore'), IGNORE_RULES[0] ?? '')
  git(dir, 'init', '--quiet', '--initial-branch=main')
  git(dir, 'add', '--all')
  git(dir, 'commit', '--quiet', '--message', 'The start')
  for (const path of IGNORED) write(join(dir, path), `ignored ${path}\n`)
}

test('undo removes what the rollback brought, even if the rules of that time ignore it', async () => {
  const { dir, tree, checkpoints } = await openPlace()
  write(join(dir, 'new.txt'), 'new')
  await tree.look()
  await checkpoints.keep(0)
  write(join(dir, '.gitignore'), '*.txt\n')
  write(join(dir, 'mine.txt'), 'mine')
  await tree.look()
  await checkpoints.keep(1)
  rmSync(join(dir, 'new.txt'))
  const last = read(dir)

  await rollBack(checkpoints.restoring, 0)
  expect(read(dir).files).toHaveProperty(['new.txt'])
  await undoRollBack(checkpoints.restoring)
  expect(read(dir)).toEqual(last)
})

describe('a rollback that was killed', () => {
  /**
   * Two iterations, and work of the person; then a rollback to the start that was interrupted with half of its files
   * written.
   */
  async function cutOff() {
    const place = await openPlace()
    const { dir, tree, checkpoints } = place
    write(join(dir, 'new.txt'), 'of the start, and long enough to be cut off')
    await tree.look()
    await checkpoints.keep(0)
    rmSync(join(dir, 'new.txt'))
    write(join(dir, '.gitignore'), '*.txt\n')
    write(join(dir, 'a.txt'), 'of the iteration')
    await tree.look()
    await checkpoints.keep(1)
    write(join(dir, 'run.sh'), 'of the person')
    const last = read(dir)
    await rollBack(checkpoints.restoring, 0)
    const start = read(dir)
    // Its end is taken back: marks and files are as in its middle.
    const commitOf = (name: string) => git(dir, 'rev-parse', refOf('a1', name)).toString().trim()
    await setRefs(checkpoints.repo, [refOf('a1', UNFINISHED)], commitOf('before/1'))
    await setRefs(checkpoints.repo, [refOf('a1', NOW)], commitOf('1'))
    write(join(dir, 'new.txt'), 'of the sta')
    write(join(dir, 'run.sh'), 'of the person')
    write(join(dir, '.gitignore'), '*.txt\n')
    return { ...place, last, start }
  }

  test.each<[what: string, repeat: boolean]>([
    ['repeated, and then undone', true],
    ['undone', false],
  ])('leaves nothing behind when it is %s', async (_, repeat) => {
    const { dir, checkpoints, last, start } = await cutOff()
    if (repeat) {
      expect(await rollBack(checkpoints.restoring, 0)).toEqual([
        'The last rollback was interrupted, so it was undone first. The files it left are kept as refs/ralph/a1/cut-off/1.',
      ])
      expect(read(dir)).toEqual(start)
    }
    await undoRollBack(checkpoints.restoring)
    expect(read(dir)).toEqual(last)
    await expect(undoRollBack(checkpoints.restoring)).rejects.toThrow('Nothing to undo')
  })

  test('loses nothing that somebody wrote since', async () => {
    const { dir, checkpoints } = await cutOff()
    write(join(dir, 'src/b.txt'), 'since')
    await rollBack(checkpoints.restoring, 0)
    expect(git(dir, 'show', 'refs/ralph/a1/cut-off/1:src/b.txt').toString()).toBe('since')
  })

  test('is forgotten by the next iteration, whose work is a separate state', async () => {
    const { dir, tree, checkpoints } = await cutOff()
    write(join(dir, 'src/b.txt'), 'of another iteration')
    await tree.look()
    await checkpoints.keep(2)
    const last = read(dir)
    await rollBack(checkpoints.restoring, 0)
    await undoRollBack(checkpoints.restoring)
    expect(read(dir)).toEqual(last)
  })
})

test('a rollback that is repeated is undone once', async () => {
  const { dir, tree, checkpoints } = await openPlace()
  await tree.look()
  await checkpoints.keep(0)
  write(join(dir, 'a.txt'), 'of the iteration')
  await tree.look()
  await checkpoints.keep(1)
  const last = read(dir)
  await rollBack(checkpoints.restoring, 0)
  await rollBack(checkpoints.restoring, 0)
  await undoRollBack(checkpoints.restoring)
  expect(read(dir)).toEqual(last)
})

describe.concurrent(`random work, rolled back and undone (${runs} runs from RALPH_TEST_SEED=${seed})`, () => {
  test.for(Array.from({ length: SHARES }, (_, share) => share))(
    'comes back as it was, share %i',
    LONG,
    async (share) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(act, { maxLength: 6 }), // before the loop: a dirty tree
          fc.array(fc.array(act, { maxLength: 8 }), { minLength: 1, maxLength: 2 }),
          fc.array(act, { maxLength: 3 }), // after it: the person's own
          fc.nat(),
          async (before, iterations, after, chosen) => {
            const { dir, tree, checkpoints, remove } = await openPlace()
            const states: State[] = []
            try {
              for (const [n, acts] of [before, ...iterations].entries()) {
                for (const one of acts) perform(dir, one)
                states.push(read(dir))
                const touched = bytesOf(dir)
                expect(await tree.look()).toBeDefined()
                await checkpoints.keep(n)
                expect(bytesOf(dir)).toEqual(touched)
              }
              for (const one of after) perform(dir, one)
              const last = read(dir)
              const n = chosen % states.length

              await rollBack(checkpoints.restoring, n)
              expectState(read(dir), states[n], last)
              await undoRollBack(checkpoints.restoring)
              expect(read(dir)).toEqual(last)
            } finally {
              remove()
            }
          },
        ),
        { numRuns: Math.ceil(runs / SHARES), seed: seed + share, endOnFailure: true },
      )
    },
  )
})

async function openPlace(): Promise<{ dir: string; tree: Tree; checkpoints: Checkpoints; remove(): void }> {
  const root = temporaryFolder()
  const [dir, home] = [join(root, 'work'), join(root, 'home')]
  copyModel('a project', dir, makeProject)
  mkdirSync(home)
  const tree = await openTree({ dir, home, loop: 'a1' })
  if ('none' in tree.checkpoints) throw new Error(tree.checkpoints.none)
  return { dir, tree, checkpoints: tree.checkpoints, remove: () => rmSync(root, { recursive: true, force: true }) }
}

/** What is impossible, such as renaming a missing file, is skipped. */
function perform(dir: string, one: Act): unknown {
  try {
    switch (one.kind) {
      case 'write':
        return write(join(dir, one.path), one.text)
      case 'remove':
        return rmSync(join(dir, one.path), { recursive: true, force: true })
      case 'rename':
        mkdirSync(dirname(join(dir, one.to)), { recursive: true })
        return renameSync(join(dir, one.path), join(dir, one.to))
      case 'mode':
        return lstatSync(join(dir, one.path)).isFile()
          ? chmodSync(join(dir, one.path), one.executable ? 0o755 : 0o644)
          : undefined
      case 'link':
        rmSync(join(dir, one.path), { recursive: true, force: true })
        return symlinkSync(one.to, join(dir, one.path))
      case 'ignore':
        return writeFileSync(join(dir, '.gitignore'), one.rules)
      case 'stage':
        return git(dir, '--literal-pathspecs', 'add', '--', one.path)
      case 'commit':
        return git(
          dir,
          'commit',
          '--quiet',
          '--allow-empty',
          '--all',
          '--message',
          'Work',
          ...[one.how].filter(Boolean),
        )
      case 'switch':
        return git(dir, 'switch', '--quiet', '--force-create', one.branch)
      case 'detach':
        return git(dir, 'switch', '--quiet', '--detach')
      case 'unstage':
        return git(dir, 'reset', '--quiet', '--mixed', 'HEAD')
    }
  } catch {
    return undefined // it was impossible
  }
}

type State = {
  files: Record<string, string>
  ignored: Record<string, string>
  head: string
  branches: Record<string, string>
  index: string
  status: string
}

/** All at once, since starting programs is what takes the time here. */
const LOOK = [
  'git ls-files -z --cached --others --exclude-standard',
  'git ls-files --stage -v -z',
  'git status --porcelain=v2 -z --untracked-files=all',
].join(' && echo "-- next --" && ')

function read(dir: string): State {
  const said = execFileSync('sh', ['-c', LOOK], { cwd: dir, encoding: 'utf8' }).split('-- next --\n')
  const [listed = '', index = '', status = ''] = said
  const seen = listed.split('\0')
  const all = Object.fromEntries(filesIn(dir, '').map((path) => [path, fingerprint(join(dir, path))]))
  const pick = (wanted: boolean) =>
    Object.fromEntries(Object.entries(all).filter(([path]) => seen.includes(path) === wanted))
  return {
    files: pick(true),
    ignored: pick(false),
    head: readFileSync(join(dir, '.git', 'HEAD'), 'utf8'),
    branches: branchesOf(dir),
    index,
    status,
  }
}

function branchesOf(dir: string): Record<string, string> {
  const folder = join(dir, '.git', 'refs', 'heads')
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}

/** What keeping a checkpoint must leave alone. */
function bytesOf(dir: string): string[] {
  return ['index', 'HEAD', 'logs/HEAD'].map((path) => readFileSync(join(dir, '.git', path), 'hex'))
}

function expectState(now: State, then: State | undefined, before: State): void {
  const { files, head, index, status, branches } = then ?? now
  // What was just ignored stays, even if the old rules see it.
  const stays = Object.entries(before.ignored).filter(([path]) => !isReplaced(path, files))
  const left = new Set(stays.map(([path]) => path))
  for (const [path, text] of stays) expect([path, now.ignored[path] ?? now.files[path]]).toEqual([path, text])
  expect(Object.fromEntries(Object.entries(now.files).filter(([path]) => !left.has(path)))).toEqual(files)
  expect([now.head, now.index]).toEqual([head, index])
  const branch = head.trim().replace('ref: refs/heads/', '')
  expect(now.branches[branch]).toBe(branches[branch])
  const seen = (text: string) => text.split('\0').filter((line) => !left.has(line.replace(/^\? /, '')))
  expect(seen(now.status)).toEqual(seen(status))
}

/** Where the old state has a file, a link or a folder, what is ignored today must give way. */
function isReplaced(path: string, files: Record<string, string>): boolean {
  return Object.keys(files).some(
    (other) => other === path || other.startsWith(`${path}/`) || path.startsWith(`${other}/`),
  )
}

function filesIn(dir: string, folder: string): string[] {
  return readdirSync(join(dir, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder ? `${folder}/${entry.name}` : entry.name
    if (path === '.git') return []
    return entry.isDirectory() ? filesIn(dir, path) : [path]
  })
}

function fingerprint(path: string): string {
  const stat = lstatSync(path)
  return stat.isSymbolicLink()
    ? `link ${readlinkSync(path)}`
    : `${stat.mode & 0o100 ? 'x' : '-'} ${readFileSync(path, 'hex')}`
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  if (existsSync(path) && lstatSync(path).isSymbolicLink()) rmSync(path)
  writeFileSync(path, text)
}

function git(dir: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@localhost', '-c', 'commit.gpgsign=false']
  return execFileSync('git', [...identity, ...args], { cwd: dir, encoding: 'utf8', stdio: 'pipe' })
}
