/** The briefing of a vault: what was done, what is stuck and what a person should do, as Markdown for people. */
import { count } from '../engine/limits.ts'
import { type Finding, GRADES, type Grade } from '../engine/loop.ts'
import { dollars, duration } from './amounts.ts'
import { inline, typed } from './markdown.ts'
import { findingLines, GRADE_MEANINGS } from './proof-words.ts'
import type { VaultStatus } from './task-state.ts'

/** Times look like 2026-01-15T10:00:00Z. Null: unknown. Tasks of another ralph have no `loop_id`. */
export type Briefing = {
  vault: string
  since: string
  until: string
  completed: readonly {
    task_id: string
    loop_id: string | null
    completed_at: string
    iterations: number
    working_seconds: number
    proof: Grade | null
    /** What the grade depends on. */
    proof_sentence: string | null
    /** It was judged by the rules of an older ralph. */
    proof_older?: true
    findings: readonly Finding[]
    cost_usd: number | null
  }[]
  stuck: readonly {
    task_id: string
    loop_id: string | null
    /** `refused`: the file was not a valid task. */
    status: VaultStatus | 'refused'
    stopped_at: string
    why: string
    /** The path of its file, relative to the vault. */
    file: string | null
    advice: string
    command: string | null
  }[]
  /** How many more were already stuck before the span. */
  stuck_before: number
  waiting: readonly {
    task_id: string
    loop_id: string | null
    question: string
    since: string
    approve: string
    /** Continues with other instructions, where approving would accept what the agent did. */
    instead?: string
    reject: string
  }[]
  in_progress: readonly {
    task_id: string
    loop_id: string | null
    iteration: number
    max_iterations: number
    timeout_at: string
    percentage: number | null
    current_step: string
  }[]
  /** Files in Needs_Action that nobody is working on. */
  new: readonly { file: string; since: string }[]
  spent: Spent & { tasks_without_cost: number }
  next_actions: readonly { text: string; command: string | null }[]
}

export type Spent = { iterations: number; working_seconds: number; tokens: number | null; cost_usd: number | null }

export function printBriefing(briefing: Briefing): string {
  const { vault, since, until } = briefing
  return [
    `# Briefing: ${when(since)} to ${when(until)}`,
    `Vault: ${typed(vault)}.${isQuiet(briefing) ? ' Nothing was done in this time, and nothing is waiting. Any text file in Needs_Action is a task.' : ''}`,
    ...completed(briefing),
    ...stuck(briefing),
    ...waiting(briefing),
    ...underway(briefing),
    ...section(
      'New in Needs_Action',
      list(briefing.new.map(({ file, since: at }) => `${named(file)}, since ${when(at)}`)),
    ),
    ...spending(briefing),
    ...section('Next actions', actions(briefing)),
  ]
    .map((block) => `${block}\n`)
    .join('\n')
}

function isQuiet({
  completed: done,
  stuck: still,
  stuck_before,
  waiting: asking,
  in_progress,
  new: fresh,
}: Briefing): boolean {
  return [done, still, asking, in_progress, fresh].every(({ length }) => length === 0) && stuck_before === 0
}

function when(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`
}

/** Empty sections are left out. */
function section(title: string, ...blocks: string[]): string[] {
  const filled = blocks.filter(Boolean)
  return filled.length > 0 ? [`## ${title}`, ...filled] : []
}

const MOST_LINES = 200

function list(lines: readonly string[]): string {
  const more = lines.length > MOST_LINES ? [`and ${lines.length - MOST_LINES} more`] : []
  return [...lines.slice(0, MOST_LINES), ...more].map((line) => `- ${line}`).join('\n')
}

function named(task: string): string {
  return `**${inline(task)}**`
}

function completed({ completed: tasks }: Briefing): string[] {
  const rows = tasks
    .slice(-MOST_LINES)
    .map(
      ({ task_id, iterations, working_seconds, proof, cost_usd }) =>
        `| ${inline(task_id)} | ${iterations} | ${duration(working_seconds * 1_000)} | ${proof ?? 'unknown'} | ${money(cost_usd)} |`,
    )
  const table = ['| task | iterations | time | proof | cost |', '|---|--:|--:|---|--:|', ...rows].join('\n')
  const grounds = tasks.slice(-MOST_LINES).filter(({ proof, findings }) => proof !== 'claimed' || findings.length > 0)
  const grades = GRADES.filter((grade) => tasks.some(({ proof }) => proof === grade))
  const words = grades.some((grade) => grade !== 'verified') ? grades.map((grade) => MEANINGS[grade]) : []
  if (tasks.length === 0) return []
  return section(`Completed: ${tasks.length}`, table, list(grounds.flatMap(groundsOf)), words.join(' '))
}

const MEANINGS: Readonly<Record<Grade, string>> = {
  ...GRADE_MEANINGS,
  claimed: 'Claimed: the file is in the done folder; there was no check.',
}

/** What the proof of a task depends on; for `altered` the paths come first. */
function groundsOf({ task_id, proof, proof_sentence, findings }: Briefing['completed'][number]): string[] {
  const sentence = proof_sentence ? [inline(proof_sentence)] : []
  const noticed = findingLines(findings).map(inline)
  const lines = proof === 'altered' ? [...noticed, ...sentence] : [...sentence, ...noticed]
  return lines.length === 0 ? [] : [`${named(task_id)}: ${lines.join('\n  - ')}`]
}

function stuck({ stuck: tasks, stuck_before }: Briefing): string[] {
  const lines = tasks.map(({ task_id, status, why, file, advice, command }) => {
    const place = file === null ? 'Its file is no longer in the vault.' : `Its file: ${typed(file)}.`
    return `${named(task_id)} (${status.replaceAll('_', ' ')}): ${inline(why)} ${place} ${inline(advice)}${command === null ? '' : ` ${typed(command)}`}`
  })
  const before = stuck_before > 0 ? `Already stuck before: ${count(stuck_before, 'task')}.` : ''
  return section(`Stuck: ${tasks.length}`, list(lines), before)
}

function waiting({ waiting: tasks }: Briefing): string[] {
  const lines = tasks.map(
    ({ task_id, question, since, approve, instead, reject }) =>
      `${named(task_id)}, since ${when(since)}: ${inline(question)}\n  - ${instead === undefined ? 'yes' : 'allow it'}: ${typed(approve)}${instead === undefined ? '' : `\n  - say what to do instead: ${typed(instead)}`}\n  - ${instead === undefined ? 'no' : 'reject it'}: ${typed(reject)}`,
  )
  return section('Waiting for approval', list(lines))
}

function underway({ in_progress }: Briefing): string[] {
  const lines = in_progress.map(({ task_id, iteration, max_iterations, timeout_at, percentage, current_step }) => {
    const progress = percentage === null ? '' : `, ${percentage}%`
    const step = current_step ? `: ${inline(current_step)}` : ''
    const at = iteration > 0 ? `iteration ${iteration} of ${max_iterations}` : 'not started'
    return `${named(task_id)}, ${at}${progress}, times out at ${when(timeout_at)}${step}`
  })
  return section('In progress', list(lines))
}

function spending({ spent }: Briefing): string[] {
  const { iterations, working_seconds, tokens, cost_usd, tasks_without_cost } = spent
  const rest = cost_usd !== null && tasks_without_cost > 0 ? `; unknown for ${count(tasks_without_cost, 'task')}` : ''
  if (iterations === 0 && working_seconds === 0) return []
  return section(
    'Time and cost',
    list([
      `Working time: ${duration(working_seconds * 1_000)}`,
      `Iterations: ${iterations}`,
      `Tokens: ${tokens === null ? 'unknown' : tokens.toLocaleString('en-US')}`,
      `Cost: ${money(cost_usd)}${rest}`,
    ]),
  )
}

function actions({ next_actions }: Briefing): string {
  const lines = next_actions.map(
    ({ text, command }) => `${inline(text)}${command === null ? '' : ` ${typed(command)}`}`,
  )
  return lines.map((line, index) => `${index + 1}. ${line}`).join('\n') || 'Nothing to do.'
}

function money(usd: number | null): string {
  return usd === null ? 'unknown' : dollars(usd)
}
