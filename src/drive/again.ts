/** A loop's experiments outside of any visit: on the files its checks saw, in a new place, with nothing of the loop changed. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Finding, Loop, Run, Tally, Trial } from '../engine/loop.ts'
import { proveNext } from '../engine/proof.ts'
import { isFolder, makePrivateFolder, pathBelow } from '../host/files.ts'
import { findFindings } from '../host/findings.ts'
import { openRepository, type Repository } from '../host/git.ts'
import { isGone } from '../host/pid.ts'
import type { ProofPlace } from '../host/proof-place.ts'
import { removeLinked } from '../host/proof-tree.ts'
import { fenceOf } from '../host/sandbox.ts'
import { openPlace, tryOut } from './experiment.ts'
import { provingOf, startOf } from './look-at-means.ts'

export type Again = {
  home: string
  env: Readonly<Record<string, string | undefined>>
  now: () => number
  signal: AbortSignal
}

export type Experiments = {
  repo: Repository
  /** The loop as it was when its checks saw these files, with no experiment run. */
  loop: Loop
  /** Undefined: it was interrupted. All of them together may take as long as the experiments of a loop. */
  run(loop: Loop, run: Run, how?: How): Promise<Trial | undefined>
}

/** `allowed`: changed means that stay as they are. Absent: those that a person has allowed, and all checks. */
type How = { allowed?: string[]; checks?: string[] }

/** `seen`: the state that the checks saw. The place is removed afterwards, whatever happens. */
export async function inNewPlace<Result>(
  { home, env, now, signal }: Again,
  { loop: original, seen }: { loop: Loop; seen: string },
  work: (experiments: Experiments) => Promise<Result>,
): Promise<Result | { cannot: string }> {
  const dir = folderOf(original)
  const repo = await openRepository(dir)
  if ('none' in repo) return { cannot: `${dir}: ${repo.none}` }
  const apart = join(home, 'again') // its driver may have a place of its own at the same time
  makePrivateFolder(apart)
  await removeLeftOver(apart)
  const loop = await bare({ ...original, id: `again-${original.id}-${process.pid}` }, { dir, seen })
  const fence = fenceOf(home, original.spec.work)
  const bench = { home: apart, env, now, tree: { checkpoints: { repo } }, fence }
  let spentMs = 0
  let place: ProofPlace | undefined
  const open = async () => {
    if (place) return place
    const opened = await openPlace({ home: apart, env, stop: signal, fence }, loop, repo)
    if ('cannot' in opened) return opened
    // What one run has built must not help the next one.
    place = { ...opened, show: (tree, how) => opened.show(tree, { ...how, fresh: true }) }
    return place
  }
  try {
    return await work({
      repo,
      loop,
      async run(at, run, how = {}) {
        const began = performance.now()
        const next = { ...proveNext({ ...at, tally: { ...at.tally, proofMs: spentMs } }, run), ...how }
        const trial = await tryOut(bench, at, { next, signal, place: open })
        spentMs += performance.now() - began
        return trial === 'stopped' || signal.aborted ? undefined : trial
      },
    })
  } finally {
    await removeLinked({ home: apart, loop: loop.id })
  }
}

/** The worktree of a loop may have been merged and removed; its files are in the person's repository, too. */
function folderOf({ spec: { work } }: Loop): string {
  const { dir, worktree } = work
  if (isFolder(dir) || !worktree) return dir
  return join(worktree.from, pathBelow(worktree.path, dir) ?? '')
}

/** Nothing is taken from what was known: neither what the checks said nor any experiment. */
async function bare(loop: Loop, { dir, seen }: { dir: string; seen: string }): Promise<Loop> {
  const { before: _before, after: _after, trials: _trials, ...tally } = loop.tally
  const { proof, ...spec } = loop.spec
  const placed = { ...loop, spec: { ...spec, ...(proof === 'seal' ? { proof } : {}), work: { ...spec.work, dir } } }
  const shown = (await findFindings({ dir }, startOf(placed), seen, provingOf(placed))).map((one) =>
    asAllowed(tally, one),
  )
  const isShown = (one: Finding) => shown.some(({ kind, path }) => kind === one.kind && path === one.path)
  // What git does not show, such as another program in node_modules, was noticed then and can no longer be looked at.
  const findings = [...shown, ...tally.findings.filter((one) => !isShown(one))]
  return { ...placed, tally: { ...tally, tree: seen, findings } satisfies Tally }
}

/** An older ralph knew only the path of what a person allowed; on the very files that it judged that is enough. */
function asAllowed({ allowed = [] }: Tally, finding: Finding): Finding {
  if (!allowed.some(({ path, mark }) => path === finding.path && mark === undefined)) return finding
  const { mark: _, ...unmarked } = finding
  return unmarked
}

/** Places of processes that were killed. */
async function removeLeftOver(home: string): Promise<void> {
  const folder = join(home, 'proof')
  if (!existsSync(folder)) return
  for (const loop of readdirSync(folder)) {
    const [, pid] = /^again-.*-(\d+)$/.exec(loop) ?? []
    if (pid !== undefined && isGone(Number(pid))) await removeLinked({ home, loop })
  }
}
