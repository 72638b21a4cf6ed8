/** What the loops of tasks used: iterations, time, tokens and money. */
import type { Loop } from '../engine/loop.ts'
import { hasWorked } from '../engine/tally.ts'
import type { Spent } from '../formats/briefing.ts'
import type { StoredEvent } from '../host/store.ts'

export function sumOf(all: readonly Spent[]): Spent {
  return all.reduce(sum, NOTHING)
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

export function spentSince({ tally }: Loop, events: readonly StoredEvent[], since: number): Spent {
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
        tokens: fact.turn.tokens || null,
        cost_usd: fact.turn.costUsd ?? null,
      }
    case 'checked':
    case 'proved':
      return { ...NOTHING, working_seconds: passed }
    case 'lost':
      return { ...NOTHING, tokens: fact.tokens || null, cost_usd: fact.costUsd ?? null }
    case 'woke':
    case 'restored':
    case 'told':
    case 'asked':
    case 'moved':
    case 'adopted':
      return NOTHING
  }
}
