/** Lists the tasks on the board. */
import type { BoardFilter } from '../host/store.ts'
import { given } from '../request/given.ts'
import { type ListedTask, listed } from './get-task.ts'
import type { Operation } from './operation.ts'

const PAGE = 50

export const listTasks: Operation<Omit<BoardFilter, 'loop'>, { tasks: ListedTask[]; next?: string }> = {
  name: 'list_tasks',
  effect: 'read',
  summary: 'Lists the tasks on the board, newest first; archived ones only on request.',
  agent: {},
  report: true,
  async run(context, { archived = false, limit = PAGE, ...filter }) {
    const { tasks, next } = await context.store().board.list({ ...filter, archived, limit })
    return { tasks: await Promise.all(tasks.map((task) => listed(context, task))), ...given({ next }) }
  },
}
