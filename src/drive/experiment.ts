/** Runs experiments: the checks on other combinations of work and tests, never on the user's files. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Loop, Ran, Trial } from '../engine/loop.ts'
import { redKind } from '../formats/red-kind.ts'
import { runCheck } from '../host/check.ts'
import { makePrivateFolder, pathBelow, realFolder } from '../host/files.ts'
import type { Repository } from '../host/git.ts'
import { readMeansBetween } from '../host/means.ts'
import { buildTree } from '../host/mixed-tree.ts'
import { openProofPlace, type ProofPlace } from '../host/proof-place.ts'
import { removeLinked } from '../host/proof-tree.ts'
import { type Checkpoints, treeIn } from '../host/tree.ts'
import { builtOf, firstMissing } from './built-files.ts'
import { type CheckHands, type Checking, untilCancelled } from './check-hands.ts'
import type { ProveNext } from './drive.ts'
import { provingOf, startOf } from './look-at-means.ts'
import { lookAtSettings } from './look-at-settings.ts'
import { promiseMinutes } from './promised.ts'

/** The place is created for the first experiment and kept for the others of this visit. */
export function experimentHands(bench: Checking): Pick<CheckHands, 'prove' | 'leave'> {
  let place: ProofPlace | undefined
  return {
    prove: (loop, next) =>
      untilCancelled(bench, loop, async (signal) => {
        const began = performance.now()
        // Setting it up counts against its time; finding a place for it does not.
        promiseMinutes(bench, next.ms / 60_000)
        bench.show({ kind: 'prove-start', run: next.run }, loop)
        const trial = await tryOut(bench, loop, {
          next,
          signal,
          async place(repo) {
            if (place) return place
            const opened = await openPlace(bench, loop, repo)
            if (!('cannot' in opened)) place = opened
            return opened
          },
        })
        await lookAtSettings(bench, loop)
        if (trial === 'stopped') return { kind: 'lost', at: bench.now() }
        const ms = Math.round(performance.now() - began)
        return { kind: 'proved', at: bench.now(), run: next.run, ms, ...trial }
      }),
    async leave({ id }) {
      place = undefined
      await removePlace(bench.home, id)
    },
  }
}

/** Even one that a killed driver left. */
async function removePlace(home: string, loop: string): Promise<void> {
  if (!existsSync(join(home, 'proof', loop))) return
  try {
    await removeLinked({ home: realFolder(home), loop })
  } catch {
    // It only takes up space, and the next start tries again.
  }
}

/** What an experiment needs from its driver. */
export type Trying = Pick<Checking, 'home' | 'env' | 'now' | 'deadline' | 'fence'> & {
  tree: { checkpoints: Pick<Checkpoints, 'repo'> | { none: string } }
}

export function openPlace(
  { home, env, stop, fence }: Pick<Checking, 'home' | 'env' | 'stop' | 'fence'>,
  { id, spec }: Loop,
  repo: Repository,
): ReturnType<typeof openProofPlace> {
  const { dir, proofSetup, proofFiles } = spec.work
  return openProofPlace({
    repo,
    home,
    loop: id,
    dir,
    env: { ...env, RALPH_LOOP_ID: id },
    signal: stop,
    fence,
    ...(proofFiles ? { copied: proofFiles } : {}),
    ...(proofSetup === undefined ? {} : { setup: proofSetup }),
  })
}

type Asked = {
  next: ProveNext
  signal: AbortSignal
  place(repo: Repository): Promise<ProofPlace | { cannot: string }>
}

/** Runs the checks on the files of an experiment. */
export async function tryOut(bench: Trying, loop: Loop, { next, signal, place }: Asked): Promise<Trial | 'stopped'> {
  const until = performance.now() + Math.min(next.ms, (bench.deadline ?? Number.POSITIVE_INFINITY) - bench.now())
  if (until <= performance.now()) return untried('the time for experiments is used up')
  const { checkpoints } = bench.tree
  if ('none' in checkpoints) return untried(checkpoints.none)
  const built = await treeFor(bench, loop, next, checkpoints.repo)
  if ('cannot' in built) return untried(built.cannot)
  const opened = await place(checkpoints.repo)
  if ('cannot' in opened) return untried(opened.cannot)
  const running = { checks: next.checks, place: opened, until, signal }
  // Build output made under other means of proof must not make this run pass.
  const trial = await runOn(bench, loop, { ...running, tree: built.tree, fresh: next.run === 'sealed' })
  if (next.run !== 'sealed' || trial === 'stopped' || !trial.ran.every(({ result }) => result === 'pass')) return trial
  return (await whyNotBuilt(bench, loop, { ...running, repo: checkpoints.repo })) ?? trial
}

type Running = Pick<Asked, 'signal'> & { checks: readonly string[]; place: ProofPlace; until: number }

async function runOn(
  bench: Trying,
  loop: Loop,
  { checks, place, until, signal, tree, fresh }: Running & { tree: string; fresh: boolean },
): Promise<Trial | 'stopped'> {
  const shown = await place.show(tree, { fresh, minutes: minutesUntil(until) })
  if ('cannot' in shown) return untried(shown.cannot)
  const ran: Ran[] = []
  for (const check of checks) {
    const minutes = Math.min(loop.spec.work.checkMinutes, minutesUntil(until))
    if (minutes <= 0) return { ran, why: 'the time for experiments is used up' }
    const env = { ...bench.env, ...place.env, RALPH_LOOP_ID: loop.id }
    const { fence, home } = bench
    const verdict = await runCheck(place.translate(check), { dir: shown.dir, env, minutes, signal, fence, home })
    if (!verdict) return 'stopped'
    const { tail, ...rest } = verdict
    ran.push({ ...rest, check, ...(verdict.result === 'fail' ? { red: redKind(tail) } : {}) })
  }
  return { ran }
}

function minutesUntil(until: number): number {
  return (until - performance.now()) / 60_000
}

/** A sealed run lacks changed files that git ignores: fine for build output, which the original files produce too. */
async function whyNotBuilt(
  bench: Trying,
  loop: Loop,
  { repo, ...running }: Running & { repo: Repository },
): Promise<Trial | 'stopped' | undefined> {
  const start = treeIn(startOf(loop) ?? '')
  const paths = await builtOf(repo, loop, [start, treeIn(loop.tally.tree ?? '')])
  if (paths.length === 0) return undefined
  const trial = await runOn(bench, loop, { ...running, tree: start, fresh: true })
  if (trial === 'stopped') return trial
  if (trial.why !== undefined) return untried(trial.why)
  const missing = firstMissing(running.place.top, paths)
  return missing === undefined ? undefined : untried(`${missing} is not in git, and the checks do not create it`)
}

function untried(why: string): Trial {
  return { ran: [], why }
}

/** The files of an experiment, as a tree object. */
async function treeFor(
  { home }: Pick<Trying, 'home'>,
  loop: Loop,
  { run, allowed }: ProveNext,
  repo: Repository,
): Promise<{ tree: string } | { cannot: string }> {
  const [start, now] = [startOf(loop), loop.tally.tree]
  if (start === undefined || now === undefined) return { cannot: 'ralph did not see the files at the start' }
  const [old, present] = [treeIn(start), treeIn(now)]
  if (run === 'control') return { tree: present }
  if (run === 'start') return { tree: old }
  const between = await readMeansBetween(repo, old, present, {
    ...provingOf(loop),
    dir: pathBelow(repo.top, loop.spec.work.dir) ?? '',
  })
  if (!between) return { cannot: 'git can no longer read the original files' }
  const folder = join(home, 'proof', loop.id)
  makePrivateFolder(folder)
  const [base, from] = run === 'sealed' ? [present, old] : [old, present]
  const index = join(folder, 'index') // removed with the place
  const built = await buildTree(repo, {
    base,
    from,
    means: between.means,
    index,
    allowed: run === 'sealed' ? [...allowed, ...between.excused.map(({ path }) => path)] : [],
  })
  if ('tree' in built) return built
  return { cannot: built.paths.length > 0 ? `${built.cannot} (${built.paths.join(', ')})` : built.cannot }
}
