/** The contents of the task form, and the task fields they change. */
import {
  BOARD_DEFAULTS,
  type BoardFields,
  type BoardLimits,
  type BoardPatch,
  type BoardStatus,
} from '../../src/formats/board-task.ts'

/** Numbers and lists as typed. */
export type Draft = {
  title: string
  description: string
  repo: string
  project_id: string
  type: string
  labels: string
  priority: string
  depends_on: readonly string[]
  agents: readonly string[]
  worktree: boolean
  use_ralph_wiggum: boolean
  ralph_max_iterations: string
  adaptive: boolean
  ralph_completion_promise: string
  checks: readonly string[]
  stages: readonly { name: string; check: string }[]
  limits: Readonly<Record<LimitName, string>>
  status: BoardStatus
  archived: boolean
}

export const LIMITS = ['minutes', 'cost_usd', 'tokens', 'no_progress', 'same_error'] as const
export type LimitName = (typeof LIMITS)[number]

export const NEW: BoardFields = { ...BOARD_DEFAULTS, title: '' }

export function draftOf(task: BoardFields): Draft {
  const { use_ralph_wiggum, worktree, depends_on, ralph_completion_promise, status, archived, title } = task
  return {
    title,
    description: task.description ?? '',
    repo: task.repo ?? '',
    project_id: task.project_id ?? '',
    type: task.type ?? '',
    labels: task.labels.join(', '),
    priority: task.priority === 0 ? '' : String(task.priority),
    depends_on,
    agents: task.agent.split(/,(?=\s*[a-z]+\s*(?:[:,]|$))/), // joined again it is the same, wherever it is cut
    worktree,
    use_ralph_wiggum,
    ralph_max_iterations: String(task.ralph_max_iterations),
    adaptive: task.limits.adaptive ?? false,
    ralph_completion_promise,
    checks: task.checks.length > 0 ? task.checks : [''],
    stages: task.stages.map(({ name, check = '' }) => ({ name, check })),
    limits: Object.fromEntries(LIMITS.map((name) => [name, String(task.limits[name] ?? '')])) as Draft['limits'],
    status,
    archived,
  }
}

export function fieldsOf(draft: Draft): BoardFields {
  const { use_ralph_wiggum, worktree, status, archived } = draft
  const limits: BoardLimits = draft.adaptive ? { adaptive: true } : {}
  for (const name of LIMITS) if (draft.limits[name].trim()) limits[name] = Number(draft.limits[name])
  return {
    title: draft.title.trim(),
    description: draft.description.trim() ? draft.description : null,
    repo: draft.repo.trim() || null,
    project_id: draft.project_id || null,
    type: draft.type.trim() || null,
    labels: words(draft.labels.split(',')),
    priority: Number(draft.priority),
    depends_on: [...draft.depends_on],
    agent: draft.agents.filter((agent) => agent.trim()).join(',') || NEW.agent,
    worktree,
    use_ralph_wiggum,
    ralph_max_iterations: draft.ralph_max_iterations.trim()
      ? Number(draft.ralph_max_iterations)
      : NEW.ralph_max_iterations,
    ralph_completion_promise: draft.ralph_completion_promise.trim() || NEW.ralph_completion_promise,
    checks: words(draft.checks),
    stages: draft.stages.flatMap(({ name, check }) =>
      name.trim() || check.trim() ? [{ name: name.trim(), ...(check.trim() ? { check: check.trim() } : {}) }] : [],
    ),
    limits,
    status,
    archived,
  }
}

function words(list: readonly string[]): string[] {
  return list.map((one) => one.trim()).filter((one) => one)
}

/** Only the differences, so that other people's changes are kept. */
export function changesOf(draft: Draft, before: BoardFields): BoardPatch {
  const was = fieldsOf(draftOf(before)) as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(fieldsOf(draft)).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(was[name])),
  )
}

/** The newer state plus what was typed: only fields the user left alone take their new value. */
export function rebase(draft: Draft, before: BoardFields, now: BoardFields): Draft {
  const [was, is] = [draftOf(before), draftOf(now)]
  const typed = Object.entries(draft).filter(([name, value]) => !same(value, was[name as keyof Draft]))
  return { ...is, ...Object.fromEntries(typed) }
}

/** Fields that somebody else changed. */
export function changedMeanwhile(before: BoardFields, now: BoardFields): string[] {
  return Object.keys(changesOf(draftOf(now), before))
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
