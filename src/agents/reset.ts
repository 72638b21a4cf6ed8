/** When a limit resets, in the words agents use for it. */

/**
 * `resets 3pm`, `resets at 15:30`, `try again in 20 minutes`, `Retry-After: 30`: the next such time, in the zone it
 * names, else in local time.
 */
export function readReset(text: string, at: number): number | undefined {
  const after =
    /(?:(?:try again|retry|resets?) (?:in|after)|wait(?: for)?|retryDelay"?:) "?(\d+(?:\.\d+)?)\s*(s|sec|seconds?|m|min|minutes?|h|hours?)\b/i.exec(
      text,
    )
  if (after) return at + Number(after[1]) * unitMs(after[2] ?? '')
  const seconds = /retry-after:?\s*(\d+)/i.exec(text)
  if (seconds) return at + Number(seconds[1]) * 1_000
  const dated = DATED.exec(text)
  if (dated) return onDay(at, dated)
  const clock = /(?:resets?|try again)(?: at)? (\d{1,2})(?::(\d\d))?\s*(am|pm)?\b(?:\s*\(([\w/+-]+)\))?/i.exec(text)
  return clock ? nextClock(at, clock) : undefined
}

/** `resets Nov 20, 3pm (UTC)`, `try again at Nov 20th, 2026 3:33 AM` */
const DATED =
  /(?:resets?|try again)(?: at)? ([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?(?:,| at)? (\d{1,2})(?::(\d\d))?\s*(am|pm)?\b(?:\s*\(([\w/+-]+)\))?/i

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** Without a year, the next such day. Undefined for an unknown month or zone. */
function onDay(at: number, [, name = '', day, year, hour, minute, half, zone]: RegExpExecArray): number | undefined {
  const month = MONTHS.indexOf(name.toLowerCase())
  if (month < 0) return undefined
  const hours = (Number(hour) % (half ? 12 : 24)) + (half?.toLowerCase() === 'pm' ? 12 : 0)
  const inYear = (one: number) => {
    const parts = [one, month, Number(day), hours, Number(minute ?? 0)] as const
    return zone ? timeInZone(Date.UTC(...parts), zone) : new Date(...parts).getTime()
  }
  if (year) return inYear(Number(year))
  const now = new Date(at).getFullYear()
  const time = inYear(now)
  return time !== undefined && time <= at ? inYear(now + 1) : time
}

/** The time at which clocks in a zone show what UTC clocks show at `clock`. */
function timeInZone(clock: number, zone: string): number | undefined {
  const first = clock - (offsetIn(clock, zone) ?? Number.NaN)
  const offset = offsetIn(first, zone)
  return offset === undefined ? undefined : clock - offset
}

/** How far a zone is ahead of UTC. */
function offsetIn(time: number, zone: string): number | undefined {
  try {
    const parts = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      hourCycle: 'h23',
    }).formatToParts(time)
    const of = (type: string) => Number(parts.find((part) => part.type === type)?.value)
    return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute')) - time
  } catch {
    return undefined // an unknown zone, or no time at all
  }
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

/** Undefined for an unknown zone. */
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
