/** Parses the start of a time span, as people type it. */

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 }

/** `90m`, `24h`, `7d`, `2w` ago, a local date, or a time. Undefined: none of these, or in the future. */
export function parseSince(text: string, now: number): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text.trim()) ?? []
  const since = amount === undefined ? dateOf(text.trim()) : now - Number(amount) * (UNITS[unit] ?? 0)
  return since !== undefined && since >= 0 && since <= now ? since : undefined
}

function dateOf(text: string): number | undefined {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d.*)?$/.exec(text) ?? []
  if (day === undefined) return undefined
  // A day that the month does not have would roll over into the next month.
  const exists = new Date(`${day}T00:00:00Z`)
  if (Number.isNaN(exists.getTime()) || !exists.toISOString().startsWith(day)) return undefined
  const at = Date.parse(`${day}${time ?? 'T00:00:00'}`)
  return Number.isNaN(at) ? undefined : at
}
