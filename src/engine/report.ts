/**
 * What an agent reports through MCP while it works, and what that means for its turn. A report starts the checks and
 * ends nothing.
 */
import type { Turn } from './loop.ts'

export type Report = { at: number } /** Claims that a stage is done; without one: the whole loop. */ & (
  | { kind: 'stage'; stage?: string; evidence: string }
  /** It cannot continue by itself. */
  | { kind: 'blocked'; reason: string }
  | { kind: 'question'; question: string }
)

/** `open`: the stages not yet passed. A request for a person wins over a claim, as it does in text. */
export function applyReports(turn: Turn, reports: readonly Report[], open: readonly string[]): Turn {
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
    // What it reported overrides a question in its last words.
    ...(ask?.kind === 'permission' ? { ask } : {}),
  }
}

function askedIn(report: Report): string | undefined {
  if (report.kind === 'question') return report.question
  return report.kind === 'blocked' ? `The agent is blocked: ${report.reason}` : undefined
}
