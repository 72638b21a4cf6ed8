/** What moving a loop writes: its row, the event, the iteration and its checks. All inside the caller's transaction. */
import type { Fact, Loop, Next, Tally, Verdict } from '../engine/loop.ts'
import { isWeakened } from '../engine/trials.ts'
import type { Asking } from './asking.ts'
import { type Columns, parse, type StoredLoop, toColumns } from './rows.ts'

/**
 * `before`: the row as the driver left it. `found`: as it is now, whoever wrote it. `iterations`: how many there can
 * be.
 */
export type Rows = { before: StoredLoop; found: StoredLoop; epoch: number; iterations: number }

export type Moved = { loop: Loop; fact: Fact }

/** Returns the new row. */
export function writeFact(
  asking: Asking,
  { before, found, epoch, iterations }: Rows,
  { loop, fact }: Moved,
): StoredLoop {
  const { run, insert } = asking
  const n = before.events + 1
  const after: Columns = { ...toColumns(loop), epoch, events: n, updated_at: fact.at }
  // Unchanged columns cost nothing, and neither do their indexes.
  const names = Object.keys(after).filter((name) => after[name] !== found[name])
  const values = names.map((name) => after[name] ?? null)
  if (names.length > 0) run(`UPDATE loop SET ${names.map((name) => `${name} = ?`)} WHERE id = ?`, ...values, loop.id)
  // Only the driver adds any.
  run('DELETE FROM event WHERE loop = ? AND n >= ?', loop.id, n)
  run('DELETE FROM iteration WHERE loop = ? AND n > ?', loop.id, iterations)
  insert('event', { loop: loop.id, n, at: fact.at, fact: JSON.stringify(fact), next: JSON.stringify(loop.next) })
  if (fact.kind === 'turned' && loop.tally.iteration > before.iteration)
    insert('iteration', toIterationColumns(before, loop, fact))
  if (fact.kind === 'checked') addVerdicts(asking, loop, fact.verdicts)
  if (fact.kind === 'told') run('DELETE FROM told WHERE id = ?', fact.id ?? null)
  return { ...before, ...after } as StoredLoop
}

type Turned = Fact & { kind: 'turned' }

/** The row of an iteration whose turn has just ended. `before`: its loop before that. */
export function toIterationColumns(before: StoredLoop, loop: Loop, { turn, at }: Turned): Columns {
  // Only a turn that was requested counts.
  const { attempt, agent } = parse<Next & { kind: 'turn' }>(before.next, loop.id)
  const { tree } = parse<Tally>(before.tally, loop.id)
  const { files = null, added = null, removed = null } = turn.diff ?? {}
  const { input = null, cached = null, output = null } = turn.usage ?? {}
  return {
    loop: loop.id,
    n: loop.tally.iteration,
    attempts: attempt,
    started_at: before.updated_at,
    ended_at: at,
    agent: agent ?? loop.spec.work.agent,
    end: turn.end,
    claim: turn.claim.kind,
    changed: turn.tree === undefined || tree === undefined ? null : Number(turn.tree !== tree),
    tokens: Math.round(turn.tokens),
    tokens_in: input,
    tokens_cached: cached,
    tokens_out: output,
    cost_usd: turn.costUsd ?? null,
    words: turn.words,
    files,
    added,
    removed,
  }
}

function addVerdicts({ insert, run }: Asking, { id: loop, tally }: Loop, verdicts: readonly Verdict[]): void {
  const { iteration, findings } = tally
  for (const row of toVerdictRows(loop, iteration, verdicts)) insert('check_result', row, 'REPLACE')
  run('UPDATE iteration SET weakened=? WHERE loop=? AND n=?', Number(isWeakened(findings)), loop, iteration)
}

export function toVerdictRows(loop: string, iteration: number, verdicts: readonly Verdict[]): Columns[] {
  return verdicts.map(({ check, result, failures = null, tail }, position) => ({
    loop,
    iteration,
    position,
    check,
    result,
    failures,
    tail,
  }))
}
