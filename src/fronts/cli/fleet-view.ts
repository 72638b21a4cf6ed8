/** Prints the fleet and its tasks. */
import { FLEET_STATES, type FleetTask } from '../../formats/fleet-task.ts'
import { money } from '../../formats/spent-words.ts'
import type { ListedFleetTask } from '../../operations/fleet-tasks.ts'
import type { Fleet, ListedWorker } from '../../operations/get-fleet.ts'
import type { FoundFleetTask } from '../../operations/get-fleet-task.ts'
import { ago, clock, count, type Output, paint, type Style, short, table } from './text.ts'

export function fleetLines(fleet: Fleet, tasks: readonly ListedFleetTask[], out: Output): string {
  return [
    workerLines(fleet.workers, out),
    ...fleet.accounts.map(
      ({ name, paused_until, why }) =>
        `Account ${name} is paused for another ${clock(paused_until - fleet.now)}: ${short(why, 100)}\n`,
    ),
    ...fleet.budgets.map(budgetLine),
    countsLine(fleet),
    tasks.length > 0 ? `\n${taskLines(tasks, fleet.now, out)}` : '',
  ].join('')
}

function workerLines(workers: readonly ListedWorker[], out: Output): string {
  if (workers.length === 0) return 'No worker is running. Start one with `ralph worker`.\n'
  const head = ['worker', 'state', 'load', 'agents', 'labels', 'last progress']
  const body = workers.map((worker) => [
    worker.id,
    workerWord(worker),
    `${worker.running}/${worker.concurrency}`,
    Object.entries(worker.agents)
      .map(([agent, account]) => (account === agent ? agent : `${agent}=${account}`))
      .join(','),
    worker.labels.join(',') || '-',
    worker.running > 0 ? ago(worker.idle_ms) : '-',
  ])
  return dimHead(table([head, ...body], out.columns), out)
}

function workerWord({ alive, draining, silent_ms }: ListedWorker): string {
  if (!alive) return `silent for ${clock(silent_ms)}`
  return draining ? 'draining' : 'alive'
}

export function budgetLine({ submitter, usd_per_day, spent_usd, reserved_usd }: Fleet['budgets'][number]): string {
  if (submitter === '*') return `Everyone else may spend ${dollars(usd_per_day)} per day each.\n`
  const spent = `${dollars(spent_usd)} spent today${reserved_usd > 0 ? `, ${money(reserved_usd)} set aside` : ''}`
  return `${submitter} may spend ${dollars(usd_per_day)} per day: ${spent}.\n`
}

function dollars(usd: number): string {
  return usd === 0 ? '$0.00' : money(usd)
}

function countsLine({ counts }: Fleet): string {
  const parts = FLEET_STATES.flatMap((state) => (counts[state] ? [`${counts[state]} ${stateName(state)}`] : []))
  return parts.length > 0 ? `Tasks: ${parts.join(', ')}\n` : 'No tasks yet. Submit one with `ralph submit`.\n'
}

function taskLines(tasks: readonly ListedFleetTask[], now: number, out: Output): string {
  const head = ['task', 'state', 'submitter', 'updated', 'title', 'why']
  const body = tasks.map((task) => [
    task.id,
    stateName(task.state),
    short(task.submitter, 24),
    ago(now - task.updated_at),
    short(task.title, 40),
    short(task.why ?? (task.state === 'running' ? `on ${task.worker}` : (task.sentence ?? '')), 200),
  ])
  return dimHead(table([head, ...body], out.columns), out)
}

function dimHead(text: string, out: Output): string {
  const [first = '', ...rest] = text.split('\n')
  return [paint(out, 'dim', first), ...rest].join('\n')
}

const COLORS: Readonly<Partial<Record<FleetTask['state'], Style>>> = {
  done: 'green',
  failed: 'red',
  cancelled: 'yellow',
  resting: 'yellow',
}

/** A resting task waits for a time or for a person. */
function stateName(state: FleetTask['state']): string {
  return state === 'resting' ? 'on hold' : state
}

export function taskWord({ state }: Pick<FleetTask, 'state'>, out: Output): string {
  const color = COLORS[state]
  return color ? paint(out, color, stateName(state)) : stateName(state)
}

/** One task, with the commands for it. */
export function taskStory(task: FoundFleetTask, out: Output): string {
  const { id, why, sentence, standing, worker, repo, base, branch, agents, labels, touches, depends_on } = task
  const lines = [
    `task ${id} · ${taskWord(task, out)} · ${task.title}`,
    ...(task.state === 'running' ? [`on ${worker}`] : []),
    ...(why || sentence ? [why ?? sentence ?? ''] : []),
    repo === null ? 'in an empty folder' : `branch ${branch} in ${repo}, from ${base}`,
    [
      `submitted by ${task.submitter}`,
      `agents ${agents.join(', ')}`,
      ...(labels.length > 0 ? [`labels ${labels.join(', ')}`] : []),
      ...(task.priority === 0 ? [] : [`priority ${task.priority}`]),
      ...(task.attempts > 0 ? [`taken ${count(task.attempts, 'time')}`] : []),
      ...(task.sent_back > 0 ? [`sent back by the merge queue ${count(task.sent_back, 'time')}`] : []),
      ...(task.spent_usd > 0 ? [money(task.spent_usd)] : []),
    ].join(' · '),
    ...(depends_on.length > 0 ? [`depends on ${depends_on.join(', ')}`] : []),
    ...(touches.length > 0 ? [`touches ${touches.join(', ')}`] : []),
    ...(standing ? [`loop ${task.loop_id}: ${standing.sentence}`, nextStep(task)] : []),
  ]
  return `${lines.join('\n')}\n`
}

function nextStep({ id, state, standing }: FoundFleetTask): string {
  if (state === 'failed' || state === 'cancelled') return `Retry: ralph retry ${id} · Details: ralph show ${id}`
  if (state === 'done' || state === 'merging') return `Details: ralph show ${id} · Proof: ralph proof ${id}`
  if (standing?.kind === 'asks') return standing.hint
  return `Follow it: ralph show ${id} --follow`
}
