/** Follows fleet tasks until they have ended, and prints one line per change. */
import { once } from 'node:events'
import type { ListedFleetTask } from '../../operations/fleet-tasks.ts'
import { needsPerson, waitTasks } from '../../operations/wait-tasks.ts'
import type { Context } from './context.ts'
import { taskWord } from './fleet-view.ts'
import { jsonLine } from './text.ts'

/** Returns the exit code. Ctrl-C only stops waiting: the tasks continue. */
export async function waitHere(context: Context, ids: readonly string[], { json }: { json: boolean }): Promise<number> {
  const { out } = context
  const stop = new AbortController()
  const interrupted = Promise.race([once(process, 'SIGINT', stop), once(process, 'SIGTERM', stop)]).then(
    () => stop.abort(),
    () => {}, // no signal arrived before the tasks ended
  )
  const ended = await waitTasks(context, ids, {
    signal: stop.signal,
    saw: (task) => out.write(json ? jsonLine({ type: 'task', ...task }) : `${lineOf(task, out)}\n`),
  })
  stop.abort()
  await interrupted
  if (!ended) {
    context.note(`The ${ids.length === 1 ? 'task continues' : 'tasks continue'}. See: ralph status`)
    return 130
  }
  const asking = ended.filter(needsPerson)
  for (const { id } of asking)
    context.note(`Task ${id} is waiting for you. Answer: ralph steer ${id} "…" · Resume: ralph resume ${id}`)
  if (asking.length > 0) return 4
  const undone = ended.filter(({ state }) => state !== 'done').length
  if (!json && ids.length > 1)
    out.write(
      undone === 0
        ? `All ${ids.length} tasks are done.\n`
        : `${undone} of ${ids.length} tasks ${undone === 1 ? 'is' : 'are'} not done.\n`,
    )
  return undone === 0 ? 0 : 1
}

function lineOf(task: ListedFleetTask, out: Context['out']): string {
  const says = task.why ?? (task.state === 'running' ? `on ${task.worker}` : (task.sentence ?? ''))
  return `${task.id}  ${taskWord(task, out)}${says ? `  ${says}` : ''}`
}
