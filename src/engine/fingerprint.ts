/** Fingerprints of failures, to recognize one that occurs again. */
import { plain } from './breaker.ts'
import type { Verdict } from './loop.ts'

/** Equal for equal failures: leaves out times, addresses and colors, which differ between attempts. */
export function fingerprint(verdicts: readonly Verdict[]): string {
  return verdicts
    .filter((verdict) => verdict.result !== 'pass')
    .map((verdict) => `${verdict.check}: ${errorFingerprint(verdict.tail)}`)
    .join('; ')
    .slice(0, 2_000)
}

export function errorFingerprint(text: string): string {
  return plain(text.slice(-4_000))
    .replace(/0x[0-9a-f]+/gi, '0x')
    .replace(/\d{4}-\d\d-\d\d[T ][\d:.,]+Z?/g, '')
    .replace(/\b\d{1,2}:\d\d:\d\d([.,]\d+)?\b/g, '')
    .replace(/\d+([.,]\d+)?\s*(ms|s|sec|seconds|min|minutes)\b/gi, '')
    .replace(/\d+\.\d+/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(-500)
}
