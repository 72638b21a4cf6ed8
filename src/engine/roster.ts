/** Which of several agents works next: the first that is neither rate-limited nor unusable. */
import type { Spec, Tally } from './loop.ts'

/** Why an agent cannot work now. Without `until`, it never will in this loop. */
export type Rest = { until?: number; faults: number; words: string; resetsAt?: number }

export function agentsOf({ agents, work }: Spec): readonly string[] {
  return agents ?? [work.agent]
}

/** Undefined if none of them can work. */
export function freeAgent(spec: Spec, { resting = {} }: Tally, at: number): string | undefined {
  return agentsOf(spec).find((agent) => {
    const rest = resting[agent]
    return !rest || (rest.until !== undefined && rest.until <= at)
  })
}

/** The first to become available again; undefined if none will. */
export function nextBack(spec: Spec, { resting = {} }: Tally): { agent: string; until: number } | undefined {
  return agentsOf(spec)
    .flatMap((agent) => (resting[agent]?.until === undefined ? [] : [{ agent, until: resting[agent].until }]))
    .sort((a, b) => a.until - b.until)[0]
}

export function withRest(tally: Tally, agent: string, rest: Rest): Tally {
  return { ...tally, resting: { ...tally.resting, [agent]: rest } }
}

/** An agent that worked is available again. */
export function withoutRest(tally: Tally, agent: string): Tally {
  if (!tally.resting?.[agent]) return tally
  const { [agent]: _, ...resting } = tally.resting
  return { ...tally, resting }
}
