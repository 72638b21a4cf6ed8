/** Schemas of the operations on the fleet. */
import * as z from 'zod'
import { FLEET_STATES } from '../formats/fleet-task.ts'
import { requestFields, standing } from './loop-schemas.ts'
import { line, name, path, type SchemasOf, whole, words } from './schema-parts.ts'
import type { Submitted } from './submit-tasks.ts'

const text = z.string()
const time = z.number().describe('Milliseconds, by the database clock.')
const state = z.enum(FLEET_STATES)
const id = name.max(100).describe('Id of a task.')
const label = line.min(1).max(100)
const submitter = line.min(1).max(200)

const submitted = requestFields.extend({
  prompt: text.min(1).max(1_000_000).regex(/\S/, 'must say what to do'),
  id: id.exactOptional().describe('Default: generated.'),
  title: line.min(1).max(500).exactOptional(),
  repo: path.exactOptional().describe('Repository URL. Default: work in an empty folder.'),
  base: line.min(1).max(200).exactOptional().describe('Branch to start from. Default: main.'),
  project: name.exactOptional().describe('Tasks of a project are merged into base, one at a time.'),
  submitter: submitter.exactOptional().describe('Whose share and budget to use. Default: program.'),
  priority: z.number().int().min(-1_000_000).max(1_000_000).exactOptional().describe('Highest first.'),
  labels: z.array(label).max(50).exactOptional().describe('The worker must have all of them.'),
  touches: z
    .array(line.min(1))
    .max(200)
    .exactOptional()
    .describe('Globs of files it will change; overlapping tasks do not run at the same time.'),
  depends_on: z.array(id).max(1_000).exactOptional().describe('Tasks to finish first.'),
}) as unknown as z.ZodType<Submitted> // plus the request fields of every loop

const task = z.strictObject({
  id: text,
  title: text,
  submitter: text,
  repo: text.nullable(),
  base: text.nullable(),
  branch: text,
  project: text.nullable(),
  priority: z.number().int(),
  agents: z.array(text),
  labels: z.array(text),
  touches: z.array(text),
  depends_on: z.array(text),
  state,
  sentence: text.nullable(),
  loop_id: text,
  worker: text.nullable(),
  attempts: whole,
  merge_job: z.boolean(),
  sent_back: whole,
  pushed: text.nullable(),
  limit_usd: z.number().nullable(),
  reserved_usd: z.number(),
  spent_usd: z.number(),
  due_at: time.nullable(),
  created_at: time,
  updated_at: time,
})
const listed = task.extend({ why: text.nullable().describe('Why it is not running.') })

const worker = z.strictObject({
  id: text,
  host: text,
  pid: whole,
  version: text,
  agents: z.record(text, text).describe('Account of each agent it runs.'),
  labels: z.array(text),
  concurrency: whole,
  running: whole,
  draining: z.boolean(),
  started_at: time,
  beat_at: time,
  progress_at: time,
  alive: z.boolean(),
  silent_ms: z.number(),
  idle_ms: z.number(),
})

const budgets = z.array(
  z.strictObject({ submitter: text, usd_per_day: z.number(), spent_usd: z.number(), reserved_usd: z.number() }),
)
const heartbeat = whole.min(10).max(3_600).describe('A worker silent for this long counts as dead.')
const keepDays = whole.min(1).describe('How long to keep finished tasks.')
const mostDeaths = whole.min(1).max(1_000).describe('A task fails after this many of its workers died in a row.')
const settings = z.strictObject({ heartbeat_seconds: heartbeat, keep_days: keepDays, most_deaths: mostDeaths })
const counts = z.partialRecord(state, whole)

type FleetOperation =
  | 'submit_tasks'
  | 'list_fleet_tasks'
  | 'get_fleet_task'
  | 'get_fleet'
  | 'retry_fleet_task'
  | 'drain_worker'
  | 'set_budget'
  | 'set_fleet'

export const FLEET_SCHEMAS: SchemasOf<FleetOperation> = {
  submit_tasks: {
    input: z.strictObject({ tasks: z.array(submitted).min(1).max(10_000) }),
    output: z.strictObject({
      tasks: z.array(z.strictObject({ id: text, loop_id: text, branch: text, state })),
    }),
  },
  list_fleet_tasks: {
    input: z.strictObject({
      state: z.array(state).exactOptional(),
      submitter: submitter.exactOptional(),
      project: name.exactOptional(),
      text: text.max(1_000).exactOptional(),
      limit: whole.min(1).max(500).exactOptional(),
      after: text.regex(/^\d{1,15}$/, 'must be the `next` of an earlier page').exactOptional(),
    }),
    output: z.strictObject({ tasks: z.array(listed), next: text.exactOptional() }),
  },
  get_fleet_task: {
    input: z.strictObject({ task: id }),
    output: listed.extend({ standing: standing.nullable() }),
  },
  get_fleet: {
    input: z.strictObject({}),
    output: z.strictObject({
      workers: z.array(worker),
      counts,
      accounts: z.array(z.strictObject({ name: text, paused_until: time, why: text })),
      budgets,
      settings,
      now: time,
    }),
  },
  retry_fleet_task: {
    input: z.strictObject({
      task: id,
      words: words.min(1).exactOptional().describe('Extra message for its first iteration.'),
    }),
    output: z.strictObject({ task: text, loop: text }),
  },
  drain_worker: {
    input: z.strictObject({ worker: name.describe('Id of a worker.') }),
    output: z.strictObject({ worker: text }),
  },
  set_budget: {
    input: z.strictObject({
      submitter: submitter.describe('*: everyone without their own budget.'),
      usd_per_day: z.number().min(0).max(1_000_000_000).nullable().describe('null: no limit.'),
    }),
    output: z.strictObject({ budgets }),
  },
  set_fleet: {
    input: z.strictObject({
      heartbeat_seconds: heartbeat.exactOptional(),
      keep_days: keepDays.exactOptional(),
      most_deaths: mostDeaths.exactOptional(),
    }),
    output: z.strictObject({ settings }),
  },
}
