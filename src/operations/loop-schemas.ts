/** Schemas of the operations on loops. */
import * as z from 'zod'
import { type Fact, type Loop, type Next, REQUIRABLE } from '../engine/loop.ts'
import { SERVICE_NAMES } from '../formats/services.ts'
import type { Allowed } from './allow.ts'
import { iteration } from './iteration-schemas.ts'
import { proof } from './proof-schemas.ts'
import {
  amount,
  argument,
  line,
  loopName,
  maybe,
  name,
  owner,
  path,
  type SchemasOf,
  status,
  whole,
  words,
} from './schema-parts.ts'
import type { Standing } from './standing.ts'
import type { Starting } from './start-loop.ts'
import type { Steered } from './steer.ts'

const optionalLoop = z.strictObject({
  loop: loopName.exactOptional().describe('Default: the newest in this folder.'),
})
const oneLoop = z.strictObject({ loop: loopName })

const limits = z.strictObject({
  iterations: z
    .union([whole, z.strictObject({ ceiling: whole.min(1) })])
    .exactOptional()
    .describe('0: no limit; with a ceiling, the limit is estimated from the task and may grow.'),
  minutes: amount.exactOptional(),
  tokens: whole.min(1).exactOptional(),
  costUsd: amount.exactOptional(),
  noProgress: whole.min(1).exactOptional(),
  sameError: whole.min(1).exactOptional(),
  cooldownMinutes: z
    .number()
    .min(0)
    .exactOptional()
    .describe('How long an open breaker waits before one retry; 0: halt at once.'),
  overloadMinutes: z
    .number()
    .min(0)
    .exactOptional()
    .describe('How long to wait out an overload before giving up on the agent; 0: forever.'),
  onLimit: z.enum(['wait', 'stop']).exactOptional().describe('At a rate limit: wait until it resets, or stop.'),
})

const room = z
  .strictObject({
    iterations: whole.exactOptional().describe('0: no limit.'),
    minutes: amount.exactOptional(),
    tokens: whole.min(1).exactOptional(),
    costUsd: amount.exactOptional(),
  })
  .describe('New limits, counted from the start of the loop.')

const globs = z.array(line.min(1))

const startFields = z.strictObject({
  prompt: z.string().min(1).regex(/\S/, 'must say what to do').exactOptional(),
  task_id: name.exactOptional().describe('A task on the board, instead of a prompt and all other fields.'),
  dir: path.exactOptional(),
  agent: argument.min(1).exactOptional().describe('auto, a name, or command:"program and arguments"; comma-separated.'),
  promise: line.min(1).exactOptional(),
  signals: z.array(line.min(1)).exactOptional(),
  checks: z
    .array(argument.min(1))
    .exactOptional()
    .describe("Commands that prove the work; auto finds the folder's own."),
  until: argument.min(1).exactOptional(),
  stages: z
    .array(
      z.strictObject({
        name: line.min(1).max(200),
        check: argument.min(1).exactOptional(),
      }),
    )
    .exactOptional(),
  limits: limits.exactOptional(),
  agentArgs: z.array(argument).exactOptional(),
  model: argument.min(1).exactOptional(),
  type: line
    .min(1)
    .max(100)
    .exactOptional()
    .describe('Kind of work, such as feature, bug or docs; analytics group by it.'),
  permissions: z.enum(['bypass', 'ask']).exactOptional(),
  context: z.enum(['fresh', 'same']).exactOptional(),
  sandbox: z
    .union([z.boolean(), z.literal('strict')])
    .exactOptional()
    .describe(
      'The agent can write only the worktree and its own settings; strict: the same for the checks, without network.',
    ),
  sandboxAllow: z.array(z.enum(SERVICE_NAMES)).exactOptional().describe('Services reachable from the sandbox.'),
  mcp: z.boolean().exactOptional().describe('Give the agent tools to report with.'),
  silenceMinutes: amount.exactOptional(),
  checkMinutes: amount.exactOptional(),
  proof: z.enum(['off', 'seal', 'full']).exactOptional().describe('Which experiments to run.'),
  require: z.enum(REQUIRABLE).exactOptional().describe('Refuse a claim with a weaker proof.'),
  protect: globs.exactOptional().describe('More files that count as tests.'),
  mayChange: globs.exactOptional().describe('Tests or configuration the agent may change.'),
  proofMinutes: amount.exactOptional(),
  proofSetup: argument.min(1).exactOptional().describe('Command that prepares the place where experiments run.'),
  onHalt: z.enum(['keep', 'best', 'restore']).exactOptional(),
  worktree: z.boolean().exactOptional(),
})

/** Settings of a loop, wherever it runs. */
export const requestFields: z.ZodObject = startFields.omit({ task_id: true, dir: true, worktree: true })

/** Either a prompt, or a task that contains everything. */
const startInput = startFields.superRefine((asked, { addIssue }) => {
  const [beside] = Object.keys(asked).filter((field) => field !== 'task_id')
  if (asked.task_id === undefined && asked.prompt === undefined)
    addIssue({ code: 'custom', path: ['prompt'], message: 'is required unless task_id is given' })
  if (asked.task_id !== undefined && beside !== undefined)
    addIssue({ code: 'custom', path: [beside], message: 'cannot be combined with task_id' })
}) as unknown as z.ZodType<Starting>

// Only the engine creates these values, so their contents are not validated again.
const next = z.looseObject({ kind: z.string() }) as unknown as z.ZodType<Next>
const fact = z.looseObject({ kind: z.string(), at: z.number() }) as unknown as z.ZodType<Fact>
const loop = z.looseObject({
  id: z.string(),
  spec: z.looseObject({ prompt: z.string() }),
  tally: z.looseObject({ iteration: whole }),
  next,
}) as unknown as z.ZodType<Loop>

const row = z.strictObject({
  id: z.string(),
  dir: z.string(),
  agent: z.string(),
  prompt: z.string(),
  owner,
  status,
  next,
  iteration: whole,
  iterationLimit: whole,
  falseClaims: whole,
  tokens: z.number(),
  costUsd: z.number(),
  startedAt: z.number(),
  updatedAt: z.number(),
})

export const standing: z.ZodType<Standing> = z.strictObject({
  kind: z.enum([
    'verified',
    'tested',
    'kept',
    'altered',
    'claimed',
    'cancelled',
    'halted',
    'asks',
    'waiting',
    'under-way',
  ]),
  sentence: z.string(),
  hint: z.string(),
  acceptable: z.literal(true).exactOptional().describe('Its work is waiting to be accepted.'),
})

const attendance = {
  alive: z.boolean(),
  session: z.string().exactOptional(),
  interrupted: z
    .string()
    .exactOptional()
    .describe('Its session stopped in the middle of a turn; this command resumes it.'),
  worker: z.string().exactOptional(),
  unattended: z.boolean(),
  damaged: z.literal(true).exactOptional().describe('Its stored state cannot be read.'),
}

const event = z.strictObject({ seq: whole, loop: z.string(), n: whole, at: z.number(), fact, next })

const given = z.strictObject({
  loop: z.string(),
  heard: z.enum(['driver', 'session', 'here']),
  session: z.string().exactOptional(),
})
const nobody = z.strictObject({ loop: z.string(), heard: z.literal('nobody') })
const resumed = z.union([given, nobody])
const later = z.strictObject({ loop: z.string(), heard: z.literal('later'), how: z.string() })
const allowed = { paths: z.array(z.string()) }
export const steered: z.ZodType<Steered> = z.union([resumed, later])
export const allowedSome: z.ZodType<Allowed> = z.union([
  given.extend(allowed),
  nobody.extend(allowed),
  later.extend(allowed),
])
const rolledBack = z.strictObject({ loop: z.string(), notes: z.array(z.string()) })

type LoopOperation =
  | 'start_loop'
  | 'list_loops'
  | 'get_loop'
  | 'get_proof'
  | 'list_events'
  | 'cancel'
  | 'pause'
  | 'resume'
  | 'steer'
  | 'allow'
  | 'rollback'
  | 'undo'
  | 'accept'
  | 'prune'
  | 'rebuild'

export const LOOP_SCHEMAS: SchemasOf<LoopOperation> = {
  start_loop: {
    input: startInput,
    output: z.strictObject({
      loop: z.string(),
      why: z.string().exactOptional(),
      queued: z.literal(true).exactOptional(),
    }),
  },
  list_loops: {
    input: z.strictObject({
      status: z.array(status).exactOptional(),
      owner: owner.exactOptional(),
      dir: path.exactOptional(),
      text: z.string().exactOptional(),
      limit: whole.min(1).max(1_000).exactOptional().describe('Default 100.'),
      after: z.string().exactOptional(),
    }),
    output: z.strictObject({
      loops: z.array(row.extend(attendance)),
      next: z.string().exactOptional(),
    }),
  },
  get_loop: {
    input: optionalLoop.extend({ brief: z.boolean().exactOptional().describe('Without its iterations.') }),
    output: z.strictObject({
      loop,
      status,
      standing,
      breaker: z.enum(['closed', 'half-open', 'open']),
      ...attendance,
      whose: z.string().exactOptional(),
      iterations: z.array(iteration),
    }),
  },
  get_proof: { input: optionalLoop, output: proof },
  list_events: {
    input: z.strictObject({ loop: loopName.exactOptional(), after: whole.exactOptional() }),
    output: z.strictObject({ events: z.array(event) }),
  },
  cancel: { input: optionalLoop, output: z.array(given) },
  pause: { input: optionalLoop, output: z.array(given) },
  resume: { input: optionalLoop.extend({ limits: room.exactOptional() }), output: resumed },
  steer: {
    input: z.strictObject({ loop: loopName, words: words.min(1) }),
    output: steered,
  },
  allow: {
    input: z.strictObject({
      loop: loopName,
      paths: z.array(path).exactOptional().describe('Default: all it waits for.'),
    }),
    output: allowedSome,
  },
  rollback: { input: z.strictObject({ loop: loopName, iteration: whole }), output: rolledBack },
  undo: { input: oneLoop, output: rolledBack },
  accept: {
    input: z.strictObject({
      loop: loopName,
      how: z
        .enum(['merge', 'squash', 'branch'])
        .exactOptional()
        .describe('merge keeps the commits, squash combines them, branch leaves them for a pull request.'),
    }),
    output: z.strictObject({
      loop: z.string(),
      branch: z.string(),
      base: z.string().exactOptional(),
      proof: z.string().exactOptional().describe('Value of the Ralph-Proof trailer of its commit.'),
      unchecked: z
        .enum(['changed', 'merged'])
        .exactOptional()
        .describe('The files differ from the graded ones: changed since, or merged with other work.'),
      nothing: z.literal(true).exactOptional().describe('The branch already contains the work; no commit was made.'),
      changes: z
        .array(z.string())
        .exactOptional()
        .describe("The loop's changes to git configuration and hooks; none were run."),
    }),
  },
  prune: {
    input: z.strictObject({ days: whole.exactOptional() }),
    output: z.strictObject({ transcripts: whole, checkpoints: whole, tasks: whole }),
  },
  rebuild: {
    input: z.strictObject({}),
    output: z.strictObject({
      loops: whole,
      facts: whole,
      aside: maybe(z.string()),
      lost: z
        .array(z.strictObject({ loop: z.string(), facts: whole.exactOptional(), of: whole.exactOptional() }))
        .describe('Loops with a damaged transcript. Without `facts`, the loop could not be rebuilt.'),
    }),
  },
}
