/** The last iterations of a loop in short, in SQL: what was said and printed in them is not read. */
import type { Asking } from './asking.ts'
import type { Row } from './rows.ts'
import type { Bar, Strip } from './store.ts'

/** Undefined if there is no such loop. */
export function readStrip(asking: Asking, id: string, most: number): Strip | undefined {
  const loop = asking.one(LOOP, id)
  if (!loop) return undefined
  const rows = asking.all(ITERATIONS, id, most).reverse()
  return toStrip(loop, { rows, open: asking.all(OPEN, id, firstOf(rows)) }, most)
}

export function firstOf(rows: readonly Row[]): number {
  return Number(rows[0]?.n ?? 0)
}

/** `open`: how many failures the rounds of checks left open. */
type Found = { rows: readonly Row[]; open: readonly Row[] }

export function toStrip(loop: Row, { rows, open: rounds }: Found, most: number): Strip {
  const first = firstOf(rows)
  const open = new Map(rounds.map((row) => [Number(row.iteration), Number(row.open)]))
  let before = [...open].findLast(([n]) => n < first)?.[1]
  const bars = rows.map((row) => {
    const now = open.get(Number(row.n))
    const bar = toBar(row, loop, { now, before })
    before = now ?? before
    return bar
  })
  return { loop: String(loop.id), bars: [...bars, ...crashOf(loop, rows.at(-1))].slice(-most) }
}

// A damaged row must not keep the others from being shown.
const inJson = (column: string, call: string) => `CASE json_valid(${column}) WHEN 1 THEN ${call} END`

/**
 * `awaited`: a claim of its last iteration has not been judged yet. `crashed`: it ended with a turn that could not be
 * taken.
 */
const LOOP = `SELECT id, iteration, status, started_at, updated_at, ${inJson('spec', `json_array_length(spec, '$.stages')`)} AS stages,
  status = 'verifying'
    OR (status = 'paused' AND ${inJson('tally', `json_extract(tally, '$.held.kind')`)} IN ('check', 'prove')) AS awaited,
  status = 'halted'
    AND (reason = 'agent-unusable' OR ${inJson('tally', `json_extract(tally, '$.crashes')`)} > 0) AS crashed
  FROM loop WHERE id = ?`

const ITERATIONS = `SELECT n, started_at, ended_at, "end", claim, changed, weakened FROM iteration
  WHERE loop = ? ORDER BY n DESC LIMIT ?`

/**
 * How many failures each round of checks left open, and the round before the first one. Failures from before any work
 * do not count.
 */
const OPEN = `SELECT iteration, sum(CASE result WHEN 'pass' THEN 0 ELSE max(1, coalesce(failures, 0)) END) AS open
  FROM check_result WHERE loop = ?1 AND iteration > 0 AND iteration >= coalesce(
    (SELECT max(iteration) FROM check_result WHERE loop = ?1 AND iteration < ?2), ?2)
  GROUP BY iteration ORDER BY iteration`

type Failures = { now: number | undefined; before: number | undefined }

function toBar(row: Row, loop: Row, { now, before }: Failures): Bar {
  const isLast = row.n === loop.iteration
  const claimed = row.claim === 'clear' || (row.claim === 'weak' && isLast && loop.status === 'completed')
  const isWorse = now !== undefined && before !== undefined && now > before
  return {
    n: Number(row.n),
    ms: Number(row.ended_at) - Number(row.started_at),
    result: resultOf(row, now),
    ...(now ? { failures: now } : {}),
    ...(claimed ? { claimed } : {}),
    ...(claimed && isRefused(row, loop, now) ? { refused: true } : {}),
    ...(isWorse ? { worse: true } : {}),
    ...(row.weakened === 1 ? { weakened: true } : {}),
    ...(row.changed === 0 ? { idle: true } : {}),
  }
}

function resultOf({ end }: Row, failures: number | undefined): Bar['result'] {
  if (end === 'failed' || end === 'unusable') return 'crash'
  if (failures === undefined) return 'none'
  return failures > 0 ? 'fail' : 'pass'
}

/** Whatever follows a claim refuses it, except the end of the loop, or of the stage that was claimed. */
function isRefused(row: Row, loop: Row, failures: number | undefined): boolean {
  const isLast = row.n === loop.iteration
  if (isLast && (loop.awaited === 1 || loop.status === 'completed')) return false
  return !loop.stages || (failures ?? 0) > 0
}

/**
 * A turn that could not be taken does not count as an iteration; if the loop ended with it, it is the last one to show.
 */
function crashOf(loop: Row, last: Row | undefined): Bar[] {
  if (loop.crashed !== 1) return []
  const began = Number(last?.ended_at ?? loop.started_at)
  return [{ n: Number(loop.iteration) + 1, ms: Number(loop.updated_at) - began, result: 'crash' }]
}
