/** Shows where the caller is: the folder, its loops and tasks, and the available agents. */
import { agents } from '../agents/index.ts'
import { OPEN } from '../engine/loop.ts'
import type { BoardTask } from '../formats/board-task.ts'
import { cutTo, oneLine } from '../formats/one-line.ts'
import { realFolder } from '../host/files.ts'
import { findAgent } from '../host/probe.ts'
import { runningServer } from '../host/server-file.ts'
import type { LoopRow } from '../host/store.ts'
import type { Operation } from './operation.ts'

export type Here = {
  dir: string
  /** Whether tasks can be submitted to a fleet here. */
  fleet: boolean
  /** URL of the running server. Null: none is running. */
  server: string | null
  /** Agents on this machine that may be logged in. */
  agents: string[]
  /** The open loops of this folder, and the open tasks that work there or have no folder of their own. */
  loops: (Pick<LoopRow, 'id' | 'status' | 'iteration'> & { title: string })[]
  tasks: Pick<BoardTask, 'id' | 'title' | 'status' | 'loop_id'>[]
}

const MOST = 20

export const getContext: Operation<Record<never, never>, Here> = {
  name: 'get_context',
  effect: 'read',
  summary: 'Shows where you are: the folder, its open loops and tasks, and the available agents.',
  agent: { description: 'Call it first.' },
  async run(context) {
    const { home, env } = context
    const dir = realFolder(context.cwd)
    const store = context.store()
    const { rows } = await store.list({ dir, status: OPEN, limit: MOST })
    const { tasks } = await store.board.list({ status: ['todo', 'in-progress', 'in-review'], archived: false })
    const present = Object.values(agents).filter(({ probe }) => {
      const found = probe && findAgent(probe, { dir, env })
      return found !== undefined && found.login !== 'no'
    })
    return {
      dir,
      fleet: store.fleet !== undefined,
      server: runningServer(home)?.url ?? null,
      agents: present.map(({ name }) => name),
      loops: rows.map(({ id, status, iteration, prompt }) => ({
        id,
        status,
        iteration,
        title: cutTo(oneLine(prompt), 100),
      })),
      tasks: tasks
        .filter(({ repo }) => repo === null || repo === dir)
        .slice(0, MOST)
        .map(({ id, title, status, loop_id }) => ({ id, title, status, loop_id })),
    }
  },
}
