/** Which of the changed tests and configuration files turn the checks green: restores all others, again and again. */
import type { Loop, Trial } from '../engine/loop.ts'
import { allChecks } from '../engine/stages.ts'
import { readFindings } from '../formats/findings.ts'
import { pathBelow } from '../host/files.ts'
import type { Repository } from '../host/git.ts'
import { readMeansBetween } from '../host/means.ts'
import { treeIn } from '../host/tree.ts'
import { type Again, type Experiments, inNewPlace } from './again.ts'
import { provingOf, startOf } from './look-at-means.ts'
import { findSmallest } from './smallest-set.ts'

/**
 * `untouched`: no test or configuration was changed. `needless`: the checks pass without those changes. `found`: with
 * `paths` as they are now, these checks pass, and without them they fail. `fails`: they do not pass at all.
 */
export type Explained =
  | { kind: 'untouched' }
  | { kind: 'needless' }
  | { kind: 'found'; checks: string[]; paths: string[]; isSmallest: boolean }
  | { kind: 'fails'; checks: string[] }
  | { kind: 'stopped' }
  | { kind: 'cannot'; why: string }

export type Explaining = Again & {
  /** Whether the checks pass with only these files as they are now. */
  saw(paths: readonly string[], passes: boolean): void
}

export async function explainProof(asked: { loop: Loop; seen: string }, tools: Explaining): Promise<Explained> {
  const explained = await inNewPlace(tools, asked, (experiments) => explain(experiments, tools.saw))
  return 'cannot' in explained ? { kind: 'cannot', why: explained.cannot } : explained
}

async function explain({ repo, loop: asked, run }: Experiments, saw: Explaining['saw']): Promise<Explained> {
  const { mayChange: _, ...spec } = asked.spec // allowed changes can turn a check green like any other
  const loop = { ...asked, spec }
  const paths = await changedMeans(repo, loop)
  if (!paths) return { kind: 'cannot', why: 'git can no longer read the original files' }
  if (paths.length === 0) return { kind: 'untouched' }
  const control = await run(loop, 'control')
  if (!control) return { kind: 'stopped' }
  if (control.why !== undefined) return { kind: 'cannot', why: control.why }
  if (failing(control).length > 0) return { kind: 'fails', checks: failing(control) }
  const sealed = await run(loop, 'sealed', { allowed: [] })
  if (!sealed) return { kind: 'stopped' }
  if (sealed.why !== undefined) return { kind: 'cannot', why: sealed.why }
  const checks = failing(sealed)
  if (checks.length === 0) return { kind: 'needless' }
  let stopped = false
  const { items, isSmallest } = await findSmallest(paths, async (kept) => {
    const trial = await run(loop, 'sealed', { allowed: [...kept], checks })
    stopped = trial === undefined
    if (!trial || trial.why !== undefined) return undefined
    saw(kept, failing(trial).length === 0)
    return failing(trial).length === 0
  })
  return stopped ? { kind: 'stopped' } : { kind: 'found', checks, paths: items, isSmallest }
}

function failing({ ran }: Trial): string[] {
  return ran.flatMap(({ check, result }) => (result === 'pass' ? [] : [check]))
}

/** Undefined if git cannot read the files. */
async function changedMeans(repo: Repository, loop: Loop): Promise<string[] | undefined> {
  const [start, now] = [startOf(loop), loop.tally.tree]
  if (start === undefined || now === undefined || allChecks(loop.spec).length === 0) return []
  const proving = { ...provingOf(loop), dir: pathBelow(repo.top, loop.spec.work.dir) ?? '' }
  const between = await readMeansBetween(repo, treeIn(start), treeIn(now), proving)
  return between?.changes.filter((change) => readFindings([change]).length > 0).map(({ path }) => path)
}
