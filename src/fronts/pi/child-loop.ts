/** A loop in its own process: `ralph resume ID --json`, and what its lines mean for a user in Pi. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { type Answer, amount, list, objectOf, parseObject, parseStatus, type Verdict, words } from './answer.ts'
import { short } from './words.ts'

export type ChildEvent =
  | { kind: 'iteration'; iteration: number }
  | { kind: 'doing'; doing: string }
  | { kind: 'said'; iteration: number; text: string; costUsd: number }
  | { kind: 'checked'; checks: Verdict[] }
  | { kind: 'message'; text: string }
  | { kind: 'error'; text: string }
  | { kind: 'end'; status: Answer['status']; reason?: string; sentence: string; iterations: number; costUsd: number }

export type ChildLoop = {
  /** Pauses the loop and exits. */
  end(): void
  ended: Promise<void>
}

/** How long it may take to exit by itself. */
const GRACE_MS = 10_000

export function startChildLoop(argv: readonly string[], cwd: string, saw: (event: ChildEvent) => void): ChildLoop {
  const [program = '', ...args] = argv
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let lastWords = ''
  let sawEnd = false
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => {
    const event = readChildLine(line)
    if (event?.kind === 'end' || event?.kind === 'error') sawEnd = true
    if (event) saw(event)
  })
  createInterface({ input: child.stderr }).on('line', (line) => (lastWords = line.trim() || lastWords))
  const ended = new Promise<void>((resolve) => {
    const over = (why: string) => {
      if (!sawEnd) saw({ kind: 'error', text: lastWords || why })
      sawEnd = true
      resolve()
    }
    child.on('error', ({ message }) => over(message))
    child.on('close', (code, signal) => over(`ralph exited with ${signal ?? code}`))
  })
  return {
    ended,
    end() {
      child.kill('SIGTERM')
      setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref()
    },
  }
}

export function readChildLine(line: string): ChildEvent | undefined {
  const { type, iteration, ...value } = parseObject(line)
  switch (type) {
    case 'iteration-start':
      return { kind: 'iteration', iteration: amount(iteration) }
    case 'agent-event':
      return doing(objectOf(value.event))
    case 'iteration-end': {
      const turn = objectOf(value.turn)
      return {
        kind: 'said',
        iteration: amount(iteration),
        text: words(turn.words) ?? '',
        costUsd: amount(turn.costUsd),
      }
    }
    case 'check-start':
      return { kind: 'doing', doing: `checking: ${checkNames(value.checks)}` }
    case 'check-end':
      return { kind: 'checked', checks: verdicts(value.verdicts) }
    case 'message':
      return { kind: 'message', text: words(value.text) ?? '' }
    case 'error':
      return { kind: 'error', text: words(value.message) ?? 'ralph failed' }
    case 'loop-end': {
      const reason = words(value.reason)
      return {
        kind: 'end',
        status: parseStatus(value.status) ?? 'paused',
        sentence: words(value.sentence) ?? '',
        iterations: amount(value.iterations),
        costUsd: amount(value.cost_usd),
        ...(reason === undefined ? {} : { reason }),
      }
    }
    default:
      return undefined
  }
}

/** The state of the loop after that. */
export function afterEvent(before: Answer, event: ChildEvent): Answer {
  switch (event.kind) {
    case 'iteration':
      return { ...before, iteration: event.iteration }
    case 'said':
      return { ...before, iteration: event.iteration, costUsd: before.costUsd + event.costUsd }
    case 'end': {
      const { status, sentence, iterations, costUsd, reason } = event
      const show = [{ level: status === 'completed' ? 'info' : 'warning', text: sentence } as const]
      return {
        ...before,
        status,
        iteration: iterations,
        costUsd,
        checks: [],
        show,
        ...(reason === undefined ? {} : { reason }),
      }
    }
    default:
      return before
  }
}

function doing(event: Record<string, unknown>): ChildEvent | undefined {
  if (event.kind === 'text') return { kind: 'doing', doing: short(words(event.text) ?? '') }
  if (event.kind === 'tool') return { kind: 'doing', doing: short(`${event.name} ${words(event.summary) ?? ''}`) }
  return undefined
}

function checkNames(checks: unknown): string {
  return short(Array.isArray(checks) ? checks.map(String).join(', ') : '')
}

function verdicts(value: unknown): Verdict[] {
  return list(value).flatMap(({ check, result }) =>
    typeof check === 'string' && typeof result === 'string' ? [{ check, result }] : [],
  )
}
