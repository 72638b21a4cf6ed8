/**
 * What happened in a vault since a given time, gathered from the store for every loop of its tasks, including restarted
 * ones, and from the vault's files.
 */
import { join } from 'node:path'
import { count } from '../engine/limits.ts'
import { ended, type Loop } from '../engine/loop.ts'
import { allChecks } from '../engine/stages.ts'
import type { Briefing, Spent } from '../formats/briefing.ts'
import { printCommandLine } from '../formats/command-line.ts'
import { gradeFields } from '../formats/proof-words.ts'
import { taskCommand } from '../formats/task-command.ts'
import type { TaskRow } from '../host/store.ts'
import { answersTo } from './answers.ts'
import type { VaultDesk } from './desk.ts'
import { earlierTask, formerTask } from './earlier.ts'
import { followMovedVault } from './finding.ts'
import { arrived } from './inbox.ts'
import { isFinal, statusOfTask } from './lifecycle.ts'
import {
  completedElsewhere,
  isStuckElsewhere,
  type OtherTask,
  spentElsewhere,
  stopElsewhere,
  tasksOfOthers,
  underwayElsewhere,
  waitingElsewhere,
} from './others.ts'
import { inodeOf, isTaskId, NEEDS_ACTION, namesIn, taskIdOf } from './place.ts'
import { type Refused, refusedSince } from './refused.ts'
import { spentSince, sumOf } from './spending.ts'
import { endOverdue } from './tasks.ts'
import { progressOf, stateOf, time } from './telling.ts'
import type { VaultTask } from './vault-task.ts'
import { vaultOf } from './vault-task.ts'
import { findFile, isPlainFile } from './where.ts'

export async function gatherBriefing(desk: VaultDesk, since: number): Promise<Briefing> {
  const { store, vault, now } = desk
  await followMovedVault(desk)
  const others = await tasksOfOthers(desk)
  const elsewhere = new Set(others.map(({ task }) => task.id))
  for (const row of await store.tasks.list(vault)) if (!elsewhere.has(row.id)) await endOverdue(desk, row)
  const until = now()
  const isRecent = ({ movedAt }: { movedAt: number }) => movedAt >= since
  const known = await knownLoops(desk, since)
  const newest = known.flatMap(({ row, ...rest }) => (row && !elsewhere.has(row.id) ? [{ ...rest, row }] : []))
  const halted = newest.filter(({ loop }) => loop.next.kind === 'halt')
  const stopped = others.filter(isStuckElsewhere)
  const [inSpan, movedElsewhere] = [known.filter(isRecent), others.filter(isRecent)]
  const found = {
    completed: [
      ...inSpan.flatMap(completedIn),
      ...movedElsewhere.filter(({ state }) => state.status === 'completed').map(completedElsewhere),
    ].sort((a, b) => byTime(a.completed_at, b.completed_at)),
    stuck: [
      ...halted.filter(isRecent).map(stuckIn),
      ...stopped.filter(isRecent).map(stuckElsewhere),
      ...refusedSince(vault, since).map((each) => refusedIn(vault, each)),
    ].sort((a, b) => byTime(a.stopped_at, b.stopped_at)),
    stuck_before: [...halted, ...stopped].filter((each) => !isRecent(each)).length,
    waiting: [...newest.flatMap(waitingIn), ...others.flatMap(waitingElsewhere)],
    in_progress: [...newest.filter(isUnderway).map(underwayIn), ...others.flatMap(underwayElsewhere)],
    new: await newFiles(desk, others),
  }
  const [paused, going] = [newest.filter(isPaused), newest.filter((each) => isUnderway(each) && !isPaused(each))]
  const left = (await Promise.all(going.map(({ loop }) => isLeft(desk, loop)))).filter(Boolean)
  const spent = [...inSpan.map(({ inTime }) => inTime), ...movedElsewhere.map((each) => spentElsewhere(each, since))]
  return {
    vault,
    since: time(since),
    until: time(until),
    ...found,
    spent: {
      ...sumOf(spent),
      tasks_without_cost: spent.filter(({ iterations, cost_usd }) => iterations > 0 && cost_usd === null).length,
    },
    next_actions: nextActions(desk, found, { left: left.length, paused: paused.map(({ loop }) => loop) }),
  }
}

function byTime(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1
}

/** `row`: for the newest loop of a task. `whole` is what it used in total, `inTime` since the start of the span. */
type Known = { loop: Loop; movedAt: number; whole: Spent; inTime: Spent; row?: TaskRow }
type Newest = Known & { row: TaskRow }

async function knownLoops({ store, vault }: VaultDesk, since: number): Promise<Known[]> {
  const rows = new Map((await store.tasks.list(vault)).map((row) => [row.loop, row]))
  const known: Known[] = []
  for (const { id, updatedAt: movedAt } of (await store.list({ dir: vault, limit: 1_000_000 })).rows.reverse()) {
    const row = rows.get(id)
    if (movedAt < since && !row) continue
    const loop = await store.load(id)
    if (loop.spec.work.owner?.kind !== 'vault') continue
    const events = await store.events(0, id)
    const [whole, inTime] = [spentSince(loop, events, 0), spentSince(loop, events, since)]
    known.push({ loop, movedAt, whole, inTime, ...(row ? { row } : {}) })
  }
  return known
}

function completedIn({ loop, movedAt, whole }: Known): Briefing['completed'] {
  if (loop.next.kind !== 'complete') return []
  return [
    {
      task_id: vaultOf(loop).id,
      loop_id: loop.id,
      completed_at: time(movedAt),
      iterations: loop.tally.iteration,
      working_seconds: whole.working_seconds,
      ...gradeFields(loop.next),
      findings: loop.tally.findings,
      cost_usd: whole.cost_usd,
    },
  ]
}

type Stuck = Briefing['stuck'][number]

function stuckIn({ loop, row, movedAt }: Newest): Stuck {
  const task = vaultOf(loop)
  const { away } = row.record
  const file = findFile(task) ?? (away && isPlainFile(join(task.path, away)) ? away : null)
  const inDone =
    allChecks(loop.spec).length === 0
      ? { advice: 'Nothing is left to do.', command: null }
      : { advice: 'Its checks never passed:', command: `ralph show ${loop.id}` }
  return {
    task_id: task.id,
    loop_id: loop.id,
    status: statusOfTask(loop, row.record),
    stopped_at: time(movedAt),
    why: loop.next.kind === 'halt' ? loop.next.sentence : '',
    file,
    ...retryAdvice(task, file, inDone),
  }
}

function stuckElsewhere(other: OtherTask): Stuck {
  const { task_id, status, last_updated: stopped_at } = other.state
  const { why, file } = stopElsewhere(other)
  const inDone = { advice: 'Only the other ralph process knows whether its checks failed.', command: null }
  return { task_id, loop_id: null, status, stopped_at, why, file, ...retryAdvice(other.task, file, inDone) }
}

type Advice = { advice: string; command: string | null }

/** `inDone`: the advice for a file that is in Done although the task was not completed. */
function retryAdvice({ path, done, from, file: name }: VaultTask, file: string | null, inDone: Advice): Advice {
  if (file === null) return { advice: `To try it again, put it in ${NEEDS_ACTION} and start it.`, command: null }
  if (file === `${done}/${name}`) return inDone
  if (file === from) return { advice: 'To try it again:', command: taskCommand('start', file, path) }
  return { advice: 'To try it again, move it back:', command: moving(path, file, from) }
}

function moving(vault: string, file: string, to: string): string {
  return printCommandLine(['mv', join(vault, file), join(vault, to)])
}

function refusedIn(vault: string, { place, from, at, why }: Refused): Stuck {
  return {
    task_id: taskIdOf(from),
    loop_id: null,
    status: 'refused',
    stopped_at: time(at),
    why,
    file: place,
    advice: 'To try it again, fix that and move it back:',
    command: moving(vault, place, from),
  }
}

function waitingIn({ loop, movedAt }: Newest): Briefing['waiting'] {
  const { next, tally } = loop
  if (next.kind !== 'wait' || next.why !== 'person') return []
  return [
    {
      task_id: vaultOf(loop).id,
      loop_id: loop.id,
      question: next.question ?? '',
      since: time(tally.restingSince ?? movedAt),
      ...answersTo(loop),
    },
  ]
}

function isUnderway({ loop }: Known): boolean {
  return !ended(loop) && !(loop.next.kind === 'wait' && loop.next.why === 'person')
}

function underwayIn({ loop, row }: Newest): Briefing['in_progress'][number] {
  const { task_id, iteration, max_iterations, timeout_at } = stateOf(loop, row, [])
  const { percentage, current_step } = progressOf(row.record)
  return {
    task_id,
    loop_id: loop.id,
    iteration,
    max_iterations,
    timeout_at,
    percentage: row.record.progress ? percentage : null,
    current_step,
  }
}

function isPaused({ loop: { next } }: Known): boolean {
  return next.kind === 'wait' && next.why === 'paused'
}

/** Whether `ralph watch` started it and no longer runs. */
async function isLeft({ store }: VaultDesk, loop: Loop): Promise<boolean> {
  return vaultOf(loop).by === 'watch' && !(await store.isDriven(loop.id))
}

/** Those that `ralph watch` would pick up. */
async function newFiles(desk: VaultDesk, others: readonly OtherTask[]): Promise<Briefing['new']> {
  const busy = new Set(others.filter(({ state }) => !isFinal(state.status)).map(({ task }) => task.id))
  const folder = join(desk.vault, NEEDS_ACTION)
  const found: { file: string; since: string }[] = []
  for (const file of namesIn(folder).sort()) {
    const [id, stat] = [taskIdOf(file), arrived(folder, file)]
    if (!isTaskId(id) || busy.has(id) || !stat?.isFile() || stat.size === 0) continue
    const arrival = { id, file, inode: inodeOf(stat), bornAt: stat.birthtimeMs, arrivedAt: stat.ctimeMs }
    const earlier = (await formerTask(desk, arrival)) ?? (await earlierTask(desk, arrival))
    if (!earlier) found.push({ file, since: time(stat.mtimeMs) })
  }
  return found
}

/** Most urgent first: what waits for a person, what will not continue by itself, what has not started. */
function nextActions(
  { vault }: VaultDesk,
  found: Pick<Briefing, 'waiting' | 'stuck' | 'stuck_before' | 'new'>,
  { left, paused }: { left: number; paused: readonly Loop[] },
): Briefing['next_actions'] {
  const watch = printCommandLine(['ralph', 'watch', vault])
  const list = printCommandLine(['ralph', 'task', 'list', '--vault', vault])
  const older = found.stuck_before
  return [
    ...found.waiting.map(({ task_id, approve, instead }) => ({
      text: `${instead === undefined ? 'Approve or reject' : 'Accept or refuse what was changed for'} ${task_id}:`,
      command: approve,
    })),
    ...found.stuck.filter(({ file, command }) => file === null || command !== null).map(lookInto),
    ...paused.map((loop) => ({
      text: `Resume ${vaultOf(loop).id}, which is paused:`,
      command: `ralph resume ${loop.id}`,
    })),
    ...(left > 0 ? [{ text: `Resume ${count(left, 'task')} that nobody is working on:`, command: watch }] : []),
    ...(found.new.length > 0 ? [{ text: `Start ${count(found.new.length, 'new task')}:`, command: watch }] : []),
    ...(older > 0 ? [{ text: `Review ${count(older, 'older task')} that stopped:`, command: list }] : []),
  ]
}

function lookInto({ task_id, loop_id, status, file, command }: Stuck): Briefing['next_actions'][number] {
  if (status === 'refused') return { text: `Fix ${file}, then move it back:`, command }
  if (loop_id !== null) return { text: `See why ${task_id} stopped:`, command: `ralph show ${loop_id}` }
  return { text: `Retry ${task_id}, which stopped under another ralph${command === null ? '.' : ':'}`, command }
}
