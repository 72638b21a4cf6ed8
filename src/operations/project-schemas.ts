/** Schemas of the operations on projects. */
import * as z from 'zod'
import { GRADES } from '../engine/loop.ts'
import type { Task } from '../formats/tasks.ts'
import { finding, name, path, type SchemasOf, whole } from './schema-parts.ts'

// Other tools may add their own fields to a task; ours are validated when tasks.json is parsed.
const task = z.looseObject({ id: z.string(), title: z.string(), status: z.string() }) as unknown as z.ZodType<Task>

const obstacle = z.strictObject({
  id: z.string(),
  task_id: z.string(),
  message: z.string(),
  resolved: z.boolean(),
  iteration: whole,
})

const project = name.describe('Name of a project in this folder.')
const dir = path.exactOptional().describe('Folder of the project. Default: the current one.')

export const PROJECT_SCHEMAS: SchemasOf<'init_project' | 'import_tasks' | 'get_project'> = {
  init_project: {
    input: z.strictObject({ project, dir }),
    output: z.strictObject({ folder: z.string(), exclusion: z.enum(['excluded', 'ignored', 'tracked', 'none']) }),
  },
  import_tasks: {
    input: z.strictObject({ file: path, project, dir }),
    output: z.strictObject({ dir: z.string(), path: z.string(), tasks: whole, completed: whole }),
  },
  get_project: {
    input: z.strictObject({ project }),
    output: z.strictObject({
      name: z.string(),
      folder: z.string(),
      tasks: z.array(task).exactOptional(),
      proofs: z.array(
        z.strictObject({
          task_id: z.string(),
          proof: z.enum(GRADES),
          proof_sentence: z.string().nullable(),
          findings: z.array(finding),
        }),
      ),
      alive: z.boolean(),
      iterations: whole,
      entries: whole,
      workedMs: z.number(),
      loops: z.array(z.string()),
      open: z.array(z.strictObject({ task: z.string(), loop: z.string() })),
      obstacles: z.array(obstacle),
      costUsd: z.number(),
      tokens: z.number(),
      stop: z.string().exactOptional(),
    }),
  },
}
