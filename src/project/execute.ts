/** `ralph execute`: works through the tasks of a project, one or several at a time, until none can continue. */
import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { ALLOW, ended, type Loop } from '../engine/loop.ts'
import { mayTryAgain, type ProjectStop, plan, stopOf } from '../engine/schedule.ts'
import { readHead, repositoryAt } from '../host/branch.ts'
import { pathBelow } from '../host/files.ts'
import { tipOf } from '../host/merge.ts'
import { ensureWorktree, repositoryOf } from '../host/worktree.ts'
import { type Execution, type Outcome, openDesk, pausedBy, troubleOf } from './desk.ts'
import { enterTurn } from './enter-turn.ts'
import { closeCompleted, commitTask, mergeTask } from './merge.ts'
import { projectOf } from './owner.ts'
import { type Open, openOf, type ProjectRecord, planned, taskOf, withTask } from './record.ts'
import type { Site } from './site.ts'
import { spentBefore } from './spending.ts'
import { driveProjectTask } from './task.ts'

/** `iterations`: of this execution only. */
export type Executed = { stop: ProjectStop; record: ProjectRecord; iterations: number }

export async function execute(execution: Execution): Promise<Executed> {
  const startedAt = execution.now()
  const desk = openDesk(execution, startedAt, await spentBefore(execution))
  const { site } = desk
  execution.started(site.keeper.record)
  await tidy(site)
  const working = new Map<string, Promise<void>>()
  const work = (id: string) =>
    workOn(site, id)
      .then((outcome) => desk.take(id, outcome))
      .finally(() => {
        working.delete(id)
        execution.progress(site.keeper.record, new Set(working.keys()))
      })
  try {
    for (;;) {
      const next = plan(site.keeper.record.tasks.tasks.map(planned), desk.going(new Set(working.keys())))
      if (next.kind === 'stop') {
        const { kind: _, ...stop } = next
        await desk.closed()
        await site.keeper.change((record) => ({
          ...settled(record),
          workedMs: record.workedMs + site.now() - startedAt,
        }))
        const { record } = site.keeper
        return { stop, record, iterations: site.turns.taken }
      }
      for (const id of next.kind === 'start' ? next.ids : []) working.set(id, work(id))
      execution.progress(site.keeper.record, new Set(working.keys()))
      await Promise.race(working.values())
    }
  } finally {
    desk.close()
    await Promise.allSettled([...working.values(), desk.closed()])
  }
}

/** Finishes what a dead ralph left half-done before anything new starts. */
async function tidy(site: Site): Promise<void> {
  const { keeper, store } = site
  for (const open of keeper.record.open) {
    const loop = await store.load(open.loop).catch(() => undefined) // ralph was killed before it created the loop
    if (open.halted) continue
    if (loop?.next.kind === 'halt') {
      await enterTurn(site, loop)
      await giveUp(site, open.task, loop)
      continue
    }
    const task = taskOf(keeper.record, open.task)
    if (task.status === 'completed') await closeCompleted(site, open)
    else if (task.blocked && (await store.nextOrder(open.loop)))
      await keeper.change((record) => withTask(record, open.task, { blocked: false, status: 'pending' }))
  }
  await keeper.restore()
}

/** Nothing is in progress any longer. */
function settled(record: ProjectRecord): ProjectRecord {
  const tasks = record.tasks.tasks.map((task) =>
    task.status === 'in_progress' ? { ...task, status: 'pending' as const } : task,
  )
  return { ...record, tasks: { ...record.tasks, tasks } }
}

/** Runs a task as far as it goes now. */
async function workOn(site: Site, id: string): Promise<Outcome> {
  try {
    await openTask(site, id)
    for (;;) {
      const loop = await driveProjectTask(site, openOf(site.keeper.record, id))
      if (loop.next.kind !== 'complete') return outcomeOf(site, id, loop)
      const arrival = await arrive(site, loop)
      if (arrival === 'again') {
        if (mayTryAgain(planned(taskOf(site.keeper.record, id)))) continue
        await site.keeper.changeOpen(id, (open) => ({ ...open, halted: true }))
        return 'unfinished'
      }
      if (arrival !== 'arrived') return arrival
      const order = await site.store.nextOrder(loop.id) // too late for the loop, but not for the project
      const paused = order?.kind === 'told' && order.order.kind === 'pause'
      return { done: loop.next.proof, ...(paused ? { halt: pausedBy(site) } : {}) }
    }
  } catch (cause) {
    return { halt: troubleOf(id, cause) }
  }
}

/** Starts a task, or resumes one that was started. */
async function openTask(site: Site, id: string): Promise<void> {
  const { keeper, project } = site
  const known = keeper.record.open.find(({ task }) => task === id)
  const before = taskOf(keeper.record, id).attempts
  if (known && !known.halted) return takeUpAgain(site, known)
  const loop = site.newId()
  const worktree = known?.worktree ?? (site.parallel ? await planFor(site, loop) : undefined)
  const open: Open = {
    task: id,
    loop,
    before,
    notes: [],
    entries: keeper.record.entries.length,
    ...(worktree ? { worktree, base: worktree.commit } : await headAt(project.dir)),
  }
  await keeper.change((record) => ({
    ...withTask(record, id, { status: 'in_progress' }),
    loops: [...record.loops, loop],
    open: [...record.open.filter(({ task }) => task !== id), open],
  }))
  if (worktree) await makeWorktree(worktree)
}

/** The folder of the project may be in no commit. */
async function makeWorktree(worktree: NonNullable<Open['worktree']>): Promise<void> {
  await ensureWorktree(worktree, async () => {})
  mkdirSync(worktree.dir, { recursive: true })
}

/** The branch and the commit that work starts from. */
async function headAt(dir: string): Promise<Pick<Open, 'branch' | 'base'>> {
  const repo = await repositoryAt(dir)
  const { branch, commit } = repo ? await readHead(repo) : {}
  return { ...(branch === undefined ? {} : { branch }), ...(commit === undefined ? {} : { base: commit }) }
}

/** Its own worktree starts at the tip of the branch, which has the work of all its dependencies. */
async function planFor({ project, home, branch = '', copied, setup }: Site, loop: string): Promise<Open['worktree']> {
  const repo = await repositoryOf(project.dir)
  const path = join(realpathSync(home), 'worktrees', loop)
  return {
    from: project.dir,
    path,
    branch: `ralph/${loop}`,
    base: branch,
    commit: await tipOf(repo.top, branch),
    ...(copied.length > 0 ? { copied } : {}),
    ...(setup === undefined ? {} : { setup }),
    dir: join(path, pathBelow(repo.top, project.dir) ?? ''),
  }
}

/** A task that waited for a person continues, since a person restarted the project. */
async function takeUpAgain({ store, keeper, project, copied, setup }: Site, open: Open): Promise<void> {
  const { task, loop: id, worktree } = open
  await keeper.change((record) => withTask(record, task, { status: 'in_progress', blocked: false }))
  if (worktree) {
    const { copied: _, setup: __, ...rest } = worktree
    const now = {
      ...rest,
      ...(copied.length > 0 ? { copied } : {}),
      ...(setup === undefined ? {} : { setup }),
    }
    await keeper.changeOpen(task, (before) => ({ ...before, worktree: now }))
    await makeWorktree(now)
  }
  // Between two turns, HEAD is the user's choice.
  else if (!open.turn) {
    const head = await headAt(project.dir)
    await keeper.changeOpen(task, ({ branch: _, base: __, ...rest }) => ({ ...rest, ...head }))
  }
  const loop = await store.load(id).catch(() => undefined) // ralph was killed before it created the loop
  if (!loop || ended(loop) || loop.next.kind !== 'wait' || loop.next.until !== undefined) return
  if (!(await store.nextOrder(id))) await store.tell(id, 'you', { kind: 'resume' })
}

async function arrive(site: Site, loop: Loop): Promise<Awaited<ReturnType<typeof mergeTask>>> {
  if (openOf(site.keeper.record, projectOf(loop).task).worktree) return alone(site, () => mergeTask(site, loop))
  await commitTask(site, loop)
  await enterTurn(site, loop, true)
  return 'arrived'
}

/** One merge at a time. */
const queues = new WeakMap<Site, Promise<unknown>>()

function alone<Result>(site: Site, work: () => Promise<Result>): Promise<Result> {
  const mine = (queues.get(site) ?? Promise.resolve()).then(work, work)
  queues.set(site, mine)
  return mine
}

/** Its loop has ended. The next one starts from what it left in its worktree. */
function giveUp({ keeper }: Site, task: string, { tally }: Loop): Promise<void> {
  return keeper.change((before) => {
    const open = openOf(before, task)
    // An interrupted turn is not an attempt.
    const record = withTask(before, task, { attempts: open.before + tally.iteration })
    const others = record.open.filter((other) => other.task !== task)
    return { ...record, open: open.worktree ? [...others, { ...open, halted: true as const }] : others }
  })
}

async function outcomeOf(site: Site, id: string, loop: Loop): Promise<Outcome> {
  const { keeper } = site
  const { next } = loop
  if (next.kind === 'halt') {
    await giveUp(site, id, loop)
    const halt = stopOf(planned(taskOf(keeper.record, id)), next)
    return halt ? { halt } : 'unfinished'
  }
  if (next.kind !== 'wait' || next.until !== undefined) return 'unfinished'
  if (taskOf(keeper.record, id).blocked) return 'blocked'
  if (next.why === 'paused') return { halt: pausedBy(site) }
  const answer = next.about === ALLOW ? `Allow it: ralph allow ${loop.id} · or say what to do instead` : 'Answer with'
  return { asks: `${next.question ?? ''} ${answer}: ralph steer ${loop.id} "…"` }
}
