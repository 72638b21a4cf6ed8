/** Hands that run the checks: on the current files and, as experiments, in a separate place. */
import type { Fact, Loop, Verdict } from '../engine/loop.ts'
import { runCheck } from '../host/check.ts'
import { treeIn } from '../host/tree.ts'
import type { CheckNext, Hands } from './drive.ts'
import { experimentHands } from './experiment.ts'
import type { Workbench } from './hands.ts'
import { keepMarks, lookAtMeans, lookAtStart } from './look-at-means.ts'
import { lookAtSettings } from './look-at-settings.ts'
import { promiseMinutes } from './promised.ts'
import { keepStart } from './turn-ended.ts'

export type Checking = Pick<
  Workbench,
  'home' | 'store' | 'tree' | 'env' | 'now' | 'stop' | 'lost' | 'expect' | 'show' | 'known' | 'fence'
> & {
  /** When the experiments must end. Absent: as long as the loop allows. */
  deadline?: number
}

export type CheckHands = Required<Pick<Hands, 'check' | 'prove' | 'leave'>>

export function checkHands(bench: Checking): CheckHands {
  return {
    check: (loop, next) => untilCancelled(bench, loop, (signal) => runChecks(bench, loop, next, signal)),
    ...experimentHands(bench),
  }
}

/**
 * A cancel stops the running agent or check, and so does a takeover of the loop; every other order waits until it ends.
 * Once ralph itself is stopping, nothing new starts.
 */
export async function untilCancelled(
  bench: Pick<Workbench, 'store' | 'stop' | 'lost'>,
  loop: Loop,
  work: (signal: AbortSignal) => Promise<Fact | undefined>,
): Promise<Fact | undefined> {
  if (bench.stop.aborted) return undefined
  const cancel = new AbortController()
  const look = async () => {
    const fact = await bench.store.nextOrder(loop.id)
    if (fact?.kind === 'told' && fact.order.kind === 'cancel') cancel.abort()
  }
  // A store that cannot be read now is noticed when the turn is saved.
  const unwatch = bench.store.onChange(() => void look().catch(() => {}))
  try {
    return await work(AbortSignal.any([cancel.signal, bench.stop, ...(bench.lost ? [bench.lost] : [])]))
  } finally {
    unwatch()
  }
}

async function runChecks(bench: Checking, loop: Loop, next: CheckNext, signal: AbortSignal): Promise<Fact> {
  const isStart = next.because === 'start'
  promiseMinutes(bench, 0)
  if (isStart) await keepStart(bench, loop)
  bench.show({ kind: 'check-start' }, loop)
  const began = performance.now()
  const marks = isStart ? await keepMarks(bench, loop) : undefined
  const known = isStart ? await knownVerdicts(bench, loop) : []
  const verdicts: Verdict[] = []
  for (const check of next.checks) {
    const minutes = minutesFor(loop, next, performance.now() - began)
    promiseMinutes(bench, minutes)
    const verdict = known.find((one) => one.check === check) ?? (await runOne(bench, loop, { check, minutes, signal }))
    if (verdict === 'stopped') return { kind: 'lost', at: bench.now() }
    if (verdict) verdicts.push(verdict)
  }
  const ms = Math.round(performance.now() - began)
  promiseMinutes(bench, 0)
  await lookAtSettings(bench, loop)
  const tree = await bench.tree.look()
  if (tree !== undefined) bench.known?.set(treeIn(tree), verdicts)
  const findings = isStart ? await lookAtStart(bench, loop) : await lookAtMeans(bench, loop, tree)
  return {
    kind: 'checked',
    at: bench.now(),
    verdicts,
    findings,
    ms,
    ...(tree === undefined ? {} : { tree }),
    ...(marks === undefined ? {} : { marks }),
  }
}

/** What other loops have just seen on the same files. */
async function knownVerdicts({ known, tree }: Checking, { tally }: Loop): Promise<Verdict[]> {
  if (!known) return []
  const state = tally.startTree ?? (await tree.look())
  return known.get(treeIn(state ?? '')) ?? []
}

/** The baseline must not take long: what is unknown by then counts as passed. */
function minutesFor({ spec }: Loop, { because }: CheckNext, spentMs: number): number {
  const { checkMinutes, baselineMinutes } = spec.work
  if (because !== 'start' || baselineMinutes === undefined) return checkMinutes
  return Math.min(checkMinutes, baselineMinutes - spentMs / 60_000)
}

type One = { check: string; minutes: number; signal: AbortSignal }

async function runOne(
  { env, fence, home }: Checking,
  { id, spec }: Loop,
  { check, minutes, signal }: One,
): Promise<Verdict | 'stopped' | undefined> {
  if (minutes <= 0) return undefined
  const place = { dir: spec.work.dir, env: { ...env, RALPH_LOOP_ID: id }, minutes, signal, fence, home }
  const verdict = await runCheck(check, place)
  return verdict ?? 'stopped'
}
