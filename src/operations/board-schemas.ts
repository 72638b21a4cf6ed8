/** Schemas of the operations on the board. */
import * as z from 'zod'
import { BOARD_STATUSES } from '../formats/board-task.ts'
import { standing } from './loop-schemas.ts'
import { amount, argument, line, status as loopStatus, name, path, type SchemasOf, whole } from './schema-parts.ts'

const text = z.string()
const status = z.enum(BOARD_STATUSES)
const title = line.min(1).max(500).regex(/\S/, 'must say what to do')
const id = name.describe('Id of a task.')
const label = line.min(1).max(100)

const stage = z.strictObject({ name: line.min(1).max(60), check: argument.min(1).exactOptional() })

const limits = z.strictObject({
  minutes: amount.exactOptional(),
  cost_usd: amount.exactOptional(),
  tokens: whole.min(1).exactOptional(),
  no_progress: whole.min(1).exactOptional(),
  same_error: whole.min(1).exactOptional(),
  adaptive: z.boolean().exactOptional().describe('Estimate the limit from the task, up to ralph_max_iterations.'),
})

/** null: the default. */
function field<Value>(schema: z.ZodType<Value>): z.ZodExactOptional<z.ZodNullable<z.ZodType<Value>>> {
  return schema.nullable().exactOptional()
}

const fields = {
  project_id: field(name),
  description: field(text.max(200_000)),
  type: field(line.min(1).max(100)),
  labels: field(z.array(label).max(50)),
  status: field(status),
  archived: field(z.boolean()),
  use_ralph_wiggum: field(z.boolean()).describe('Loop until done. false: run the prompt once.'),
  ralph_max_iterations: field(whole).describe('Default 10; 0: no limit.'),
  ralph_completion_promise: field(line.min(1).regex(/\S/, 'must not be blank')).describe('Default COMPLETE.'),
  stages: field(z.array(stage).max(20)),
  checks: field(z.array(argument.min(1)).max(50)).describe('Commands that prove the work.'),
  limits: field(limits),
  agent: field(argument.min(1).max(1_000)).describe('auto, or names, comma-separated.'),
  depends_on: field(z.array(id).max(200)),
  priority: field(z.number().int().min(-1_000_000).max(1_000_000)).describe('Highest first.'),
  repo: field(path).describe('Folder to work in.'),
  worktree: field(z.boolean()).describe('Work in its own worktree; accept it afterwards.'),
}

const task = z.strictObject({
  id: text,
  project_id: text.nullable(),
  title: text,
  description: text.nullable(),
  type: text.nullable(),
  labels: z.array(text),
  status,
  archived: z.boolean(),
  use_ralph_wiggum: z.boolean(),
  ralph_max_iterations: whole,
  ralph_completion_promise: text,
  stages: z.array(stage),
  checks: z.array(text),
  limits,
  agent: text,
  depends_on: z.array(text),
  priority: z.number().int(),
  repo: text.nullable(),
  worktree: z.boolean(),
  loop_id: text.nullable(),
  created_by: z.enum(['person', 'program', 'agent', 'import']),
  created_at: text,
  updated_at: text,
  version: whole,
})

const listed = task.extend({ loop_status: loopStatus.nullable(), waits_for: z.array(text) })
const group = z.strictObject({ project_id: text, name: text, repo: text.nullable() })
const version = whole.exactOptional().describe('The version you read; refused if it has changed since.')

type BoardOperation =
  | 'create_task'
  | 'get_task'
  | 'get_task_prompt'
  | 'list_tasks'
  | 'update_task'
  | 'delete_task'
  | 'add_dependency'
  | 'list_groups'
  | 'set_group'
  | 'import_board'

export const BOARD_SCHEMAS: SchemasOf<BoardOperation> = {
  import_board: {
    input: z.strictObject({
      file: path.describe('A vibe-kanban database; "vibe-kanban" uses its default location.'),
      dry_run: z.boolean().exactOptional().describe('Only count; import nothing.'),
    }),
    output: z.strictObject({
      file: text,
      groups: whole,
      tasks: whole,
      known: whole,
      byStatus: z.record(status, whole),
      notes: z.array(text),
    }),
  },
  create_task: { input: z.strictObject({ title, ...fields }), output: task },
  get_task: {
    input: z.strictObject({ task_id: id }),
    output: listed.extend({ standing: standing.nullable() }),
  },
  get_task_prompt: { input: z.strictObject({ task_id: id }), output: z.strictObject({ prompt: text }) },
  list_tasks: {
    input: z.strictObject({
      status: z.array(status).exactOptional(),
      project_id: name.exactOptional(),
      archived: z.boolean().exactOptional(),
      text: text.max(1_000).exactOptional(),
      limit: whole.min(1).max(500).exactOptional(),
      after: text.max(100).exactOptional(),
    }),
    output: z.strictObject({ tasks: z.array(listed), next: text.exactOptional() }),
  },
  update_task: {
    input: z.strictObject({ task_id: id, version, title: title.exactOptional(), ...fields }),
    output: task,
  },
  delete_task: { input: z.strictObject({ task_id: id, version }), output: z.strictObject({ task_id: text }) },
  add_dependency: { input: z.strictObject({ task_id: id, depends_on: id }), output: task },
  list_groups: { input: z.strictObject({}), output: z.strictObject({ groups: z.array(group) }) },
  set_group: {
    input: z.strictObject({
      project_id: name,
      name: line.min(1).max(200).exactOptional(),
      repo: path.nullable().exactOptional(),
    }),
    output: group,
  },
}
