/**
 * ralph's own time between two iterations in a git repository, where every iteration changes a file and gets a checkpoint.
 * Measured as without git: the time between two runs of the agent under ralph, minus that of a bare Node loop.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeGaps, ralphGapsIn } from './gaps.ts'
import { inTemporaryFolder } from './leftovers.ts'
import type { Row } from './row.ts'
import { sideBySide, spread, timeEach } from './spread.ts'

const ROUNDS = 4
const SIZES = [
  { files: 1_000, budget: 60 },
  { files: 20_000, budget: 200 },
]

export async function* checkpoints(): AsyncGenerator<Row> {
  for (const { files, budget } of SIZES) yield await inTemporaryFolder((folder) => measure(folder, files, budget))
}

async function measure(folder: string, files: number, budget: number): Promise<Row> {
  const dir = join(folder, 'work')
  makeRepository(dir, files)
  const agent = join(folder, 'agent.sh')
  // It changes one file and finally writes the time.
  writeFileSync(agent, '#!/bin/sh\necho $$ >> 0/0.txt\nexec date +%s%N\n', { mode: 0o755 })
  let round = 0
  const taken = await sideBySide(ROUNDS, {
    ralph: () => ralphGapsIn(dir, join(folder, `home-${round++}`), [agent]),
    node: () => nodeGaps(dir, [agent]),
    status: () => timeEach(10, () => git(dir, 'status', '--porcelain')),
  })
  const [ralph, node, status] = [spread(taken.ralph), spread(taken.node), spread(taken.status)]
  return {
    what: `the same in git with checkpoints, ${files.toLocaleString('en')} files`,
    measured: ralph,
    unit: 'ms',
    yardstick: { what: 'git status in the same repository', measured: status },
    figure: { value: ralph.calm - node.calm, unit: 'ms' },
    budget,
  }
}

/** A hundred files per folder, all committed. */
export function makeRepository(dir: string, files: number): void {
  for (let file = 0; file < files; file++) {
    const folder = join(dir, String(Math.floor(file / 100)))
    if (file % 100 === 0) mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `${file % 100}.txt`), `File ${file} of the project.\n`)
  }
  git(dir, 'init', '--quiet')
  git(dir, 'add', '--all')
  git(dir, '-c', 'user.name=bench', '-c', 'user.email=bench@localhost', 'commit', '--quiet', '--message', 'The start')
}

function git(dir: string, ...args: string[]): void {
  const { status, stderr } = spawnSync('git', args, { cwd: dir, encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${args.join(' ')} failed: ${stderr}`)
}
