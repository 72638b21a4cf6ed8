/** Ralph_State/<task>.json: the state of a vault's task, for other programs to read. */
import { isCount, isObject, type Json, printJson, readJson } from './json-file.ts'
import { cutTo } from './one-line.ts'

export const TASK_STATUSES = [
  'initializing',
  'in_progress',
  'waiting_approval',
  'completed',
  'failed',
  'timeout',
  'max_iterations_reached',
] as const

export type VaultStatus = (typeof TASK_STATUSES)[number]

export type TaskProgress = { steps_total: number; steps_completed: number; current_step: string; percentage: number }

export type HistoryEntry = {
  iteration: number
  timestamp: string
  action: string
  result: string
  duration_seconds: number
}

export type TaskState = {
  task_id: string
  task_file: string
  status: VaultStatus
  /** The current one, or the last if none is running. */
  iteration: number
  max_iterations: number
  started_at: string
  last_updated: string
  timeout_at: string
  progress: TaskProgress
  /** Newest last. */
  iterations_history: HistoryEntry[]
}

/** How many iterations are finished. An older ralph wrote that number even while one was running. */
export function iterationsOver({ status, iteration, iterations_history: history }: TaskState): number {
  const isUnderWay = status === 'in_progress' && history.at(-1)?.iteration !== iteration
  return isUnderWay ? Math.max(0, iteration - 1) : iteration
}

const MOST_BYTES = 48 * 1024
const MOST_LETTERS = 300
/** No file system has longer paths; even with every character escaped, there is room for history. */
const MOST_PATH_LETTERS = 4096

/** Keeps the newest history entries that fit. Fields are always in the same order. */
export function printTaskState(state: TaskState): string {
  const { status, iteration, max_iterations, started_at, last_updated, timeout_at, progress } = state
  const { steps_total, steps_completed, current_step, percentage } = progress
  const head = {
    task_id: cutTo(state.task_id, MOST_LETTERS),
    task_file: cutTo(state.task_file, MOST_PATH_LETTERS),
    status,
    iteration,
    max_iterations,
    started_at,
    last_updated,
    timeout_at,
    progress: { steps_total, steps_completed, current_step: cutTo(current_step, MOST_LETTERS), percentage },
  }
  const room = MOST_BYTES - sizeOf({ ...head, iterations_history: [] })
  return printJson({ ...head, iterations_history: newest(state.iterations_history, room) })
}

function newest(history: readonly HistoryEntry[], room: number): HistoryEntry[] {
  const kept: HistoryEntry[] = []
  let left = room
  for (const { iteration, timestamp, action, result, duration_seconds } of history.toReversed()) {
    const entry = {
      iteration,
      timestamp,
      action: cutTo(action, MOST_LETTERS),
      result: cutTo(result, MOST_LETTERS),
      duration_seconds,
    }
    left -= sizeOf([[entry]]) // two lists deep: the indentation it has in the file, and a little more
    if (left < 0) break
    kept.push(entry)
  }
  return kept.reverse()
}

function sizeOf(value: unknown): number {
  return ENCODER.encode(printJson(value)).length
}

const ENCODER = new TextEncoder()

const DEFAULT_ITERATIONS = 10
const DEFAULT_TIMEOUT_MS = 30 * 60_000

/** Undefined: corrupted; the task's id, status, iteration or start is missing or invalid. */
export function parseTaskState(text: string): TaskState | undefined {
  const json = readJson(text)
  if (!('value' in json) || !isObject(json.value)) return undefined
  const from = fieldsOf(json.value)
  const [task_id, task_file, iteration] = [from('task_id'), from('task_file'), count(from('iteration'))]
  const status = TASK_STATUSES.find((known) => known === from('status'))
  const started_at = time(from('started_at'))
  if (!isFilled(task_id) || !isFilled(task_file) || !status || iteration === undefined || !started_at) return undefined
  const history = from('iterations_history')
  return {
    task_id,
    task_file,
    status,
    iteration,
    max_iterations: count(from('max_iterations')) ?? DEFAULT_ITERATIONS,
    started_at,
    last_updated: time(from('last_updated')) ?? started_at,
    timeout_at: time(from('timeout_at')) ?? time(Date.parse(started_at) + DEFAULT_TIMEOUT_MS) ?? started_at,
    progress: toProgress(from('progress')),
    iterations_history: Array.isArray(history)
      ? history.filter(isObject).map((entry, index) => toEntry(entry, index + 1, started_at))
      : [],
  }
}

function toProgress(value: unknown): TaskProgress {
  const from = fieldsOf(isObject(value) ? value : {})
  const steps_total = count(from('steps_total')) ?? 0
  const steps_completed = count(from('steps_completed')) ?? 0
  const share = steps_total > 0 ? Math.min(100, Math.round((1_000 * steps_completed) / steps_total) / 10) : 0
  return {
    steps_total,
    steps_completed,
    current_step: words(from('current_step')),
    percentage: amount(from('percentage')) ?? share,
  }
}

function toEntry(entry: Json, place: number, startedAt: string): HistoryEntry {
  const from = fieldsOf(entry)
  return {
    iteration: count(from('iteration')) ?? place,
    timestamp: time(from('timestamp')) ?? startedAt,
    action: words(from('action')),
    result: words(from('result')),
    duration_seconds: amount(from('duration_seconds')) ?? 0,
  }
}

/** By its name, in snake_case or camelCase. */
function fieldsOf(json: Json): (name: string) => unknown {
  return (name) => json[name] ?? json[name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())]
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

function words(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function amount(value: unknown): number | undefined {
  const number = isFilled(value) ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined
}

function count(value: unknown): number | undefined {
  const number = amount(value)
  return isCount(number) ? number : undefined
}

/** In whole seconds, from a string or milliseconds. A string without a time zone is UTC. */
function time(value: unknown): string | undefined {
  const zoned = typeof value === 'string' && !ZONE.test(value) ? `${value}Z` : value
  const date = typeof zoned === 'string' || typeof zoned === 'number' ? new Date(zoned) : undefined
  return date && !Number.isNaN(date.getTime()) ? date.toISOString().replace(/\.\d+Z$/, 'Z') : undefined
}

const ZONE = /(?:Z|[+-]\d\d:?\d\d)$/i
