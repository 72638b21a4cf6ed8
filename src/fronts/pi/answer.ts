/** Questions to the hook program and its answers, in the neutral protocol. */
import type { Level } from './host.ts'

export type CommandName = 'loop' | 'cancel' | 'status' | 'help' | 'pause' | 'resume' | 'steer'

export type Ask =
  /** `trusts`: the mark of an agent that the user has agreed to. */
  | { event: 'command'; command: CommandName; args: string; trusts?: string }
  | { event: 'prompt'; prompt: string }
  | { event: 'woke' }
  | ({ event: 'stop' } & Stop)

export type Stop = {
  last_assistant_message: string
  outcome: 'completed' | 'error' | 'aborted'
  error_message?: string
  tokens: number
  cost_usd: number
  ran: string[]
  /** When Pi last compacted the agent's context. */
  compacted_at?: number
}

export type Status =
  | ('none' | 'running' | 'verifying' | 'waiting' | 'needs-input' | 'paused')
  | ('completed' | 'halted' | 'cancelled')

const STATUSES: readonly Status[] = [
  ...(['none', 'running', 'verifying', 'waiting', 'needs-input', 'paused'] as const),
  ...(['completed', 'halted', 'cancelled'] as const),
]

export type Verdict = { check: string; result: string }

export type Answer = {
  next: 'turn' | 'wait' | 'none'
  prompt: string
  fresh: boolean
  waitMs: number
  loop: string
  status: Status
  iteration: number
  /** 0: no limit. */
  maxIterations: number
  promise?: string
  reason?: string
  sentence?: string
  costUsd: number
  checks: Verdict[]
  /** Their results in one line. */
  checked?: string
  context?: string
  /** An agent of the repository that the user must trust first. */
  trust?: { path: string; text: string; mark: string }
  show: { level: Level; text: string }[]
}

/** Only a complete answer counts: a turn has a prompt, and every status is known. */
export function parseAnswer(text: string): Answer | undefined {
  const value = parseObject(text.trim().split('\n').at(-1) ?? '')
  const { next, status } = value
  if (next !== 'turn' && next !== 'wait' && next !== 'none') return undefined
  const known = parseStatus(status)
  if (known === undefined || (next === 'turn' && !value.prompt)) return undefined
  return {
    next,
    status: known,
    prompt: words(value.prompt) ?? '',
    fresh: value.fresh === true,
    waitMs: amount(value.wait_ms),
    loop: words(value.loop) ?? '',
    costUsd: amount(value.cost_usd),
    iteration: amount(value.iteration),
    maxIterations: amount(value.max_iterations),
    ...optional('promise', words(value.promise)),
    ...optional('reason', words(value.reason)),
    ...optional('sentence', words(value.sentence)),
    ...optional('checked', words(value.checked)),
    ...optional('context', words(value.context)),
    ...trustIn(objectOf(value.trust)),
    checks: list(value.checks).flatMap(({ check, result }) =>
      typeof check === 'string' && typeof result === 'string' ? [{ check, result }] : [],
    ),
    show: list(value.show).flatMap(({ level, text }) =>
      typeof text === 'string' && text
        ? [{ level: level === 'warning' || level === 'error' ? level : 'info', text }]
        : [],
    ),
  }
}

function trustIn({ path, text, mark }: Record<string, unknown>): Pick<Answer, 'trust'> {
  return typeof path === 'string' && typeof text === 'string' && typeof mark === 'string'
    ? { trust: { path, text, mark } }
    : {}
}

export function parseStatus(value: unknown): Status | undefined {
  return STATUSES.find((name) => name === value)
}

/** A line that may be anything. */
export function parseObject(line: string): Record<string, unknown> {
  try {
    return objectOf(JSON.parse(line))
  } catch {
    return {} // not a protocol line
  }
}

export function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

export function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(objectOf) : []
}

export function amount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0
}

export function words(value: unknown): string | undefined {
  return typeof value === 'string' && value ? value : undefined
}

function optional<Name extends string>(name: Name, value: string | undefined): { [key in Name]?: string } {
  return value === undefined ? {} : ({ [name]: value } as { [key in Name]: string })
}
