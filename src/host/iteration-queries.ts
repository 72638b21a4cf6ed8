/** The iterations of a loop, in SQL: their rows, their checks, and what only the events say about them. */
import type { Ask, Claim, Finding, Turn } from '../engine/loop.ts'
import type { Report } from '../engine/report.ts'
import { faultOfAsk, faultOfClaim, faultOfFindings, faultOfReports } from '../engine/stored.ts'
import type { Asking } from './asking.ts'
import { type FromEvents, parse, type Row, toIteration } from './rows.ts'
import type { IterationRow, Span } from './store.ts'

export function listIterations({ all, one }: Asking, loop: string, { after, limit }: Span = ALL): IterationRow[] {
  const rows = all('SELECT * FROM iteration WHERE loop = ? AND n > ? ORDER BY n LIMIT ?', loop, after, limit)
  if (rows.length === 0) return []
  const last = Number(rows.at(-1)?.n)
  const verdicts = all(
    'SELECT * FROM check_result WHERE loop = ? AND iteration > ? AND iteration <= ? ORDER BY iteration, position',
    loop,
    after,
    last,
  )
  // A whole fact holds what the agent said and what the checks printed: only these few fields are extracted.
  const events = all(
    `SELECT at, json_extract(fact, '$.kind', '$.turn.end', '$.turn.claim', '$.turn.reports', '$.findings', '$.turn.ask') AS brief
     FROM event WHERE loop = ? AND at BETWEEN ? AND ? AND json_valid(fact) ORDER BY n`,
    loop,
    Number(rows[0]?.ended_at),
    Number(
      one('SELECT ended_at FROM iteration WHERE loop = ? AND n = ?', loop, last + 1)?.ended_at ??
        Number.MAX_SAFE_INTEGER,
    ),
  )
  return toIterations({ rows, verdicts, events })
}

/** `brief` of an event: the few fields of its fact, see `Brief`. */
type Found = { rows: readonly Row[]; verdicts: readonly Row[]; events: readonly Row[] }

export function toIterations({ rows, verdicts, events }: Found): IterationRow[] {
  const byIteration = Map.groupBy(verdicts, (row) => Number(row.iteration))
  const fromEvents = matchEvents(rows, events)
  return rows.map((row) => toIteration(row, byIteration.get(Number(row.n)) ?? [], fromEvents.get(row) ?? {}))
}

const ALL: Span = { after: 0, limit: -1 } // no limit, in SQL

/** What an iteration shows of a fact. */
export type Brief = [
  kind: string,
  end: Turn['end'] | null,
  claim: Claim | null,
  reports: Report[] | null,
  findings: Finding[] | null,
  ask: Ask | null,
]

/** Anything else is left out: the story of the loop reports that it is damaged. */
function readBrief(json: unknown): Brief {
  const [kind, end, claim, reports, findings, ask] = parse<Brief>(json, 'an iteration')
  const isFine = (fault: string) => fault === ''
  return [
    kind,
    end,
    claim && isFine(faultOfClaim(claim)) ? claim : null,
    reports && isFine(faultOfReports(reports)) ? reports : null,
    findings && isFine(faultOfFindings(findings)) ? findings : null,
    ask && isFine(faultOfAsk(ask)) ? ask : null,
  ]
}

/**
 * Which events belong to which iteration: a turn ends when its row does, and its checks come before the next one ends.
 */
function matchEvents(rows: readonly Row[], events: readonly Row[]): Map<Row, FromEvents> {
  const fromEvents = new Map<Row, FromEvents>()
  let at = -1
  for (const event of events) {
    const [kind, end, claim, reports, findings, ask] = readBrief(event.brief)
    const next = rows[at + 1]
    const row = rows[at]
    if (kind === 'turned' && claim) {
      if (next?.ended_at === event.at && next?.end === end)
        fromEvents.set(rows[++at] as Row, { claim, reports: reports ?? [], ...(ask ? { ask } : {}) })
      else if (!next) break // it belongs to an iteration that was not requested, and so does what follows
    } else if (kind === 'checked' && row) fromEvents.set(row, { ...fromEvents.get(row), findings: findings ?? [] })
  }
  return fromEvents
}
