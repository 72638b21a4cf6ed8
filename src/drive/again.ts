/**
 * Runs a loop's experiments again outside of any visit: on the files its checks saw, in a new place, without changing
 * the loop.
 */
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
  /** The loop as it was when its checks saw these files, before any experiment. */
  loop: Loop
  /** Undefined: interrupted. Together they may take as long as the experiments of a loop. */
  run(loop: Loop, run: Run, how?: How): Promise<Trial | undefined>
}

/** `allowed`: changed means that stay as they are. Absent: those that a person allowed, and all checks. */
type How = { allowed?: string[]; checks?: string[] }

/** `seen`: the state that the checks saw. The place is always removed afterwards. */
export async function inNewPlace<Result>(
  { home, env, now, signal }: Again,
  { loop: original, seen }: { loop: Loop; seen: string },
  work: (experiments: Experiments) => Promise<Result>,
): Promise<Result | { cannot: string }> {
  const dir = folderOf(original)
  const repo = await openRepository(dir)
  if ('none' in repo) return { cannot: `${dir}: ${repo.none}` }
  const apart = join(home, 'again') // its driver may be using its own place at the same time
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
    // Build output of one run must not help the next.
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

/** The loop's worktree may have been merged and removed; the user's repository has its files too. */
function folderOf({ spec: { work } }: Loop): string {
  const { dir, worktree } = work
  if (isFolder(dir) || !worktree) return dir
  return join(worktree.from, pathBelow(worktree.path, dir) ?? '')
}

/** Ignores everything known so far: both check results and experiments. */
async function bare(loop: Loop, { dir, seen }: { dir: string; seen: string }): Promise<Loop> {
  const { before: _before, after: _after, trials: _trials, ...tally } = loop.tally
  const { proof, ...spec } = loop.spec
  const placed = { ...loop, spec: { ...spec, ...(proof === 'seal' ? { proof } : {}), work: { ...spec.work, dir } } }
  const shown = (await findFindings({ dir }, startOf(placed), seen, provingOf(placed))).map((one) =>
    asAllowed(tally, one),
  )
  const isShown = (one: Finding) => shown.some(({ kind, path }) => kind === one.kind && path === one.path)
  // What git does not show, such as another program in node_modules, was noticed then and can no longer be examined.
  const findings = [...shown, ...tally.findings.filter((one) => !isShown(one))]
  return { ...placed, tally: { ...tally, tree: seen, findings } satisfies Tally }
}

/** Older versions recorded only the path that a person allowed; on exactly the files it judged, that is enough. */
function asAllowed({ allowed = [] }: Tally, finding: Finding): Finding {
  if (!allowed.some(({ path, mark }) => path === finding.path && mark === undefined)) return finding
  const { mark: _, ...unmarked } = finding
  return unmarked
}

/** Places left by killed processes. */
async function removeLeftOver(home: string): Promise<void> {
  const folder = join(home, 'proof')
  if (!existsSync(folder)) return
  for (const loop of readdirSync(folder)) {
    const [, pid] = /^again-.*-(\d+)$/.exec(loop) ?? []
    if (pid !== undefined && isGone(Number(pid))) await removeLinked({ home, loop })
  }
}
