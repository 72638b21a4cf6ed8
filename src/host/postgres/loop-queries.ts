/** Queries about loops, in Postgres. */
import { toIterations } from '../iteration-queries.ts'
import { IS_OPEN, type LoopQueries, loopConditions, theOne } from '../loop-queries.ts'
import { readable, type StoredLoop, toEvent, toLoopRow, toSoundLoop } from '../rows.ts'
import type { IterationRow, Span, Strip } from '../store.ts'
import { firstOf, toStrip } from '../strip-queries.ts'
import type { PgAsking } from './asking.ts'
import { contains, readPage } from './paging.ts'

export function loopQueries(asking: PgAsking): LoopQueries {
  const { all, one } = asking
  return {
    find: async (name) =>
      theOne(name, await all('SELECT id FROM loop WHERE starts_with(id, $1) ORDER BY started_at DESC LIMIT 6', name)),

    async list({ limit, after, ...filter } = {}) {
      const paging = { table: 'loop', time: 'started_at', limit, after }
      const { rows, ...next } = await readPage(asking, loopConditions(filter, contains('prompt')), paging)
      return { rows: rows.map(toLoopRow), ...next }
    },

    async lastIn(dir) {
      const row = await one(
        `SELECT * FROM loop WHERE dir = $1 AND iteration > 0 AND place IS NOT NULL
         ORDER BY started_at DESC, seq DESC LIMIT 1`,
        dir,
      )
      return row && toSoundLoop(row as StoredLoop)
    },

    async events(after, loop) {
      if (loop !== undefined)
        return (await all('SELECT * FROM event WHERE loop = $1 AND seq > $2 ORDER BY seq', loop, after)).map(toEvent)
      return readable(await all('SELECT * FROM event WHERE seq > $1 ORDER BY seq LIMIT 1000', after), toEvent)
    },

    iterations: (loop, span) => listIterations(asking, loop, span),
    strips: async (loops, most) =>
      (await Promise.all(loops.map((loop) => readStrip(asking, loop, most)))).flatMap((strip) => strip ?? []),

    async newLoops(after) {
      const rows = await all('SELECT * FROM loop WHERE seq > $1 ORDER BY seq LIMIT 500', after)
      return rows.map((row) => ({ seq: Number(row.seq), ...toLoopRow(row) }))
    },

    async heads() {
      const rows = await all('SELECT name, n FROM counter')
      const last = (name: string) => Number(rows.find((row) => row.name === name)?.n ?? 0)
      return { events: last('event'), board: last('board'), panes: last('pane'), loops: last('loop') }
    },

    async history() {
      const rows = await all(`SELECT iteration FROM loop WHERE status = 'completed' ORDER BY updated_at DESC LIMIT 200`)
      return rows.map((row) => Number(row.iteration))
    },

    async overlapping(loop, dir, since) {
      const row = await one(
        `SELECT count(*) AS n FROM loop WHERE dir = $1 AND id <> $2
         AND (updated_at > $3 OR (${IS_OPEN} AND status NOT IN ('needs-input', 'paused', 'queued')))`,
        dir,
        loop,
        since,
      )
      return Number(row?.n)
    },
  }
}

async function listIterations(
  { all, one }: PgAsking,
  loop: string,
  { after, limit }: Span = ALL,
): Promise<IterationRow[]> {
  const rows = await all('SELECT * FROM iteration WHERE loop = $1 AND n > $2 ORDER BY n LIMIT $3', loop, after, limit)
  if (rows.length === 0) return []
  const last = Number(rows.at(-1)?.n)
  const verdicts = await all(
    'SELECT * FROM check_result WHERE loop = $1 AND iteration > $2 AND iteration <= $3 ORDER BY iteration, position',
    loop,
    after,
    last,
  )
  const next = await one('SELECT ended_at FROM iteration WHERE loop = $1 AND n = $2', loop, last + 1)
  const events = await all(
    'SELECT at, brief FROM event WHERE loop = $1 AND at BETWEEN $2 AND $3 ORDER BY n',
    loop,
    Number(rows[0]?.ended_at),
    Number(next?.ended_at ?? Number.MAX_SAFE_INTEGER),
  )
  return toIterations({ rows, verdicts, events })
}

const ALL: Span = { after: 0, limit: Number.MAX_SAFE_INTEGER }

async function readStrip({ all, one }: PgAsking, id: string, most: number): Promise<Strip | undefined> {
  const loop = await one(LOOP, id)
  if (!loop) return undefined
  const rows = (await all(ITERATIONS, id, most)).reverse()
  return toStrip(loop, { rows, open: await all(OPEN, id, firstOf(rows)) }, most)
}

/**
 * `awaited`: a claim of its last iteration has not been judged yet. `crashed`: it ended with a turn that could not be
 * taken.
 */
const LOOP = `SELECT id, iteration, status, started_at, updated_at, stages,
  (status = 'verifying' OR (status = 'paused' AND coalesce(held, '') IN ('check', 'prove')))::integer AS awaited,
  (status = 'halted' AND (reason = 'agent-unusable' OR crashes > 0))::integer AS crashed
  FROM loop WHERE id = $1`

const ITERATIONS = `SELECT n, started_at, ended_at, "end", claim, changed, weakened FROM iteration
  WHERE loop = $1 ORDER BY n DESC LIMIT $2`

/**
 * How many failures each round of checks left open, and the round before the first one. Failures from before any work
 * do not count.
 */
const OPEN = `SELECT iteration, sum(CASE result WHEN 'pass' THEN 0 ELSE greatest(1, coalesce(failures, 0)) END) AS open
  FROM check_result WHERE loop = $1 AND iteration > 0 AND iteration >= coalesce(
    (SELECT max(iteration) FROM check_result WHERE loop = $1 AND iteration < $2), $2)
  GROUP BY iteration ORDER BY iteration`
