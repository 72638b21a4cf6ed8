/** The command that resumes a loop that halted on a limit. */
import { endedOnLimit } from '../engine/extend.ts'
import type { Loop } from '../engine/loop.ts'

/** Undefined for a loop that did not halt on a limit. */
export function continueCommand(loop: Loop): string | undefined {
  return endedOnLimit(loop) ? `ralph resume ${loop.id} ${moreOption(loop)}` : undefined
}

/** The option that raises the limit: twice what was used, or ten more iterations. */
export function moreOption({ next, spec, tally }: Loop): string {
  const { minutes = 30 } = spec.limits
  switch (next.kind === 'halt' && next.reason) {
    case 'timeout':
      return `--timeout ${Math.ceil(minutes * 2)}`
    case 'cost':
      return `--max-cost ${Math.ceil(tally.costUsd * 2)}`
    case 'tokens':
      return `--max-tokens ${tally.tokens * 2}`
    default:
      return `--max-iterations ${tally.iteration + 10}`
  }
}
