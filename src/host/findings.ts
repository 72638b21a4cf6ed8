/** What happened to the means of proof, read from git. */
import type { Finding } from '../engine/loop.ts'
import { excusedFindings, readFindings } from '../formats/findings.ts'
import type { Proving } from '../formats/means.ts'
import { pathBelow } from './files.ts'
import { openRepository, type Repository } from './git.ts'
import { readMeansBetween } from './means.ts'

/**
 * The findings between two states of the worktree. None if one of them is not a git state. `repo`: the repository, if
 * it is already open.
 */
export async function findFindings(
  { dir, repo: known }: { dir: string; repo?: Repository },
  from: string | undefined,
  to: string | undefined,
  proving: Pick<Proving, 'checks' | 'protect' | 'mayChange'>,
): Promise<Finding[]> {
  const [before, after] = [treeIn(from), treeIn(to)]
  if (!before || before === after) return []
  const repo = known ?? (await openRepository(dir))
  if (!after || 'none' in repo) return [UNREADABLE]
  const between = await readMeansBetween(repo, before, after, { ...proving, dir: pathBelow(repo.top, dir) ?? '' })
  if (!between) return [UNREADABLE]
  const { changes, excused, helpers, unclear, isCut } = between
  const alone = unclear.filter(({ path }) => !helpers.some((one) => one.path === path))
  return [
    ...(isCut ? [CUT] : []),
    ...readFindings(changes),
    ...helpers.map(helperFinding),
    ...alone.map(unclearFinding),
    ...excusedFindings(excused),
  ]
}

function unclearFinding({ path, mark }: { path: string; mark: string }): Finding {
  return {
    kind: 'not-separable',
    path,
    words: 'the checks run it, and it may belong to the checks or to the work',
    mark,
  }
}

function helperFinding({ path, mark }: { path: string; mark: string }): Finding {
  return {
    kind: 'not-separable',
    path,
    words: 'it uses a test library or is named like one, so it may be a test helper',
    mark,
  }
}

/** Fails closed: what cannot be compared is reported. */
const UNREADABLE: Finding = { kind: 'unreadable', path: '', words: 'git can no longer read the starting state' }

const CUT: Finding = { kind: 'unreadable', path: '', words: 'the checks run more scripts than ralph follows' }

/** The tree in the text of a state; undefined for a state without git. */
function treeIn(state: string | undefined): string | undefined {
  return /^([0-9a-f]{40,64}) /.exec(state ?? '')?.[1]
}
