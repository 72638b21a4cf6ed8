/** What `ralph watch --json` prints: one JSON object per line for each event of a task. */
import type { Loop } from '../../engine/loop.ts'
import { agentsOf } from '../../engine/roster.ts'
import { proofFields } from '../../formats/proof-words.ts'
import { waitFields } from '../../operations/standing.ts'
import { statusOfTask, vaultOf, type WatchEvent } from '../../operations/watch-vault.ts'
import type { Context } from './context.ts'
import { jsonLine } from './text.ts'
import { type Iteration, openIterations, type WatchView } from './watch-view.ts'

export function openWatchJsonView({ out }: Context): WatchView {
  const print = (value: object) => out.write(jsonLine(value))
  const iterations = openIterations()
  return {
    begin: ({ vault, agents, checks, slots }) =>
      print({ type: 'watch-start', vault, agents, checks, concurrency: slots }),
    tell(event) {
      if (event.kind === 'started') iterations.begin(event.loop)
      if (event.kind === 'saw') {
        const told = iterations.tell(event.loop, event.fact)
        if (told) print(iterationLine(event.loop, told))
        return
      }
      if (event.kind === 'ended') iterations.forget(event.loop)
      print(eventLine(event))
    },
    end: (watched, stopped) => print({ type: 'watch-end', ...watched, stopped }),
  }
}

function iterationLine(loop: Loop, { settled, text }: Iteration): object {
  const { next } = loop
  return {
    type: 'iteration',
    ...taskIds(loop),
    iteration: loop.tally.iteration,
    max_iterations: loop.spec.limits.iterations,
    status: statusOfTask(loop, { begun: true }),
    end: settled.turn?.end ?? null,
    words: settled.turn?.words ?? '',
    summary: text,
    ...waitFields(next),
  }
}

function taskIds(loop: Loop): { task_id: string; loop_id: string } {
  return { task_id: vaultOf(loop).id, loop_id: loop.id }
}

function eventLine(event: Exclude<WatchEvent, { kind: 'saw' }>): object {
  switch (event.kind) {
    case 'started': {
      const { loop, again } = event
      const task_file = `${vaultOf(loop).path}/${vaultOf(loop).from}`
      return { type: 'task-start', ...taskIds(loop), task_file, agents: agentsOf(loop.spec), again }
    }
    case 'waiting': {
      const question = event.loop.next.kind === 'wait' ? (event.loop.next.question ?? '') : ''
      return { type: 'task-wait', ...taskIds(event.loop), status: 'waiting_approval', question }
    }
    case 'paused':
      return { type: 'task-pause', ...taskIds(event.loop) }
    case 'ended':
      return endLine(event)
    case 'refused':
      return { type: 'task-refused', task_id: event.id, reason: event.why, file: event.place }
    case 'note':
      return { type: 'note', ...(event.id === undefined ? {} : { task_id: event.id }), text: event.text }
    case 'idle':
      return { type: 'idle' }
  }
}

function endLine({ loop, status, place }: Extract<WatchEvent, { kind: 'ended' }>): object {
  const { next, tally } = loop
  return {
    type: 'task-end',
    ...taskIds(loop),
    status,
    reason: next.kind === 'halt' ? next.reason : null,
    ...proofFields(loop),
    sentence: next.kind === 'halt' ? next.sentence : '',
    iterations: tally.iteration,
    cost_usd: tally.costUsd || null,
    file: place ?? null,
  }
}
