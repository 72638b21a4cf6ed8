/** Schemas of the operations on the work of a loop: fork, retry, answers, comments. */
import * as z from 'zod'
import { allowedSome, steered } from './loop-schemas.ts'
import { amount, argument, name, path, type SchemasOf, whole, words } from './schema-parts.ts'

const loopName = name.describe('An id or its prefix.')

const changes = {
  agent: argument.min(1).exactOptional().describe('A different agent; comma-separated.'),
  limits: z
    .strictObject({
      iterations: whole.exactOptional().describe('0: no limit.'),
      minutes: amount.exactOptional(),
      tokens: whole.min(1).exactOptional(),
      costUsd: amount.exactOptional(),
    })
    .exactOptional()
    .describe('Omitted fields stay as they were.'),
}

const started = {
  loop: z.string(),
  why: z.string().exactOptional(),
  queued: z.literal(true).exactOptional(),
  from: z.string().describe('The loop it continues from.'),
}

const against = z.enum(['previous', 'start']).describe('What the diff compares the iteration with.')
const side = z.enum(['old', 'new']).describe('Side of the diff that the line number refers to. Default: new.')

const written = z.strictObject({
  iteration: whole.min(1),
  against: against.exactOptional(),
  path,
  line: whole.min(1),
  side: side.exactOptional(),
  text: words.min(1).regex(/\S/, 'must not be blank'),
})

const comment = z.strictObject({
  id: whole,
  loop: z.string().describe('The loop whose diff it is.'),
  at: z.number(),
  iteration: whole,
  against,
  path: z.string(),
  line: whole,
  side,
  quote: z.string(),
  text: z.string(),
  hearer: z.string().describe('The loop that gets it: this one, or the one that continues its work.'),
  delivered: whole.nullable().describe('The iteration of that loop that got it; null: none yet.'),
})
const comments = { comments: z.array(comment) }
const oneComment = z.strictObject({ loop: loopName, comment: whole.min(1) })

const firstWords = words.min(1).exactOptional().describe('Extra message for its first iteration.')

type WorkOperation = 'fork' | 'retry' | 'answer' | 'add_comments' | 'list_comments' | 'remove_comment'

export const WORK_SCHEMAS: SchemasOf<WorkOperation> = {
  fork: {
    input: z.strictObject({
      loop: loopName,
      iteration: whole.exactOptional().describe('Start after this one; 0: the original state. Default: the last one.'),
      prompt: z.string().min(1).regex(/\S/, 'must say what to do').exactOptional(),
      words: firstWords,
      ...changes,
    }),
    output: z.strictObject({ ...started, iteration: whole }),
  },
  retry: {
    input: z.strictObject({
      loop: loopName,
      words: firstWords,
      ...changes,
    }),
    output: z.strictObject(started),
  },
  answer: {
    input: z.strictObject({
      loop: loopName,
      words: words.min(1).exactOptional(),
      allow: z.literal(true).exactOptional().describe('Allow the changed tests or configuration.'),
      paths: z.array(path).exactOptional().describe('With allow: only these. Default: all it waits for.'),
    }),
    output: z.union([allowedSome, steered]),
  },
  add_comments: {
    input: z.strictObject({ loop: loopName, comments: z.array(written).min(1).max(200) }),
    output: z.strictObject({
      loop: z.string(),
      heard: z.enum(['driver', 'session', 'here', 'nobody', 'later']),
      session: z.string().exactOptional(),
      how: z.string().exactOptional(),
      ...comments,
    }),
  },
  list_comments: {
    input: z.strictObject({ loop: loopName }),
    output: z.strictObject({ loop: z.string(), ...comments }),
  },
  remove_comment: { input: oneComment, output: z.strictObject({ loop: z.string(), comment: whole }) },
}
