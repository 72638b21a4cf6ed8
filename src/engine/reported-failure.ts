/** Failures in an agent's own words, if no check reports one. */
import { plain } from './breaker.ts'
import { errorFingerprint } from './fingerprint.ts'

// How lines that report a failure start, whoever writes them.
const REPORTS_FAILURE =
  /^[^\p{L}\p{N}]*([\w.]*(error|exception)\b[^.!?]{0,40}:|fatal:|panic:|traceback\b|FAILED\b|not ok\b|(\w+ ){0,3}(could not|couldn't|cannot|can't|failed to|(is|was|am|are|were) unable to|fails? with)\b)/iu

/** The lines of an agent's text that report a failure. Empty if there are none. */
export function reportedFailure(words: string): string {
  const lines = plain(words)
    .split('\n')
    .filter((line) => REPORTS_FAILURE.test(line.slice(0, 300)))
  return lines.length === 0 ? '' : errorFingerprint(lines.join('\n'))
}
