/**
 * Rows of the database as values. ralph wrote them itself, in one transaction each; but a disk may change what it
 * stores.
 */
import { homeFolder } from '../engine/home-folder.ts'
import { iterationLimit } from '../engine/limits.ts'
import {
  type Ask,
  type Claim,
  type Fact,
  type Finding,
  type Loop,
  type Next,
  type OwnerKind,
  type Spec,
  type Status,
  statusOf,
  type Tally,
  type Turn,
  type Verdict,
} from '../engine/loop.ts'
import type { Report } from '../engine/report.ts'
import { faultOfFact, faultOfLoop, faultOfNext, readFact } from '../engine/stored.ts'
import { isRalphError } from '../error.ts'
import { damagedRecord } from './plain-words.ts'
import type { IterationRow, LoopRow, StoredEvent } from './store.ts'

export type Row = Record<string, unknown>

/** What every database can store. */
export type Columns = Record<string, string | number | null>

/** The row of a loop, as far as moving it needs to know. */
export type StoredLoop = Row & {
  id: string
  spec: string
  tally: string
  next: string
  iteration: number
  events: number
  epoch: number
  holder: string
  updated_at: number
}

/** `what`: whose data it is; a disk may have changed it since. */
export function parse<Value>(json: unknown, what: string): Value {
  try {
    return JSON.parse(String(json)) as Value
  } catch (cause) {
    throw damagedRecord(what, 'it is not JSON', cause)
  }
}

/** A row that cannot be read is left out of a list, so that the others are shown; `ralph doctor` reports it. */
export function readable<Value>(rows: readonly Row[], read: (row: Row) => Value): Value[] {
  return rows.flatMap((row) => {
    try {
      return [read(row)]
    } catch (cause) {
      if (isRalphError(cause)) return []
      throw cause
    }
  })
}

export function toLoop(row: StoredLoop): Loop {
  const part = <Value>(json: string) => parse<Value>(json, `loop ${row.id}`)
  return { id: row.id, spec: part<Spec>(row.spec), tally: part<Tally>(row.tally), next: part<Next>(row.next) }
}

/** The same, fully validated: valid JSON may still not be a loop. */
export function toSoundLoop(row: StoredLoop): Loop {
  return sound(toLoop(row))
}

export function sound(loop: Loop): Loop {
  const fault = faultOfLoop(loop)
  if (fault) throw damagedRecord(`loop ${loop.id}`, fault)
  return loop
}

/** A loop as a row of its table. Columns besides the JSON are for lists and sums, and always follow it. */
export function toColumns(loop: Loop): Columns {
  const { spec, tally, next } = loop
  return {
    dir: homeFolder(loop),
    agent: spec.work.agent,
    prompt: spec.prompt.slice(0, 500),
    owner: spec.work.owner?.kind ?? 'person',
    spec: JSON.stringify(spec),
    tally: JSON.stringify(tally),
    next: JSON.stringify(next),
    status: statusOf(loop),
    reason: next.kind === 'halt' ? next.reason : null,
    proof: next.kind === 'complete' ? next.proof : null,
    iteration: tally.iteration,
    iteration_limit: iterationLimit(spec.limits, tally),
    false_claims: tally.falseClaims,
    tokens: Math.round(tally.tokens),
    cost_usd: tally.costUsd,
  }
}

export function toNewColumns(loop: Loop): Columns {
  const { startedAt } = loop.tally
  return { id: loop.id, started_at: startedAt, updated_at: startedAt, ...toColumns(loop) }
}

export function toLoopRow(row: Row): LoopRow {
  const next = nextIn(row)
  return {
    id: String(row.id),
    dir: String(row.dir),
    agent: String(row.agent),
    prompt: String(row.prompt),
    owner: row.owner as OwnerKind,
    status: next ? (row.status as Status) : 'needs-input',
    next: next ?? {
      kind: 'wait',
      why: 'person',
      question: damagedRecord(`loop ${row.id}`, 'its next step').message,
    },
    iteration: Number(row.iteration),
    iterationLimit: Number(row.iteration_limit),
    falseClaims: Number(row.false_claims),
    tokens: Number(row.tokens),
    costUsd: Number(row.cost_usd),
    startedAt: Number(row.started_at),
    updatedAt: Number(row.updated_at),
  }
}

/** Undefined if it cannot be read: the loop is listed nevertheless. */
function nextIn(row: Row): Next | undefined {
  const [next] = readable([row], ({ id, next }) => parse<Next>(next, `loop ${id}`))
  return next !== undefined && faultOfNext(next) === '' ? next : undefined
}

export function toEvent(row: Row): StoredEvent {
  const what = `loop ${row.loop}`
  const [fact, next] = [parse<Fact>(row.fact, what), parse<Next>(row.next, what)]
  const fault = faultOfFact(fact) || faultOfNext(next)
  if (fault) throw damagedRecord(what, `event ${row.n}: ${fault}`)
  return {
    seq: Number(row.seq),
    loop: String(row.loop),
    n: Number(row.n),
    at: Number(row.at),
    fact: readFact(fact),
    next,
  }
}

/** What only the events say. */
export type FromEvents = { claim?: Claim; ask?: Ask; findings?: Finding[]; reports?: Report[] }

export function toIteration(
  row: Row,
  verdicts: readonly Row[],
  { claim, ask, findings = [], reports = [] }: FromEvents,
): IterationRow {
  return {
    n: Number(row.n),
    attempts: Number(row.attempts),
    startedAt: Number(row.started_at),
    endedAt: Number(row.ended_at),
    agent: String(row.agent),
    end: row.end as Turn['end'],
    claim: row.claim as Claim['kind'],
    form: claim?.form,
    stage: claim?.stage,
    ask,
    changed: row.changed === null ? undefined : row.changed === 1,
    diff:
      row.files === null
        ? undefined
        : { files: Number(row.files), added: Number(row.added), removed: Number(row.removed) },
    tokens: Number(row.tokens),
    usage:
      row.tokens_in === null
        ? undefined
        : { input: Number(row.tokens_in), cached: Number(row.tokens_cached), output: Number(row.tokens_out) },
    costUsd: row.cost_usd === null ? undefined : Number(row.cost_usd),
    words: String(row.words),
    verdicts: verdicts.map(toVerdict),
    findings,
    reports,
  }
}

function toVerdict(row: Row): Verdict {
  return {
    check: String(row.check),
    result: row.result as Verdict['result'],
    ...(row.failures === null ? {} : { failures: Number(row.failures) }),
    tail: String(row.tail),
  }
}
