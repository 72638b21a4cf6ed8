/** What happened in a vault since some time, gathered from the store: of every loop of its tasks, also of those started again. */
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { count } from '../engine/limits.ts'
import { ended, type Loop } from '../engine/loop.ts'
import { hasWorked } from '../engine/tally.ts'
import type { Briefing, Spent } from '../formats/briefing.ts'
import { printCommandLine } from '../formats/command-line.ts'
import { taskCommand } from '../formats/task-command.ts'
import type { TaskRow } from '../host/sqlite.ts'
import type { StoredEvent } from '../host/store.ts'
import { approvalQuestion, findFile, isPlainFile } from '../host/vault.ts'
import type { VaultDesk } from './desk.ts'
import { LEFT_ALONE } from './inbox.ts'
import { statusOfTask } from './lifecycle.ts'
import { isTaskId, NEEDS_ACTION, namesIn, taskIdOf } from './place.ts'
import { vaultOf } from './spec.ts'
import { endOverdue } from './tasks.ts'
import { progressOf, stateOf, time } from './telling.ts'

export async function gatherBriefing(desk: VaultDesk, since: number): Promise<Briefing> {
  const { store, vault, now } = desk
  for (const row of store.listTasks(vault)) await endOverdue(desk, row)
  const until = now()
  const known = await knownLoops(desk, since)
  const inSpan = known.filter(({ movedAt }) => movedAt >= since)
  const newest = known.flatMap(({ row, ...rest }) => (row ? [{ ...rest, row }] : []))
  const halted = newest.filter(({ loop }) => loop.next.kind === 'halt')
  const told = {
    completed: inSpan.flatMap((each) => completedIn(each)),
    stuck: halted.filter(({ movedAt }) => movedAt >= since).map((each) => stuckIn(desk, each)),
    stuck_before: halted.filter(({ movedAt }) => movedAt < since).length,
    waiting: newest.flatMap((each) => waitingIn(desk, each)),
    in_progress: newest.filter(isUnderway).map(underwayIn),
    new: newFiles(desk, newest),
  }
  const left = (await Promise.all(newest.filter(isUnderway).map(({ loop }) => isLeft(desk, loop)))).filter(Boolean)
  return {
    ...{ vault, since: time(since), until: time(until) },
    ...told,
    spent: {
      ...inSpan.map(({ inTime }) => inTime).reduce(sum, NOTHING),
      tasks_without_cost: inSpan.filter(({ inTime }) => inTime.iterations > 0 && inTime.cost_usd === null).length,
    },
    next_actions: nextActions(desk, told, left.length),
  }
}

/** `row`: for the newest loop of a task. `whole` is what it took in all, `inTime` since the time that is asked about. */
type Known = { loop: Loop; movedAt: number; whole: Spent; inTime: Spent; row?: TaskRow }
type Newest = Known & { row: TaskRow }

async function knownLoops({ store, vault }: VaultDesk, since: number): Promise<Known[]> {
  const rows = new Map(store.listTasks(vault).map((row) => [row.loop, row]))
  const known: Known[] = []
  for (const { id, updatedAt: movedAt } of (await store.list({ dir: vault, limit: 1_000_000 })).reverse()) {
    const row = rows.get(id)
    if (movedAt < since && !row) continue
    const loop = await store.load(id)
    if (!loop.spec.work.vault) continue
    const events = await store.events(0, id)
    const [whole, inTime] = [spentSince(loop, events, 0), spentSince(loop, events, since)]
    known.push({ loop, movedAt, whole, inTime, ...(row ? { row } : {}) })
  }
  return known
}

const NOTHING: Spent = { iterations: 0, working_seconds: 0, tokens: null, cost_usd: null }

function sum(one: Spent, other: Spent): Spent {
  return {
    iterations: one.iterations + other.iterations,
    working_seconds: Math.round((one.working_seconds + other.working_seconds) * 1_000) / 1_000,
    tokens: plus(one.tokens, other.tokens),
    cost_usd: plus(one.cost_usd, other.cost_usd),
  }
}

function plus(one: number | null, other: number | null): number | null {
  return one === null ? other : one + (other ?? 0)
}

function spentSince({ tally }: Loop, events: readonly StoredEvent[], since: number): Spent {
  let before = tally.startedAt
  return events.reduce((spent, { fact, at }) => {
    const passed = Math.max(0, at - before) / 1_000
    before = at
    return at < since ? spent : sum(spent, spentBy(fact, passed))
  }, NOTHING)
}

function spentBy(fact: StoredEvent['fact'], passed: number): Spent {
  switch (fact.kind) {
    case 'turned':
      return {
        iterations: hasWorked(fact.turn) ? 1 : 0,
        working_seconds: fact.turn.told?.seconds ?? passed,
        ...{ tokens: fact.turn.tokens || null, cost_usd: fact.turn.costUsd ?? null },
      }
    case 'checked':
      return { ...NOTHING, working_seconds: passed }
    case 'lost':
      return { ...NOTHING, tokens: fact.tokens || null, cost_usd: fact.costUsd ?? null }
    case 'woke':
    case 'restored':
    case 'told':
      return NOTHING
  }
}

function completedIn({ loop, movedAt, whole }: Known): Briefing['completed'] {
  if (loop.next.kind !== 'complete') return []
  return [
    {
      ...{ task_id: vaultOf(loop).id, loop_id: loop.id, completed_at: time(movedAt) },
      ...{ iterations: loop.tally.iteration, working_seconds: whole.working_seconds },
      ...{ proof: loop.next.proof, cost_usd: whole.cost_usd },
    },
  ]
}

function stuckIn({ vault }: VaultDesk, { loop, row, movedAt }: Newest): Briefing['stuck'][number] {
  const task = vaultOf(loop)
  const file = findFile(task) ?? null
  return {
    ...{ task_id: task.id, loop_id: loop.id, status: statusOfTask(loop, row.record), stopped_at: time(movedAt) },
    ...{ why: loop.next.kind === 'halt' ? loop.next.sentence : '', file },
    ...goingOn(vault, file, task),
  }
}

function goingOn(
  vault: string,
  file: string | null,
  { done, from, file: name }: { done: string; from: string; file: string },
): { advice: string; command: string | null } {
  if (file === null) return { advice: `To try it again, put it into ${NEEDS_ACTION} and start it.`, command: null }
  if (file === `${done}/${name}`) return { advice: 'Nothing is left to do.', command: null }
  if (file === from) return { advice: 'To try it again:', command: taskCommand('start', file, vault) }
  const command = printCommandLine(['mv', join(vault, file), join(vault, from)])
  return { advice: 'To try it again, put it back:', command }
}

function waitingIn({ vault }: VaultDesk, { loop, movedAt }: Newest): Briefing['waiting'] {
  const { next, tally } = loop
  if (next.kind !== 'wait' || next.why !== 'person') return []
  const { id } = vaultOf(loop)
  const answer = next.question === approvalQuestion(vaultOf(loop)) ? '' : ' --note "…"'
  return [
    {
      ...{ task_id: id, loop_id: loop.id, question: next.question ?? '', since: time(tally.restingSince ?? movedAt) },
      ...{ approve: `${taskCommand('approve', id, vault)}${answer}`, reject: taskCommand('reject', id, vault) },
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
    ...{ task_id, loop_id: loop.id, iteration, max_iterations, timeout_at },
    ...{ percentage: row.record.progress ? percentage : null, current_step },
  }
}

/** Whether `ralph watch` began it and is not there to go on. */
async function isLeft({ store }: VaultDesk, loop: Loop): Promise<boolean> {
  return vaultOf(loop).by === 'watch' && !(await store.isDriven(loop.id))
}

function newFiles({ vault }: VaultDesk, newest: readonly Newest[]): Briefing['new'] {
  const begun = new Set(
    newest.filter(({ loop }) => loop.next.kind !== 'complete').map(({ loop }) => vaultOf(loop).file),
  )
  return namesIn(join(vault, NEEDS_ACTION))
    .sort()
    .filter((name) => isTaskId(taskIdOf(name)) && !LEFT_ALONE.test(name) && !begun.has(name))
    .flatMap((name) => {
      const path = join(vault, NEEDS_ACTION, name)
      return isPlainFile(path) ? [{ file: name, since: time(lstatSync(path).mtimeMs) }] : []
    })
}

/** Most urgent first: what waits for a person, what will not go on by itself, what has not begun. */
function nextActions(
  { vault }: VaultDesk,
  told: Pick<Briefing, 'waiting' | 'stuck' | 'stuck_before' | 'new'>,
  left: number,
): Briefing['next_actions'] {
  const watch = printCommandLine(['ralph', 'watch', vault])
  const list = printCommandLine(['ralph', 'task', 'list', '--vault', vault])
  const older = told.stuck_before
  return [
    ...told.waiting.map(({ task_id, approve }) => ({ text: `Approve or reject ${task_id}:`, command: approve })),
    ...told.stuck
      .filter(({ file, command }) => file === null || command !== null)
      .map(({ task_id, loop_id }) => ({ text: `See why ${task_id} stopped:`, command: `ralph show ${loop_id}` })),
    ...(left > 0 ? [{ text: `Go on with ${count(left, 'task')} that nobody works on:`, command: watch }] : []),
    ...(told.new.length > 0 ? [{ text: `Have ${count(told.new.length, 'new task')} done:`, command: watch }] : []),
    ...(older > 0 ? [{ text: `Look through ${count(older, 'older task')} that stopped:`, command: list }] : []),
  ]
}
