/** What an agent reports through MCP while it works, and what that makes of its turn. It starts the checks, and ends nothing. */
import type { Turn } from './loop.ts'

export type Report = { at: number } /** It says that a stage is done; without one: the whole loop. */ & (
  | { kind: 'stage'; stage?: string; evidence: string }
  /** It cannot go on by itself. */
  | { kind: 'blocked'; reason: string }
  | { kind: 'question'; question: string }
)

/** `open`: the stages that are not passed yet. A request for a person wins over a claim, as it does in a text. */
export function heed(turn: Turn, reports: readonly Report[], open: readonly string[]): Turn {
  if (reports.length === 0) return turn
  const heard: Turn = { ...turn, reports: [...reports] }
  if (turn.ask?.kind === 'person') return heard
  const asked = reports.map(askedIn).findLast((words) => words !== undefined)
  if (asked !== undefined) return { ...heard, claim: { kind: 'none' }, ask: { kind: 'person', words: asked } }
  const named = reports.flatMap((report) => (report.kind === 'stage' && report.stage !== undefined ? report.stage : []))
  const stage = open.find((name) => named.includes(name))
  const { ask, ...rest } = heard
  return {
    ...rest,
    claim: { kind: 'clear', ...(stage === undefined ? {} : { stage }) },
    // What its last words ask is answered by what it reported.
    ...(ask?.kind === 'permission' ? { ask } : {}),
  }
}

function askedIn(report: Report): string | undefined {
  if (report.kind === 'question') return report.question
  return report.kind === 'blocked' ? `The agent is blocked: ${report.reason}` : undefined
}
