/** Lets the agent inside a loop add work outside its task to the board. Only people choose checks. */
import { createTask } from '../board/task.ts'
import { homeFolder } from '../engine/home-folder.ts'
import type { BoardTask } from '../formats/board-task.ts'
import type { Operation } from './operation.ts'
import { passOf } from './pass.ts'

export type NewInsideTask = Pick<BoardTask, 'title'> &
  Partial<Pick<BoardTask, 'description' | 'type' | 'labels' | 'priority'>>

export const createInsideTask: Operation<NewInsideTask, Pick<BoardTask, 'id' | 'title' | 'status'>> = {
  name: 'create_task',
  effect: 'write',
  summary: 'Adds work that is not part of your task to the board, for later.',
  agent: { description: 'It waits until a person starts it.' },
  async run(context, asked) {
    const repo = homeFolder((await passOf(context)).loop)
    const made = { by: 'agent', at: context.now() } as const
    const { id, title, status } = await createTask(context.store(), { ...asked, repo }, made)
    return { id, title, status }
  },
}
