/** Counts the tokens of a session's turns from its own transcript, reading only what was added since the last stop. */
import { readFileSync } from 'node:fs'
import { droidTotal, type Entry, RECORDS, type Reported } from '../agents/record-usage.ts'
import { added, plus, sumOf } from '../agents/usage.ts'
import type { Usage } from '../engine/loop.ts'
import { newLines, sizeOf } from '../host/new-lines.ts'
import { tailOf } from '../host/tail.ts'
import { given } from '../request/given.ts'
import type { HostName } from './hosts.ts'

/** How far a transcript has been counted. `total`: the session's own count there; `last`: the answer that may be repeated. */
export type Spent = { record: string; at: number; total?: Usage; last?: { id: string; usage: Usage } }

type Counted = { usage?: Usage; spent?: Spent }

const TAIL = 1 << 18

/** From here on, tokens belong to the loop. Undefined if the host writes no transcript with tokens. */
export function markSpent(host: HostName, record: string | undefined): Spent | undefined {
  if (!record) return undefined
  if (host === 'droid') return { record, at: 0, ...totalOf(record) }
  const entry = RECORDS[host]
  if (!entry) return undefined
  const at = sizeOf(record)
  const lines = at > 0 ? tailOf(record, TAIL).split('\n') : []
  const last = lines.findLast((line) => line.includes(entry.marker))
  const { total } = (last && reportedIn(last, entry)) || {}
  return { record, at, ...(total ? { total } : {}) }
}

/** Tokens used since the mark, and the next mark. Never fails: what cannot be read counts as nothing. */
export function spentSince(host: HostName, mark: Spent | undefined, record: string): Counted {
  const entry = RECORDS[host]
  // Gemini starts a new file for a fresh context. In any other new file nothing says which part belongs to this turn.
  const isNew = record !== mark?.record
  if (!mark || (isNew && host !== 'gemini')) return given({ spent: markSpent(host, record) })
  if (!entry) return ofDroid(mark)
  let at = isNew ? 0 : mark.at
  const all: Reported[] = []
  for (let waited = 0; ; waited += NAP_MS) {
    const next = newLines(record, { from: at, marker: entry.marker }, (line) => {
      const reported = reportedIn(line, entry)
      if (reported) all.push(reported)
    })
    at = next ?? at
    const isWhole = next === undefined || !entry.late || all.at(-1)?.open === false
    if (isWhole || waited >= PATIENCE_MS) break
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, NAP_MS)
  }
  return { ...counted(all, mark), spent: { record, at, ...lastOf(all, mark) } }
}

function reportedIn(line: string, { read }: Entry): Reported | undefined {
  try {
    return read(JSON.parse(line))
  } catch {
    return undefined // the first line of a tail is incomplete
  }
}

const NAP_MS = 10
const PATIENCE_MS = 500

/** Counts every answer once, as last reported. */
function counted(reported: readonly Reported[], { total: before, last }: Spent): { usage?: Usage } {
  const answers = new Map<string, Usage>()
  let all: Usage | undefined
  let total = before
  for (const { id, usage, total: now } of reported) {
    if (id !== undefined) answers.set(id, usage)
    // The same count is reported several times; a smaller one has started over.
    if (now) all = plus(all, total && sumOf(now) >= sumOf(total) ? added(now, total) : usage)
    total = now ?? total
  }
  for (const [id, usage] of answers) all = plus(all, id === last?.id ? added(usage, last.usage) : usage)
  return all ? { usage: all } : {}
}

function lastOf(reported: readonly Reported[], { total: before, last: earlier }: Spent): Pick<Spent, 'total' | 'last'> {
  const { id, usage, total = before } = reported.at(-1) ?? {}
  const last = id !== undefined && usage ? { id, usage } : earlier
  return { ...(total ? { total } : {}), ...(last ? { last } : {}) }
}

function ofDroid(mark: Spent): Counted {
  const { total } = totalOf(mark.record)
  return total ? { usage: added(total, mark.total ?? NONE), spent: { ...mark, total } } : {}
}

const NONE: Usage = { input: 0, cached: 0, output: 0 }

function totalOf(record: string): { total?: Usage } {
  try {
    return { total: droidTotal(JSON.parse(readFileSync(record.replace(/\.jsonl$/, '.settings.json'), 'utf8'))) }
  } catch {
    return {} // not written yet
  }
}
