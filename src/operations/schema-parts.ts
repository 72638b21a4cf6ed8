/** Shared parts of the schemas of operations. */
import * as z from 'zod'
import type { Finding, OwnerKind, Status } from '../engine/loop.ts'
import type { Table } from './index.ts'
import type { Operation } from './operation.ts'

export type SchemasOf<Names extends keyof Table> = {
  [Name in Names]: Table[Name] extends Operation<infer Input, infer Output>
    ? { input: z.ZodType<Input>; output: z.ZodType<Output> }
    : never
}

export const status: z.ZodType<Status> = z.enum([
  'queued',
  'running',
  'verifying',
  'waiting',
  'needs-input',
  'paused',
  'completed',
  'halted',
  'cancelled',
])

export const owner: z.ZodType<OwnerKind> = z.enum(['person', 'project', 'vault', 'session', 'pane', 'board', 'fleet'])

export const amount: z.ZodNumber = z.number().positive()
export const whole: z.ZodNumber = z.number().int().min(0).max(999_999_999)

/** Messages follow the field name: they say what its value must be. */
const NAME = /^(?!\.)[^/\\\p{Cc}]+$/u
export const name: z.ZodString = z.string().min(1).max(200).regex(NAME, 'must be a name, not a path')
export const loopName: z.ZodString = name.describe('An id or its prefix, or the name of a project in this folder.')
export const path: z.ZodString = z
  .string()
  .min(1)
  .max(4_096)
  .regex(/^[^\0]+$/, 'must be a path')
/** Text shown or passed on as one line. */
export const line: z.ZodString = z
  .string()
  .max(1_000)
  .regex(/^\P{Cc}*$/u, 'must be one line of text')
export const words: z.ZodString = z.string().max(10_000)
/** A program argument, which cannot contain NUL. */
export const argument: z.ZodString = z.string().regex(/^[^\0]*$/, 'must not contain NUL')

/** What ralph noticed; a newer ralph may use other kinds. */
export const finding = z.strictObject({
  kind: z.string(),
  path: z.string(),
  words: z.string(),
}) as unknown as z.ZodType<Finding>

/** A field that is always present but may be undefined, which JSON omits. */
export function maybe<Value>(schema: z.ZodType<Value>): z.ZodType<Value | undefined> {
  return schema.optional()
}
