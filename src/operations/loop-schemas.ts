/** What goes into the operations on loops, and what comes out. */
import * as z from 'zod'
import { type Fact, GRADES, type Loop, type Next, REQUIRABLE } from '../engine/loop.ts'
import { proof } from './proof-schemas.ts'
import { amount, argument, line, maybe, name, path, type SchemasOf, status, whole, words } from './schema-parts.ts'

const loopName = name.describe('An id, the beginning of one, or the name of a project in this folder.')
const optionalLoop = z.strictObject({
  loop: loopName.exactOptional().describe('Without it: the newest of this folder.'),
})
const oneLoop = z.strictObject({ loop: loopName })

const limits = z.strictObject({
  iterations: z
    .union([whole, z.strictObject({ ceiling: whole.min(1) })])
    .exactOptional()
    .describe('0 is no limit; with a ceiling the limit is guessed from the task and may grow.'),
  minutes: amount.exactOptional(),
  tokens: whole.min(1).exactOptional(),
  costUsd: amount.exactOptional(),
  noProgress: whole.min(1).exactOptional(),
  sameError: whole.min(1).exactOptional(),
  cooldownMinutes: z
    .number()
    .min(0)
    .exactOptional()
    .describe('How long an open breaker waits before one more try; 0: the loop halts at once.'),
})

const globs = z.array(line.min(1))

const startInput = z.strictObject({
  prompt: z.string().min(1).regex(/\S/, 'must say what is to be done'),
  dir: path.exactOptional(),
  agent: argument
    .min(1)
    .exactOptional()
    .describe('auto, a name, or command:"program with arguments"; several with commas.'),
  promise: line.min(1).exactOptional(),
  signals: z.array(line.min(1)).exactOptional(),
  checks: z
    .array(argument.min(1))
    .exactOptional()
    .describe('Commands that prove the work; auto finds the own ones of the folder.'),
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
  permissions: z.enum(['bypass', 'ask']).exactOptional(),
  context: z.enum(['fresh', 'same']).exactOptional(),
  sandbox: z.boolean().exactOptional(),
  silenceMinutes: amount.exactOptional(),
  checkMinutes: amount.exactOptional(),
  proof: z.enum(['off', 'seal', 'full']).exactOptional().describe('Which experiments are run.'),
  require: z.enum(REQUIRABLE).exactOptional().describe('A claim with a weaker proof is refused.'),
  protect: globs.exactOptional().describe('Files that count as tests, besides those that ralph knows.'),
  mayChange: globs.exactOptional().describe('Tests or configuration that the agent is meant to change.'),
  proofMinutes: amount.exactOptional(),
  proofSetup: argument.min(1).exactOptional().describe('A command that prepares the place of the experiments.'),
  onHalt: z.enum(['keep', 'best', 'restore']).exactOptional(),
  worktree: z.boolean().exactOptional(),
})

const owner = z.enum(['person', 'project', 'vault', 'session', 'pane'])

// The engine's own values are made by it alone, so what they are within is not checked again.
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

const attendance = {
  alive: z.boolean(),
  session: z.string().exactOptional(),
  worker: z.string().exactOptional(),
  unattended: z.boolean(),
}

const event = z.strictObject({ seq: whole, loop: z.string(), n: whole, at: z.number(), fact, next })

const verdict = z.strictObject({
  check: z.string(),
  result: z.enum(['pass', 'fail', 'broken', 'timeout']),
  failures: whole.exactOptional(),
  tail: z.string(),
})

const iteration = z.strictObject({
  n: whole,
  attempts: whole,
  startedAt: z.number(),
  endedAt: z.number(),
  agent: z.string(),
  end: z.enum(['ok', 'limited', 'overloaded', 'unusable', 'context-full', 'failed']),
  claim: z.enum(['none', 'weak', 'clear']),
  changed: maybe(z.boolean()),
  diff: maybe(z.strictObject({ files: whole, added: whole, removed: whole })),
  tokens: z.number(),
  costUsd: maybe(z.number()),
  words: z.string(),
  verdicts: z.array(verdict),
})

const given = z.strictObject({
  loop: z.string(),
  heard: z.enum(['driver', 'session', 'here']),
  session: z.string().exactOptional(),
})
const nobody = z.strictObject({ loop: z.string(), heard: z.literal('nobody') })
const resumed = z.union([given, nobody])
const later = z.strictObject({ loop: z.string(), heard: z.literal('later'), how: z.string() })
const allowed = { paths: z.array(z.string()) }
const rolledBack = z.strictObject({ loop: z.string(), notes: z.array(z.string()) })

type LoopOperation =
  | 'start_loop'
  | 'list_loops'
  | 'get_loop'
  | 'get_iteration'
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
  | 'stats'
  | 'prune'
  | 'rebuild'

export const LOOP_SCHEMAS: SchemasOf<LoopOperation> = {
  start_loop: {
    input: startInput,
    output: z.strictObject({ loop: z.string(), why: z.string().exactOptional() }),
  },
  list_loops: {
    input: z.strictObject({
      status: z.array(status).exactOptional(),
      owner: owner.exactOptional(),
      dir: path.exactOptional(),
      text: z.string().exactOptional(),
      limit: whole.min(1).max(1_000).exactOptional(),
      after: z.string().exactOptional(),
    }),
    output: z.strictObject({
      loops: z.array(row.extend(attendance)),
      next: z.string().exactOptional(),
    }),
  },
  get_loop: {
    input: optionalLoop,
    output: z.strictObject({
      loop,
      status,
      standing: z.strictObject({
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
      }),
      breaker: z.enum(['closed', 'half-open', 'open']),
      ...attendance,
      whose: z.string().exactOptional(),
      iterations: z.array(iteration),
    }),
  },
  get_iteration: {
    input: z.strictObject({ loop: loopName, iteration: whole.min(1) }),
    output: z.strictObject({
      loop: z.string(),
      row: iteration.exactOptional(),
      diff: z.string().exactOptional(),
    }),
  },
  get_proof: { input: optionalLoop, output: proof },
  list_events: {
    input: z.strictObject({ loop: loopName.exactOptional(), after: whole.exactOptional() }),
    output: z.strictObject({ events: z.array(event) }),
  },
  cancel: { input: optionalLoop, output: z.array(given) },
  pause: { input: optionalLoop, output: z.array(given) },
  resume: { input: optionalLoop, output: resumed },
  steer: {
    input: z.strictObject({ loop: loopName, words: words.min(1) }),
    output: z.union([resumed, later]),
  },
  allow: {
    input: z.strictObject({
      loop: loopName,
      paths: z.array(path).exactOptional().describe('Without any: all that it waits for.'),
    }),
    output: z.union([given.extend(allowed), nobody.extend(allowed), later.extend(allowed)]),
  },
  rollback: { input: z.strictObject({ loop: loopName, iteration: whole }), output: rolledBack },
  undo: { input: oneLoop, output: rolledBack },
  accept: {
    input: z.strictObject({ loop: loopName, merge: z.boolean() }),
    output: z.strictObject({
      loop: z.string(),
      branch: z.string(),
      base: z.string().exactOptional(),
      proof: z.string().exactOptional().describe('What the trailer Ralph-Proof of its commit says.'),
      unchecked: z
        .enum(['changed', 'merged'])
        .exactOptional()
        .describe('The files are not the ones it was graded for: they were changed since, or merged with other work.'),
    }),
  },
  stats: {
    input: z.strictObject({}),
    output: z.strictObject({
      loops: whole,
      byStatus: z.record(z.string(), whole),
      byReason: z.record(z.string(), whole),
      byProof: z.record(z.enum(GRADES), whole),
      falseClaims: whole,
      iterations: whole,
      meanIterationsToDone: maybe(z.number()),
      tokens: z.number(),
      costUsd: z.number(),
      byAgent: z.array(
        z.strictObject({ agent: z.string(), loops: whole, completed: whole, iterations: whole, costUsd: z.number() }),
      ),
    }),
  },
  prune: {
    input: z.strictObject({ days: whole.exactOptional() }),
    output: z.strictObject({ transcripts: whole, checkpoints: whole, tasks: whole }),
  },
  rebuild: {
    input: z.strictObject({}),
    output: z.strictObject({ loops: whole, facts: whole, aside: maybe(z.string()) }),
  },
}
