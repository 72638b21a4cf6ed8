/** Schemas of the operations on iterations. */
import * as z from 'zod'
import type { IterationRow } from '../host/store.ts'
import { finding } from './proof-schemas.ts'
import { loopName, maybe, path, type SchemasOf, whole } from './schema-parts.ts'
import type { TriedCheck } from './try-checks.ts'

const ran = {
  check: z.string(),
  result: z.enum(['pass', 'fail', 'broken', 'timeout']),
  failures: whole.exactOptional(),
  tests: whole.exactOptional(),
}
const verdict = z.strictObject({ ...ran, tail: z.string() })
/** A check that ran by itself, and how long it took. */
export const tried: z.ZodType<TriedCheck> = verdict.extend({ ms: whole })

const at = z.number()
const report = z.union([
  z.strictObject({ at, kind: z.literal('stage'), stage: z.string().exactOptional(), evidence: z.string() }),
  z.strictObject({ at, kind: z.literal('blocked'), reason: z.string() }),
  z.strictObject({ at, kind: z.literal('question'), question: z.string() }),
])

const fields = {
  n: whole,
  attempts: whole,
  startedAt: z.number(),
  endedAt: z.number(),
  agent: z.string(),
  end: z.enum(['ok', 'limited', 'overloaded', 'unusable', 'context-full', 'failed']),
  claim: z.enum(['none', 'weak', 'clear']),
  form: maybe(z.enum(['stated', 'mentioned', 'phrase'])),
  stage: maybe(z.string()),
  changed: maybe(z.boolean()),
  diff: maybe(z.strictObject({ files: whole, added: whole, removed: whole })),
  tokens: z.number(),
  usage: maybe(z.strictObject({ input: z.number(), cached: z.number(), output: z.number() })),
  ask: maybe(
    z.strictObject({
      kind: z.enum(['question', 'person', 'permission']),
      words: z.string(),
      about: z.string().exactOptional(),
    }),
  ),
  costUsd: maybe(z.number()),
  words: z.string(),
  verdicts: z.array(verdict),
  findings: z.array(finding),
  reports: z.array(report),
}

/** As listed by a loop. */
export const iteration: z.ZodType<IterationRow> = z.strictObject(fields)

const view = z.strictObject({
  ...fields,
  durationMs: z.number(),
  refused: z.string().exactOptional(),
  costSource: z.enum(['reported', 'unknown']),
  commit: z.string().exactOptional(),
})

const diffLine = z.strictObject({
  kind: z.enum(['same', 'added', 'removed']),
  old: whole.exactOptional(),
  new: whole.exactOptional(),
  text: z.string(),
  noBreak: z.literal(true).exactOptional(),
})

const diffFile = z.strictObject({
  path: z.string(),
  from: z.string().exactOptional(),
  change: z.enum(['added', 'deleted', 'changed', 'renamed']),
  binary: z.literal(true).exactOptional(),
  added: whole,
  removed: whole,
  hunks: z.array(z.strictObject({ oldStart: whole, newStart: whole, heading: z.string(), lines: z.array(diffLine) })),
})

const turnEntry = z.union([
  z.strictObject({ at: z.number(), attempt: whole, prompt: z.string(), command: z.array(z.string()) }),
  z.strictObject({ out: z.string() }),
  z.strictObject({ err: z.string() }),
  z.strictObject({ at: z.number(), exit: maybeNull(z.number()), signal: maybeNull(z.string()) }),
  z.strictObject({ at: z.number(), limitMb: z.number(), dropped: whole.exactOptional() }),
])

function maybeNull<Value>(schema: z.ZodType<Value>): z.ZodType<Value | null> {
  return schema.nullable()
}

const oneIteration = { loop: loopName, iteration: whole.min(1) }
const against = z.enum(['previous', 'start'])

type IterationOperation =
  | 'list_iterations'
  | 'get_iteration'
  | 'get_diff'
  | 'get_transcript'
  | 'get_activity'
  | 'get_checks'

export const ITERATION_SCHEMAS: SchemasOf<IterationOperation> = {
  list_iterations: {
    input: z.strictObject({
      loop: loopName,
      after: whole.exactOptional().describe('Number of the last one you have.'),
      limit: whole.min(1).max(1_000).exactOptional(),
      brief: z.boolean().exactOptional().describe('One line per iteration, without check output.'),
    }),
    output: z.strictObject({ loop: z.string(), iterations: z.array(view), next: whole.exactOptional() }),
  },
  get_iteration: {
    input: z.strictObject(oneIteration),
    output: z.strictObject({
      loop: z.string(),
      row: view.exactOptional(),
      prompt: z.string().exactOptional(),
      promptChange: z.string().exactOptional(),
      command: z.array(z.string()).exactOptional(),
      head: z.string().exactOptional(),
      diff: z.string().exactOptional(),
      note: z.string().exactOptional(),
    }),
  },
  get_diff: {
    input: z.strictObject({
      ...oneIteration,
      against: against.exactOptional().describe('Compare with the state before this iteration, or the loop.'),
      path: path.exactOptional().describe('Only this file.'),
      limit: whole.min(1).max(5_000_000).exactOptional().describe('Maximum characters.'),
    }),
    output: z.strictObject({
      loop: z.string(),
      iteration: whole,
      against,
      from: z.string(),
      to: z.string(),
      text: z.string(),
      files: z.array(diffFile),
      note: z.string().exactOptional(),
    }),
  },
  get_transcript: {
    input: z.strictObject({
      ...oneIteration,
      from: whole.exactOptional().describe('`next` of the previous portion.'),
    }),
    output: z.strictObject({
      loop: z.string(),
      iteration: whole,
      entries: z.array(turnEntry),
      next: whole,
      over: z.boolean(),
    }),
  },
  get_activity: {
    input: z.strictObject({
      ...oneIteration,
      from: whole.exactOptional().describe('In bytes. A line that starts earlier belongs to the part before.'),
      to: whole.exactOptional().describe('End of the range in bytes, exclusive. Default: about 256 KB after `from`.'),
      raw: z.boolean().exactOptional().describe('The raw output, line by line.'),
    }),
    output: z.strictObject({
      loop: z.string(),
      iteration: whole,
      rows: z.array(
        z.strictObject({
          kind: z.enum(['prompt', 'text', 'tool', 'note', 'out', 'err', 'exit']),
          text: z.string(),
          name: z.string().exactOptional(),
          at: z.number().exactOptional(),
        }),
      ),
      next: whole,
      size: whole,
      over: z.boolean(),
    }),
  },
  get_checks: {
    input: z.strictObject({ loop: loopName }),
    output: z.strictObject({
      loop: z.string(),
      checks: z.array(
        z.strictObject({
          check: z.string(),
          stage: z.string().exactOptional(),
          before: z.strictObject({ ...ran, red: z.enum(['assertion', 'load']).exactOptional() }).exactOptional(),
          rounds: z.array(z.strictObject({ iteration: whole, result: ran.result, failures: ran.failures })),
        }),
      ),
    }),
  },
}
