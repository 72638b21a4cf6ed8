/** What a tool would destroy: stated before it happens, so that someone can confirm it. */
import { count } from '../../engine/limits.ts'
import { ended, statusOf } from '../../engine/loop.ts'
import { findLoop, findOpenLoops } from '../../operations/find-loop.ts'
import { getTask } from '../../operations/get-task.ts'
import type { Context } from '../../operations/operation.ts'

type Input = Record<string, unknown>

/** A loop that has not started, or has ended, loses nothing. */
export async function lostByStopping(context: Context, input: Input): Promise<string | undefined> {
  const store = context.store()
  const ids = await findOpenLoops(context, textOf(input.loop))
  const loops = (await Promise.all(ids.map((id) => store.load(id)))).filter(
    (loop) => !ended(loop) && statusOf(loop) !== 'queued',
  )
  if (loops.length === 0) return undefined
  const losses = await Promise.all(
    loops.map(async ({ id, tally, next }) => {
      const inTurn = next.kind === 'turn' && (await store.isDriven(id))
      return `Loop ${id} would end for good after ${count(tally.iteration, 'iteration')}${inTurn ? ', and lose the current turn' : ''}.`
    }),
  )
  return `${losses.join(' ')} Files stay as they are. pause_loop only pauses.`
}

export async function lostByRollback(context: Context, input: Input): Promise<string | undefined> {
  const id = await findLoop(context, textOf(input.loop))
  const { spec, tally } = await context.store().load(id)
  if (Number(input.iteration) > tally.iteration) return undefined // refused anyway
  return `The files in ${spec.work.dir} would go back to their state after iteration ${input.iteration} of ${tally.iteration}: all changes made there since, by anyone, would be lost. \`ralph undo ${id}\` brings them back.`
}

export async function lostByDeleting(context: Context, input: Input): Promise<string | undefined> {
  const { id, title } = await getTask.run(context, { task_id: String(input.task_id) })
  return `Task ${id} (${title}) would be removed for good, with its description and settings. update_task with archived: true only hides it.`
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
