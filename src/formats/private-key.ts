/** Masks PEM private keys: over several lines, cut off at either end, and inside JSON strings. */
import type { Mark } from './secret-shapes.ts'

/** `inside`: how many characters of an unfinished key have been seen. Absent: none. */
export type KeyState = { inside?: number }

const BEGIN = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
const END = /-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y
/** How much of the first line may be shown. */
const LEAD = 12
/** Longer than any key. */
const LONGEST = 20_000

/** Masks whole keys, and what looks like one if only its beginning is there. Updates `state`. */
export function markPrivateKeys(text: string, mark: Mark, state: KeyState): string {
  const done: string[] = []
  let at = 0
  if (state.inside !== undefined) at = markLines(text, 0, { mark, state, done })
  for (BEGIN.lastIndex = at; ; BEGIN.lastIndex = at) {
    const found = BEGIN.exec(text)
    if (!found) break
    const after = found.index + found[0].length
    const end = endOf(text, after)
    if (end === undefined) {
      // The first line is not secret, and text about keys contains it too.
      done.push(text.slice(at, after))
      state.inside = 0
      at = markLines(text, after, { mark, state, done })
    } else {
      const lead = found.index + LEAD
      done.push(text.slice(at, lead), mark(text.slice(lead, end), text.slice(found.index, lead)))
      at = end
    }
  }
  return done.length === 0 ? text : [...done, text.slice(at)].join('')
}

/** Where the key ends, if there is nothing but a key in between. */
function endOf(text: string, from: number): number | undefined {
  END.lastIndex = text.indexOf('-----', from)
  if (END.lastIndex < 0 || END.lastIndex - from > LONGEST) return undefined
  return END.test(text) ? END.lastIndex : undefined
}

/** A line ends at a line break, at its JSON escape, or at another key marker. */
const LINE = /((?:\\+[nr]|[\r\n])+)|(?:[^\\\r\n-]|-(?!----)|\\+(?![\\nr])){1,4000}/y
/** What a diff or a quotation puts before a line. */
const MARGIN = /^[\s"'+|>-]{0,40}/
const RUN = /[A-Za-z0-9+/=]{16,}/g
const HEAD = /^[\W_]*(?:Proc-Type|DEK-Info|Comment|Version|Hash|Charset|MessageID): /
/** A short last line of a key. */
const WORD = /^[A-Za-z0-9+/=]+[\s"',\\]*$/

type Marking = { mark: Mark; state: KeyState; done: string[] }

/** Masks lines that look like parts of a key, up to its end or the first that does not. Returns that position. */
function markLines(text: string, from: number, { mark, state, done }: Marking): number {
  let at = from
  while (at < text.length && state.inside !== undefined) {
    LINE.lastIndex = at
    const [line = '', isBreak] = LINE.exec(text) ?? []
    if (isBreak === undefined) {
      const marked = line === '' || state.inside > LONGEST ? undefined : markLine(line, mark)
      if (marked === undefined) {
        delete state.inside
        break
      }
      state.inside += line.length
      done.push(marked)
    } else done.push(line)
    at += line.length
  }
  return at
}

/** Undefined for a line that is not part of a key. */
function markLine(line: string, mark: Mark): string | undefined {
  if (!/[A-Za-z0-9]/.test(line) || line.includes('…masked') || HEAD.test(line)) return line
  const [margin = ''] = MARGIN.exec(line) ?? []
  const rest = line.slice(margin.length)
  const marked = rest.replace(RUN, (run) => mark(run, ''))
  if (marked !== rest) return margin + marked
  return WORD.test(rest) ? margin + rest.replace(/^[A-Za-z0-9+/=]+/, (run) => mark(run, '')) : undefined
}
