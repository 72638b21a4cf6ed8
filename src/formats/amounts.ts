/** Formats durations, money and sizes for people. */

export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60]
  if (hours > 0) return `${hours} h ${minutes} min`
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`
}

export function dollars(usd: number): string {
  return usd > 0 && usd < 0.01 ? 'less than $0.01' : `$${usd.toFixed(2)}`
}

/** A number of bytes. */
export function megabytes(bytes: number): string {
  const mb = bytes / 1_000_000
  return mb < 1 ? 'less than 1 MB' : `${Math.round(mb)} MB`
}

/** The lines that a transcript ends with when it has reached its limit. */
export function cutWords({ limitMb, dropped }: { limitMb: number; dropped?: number }): string {
  return dropped === undefined
    ? `transcript limit of ${limitMb} MB reached: later output was not kept`
    : `${megabytes(dropped)} of later output was not kept`
}
