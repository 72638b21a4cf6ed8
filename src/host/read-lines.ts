/** The output of a program, in whole lines for a reader and in pieces for the record. */
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

const LONGEST_LINE = 8 * 1024 * 1024
const LONGEST_PIECE = 64 * 1024

type Reading = { onChunk: () => void; onPiece: (text: string) => void; onLine: (line: string) => void }

/**
 * Bytes that are not UTF-8 become U+FFFD; a line longer than eight million characters is cut, so that memory stays
 * flat.
 */
export function readLines(source: Readable, { onChunk, onPiece, onLine }: Reading): Promise<void> {
  const decoder = new StringDecoder('utf8')
  let parts: string[] = []
  let held = 0
  let unrecorded = ''
  const record = (text: string) => {
    if (text) onPiece(text)
  }
  const finish = (line: string) => onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
  const take = (text: string) => {
    // Recorded first: what was shown is never lost.
    const all = `${unrecorded}${text}`
    const wholeLines = all.lastIndexOf('\n') + 1
    const cut = wholeLines === 0 && all.length > LONGEST_PIECE ? all.length : wholeLines
    record(all.slice(0, cut))
    unrecorded = all.slice(cut)
    const lines = text.split('\n')
    const rest = lines.pop() ?? ''
    for (const line of lines) {
      finish(held > 0 ? [...parts, line].join('') : line)
      parts = []
      held = 0
    }
    if (rest && held < LONGEST_LINE) {
      parts.push(rest)
      held += rest.length
    }
  }
  return new Promise((done) => {
    source.on('data', (bytes: Buffer) => {
      onChunk()
      take(decoder.write(bytes))
    })
    source.once('close', () => {
      take(decoder.end())
      record(unrecorded)
      if (held > 0) finish(parts.join(''))
      done()
    })
  })
}
