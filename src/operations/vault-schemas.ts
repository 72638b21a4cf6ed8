/** Schemas of the operations on vault tasks. */

import * as z from 'zod'
import { GRADES } from '../engine/loop.ts'
import { TASK_STATUSES } from '../formats/task-state.ts'
import { finding, line, path, type SchemasOf, whole, words } from './schema-parts.ts'

const vault = path.exactOptional().describe('Default: RALPH_VAULT, or the vault that contains the current folder.')
const task = path.describe('Id of a task, or path of its file.')
const oneTask = z.strictObject({ vault, task })

const status = z.enum(TASK_STATUSES)
const text = z.string()

const progress = z.strictObject({
  steps_total: whole,
  steps_completed: whole,
  current_step: text,
  percentage: z.number(),
})

const listed = z.strictObject({
  task_id: text,
  task_file: text,
  status,
  iteration: whole,
  max_iterations: whole,
  started_at: text,
  last_updated: text,
  timeout_at: text,
  progress,
})

const entry = z.strictObject({
  iteration: whole,
  timestamp: text,
  action: text,
  result: text,
  duration_seconds: z.number(),
})
const state = listed.extend({ iterations_history: z.array(entry) })
const bent = { approve: text, instead: text }
const found = z.strictObject({ state, why: text.exactOptional(), bent: z.strictObject(bent).exactOptional() })
const stopped = z.strictObject({ task_id: text, status, exit_reason: text, completed_at: text, message: text })

const metrics = z.strictObject({
  total_duration_seconds: z.number(),
  iterations: whole,
  api_calls: whole.nullable(),
  files_created: whole.nullable(),
  files_modified: whole.nullable(),
})

const cost = z.number().nullable()
const known = { task_id: text, loop_id: text.nullable() }

const answers = { approve: text, instead: text.exactOptional(), reject: text }

const briefing = z.strictObject({
  vault: text,
  since: text,
  until: text,
  completed: z.array(
    z.strictObject({
      ...known,
      completed_at: text,
      iterations: whole,
      working_seconds: z.number(),
      proof: z.enum(GRADES).nullable(),
      proof_sentence: text.nullable(),
      proof_older: z.literal(true).exactOptional(),
      findings: z.array(finding),
      cost_usd: cost,
    }),
  ),
  stuck: z.array(
    z.strictObject({
      ...known,
      status: z.enum([...TASK_STATUSES, 'refused']),
      stopped_at: text,
      why: text,
      file: text.nullable(),
      advice: text,
      command: text.nullable(),
    }),
  ),
  stuck_before: whole,
  waiting: z.array(z.strictObject({ ...known, question: text, since: text, ...answers })),
  in_progress: z.array(
    z.strictObject({
      ...known,
      iteration: whole,
      max_iterations: whole,
      timeout_at: text,
      percentage: z.number().nullable(),
      current_step: text,
    }),
  ),
  new: z.array(z.strictObject({ file: text, since: text })),
  spent: z.strictObject({
    iterations: whole,
    working_seconds: z.number(),
    tokens: z.number().nullable(),
    cost_usd: cost,
    tasks_without_cost: whole,
  }),
  next_actions: z.array(z.strictObject({ text, command: text.nullable() })),
})

type TaskOperation =
  | 'start_vault_task'
  | 'is_vault_task_complete'
  | 'iterate_vault_task'
  | 'get_vault_task'
  | 'report_vault_progress'
  | 'complete_vault_task'
  | 'time_out_vault_task'
  | 'exhaust_vault_task'
  | 'approve_vault_task'
  | 'reject_vault_task'
  | 'list_vault_tasks'
  | 'brief_vault'

export const VAULT_SCHEMAS: SchemasOf<TaskOperation> = {
  start_vault_task: {
    input: z.strictObject({
      vault,
      file: path,
      maxIterations: whole.min(1).exactOptional(),
      timeoutMinutes: z.number().positive().max(525_600).exactOptional(),
    }),
    output: z.strictObject({ task_id: text, state_file: text, status, started_at: text, timeout_at: text }),
  },
  is_vault_task_complete: { input: oneTask, output: z.strictObject({ task_id: text, complete: z.boolean() }) },
  iterate_vault_task: {
    input: oneTask.extend({
      action: words,
      result: line,
      seconds: z
        .number()
        .min(0)
        .max(1e9)
        .exactOptional()
        .describe('How long it took. Default: time since the task last changed.'),
    }),
    output: z.strictObject({
      task_id: text,
      iteration: whole,
      max_iterations: whole,
      status,
      should_continue: z.boolean(),
    }),
  },
  get_vault_task: { input: oneTask.extend({ history: whole.exactOptional() }), output: found },
  report_vault_progress: {
    input: oneTask.extend({ total: whole, completed: whole, step: line }),
    output: z.strictObject({ task_id: text, progress }),
  },
  complete_vault_task: {
    input: oneTask.extend({ reason: line.exactOptional() }),
    output: z.strictObject({ task_id: text, status, completed_at: text, exit_reason: text, metrics }),
  },
  time_out_vault_task: { input: oneTask, output: stopped },
  exhaust_vault_task: { input: oneTask, output: stopped },
  approve_vault_task: { input: oneTask.extend({ note: words.exactOptional() }), output: state },
  reject_vault_task: { input: oneTask.extend({ reason: words.exactOptional() }), output: found },
  list_vault_tasks: {
    input: z.strictObject({ vault }),
    output: z.strictObject({ tasks: z.array(listed), bent: z.array(z.strictObject({ task_id: text, ...bent })) }),
  },
  brief_vault: {
    input: z.strictObject({ vault, since: z.number().int().min(0).max(8.64e15).describe('Milliseconds since 1970.') }),
    output: briefing,
  },
}
