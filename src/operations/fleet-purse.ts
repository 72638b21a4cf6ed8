/** What a fleet task may still cost: if its agent reports cost while it works, the turn is stopped when the money runs out. */
import type { AgentEvent } from '../agents/agent.ts'
import type { Loop } from '../engine/loop.ts'
import type { FleetTask } from '../formats/fleet-task.ts'
import type { Desk } from './fleet-desk.ts'

export type Purse = {
  /** Aborted when nothing is left. */
  empty: AbortSignal
  /** Receives what the agent reports in the current turn. */
  saw(event: AgentEvent, loop: Loop): void
  moved(loop: Loop): void
}

/** The limits of the task, and what its submitter has left today. */
export function openPurse({ store, say }: Desk, task: FleetTask): Purse {
  const gone = new AbortController()
  let isAsked = false
  let left: number | undefined
  let before: number | undefined
  let [steps, run] = [0, 0]

  function look({ spec, tally }: Loop): void {
    const turn = Math.max(steps, run)
    const most = spec.limits.costUsd
    if (most !== undefined && tally.costUsd + turn > most) gone.abort()
    if (left === undefined || tally.costUsd - (before ?? 0) + turn <= left || gone.signal.aborted) return
    say(`${task.submitter} has used up today's budget.`, task)
    gone.abort()
  }

  /** Only once there is a reported cost to compare: most agents report it at the end. */
  async function askOnce(loop: Loop): Promise<void> {
    try {
      left = await store.fleet.budgets.left(task.submitter)
      look(loop)
    } catch {
      // If the database is unavailable, the next save reports it.
    }
  }

  return {
    empty: gone.signal,
    saw(event, loop) {
      before ??= loop.tally.costUsd
      if (event.kind !== 'usage' || event.usage.costUsd === undefined) return
      const { scope, costUsd } = event.usage
      if (scope === 'step') steps += costUsd
      else if (scope === 'run') run = costUsd
      look(loop)
      if (!isAsked) void askOnce(loop)
      isAsked = true
    },
    moved({ tally }) {
      before ??= tally.costUsd
      steps = 0
      run = 0
    },
  }
}
