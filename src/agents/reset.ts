/** When a limit ends, in the words agents use for it. */

/** `resets 3pm`, `resets at 15:30`, `try again in 20 minutes`, `Retry-After: 30`: the next that comes, by the clock of the zone it names, else by the local one. */
export function readReset(text: string, at: number): number | undefined {
  const after =
    /(?:try again|retry|resets?) (?:in|after) (\d+(?:\.\d+)?)\s*(s|sec|seconds?|m|min|minutes?|h|hours?)\b/i.exec(text)
  if (after) return at + Number(after[1]) * unitMs(after[2] ?? '')
  const seconds = /retry-after:?\s*(\d+)/i.exec(text)
  if (seconds) return at + Number(seconds[1]) * 1_000
  const clock = /(?:resets?|try again)(?: at)? (\d{1,2})(?::(\d\d))?\s*(am|pm)?\b(?:\s*\(([\w/+-]+)\))?/i.exec(text)
  return clock ? nextClock(at, clock) : undefined
}

function unitMs(unit: string): number {
  return unit.startsWith('h') ? 3_600_000 : unit.startsWith('m') ? 60_000 : 1_000
}

function nextClock(at: number, [, hour = '', minute, half, zone]: RegExpExecArray): number | undefined {
  if (!half && !minute) return undefined
  const hours = (Number(hour) % (half ? 12 : 24)) + (half?.toLowerCase() === 'pm' ? 12 : 0)
  if (zone) return nextInZone(at, hours * 60 + Number(minute ?? 0), zone)
  const time = new Date(at)
  time.setHours(hours, Number(minute ?? 0), 0, 0)
  if (time.getTime() <= at) time.setDate(time.getDate() + 1)
  return time.getTime()
}

/** Undefined for a zone nobody knows. */
function nextInZone(at: number, minutes: number, zone: string): number | undefined {
  try {
    const clock = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    })
    const [hour, minute] = clock.format(at).split(':').map(Number)
    const wait = (minutes - ((hour ?? 0) * 60 + (minute ?? 0)) + 24 * 60) % (24 * 60) || 24 * 60
    return Math.floor(at / 60_000) * 60_000 + wait * 60_000
  } catch {
    return undefined
  }
}
