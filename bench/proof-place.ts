/**
 * The place where experiments run: how long it takes to create it with all files, and to switch to a tree in which three
 * files differ, compared to plain git. Creating it has no budget: the disk decides.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openRepository } from '../src/host/git.ts'
import { openProofPlace, type ProofPlace } from '../src/host/proof-place.ts'
import { makeRepository } from './checkpoints.ts'
import { inTemporaryFolder } from './leftovers.ts'
import type { Row } from './row.ts'
import { sideBySide, spread, timeEach } from './spread.ts'

const ROUNDS = 3
const SWITCHES = 10
const SIZES = [
  { files: 1_000, switching: 100 },
  { files: 20_000, switching: 200 },
]

export async function* proofPlace(): AsyncGenerator<Row> {
  for (const { files, switching } of SIZES)
    yield* await inTemporaryFolder((folder) => measure(folder, files, switching))
}

async function measure(folder: string, files: number, switching: number): Promise<Row[]> {
  const dir = join(folder, 'work')
  makeRepository(dir, files)
  const trees = [treeOf(dir), changed(dir)] as const
  let round = 0
  let place: ProofPlace | undefined
  const made = await sideBySide(ROUNDS, {
    ralph: () =>
      timeEach(1, async () => {
        place = await open(dir, join(folder, `home-${round++}`))
        await show(place, trees[0])
      }),
    git: () => timeEach(1, () => git(dir, 'worktree', 'add', '--quiet', '--detach', join(folder, `plain-${round++}`))),
  })
  if (!place) throw new Error('No place was created.')
  const last = place
  const plain = join(folder, 'plain')
  git(dir, 'worktree', 'add', '--quiet', '--detach', plain)
  let shows = 0
  const next = () => trees[++shows % 2] ?? ''
  const switched = await sideBySide(ROUNDS, {
    ralph: () => timeEach(SWITCHES, () => show(last, next())),
    git: () => timeEach(SWITCHES, () => git(plain, 'read-tree', '--reset', '-u', next())),
  })
  const row = (
    what: string,
    { ralph, git }: { ralph: number[][]; git: number[][] },
    yardstick: string,
    most?: number,
  ) => ({
    what: `${what}, ${files.toLocaleString('en')} files`,
    measured: spread(ralph),
    unit: 'ms' as const,
    yardstick: { what: yardstick, measured: spread(git) },
    figure: { value: spread(ralph).calm - spread(git).calm, unit: 'ms' as const },
    ...(most === undefined ? {} : { budget: most }),
  })
  return [
    row('create a place for experiments', made, 'git worktree add'),
    row('switch it to a tree with three other files', switched, 'git read-tree -u', switching),
  ]
}

/** The same tree with three different files, without changing the worktree of the repository. */
function changed(dir: string): string {
  for (const name of ['0/0.txt', '1/1.txt', '2/2.txt']) writeFileSync(join(dir, name), 'Another text.\n')
  git(dir, 'add', '--all')
  const tree = git(dir, 'write-tree')
  git(dir, 'reset', '--quiet', '--hard')
  return tree
}

function treeOf(dir: string): string {
  return git(dir, 'rev-parse', 'HEAD^{tree}')
}

async function open(dir: string, home: string): Promise<ProofPlace> {
  const repo = await openRepository(dir)
  if ('none' in repo) throw new Error(repo.none)
  mkdirSync(home)
  const signal = new AbortController().signal
  const place = await openProofPlace({ repo, home, loop: 'bench', dir, env: process.env, signal })
  if ('cannot' in place) throw new Error(place.cannot)
  return place
}

async function show(place: ProofPlace, tree: string): Promise<void> {
  const shown = await place.show(tree)
  if ('cannot' in shown) throw new Error(shown.cannot)
}

function git(dir: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: dir, encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${args.join(' ')} failed: ${stderr}`)
  return stdout.trim()
}
