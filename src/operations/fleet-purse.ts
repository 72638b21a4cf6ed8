/** What a task of the fleet may still cost: where its agent tells its cost while it works, its turn ends in the middle. */
import type { AgentEvent } from '../agents/agent.ts'
import type { Loop } from '../engine/loop.ts'
import type { FleetTask } from '../formats/fleet-task.ts'
import type { Desk } from './fleet-desk.ts'

export type Purse = {
  /** Fires when nothing is left. */
  empty: AbortSignal
  /** What the agent of the turn under way has told. */
  saw(event: AgentEvent, loop: Loop): void
  moved(loop: Loop): void
}

/** The limits of the task, and what its submitter has left today. */
export function openPurse({ store, say }: Desk, task: FleetTask): Purse {
  let left: number | undefined
  let asked: Promise<void> | undefined
  const gone = new AbortController()
  let before: number | undefined
  let steps = 0
  let run = 0
  return {
    empty: gone.signal,
    saw(event, { spec, tally }) {
      before ??= tally.costUsd
      if (event.kind !== 'usage' || event.usage.costUsd === undefined || gone.signal.aborted) return
      // Asked for when there is something to compare it with: most agents tell nothing before the end.
      asked ??= store.fleet.budgets.left(task.submitter).then(
        (usd) => {
          left = usd
        },
        () => {}, // a database that is away is noticed by whoever saves next
      )
      const { scope, costUsd } = event.usage
      if (scope === 'step') steps += costUsd
      else if (scope === 'run') run = costUsd
      const turn = Math.max(steps, run)
      const most = spec.limits.costUsd
      if (most !== undefined && tally.costUsd + turn > most) gone.abort()
      else if (left !== undefined && tally.costUsd - before + turn > left) {
        say(`${task.submitter} has spent what it may spend today.`, task)
        gone.abort()
      }
    },
    moved({ tally }) {
      before ??= tally.costUsd
      steps = 0
      run = 0
    },
  }
}
