/** What `ralph watch --json` prints for programs: one object a line for everything that happens to a task. */
import type { Loop } from '../../engine/loop.ts'
import { agentsOf } from '../../engine/roster.ts'
import { statusOfTask, vaultOf } from '../../operations/watch-vault.ts'
import type { Context } from './context.ts'
import { openIterations, type WatchView } from './watch-view.ts'

export function openWatchJsonView({ out }: Context): WatchView {
  const print = (value: object) => out.write(`${JSON.stringify(value)}\n`)
  const iterations = openIterations()
  const task = (loop: Loop) => ({ task_id: vaultOf(loop).id, loop_id: loop.id })
  return {
    begin: ({ vault, agents, checks, slots }) =>
      print({ type: 'watch-start', vault, agents, checks, concurrency: slots }),
    tell(event) {
      switch (event.kind) {
        case 'started': {
          const { loop, again } = event
          const task_file = `${vaultOf(loop).path}/${vaultOf(loop).from}`
          return print({ type: 'task-start', ...task(loop), task_file, agents: agentsOf(loop.spec), again })
        }
        case 'saw': {
          const { loop, fact } = event
          const told = iterations.tell(loop, fact)
          if (told)
            print({
              type: 'iteration',
              ...task(loop),
              iteration: loop.tally.iteration,
              max_iterations: loop.spec.limits.iterations,
              status: statusOfTask(loop, { begun: true }),
              end: told.settled.turn?.end ?? null,
              words: told.settled.turn?.words ?? '',
              summary: told.text,
              ...(loop.next.kind === 'wait' && loop.next.until !== undefined
                ? { waits_until: new Date(loop.next.until).toISOString() }
                : {}),
            })
          return
        }
        case 'waiting': {
          const question = event.loop.next.kind === 'wait' ? (event.loop.next.question ?? '') : ''
          return print({ type: 'task-wait', ...task(event.loop), status: 'waiting_approval', question })
        }
        case 'paused':
          return print({ type: 'task-pause', ...task(event.loop) })
        case 'ended': {
          const { loop, status, place } = event
          iterations.forget(loop)
          const { next, tally } = loop
          return print({
            type: 'task-end',
            ...task(loop),
            status,
            reason: next.kind === 'halt' ? next.reason : null,
            sentence: next.kind === 'halt' ? next.sentence : '',
            iterations: tally.iteration,
            cost_usd: tally.costUsd || null,
            file: place ?? null,
          })
        }
        case 'refused': {
          const { id, why, place } = event
          return print({ type: 'task-refused', task_id: id, reason: why, file: place })
        }
        case 'note':
          return print({ type: 'note', ...(event.id === undefined ? {} : { task_id: event.id }), text: event.text })
        case 'idle':
          return print({ type: 'idle' })
      }
    },
    end: (watched, stopped) => print({ type: 'watch-end', ...watched, stopped }),
  }
}
