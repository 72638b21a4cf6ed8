/** The merge queue: merges one task at a time into its base and checks the result; sends back what cannot be merged. */
import { ended, type Loop, type Verdict } from '../engine/loop.ts'
import { allChecks } from '../engine/stages.ts'
import { fleetOf } from '../fleet/owner.ts'
import { type Asked, provisional } from '../fleet/submit.ts'
import type { FleetTask } from '../formats/fleet-task.ts'
import { runCheck } from '../host/check.ts'
import { bringSecrets } from '../host/fleet-secrets.ts'
import type { FleetJob } from '../host/fleet-store.ts'
import { type MergedIntoBase, mergeIntoBase, type Together } from '../host/merge-into-base.ts'
import { secretsOf } from '../host/sealed.ts'
import { waitingComments } from './comments.ts'
import { type Desk, sentenceOf } from './fleet-desk.ts'
import type { Visiting } from './fleet-visit.ts'

/** How often work is sent back before its task fails. */
const MOST_BACK = 3
const BEAT_MS = 5_000
/** For fetching and pushing, in addition to the checks. */
const GIT_MS = 20 * 60_000
const AGAIN_MS = 10_000

export async function mergeTask({ desk, stop }: Visiting, job: FleetJob): Promise<void> {
  const { fleet } = desk.store
  const task = await fleet.load(job.task)
  if (task?.state === 'merging' && task.repo !== null) {
    const loop = await desk.store.load(task.loop_id)
    const result = await whileAlive(desk, { job, loop, stop }, (signal) => merge(desk, task, { loop, signal }))
    await settle(desk, task, { loop, result })
  }
  await fleet.queue.settle(job)
}

type Merging = { loop: Loop; signal: AbortSignal }

async function merge(desk: Desk, task: FleetTask, { loop, signal }: Merging): Promise<MergedIntoBase> {
  const { context, store } = desk
  await bringSecrets(context.home, store.fleet, loop.spec)
  try {
    return await mergeIntoBase({
      home: context.home,
      repo: task.repo ?? '',
      base: task.base ?? 'main',
      branch: task.branch,
      loop: loop.id,
      signal,
      message: `Merge ${task.branch}: ${task.title}\n\nRalph-Task: ${task.id}\nRalph-Loop: ${loop.id}\n`,
      check: (together) => checks(desk, { loop, signal }, together),
    })
  } catch (cause) {
    return { kind: 'unreachable', why: sentenceOf(cause) }
  }
}

/** If the merged files are exactly the proven ones, no check runs again. */
async function checks(
  { context }: Desk,
  { loop, signal }: Merging,
  { dir, same }: Together,
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = []
  const { open } = secretsOf(context.home, loop.spec)
  for (const check of same ? [] : allChecks(loop.spec)) {
    const env = { ...context.env, RALPH_LOOP_ID: loop.id }
    const place = { dir, env, minutes: loop.spec.work.checkMinutes, signal, home: context.home }
    const verdict = await runCheck(open(check), place)
    if (verdict) verdicts.push({ ...verdict, check })
  }
  return verdicts
}

type Living = { job: FleetJob; loop: Loop; stop: AbortSignal }

/** Keeps the job's heartbeat going for as long as a merge may take, and no longer. */
async function whileAlive<Result>(
  { store, progress }: Desk,
  { job, loop, stop }: Living,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const gone = new AbortController()
  const minutes = allChecks(loop.spec).length * loop.spec.work.checkMinutes
  const until = performance.now() + GIT_MS + minutes * 60_000
  const beat = setInterval(async () => {
    progress()
    if (performance.now() > until || !(await store.fleet.queue.touch(job).catch(() => true))) gone.abort()
  }, BEAT_MS)
  try {
    return await work(AbortSignal.any([gone.signal, stop]))
  } finally {
    clearInterval(beat)
  }
}

async function settle(
  desk: Desk,
  task: FleetTask,
  { loop, result }: { loop: Loop; result: MergedIntoBase },
): Promise<void> {
  const { store, say, context } = desk
  const only = { from: ['merging'] } as const
  if (result.kind === 'merged') {
    await store.fleet.change(
      task.id,
      { state: 'done', merge_job: false, sentence: `Merged into ${task.base} as ${result.commit.slice(0, 12)}.` },
      only,
    )
    return say(`merged into ${task.base}`, task)
  }
  if (result.kind === 'unreachable') {
    say(`cannot be merged now: ${result.why}`, task)
    await store.fleet.change(
      task.id,
      { merge_job: false, sentence: result.why, due_at: context.now() + AGAIN_MS },
      only,
    )
    return
  }
  const why = wordsOf(task, result)
  say(why, task)
  if (result.kind === 'refused' || task.sent_back >= MOST_BACK || !ended(loop)) {
    await store.fleet.change(task.id, { state: 'failed', merge_job: false, sentence: why }, only)
    return
  }
  const { request } = (await store.fleet.asked(task.id)) as Asked // stored in this form when it was submitted
  const again = await provisional(request, { owner: fleetOf(loop), agents: task.agents, now: context.now() })
  const patch = { state: 'ready', merge_job: false, sent_back: task.sent_back + 1, sentence: why } as const
  const words = `Your work could not be merged into ${task.base}. ${why} Merge origin/${task.base} into your branch and fix that.`
  const says = { by: 'ralph', order: { kind: 'say', words } } as const
  await store.fleet.again(task.id, { loop: again, first: [...waitingComments(loop), says], patch, only })
}

function wordsOf({ base }: FleetTask, result: Exclude<MergedIntoBase, { kind: 'merged' | 'unreachable' }>): string {
  if (result.kind === 'conflict') return `It conflicts with ${base} in ${result.paths.slice(0, 10).join(', ')}.`
  if (result.kind !== 'red') return `It cannot be merged into ${base}: ${result.why}`
  const failed = result.failed.map(({ check, tail }) => `${check} fails:\n${tail.slice(-2_000)}`)
  return `Merged with ${base}, ${failed.join('\n')}`
}
