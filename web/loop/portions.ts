/**
 * A transcript as portions of equal size in bytes. Only those in view are read and kept; the number of lines in the others
 * is estimated from those already read.
 */
import { call, isRecorded, type OutputOf } from '../data/source.ts'
import { harmless } from '../words.ts'

type Row = OutputOf<'get_activity'>['rows'][number]

/** One line on the screen. `head`: the first line of its row. */
export type LogLine = { key: string; kind: Row['kind'] | 'wait'; name?: string; text: string; head: boolean }

export type Portions = {
  total(): number
  /** `shift`: how many lines were added or removed above the view since the last look. */
  lines(from: number, to: number): { lines: LogLine[]; shift: number }
  words(): string
  error(): Error | undefined
  retry(): void
  isLive(): boolean
  close(): void
}

type Asked = { loop: string; iteration: number; raw: boolean; columns: number; changed: () => void }

const BYTES = 262_144
const MOST_KEPT = 8
const LIVE_MS = 700
const USUAL_LINE = 90
/** Beyond the end of any transcript: reading there returns the size and nothing else. */
export const NOWHERE = 900_000_000

export function openPortions({ loop, iteration, raw, columns, changed }: Asked): Portions {
  const counts = new Map<number, number>()
  const kept = new Map<number, LogLine[]>()
  const asked = new Set<number>()
  let size = 1
  let over = true
  let problem: Error | undefined
  let seenBytes = 0
  let seenLines = 0
  let closed = false
  let shift = 0
  let firstInView = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  const number = () => (isRecorded() ? 1 : Math.max(1, Math.ceil(size / BYTES)))
  const bytesOf = (at: number) => Math.max(1, Math.min(BYTES, size - at * BYTES))
  const guess = (at: number) =>
    Math.max(1, Math.round(bytesOf(at) * (seenBytes ? seenLines / seenBytes : 1 / USUAL_LINE)))
  const countOf = (at: number) => counts.get(at) ?? guess(at)

  async function read(at: number): Promise<void> {
    if (asked.has(at) || closed) return
    asked.add(at)
    try {
      const place = { loop, iteration, from: at * BYTES, to: (at + 1) * BYTES }
      const found = await call('get_activity', raw ? { ...place, raw } : place)
      const lines = found.rows.flatMap((row, index) => linesOf(row, `${at}-${index}`, columns))
      const before = countOf(at)
      if (!counts.has(at)) {
        seenBytes += Math.min(BYTES, Math.max(1, found.size - at * BYTES))
        seenLines += lines.length
      }
      size = found.size
      over = found.over
      if (!over) timer ??= setTimeout(() => void follow(), LIVE_MS)
      counts.set(at, lines.length)
      kept.delete(at)
      kept.set(at, lines)
      if (at < firstInView) shift += lines.length - before
      forget()
      problem = undefined
    } catch (cause) {
      problem = cause as Error
    } finally {
      asked.delete(at)
      if (!closed) changed()
    }
  }

  function forget(): void {
    for (const at of kept.keys()) {
      if (kept.size <= MOST_KEPT) return
      if (Math.abs(at - firstInView) > 2) kept.delete(at)
    }
  }

  async function follow(): Promise<void> {
    timer = undefined
    if (closed || isRecorded()) return
    try {
      const now = await call('get_activity', { loop, iteration, from: NOWHERE, to: NOWHERE + 1 })
      if (now.size !== size) {
        const last = number() - 1
        size = now.size
        for (let at = last; at < number(); at += 1) await read(at)
      }
      over = now.over
    } catch {
      // the page says elsewhere that the server is unreachable
    }
    if (!closed && !over) timer ??= setTimeout(() => void follow(), LIVE_MS)
    else if (!closed) changed()
  }

  void read(0)

  return {
    total: () => Array.from({ length: number() }, (_, at) => countOf(at)).reduce((sum, one) => sum + one, 0),
    lines(from, to) {
      const lines: LogLine[] = []
      let start = 0
      let first = true
      for (let at = 0; at < number() && start < to; at += 1) {
        const end = start + countOf(at)
        if (end > from) {
          if (first) firstInView = at
          first = false
          const known = kept.get(at)
          if (!known && !problem) void read(at) // it would fail again and again
          for (let line = Math.max(from, start); line < Math.min(to, end); line += 1)
            lines.push(known?.[line - start] ?? { key: `wait-${line}`, kind: 'wait', text: '…', head: false })
        }
        start = end
      }
      const moved = shift
      shift = 0
      return { lines, shift: moved }
    },
    words: () =>
      `${sizeWords(size)}${isRecorded() && size > BYTES ? '; the report has its beginning' : ''}${over ? '' : ', still growing'}`,
    error: () => problem,
    retry() {
      problem = undefined
      changed()
    },
    isLive: () => !over,
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}

function sizeWords(bytes: number): string {
  if (bytes < 1_024) return `${bytes} bytes`
  return bytes < 1_048_576 ? `${Math.round(bytes / 1_024)} KB` : `${(bytes / 1_048_576).toFixed(1)} MB`
}

/** The number of lines it takes at this width. */
function linesOf({ kind, text, name }: Row, key: string, columns: number): LogLine[] {
  const lines: string[] = []
  for (const line of harmless(text).replaceAll('\t', '    ').split('\n'))
    for (let at = 0; at === 0 || at < line.length; at += columns) lines.push(line.slice(at, at + columns))
  return lines.map((part, at) => ({ key: `${key}-${at}`, kind, ...(name ? { name } : {}), text: part, head: at === 0 }))
}
