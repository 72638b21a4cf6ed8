/** How a loop continues after a turn that did not complete it. */
import { tripped } from './breaker.ts'
import { afterRetry, failedRetry, trip } from './cooldown.ts'
import { extension, spent } from './limits.ts'
import type { Loop, Tally } from './loop.ts'
import { again, halt, rest, type Wait } from './moves.ts'

/** Rules 5 to 8: what follows a turn that did not complete the loop. */
export function continueLoop(settled: Loop, at: number): Loop {
  const asked = asksPerson(settled.tally)
  if (asked) return { ...settled, tally: rest(settled.tally, at), next: { kind: 'wait', why: 'person', ...asked } }

  const judged = settled.tally.retry ? afterRetry(settled) : settled
  const stop = tripped(judged) ?? (judged.tally.retry && failedRetry(judged))
  if (stop) return trip(judged, stop, at)

  const more = spent(judged, at)?.reason === 'max-iterations' ? extension(judged) : 0
  const grown = more ? { ...judged, tally: { ...judged.tally, extra: judged.tally.extra + more } } : judged
  const over = spent(grown, at)
  if (over) return halt(grown, over)

  return again(grown, at)
}

/** The question for a person, once it is certain that the agent cannot continue alone. */
function asksPerson({ ask, asked, denied }: Tally): Pick<Wait, 'question' | 'about'> | undefined {
  if (!ask) return undefined
  if (ask.kind === 'person') return { question: ask.words, ...(ask.about === undefined ? {} : { about: ask.about }) }
  if (ask.kind === 'permission')
    return denied >= 2 ? { question: `The agent was denied permission twice: ${ask.words}` } : undefined
  return asked >= 2 ? { question: ask.words } : undefined
}
