/** When a limit ends, in the words agents use for it. */

/** `resets 3pm`, `resets at 15:30`, `try again in 20 minutes`, `Retry-After: 30`: local times, the next that comes. */
export function readReset(text: string, at: number): number | undefined {
  const after = /(?:try again|retry|resets?) (?:in|after) (\d+)\s*(s|sec|seconds?|m|min|minutes?|h|hours?)\b/i.exec(
    text,
  )
  if (after) return at + Number(after[1]) * unitMs(after[2] ?? '')
  const seconds = /retry-after:?\s*(\d+)/i.exec(text)
  if (seconds) return at + Number(seconds[1]) * 1_000
  const clock = /(?:resets?|try again)(?: at)? (\d{1,2})(?::(\d\d))?\s*(am|pm)?\b/i.exec(text)
  return clock ? nextClock(at, clock) : undefined
}

function unitMs(unit: string): number {
  return unit.startsWith('h') ? 3_600_000 : unit.startsWith('m') ? 60_000 : 1_000
}

function nextClock(at: number, [, hour = '', minute, half]: RegExpExecArray): number | undefined {
  if (!half && !minute) return undefined
  const hours = (Number(hour) % (half ? 12 : 24)) + (half?.toLowerCase() === 'pm' ? 12 : 0)
  const time = new Date(at)
  time.setHours(hours, Number(minute ?? 0), 0, 0)
  if (time.getTime() <= at) time.setDate(time.getDate() + 1)
  return time.getTime()
}
