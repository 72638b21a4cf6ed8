/** Agent output without secrets: in pieces for the record, and as events for observers. */
import type { AgentEvent } from '../agents/agent.ts'
import { editTexts } from '../host/mask.ts'
import type { Stream } from '../host/process.ts'
import type { Secrets } from '../host/sealed.ts'
import type { TurnEntry } from '../host/transcript.ts'

export type MaskedOutput = {
  /** What is recorded of a piece. Each piece comes before its lines. */
  piece(text: string, stream: Stream): TurnEntry[]
  /** An event that was read from a line. */
  event(event: AgentEvent, line: string, stream: Stream): AgentEvent
  /** What was held back, once nothing more comes. */
  rest(): TurnEntry[]
}

export function maskedOutput(secrets: Pick<Secrets, 'masking'>): MaskedOutput {
  const printed = { out: secrets.masking(), err: secrets.masking() }
  const shown = { out: secrets.masking(), err: secrets.masking() }
  const isClean = { out: false, err: false }
  /** Whether the start of an unfinished line was masked. */
  const startMasked = { out: false, err: false }
  return {
    piece(text, stream) {
      const masked = printed[stream].piece(text)
      const same = masked === text
      isClean[stream] = same && !startMasked[stream]
      startMasked[stream] = !text.endsWith('\n') && !(text.includes('\n') ? same : isClean[stream])
      return entriesOf(stream, masked)
    },
    // A flood of lines is not searched twice. A JSON escape may hide what the event contains, and the first line of a
    // key, which is no secret itself, reveals what the next lines are.
    event: (event, line, stream) =>
      isClean[stream] && !/\\|-----BEGIN /.test(line) ? event : editTexts(event, shown[stream].text),
    rest: () => (['out', 'err'] as const).flatMap((stream) => entriesOf(stream, printed[stream].rest())),
  }
}

function entriesOf(stream: Stream, text: string): TurnEntry[] {
  if (text === '') return []
  return [stream === 'out' ? { out: text } : { err: text }]
}
