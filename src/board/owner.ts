/** The rules for loops that the board owns. */
import type { TurnNext } from '../drive/drive.ts'
import type { OwnerDesk, OwnerRules } from '../drive/owner.ts'
import { ended, type Loop, type Turn } from '../engine/loop.ts'
import type { BoardStatus, BoardTask } from '../formats/board-task.ts'

/** `task`: absent if somebody gave only a prompt. */
export type BoardOwner = { kind: 'board'; task?: string }

export function boardOf({ id, spec }: Pick<Loop, 'id' | 'spec'>): BoardOwner {
  const { owner } = spec.work
  if (owner?.kind !== 'board') throw new Error(`Loop ${id} does not belong to the board.`)
  return owner as BoardOwner // only this folder creates owners of that kind
}

export const boardRules: OwnerRules = {
  again: ({ id, next }) =>
    next.kind === 'complete' ? `Continue from its work: ralph fork ${id}` : `Try it again: ralph retry ${id}`,
  turn(loop) {
    const { task } = boardOf(loop)
    const env: Record<string, string> = task === undefined ? {} : { RALPH_TASK_ID: task }
    return loop.spec.once ? { prompt: plainPrompt, env, judge: takeAtItsWord } : { env }
  },
  after: async ({ store }, { loop }) => moveTask({ store }, loop),
  accepted: async ({ store }, loop) => moveTask({ store }, loop, true),
  hints(loop) {
    const { task } = boardOf(loop)
    return task === undefined ? {} : { whose: `It works on task ${task} of the board.` }
  },
}

/** The task's own words and what people said about it since; nothing from ralph. */
function plainPrompt({ spec }: Loop, { heard = [] }: TurnNext): string {
  return [spec.prompt, ...heard].join('\n\n')
}

/** No promise was requested, so a turn that ends well is the claim; only an explicit question keeps it open. */
function takeAtItsWord(_: Loop, { ask, ...turn }: Turn): Turn {
  return ask && ask.kind !== 'question' ? { ...turn, ask } : { ...turn, claim: { kind: 'clear' } }
}

/** Finishes what a killed driver could not: tasks whose loops have completed. */
export async function settleTasks({ store }: Pick<OwnerDesk, 'store'>): Promise<void> {
  for (let after: string | undefined, isLast = false; !isLast; ) {
    const { tasks, next } = await store.board.list({ status: ['in-progress'], ...(after ? { after } : {}) })
    for (const { loop_id: id } of tasks) {
      // Its loop may have been lost with its database.
      const loop = id === null ? undefined : await store.load(id).catch(() => undefined)
      if (loop) await moveTask({ store }, loop)
    }
    after = next
    isLast = next === undefined
  }
}

/**
 * Moves the task along: done, or in review while its work waits to be accepted. A newer loop that works on it takes
 * precedence.
 */
async function moveTask({ store }: Pick<OwnerDesk, 'store'>, loop: Loop, accepted = false): Promise<void> {
  const { task: id } = boardOf(loop)
  const status = statusAfter(loop, accepted)
  if (id === undefined || status === undefined) return
  for (;;) {
    const task = await store.board.load(id)
    if (!task || (task.loop_id !== loop.id && !(accepted && (await isOver({ store }, task))))) return
    if (task.status === status || isSettled(task.status, status)) return
    if (await store.board.save({ ...task, status })) return
  }
}

/** Whether no loop is working on the task. */
async function isOver({ store }: Pick<OwnerDesk, 'store'>, { loop_id: id }: BoardTask): Promise<boolean> {
  // Its loop may have been lost with its database.
  const loop = id === null ? undefined : await store.load(id).catch(() => undefined)
  return !loop || ended(loop)
}

function statusAfter(loop: Loop, accepted: boolean): BoardStatus | undefined {
  if (accepted) return 'done'
  if (!ended(loop) || loop.next.kind !== 'complete') return undefined
  return loop.spec.work.worktree ? 'in-review' : 'done'
}

/** Accepted work is not reviewed again, and a task that a person moved away stays there. */
function isSettled(now: BoardStatus, then: BoardStatus): boolean {
  return now === 'cancelled' || (now === 'done' && then === 'in-review')
}
