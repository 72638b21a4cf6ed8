/** The data of a report: answers of operations, recorded so that the page works without a server. */

/** `key`: which operation was asked, and for what. */
export type Answer = { key: string; value: unknown }

/** `made_at`: in milliseconds since 1970. `note`: what was left out. `filter`: the loops that statistics are about. */
export type Recorded = { version: string; made_at: number; answers: Answer[]; note?: string } & (
  | { kind: 'loop'; loop: string }
  | { kind: 'stats'; filter: object }
)

/** Read only when this iteration is opened. */
export type RecordedDetail = { iteration: number; answers: Answer[] }

/** The same for the same question, whatever the order of its fields. */
export function answerKey(name: string, input: unknown): string {
  return `${name} ${JSON.stringify(input, (_, value: unknown) => (isRecord(value) ? sorted(value) : value))}`
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sorted(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
}
