/** Puts a task on the board. */
import { createTask as create, type NewTask } from '../board/task.ts'
import type { BoardTask } from '../formats/board-task.ts'
import type { Operation } from './operation.ts'

export const createTask: Operation<NewTask, BoardTask> = {
  name: 'create_task',
  effect: 'write',
  summary: 'Puts a task on the board. To start it, call start_loop with its id.',
  agent: { description: 'With use_ralph_wiggum (the default), the agent loops until the checks prove the task done.' },
  run: (context, asked) => create(context.store(), asked, { by: context.by ?? 'person', at: context.now() }),
}
