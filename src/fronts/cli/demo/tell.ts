/** Plays a story of the demo board: starts its loop, runs it, and cleans up as a user would. */
import { cancel } from '../../../operations/cancel.ts'
import { driveLoop } from '../../../operations/drive-loop.ts'
import type { Context } from '../../../operations/operation.ts'
import { start } from '../../../operations/start-loop.ts'
import { updateTask } from '../../../operations/update-task.ts'
import type { Past } from './past.ts'
import type { DemoRepository } from './repository.ts'
import type { Story } from './story.ts'

/** A story whose task is on the board. */
export type Placed = { story: Story; task_id: string }

export type Stage = { past: Past; present: Context; repository: DemoRepository; stop: AbortSignal }

/** Returns the loop, if there is one. */
export async function tell(stage: Stage, { story, task_id }: Placed): Promise<string | undefined> {
  const { past, present, repository, stop } = stage
  const { files = {}, fate, task } = story
  past.goTo(story.hoursAgo)
  if (Object.keys(files).length > 0) await repository.commit(`Tests: ${task.title}`, past.context.now(), files)
  if (fate === 'todo') return undefined
  // Queued: the server runs it later.
  if (fate === 'live')
    return (await start.run({ ...present, workers: { take: () => {}, look: () => {} } }, { task_id })).loop
  const { loop } = await start.run(past.context, { task_id })
  await driveLoop(past.context, loop, { ...SILENT, stop, leavesWaits: true })
  if (stop.aborted) return loop
  if (fate === 'cancel') {
    await cancel.run(past.context, { loop })
    await updateTask.run(past.context, { task_id, status: 'cancelled' })
  }
  // The next loop in this folder must start with a clean working tree and no failing tests.
  if (fate === 'drop') await repository.drop()
  else if (!task.worktree) await repository.commit(task.title, past.context.now())
  return loop
}

const SILENT = { begin: () => {}, show: () => {}, say: () => {}, saw: () => {} }
