/** Output schema of the operation that shows a proof. */
import * as z from 'zod'
import { type Finding, GRADES } from '../engine/loop.ts'
import type { FoundProof } from './get-proof.ts'
import { status, whole } from './schema-parts.ts'

// The engine defines the kinds of findings.
export const finding: z.ZodType<Finding> = z.strictObject({
  kind: z.string(),
  path: z.string(),
  words: z.string(),
  mark: z
    .string()
    .exactOptional()
    .describe('A value that changes with the content of the file; empty: it was deleted.'),
}) as unknown as z.ZodType<Finding>

const grade = z.enum(GRADES)
const ran = z.strictObject({
  check: z.string(),
  result: z.enum(['pass', 'fail', 'broken', 'timeout']),
  failures: whole.exactOptional(),
  tests: whole.exactOptional(),
  red: z.enum(['assertion', 'load']).exactOptional(),
})
const tried = z.union([ran, z.strictObject({ check: z.string(), why: z.string() })])
const files = z.strictObject({
  tree: z.string(),
  head: z.string().exactOptional(),
  commit: z.string().exactOptional().describe('The checked-out commit, if it contains exactly these files.'),
})

export const proof: z.ZodType<FoundProof> = z.strictObject({
  loop: z.string(),
  status,
  grade: grade.exactOptional(),
  sentence: z.string(),
  advice: z.string().exactOptional(),
  older: z.literal(true).exactOptional(),
  require: grade.exactOptional(),
  experiments: z.enum(['off', 'seal', 'full']),
  dir: z.string(),
  iterations: whole,
  at: z.number().exactOptional(),
  seen: files.exactOptional(),
  start: files.exactOptional(),
  stale: z.literal(true).exactOptional(),
  checks: z.array(
    z.strictObject({
      check: z.string(),
      before: ran.exactOptional(),
      after: ran.exactOptional(),
      start: tried.exactOptional(),
      sealed: tried.exactOptional(),
      reversed: tried.exactOptional(),
      control: tried.exactOptional(),
    }),
  ),
  findings: z.array(finding),
  allowed: z.array(z.strictObject({ path: z.string(), by: z.string() })),
  flaky: z.array(z.string()),
})
