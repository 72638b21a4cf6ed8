/** Translates an agent's outcome for the engine. */
import { plain } from '../engine/breaker.ts'
import { type Claimable, readAsk, readClaim, withoutEcho } from '../engine/claim.ts'
import { errorFingerprint } from '../engine/fingerprint.ts'
import type { Ask, Claim, Turn } from '../engine/loop.ts'
import { reportedFailure } from '../engine/reported-failure.ts'
import type { Outcome } from './agent.ts'

const WORDS_KEPT = 16_000

/** `mask`: removes secrets from text. */
export type Seen = {
  prompt: string
  claimable: Claimable
  checks: readonly string[]
  mask: (text: string) => string
  tree?: string
}

export function toTurn(outcome: Outcome, { prompt, claimable, checks, mask, tree }: Seen): Turn {
  const { usage } = outcome
  const end = ENDS[outcome.kind]
  const text = mask(withoutEcho(plain(outcome.finalText), prompt))
  const ask = askOf(outcome, text, mask)
  const words = end === 'ok' ? text : mask(outcome.message ?? text)
  const claim: Claim = end === 'ok' ? readClaim(text, claimable) : { kind: 'none' }
  // If there are checks, they report failures.
  const failure = end === 'ok' && checks.length === 0 && claim.kind === 'none' ? reportedFailure(text) : ''
  return {
    end,
    claim,
    words: words.slice(-WORDS_KEPT),
    ranTests: outcome.ran.some((command) => isTestCommand(command, checks)),
    tokens: count(outcome.tokens),
    ...(ask && end === 'ok' ? { ask } : {}),
    ...(end === 'failed'
      ? { error: errorFingerprint(words) || 'it ended without output' }
      : failure
        ? { error: failure }
        : {}),
    ...(tree === undefined ? {} : { tree }),
    ...(outcome.costUsd === undefined ? {} : { costUsd: count(outcome.costUsd) }),
    ...(usage && { usage: { input: whole(usage.input), cached: whole(usage.cached), output: whole(usage.output) } }),
    ...(outcome.calls === undefined ? {} : { calls: outcome.calls }),
    ...(outcome.resetsAt === undefined ? {} : { resetsAt: outcome.resetsAt }),
    ...(outcome.kind === 'auth' ? { loggedOut: true } : {}),
    ...(outcome.session === undefined ? {} : { session: outcome.session }),
  }
}

const ENDS: Record<Outcome['kind'], Turn['end']> = {
  ok: 'ok',
  'rate-limit': 'limited',
  quota: 'limited',
  overloaded: 'overloaded',
  auth: 'unusable',
  config: 'unusable',
  context: 'context-full',
  refused: 'failed',
  killed: 'failed',
  crash: 'failed',
  unknown: 'failed',
}

function askOf({ denied }: Outcome, text: string, mask: Seen['mask']): Ask | undefined {
  if (denied.length > 0) return { kind: 'permission', words: mask([...new Set(denied)].join(', ')).slice(0, 500) }
  return readAsk(text)
}

const TEST_COMMAND =
  /\b((npm|pnpm|yarn|bun)\s+(run\s+)?test|npx\s+(vitest|jest|mocha|ava|playwright)|vitest|jest|mocha|pytest|tox|nose2|python3?\s+-m\s+(pytest|unittest)|node\s+--test|deno\s+test|cargo\s+(test|nextest)|go\s+test|mvn\s+(\S+\s+)*(test|verify)|gradlew?\s+(\S+\s+)*(test|check)|make\s+(test|check)|rspec|rake\s+test|phpunit|dotnet\s+test|ctest|swift\s+test|mix\s+test)\b/

function isTestCommand(command: string, checks: readonly string[]): boolean {
  return TEST_COMMAND.test(command) || checks.includes(command.trim())
}

function whole(value: number): number {
  return Math.round(count(value))
}

function count(value: number): number {
  return Number.isFinite(value) && value > 0 ? value : 0
}
