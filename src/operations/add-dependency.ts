/** Makes a task on the board wait for another one. */
import { isRalphError } from '../error.ts'
import type { BoardTask } from '../formats/board-task.ts'
import { getTask } from './get-task.ts'
import type { Operation } from './operation.ts'
import { updateTask } from './update-task.ts'

/** Existing dependencies stay. */
export const addDependency: Operation<{ task_id: string; depends_on: string }, BoardTask> = {
  name: 'add_dependency',
  effect: 'write',
  summary: 'Makes a task wait until another one is done. Cycles are refused.',
  agent: { idempotent: true },
  async run(context, { task_id, depends_on: other }) {
    for (;;) {
      const { version, depends_on } = await getTask.run(context, { task_id })
      try {
        return await updateTask.run(context, { task_id, version, depends_on: [...new Set([...depends_on, other])] })
      } catch (cause) {
        if (!isRalphError(cause) || cause.code !== 'task-changed') throw cause // otherwise it changed meanwhile
      }
    }
  },
}
