/**
 * Reads an agent's final text: does it claim to be done, does it ask for a person? Prose about a claim is not a claim.
 */
import { plain } from './breaker.ts'
import { notEchoed } from './echo.ts'
import type { Ask, Claim, Tally } from './loop.ts'

/** What can be claimed: the loop's promise, its signals, and the names of its open stages. */
export type Claimable = { promise: string; signals: readonly string[]; stages: readonly string[] }

/**
 * The last of several claims counts; adjacent tags are one claim, for the first open stage among them. A request for a
 * person wins.
 */
export function readClaim(words: string, { promise, signals, stages }: Claimable): Claim {
  const tags = anyOf([promise, ...signals, ...stages])
  const pattern = `<promise>\\s*(${tags})\\s*</promise>|(?<![\\p{L}\\p{N}_])(${anyOf(signals)})(?![\\p{L}\\p{N}_])`
  const only = new RegExp(`^(${pattern})$`, 'u')
  // Tags with other names, such as those of passed stages, are ignored.
  const text = visible(words, only).replace(/<promise>[^<>]*<\/promise>/g, (tag) => (only.test(tag) ? tag : ''))
  if (personAsked(text)) return { kind: 'none' }
  const found = [...text.matchAll(new RegExp(pattern, 'gu'))].reverse()
  const [last] = found
  if (!last) return hasPhrase(text) ? { kind: 'weak', form: 'phrase' } : { kind: 'none' }
  let start = text.length
  const names: string[] = []
  for (const { index, 0: tag, 1: name = '' } of found) {
    if (names.length > 0 && !DECORATION.test(text.slice(index + tag.length, start))) break
    names.push(fold(name))
    start = index
  }
  const stage = stages.find((open) => names.includes(fold(open)))
  const claim = judgePlace(text, start, last.index + last[0].length)
  return stage === undefined ? claim : { ...claim, stage }
}

/**
 * Whether a claim is enough without checks. One followed by other words must be repeated, unless there is no turn left
 * to repeat it in; a phrase only ends work that no longer makes progress.
 */
export function isAccepted({ claim, weak, stalled, tree, startTree }: Tally, lastTurn = false): boolean {
  const { kind, form = 'stated' } = claim
  if (kind !== 'weak') return kind === 'clear'
  if (form === 'stated') return weak >= 2 || (lastTurn && !(tree && tree === startTree))
  return form === 'phrase' && weak >= 2 && stalled >= 1
}

/** An explicit request for a person, or text that ends in a question. */
export function readAsk(words: string): Ask | undefined {
  const text = visible(words)
  const explicit = personAsked(text)
  if (explicit) return { kind: 'person', words: explicit.slice(0, 2_000) }
  const last = sentences(text).at(-1)
  if (!last || !(/\?[*_`"'”’»)]{0,9}$/.test(last) || POLITE_QUESTION.test(last))) return undefined
  return { kind: 'question', words: last.slice(-500) }
}

/** The text without the prompt, for agents that print the prompt before they answer. */
export function withoutEcho(words: string, prompt: string): string {
  const lines = words.split('\n')
  const spoken = lines.map(fold)
  const asked = prompt.split('\n').map(fold).filter(Boolean)
  const known = new Set(asked)
  // Most agents repeat nothing.
  return spoken.some((line) => known.has(line)) ? lines.filter(notEchoed(spoken, asked)).join('\n') : words
}

/** How a promise is written. */
export function claimTag(promise: string): string {
  return `<promise>${promise}</promise>`
}

/**
 * A pattern that matches any of these texts, the longest first, with any white space. Without texts it matches nothing.
 */
function anyOf(texts: readonly string[]): string {
  const literals = texts
    .map(fold)
    .filter(Boolean)
    .sort((a, b) => b.length - a.length)
    .map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replaceAll(' ', '\\s+'))
  return literals.join('|') || '(?!)'
}

// Emphasis, backticks, emoji and invisible marks: what may surround a claim that still stands alone.
const MARKS = '\\s\\p{C}\\p{M}\\p{Sk}\\p{ExtPict}\\p{RI}✓*_'
const DECORATION = new RegExp(`^[${MARKS}#.!。！]*$`, 'u')
const CLOSERS = `[${MARKS}\\p{Pe}\\p{Pf}"']*$`

// The end of a sentence, a table, a rule, or hidden text. A number, a single letter and an ellipsis end no sentence:
// they belong to lists, to "e.g." and to text that continues.
const FINISHED = new RegExp(
  `((?<=\\p{L}\\P{STerm}*\\p{STerm}*)(?<!(^|[^\\p{L}\\p{N}])[a-z]|\\.)\\p{STerm}|[|]|---)${CLOSERS}`,
  'iu',
)
const RUNS_ON = new RegExp(`[:,：，]${CLOSERS}`, 'u')
const LIST_ITEM = /^\s*(\+|([-*•]|\d+[.)])\s)/

function judgePlace(text: string, start: number, end: number): Claim {
  const line = text.lastIndexOf('\n', start - 1) + 1
  const before = text.slice(line, start)
  const above = text.slice(0, line).replace(/\n$/, '')
  const lineAbove = above.slice(above.lastIndexOf('\n') + 1)
  const after = text.slice(end)
  const [rest = ''] = after.split('\n', 1)
  const bare = DECORATION.test(before)
  if (
    (bare || isFinished(before)) &&
    (DECORATION.test(lineAbove) || isFinished(lineAbove)) &&
    !LIST_ITEM.test(before)
  ) {
    // A colon may introduce a quotation, even below an empty line.
    if (DECORATION.test(after) && !RUNS_ON.test(above)) return { kind: 'clear' }
    if (bare && DECORATION.test(rest)) return { kind: 'weak', form: 'stated' }
  }
  return { kind: 'weak', form: 'mentioned' }
}

/** Only reads the end, so that text without line breaks is fast. */
function isFinished(line: string): boolean {
  return FINISHED.test(line.slice(-1_000))
}

const PHRASES =
  /^(all (the )?tests (are )?(now )?pass(ing|ed)?|((it|this|everything) is )?ready for review|no (further |more )?changes (are )?needed|all (the )?tasks( in \S+)?( are| have been)?( now)? completed?)$/i

function hasPhrase(text: string): boolean {
  return sentences(text).some(
    (sentence) =>
      sentence.length <= 200 && PHRASES.test(sentence.replace(/^[^\p{L}]+/u, '').replace(/[^\p{L}?]+$/u, '')),
  )
}

/** What stands between `<ask>` and `</ask>` on lines of their own. */
function personAsked(text: string): string {
  let before = ''
  for (const part of text.split('</ask>')) {
    const start = before.lastIndexOf('<ask>')
    const around = before.slice(before.lastIndexOf('\n', start) + 1, start) + part.split('\n', 1)
    if (start >= 0 && !around.trim()) return fold(before.slice(start + 5))
    before = part
  }
  return ''
}

const POLITE_QUESTION =
  /\b(let me know|please (confirm|advise|clarify|provide|tell me|choose|specify)|(awaiting|waiting for) (your|an?|further) (\w+ )?(answer|reply|input|decision|confirmation|instructions))\b/i

function sentences(text: string): string[] {
  return text
    .split(/\n+|(?<=[.!?])\s+/)
    .map(fold)
    .filter((sentence) => sentence && sentence !== HIDDEN)
}

// Replaces hidden lines, like the last line of a table: what follows starts afresh.
const HIDDEN = '|'

/**
 * The text without what quotes other text: fenced code, quotes with their continuation lines, open to-do items,
 * comments. A fence that is never closed hides the rest; one that holds `only` shows that text, with something after
 * it.
 */
function visible(words: string, only?: RegExp): string {
  let fence = ''
  let quoted = false
  let held = ''
  const lines = plain(words)
    .replace(SPELLED_OUT, '<$1>')
    .split(/\r?\n|\r/)
    .flatMap((line) => {
      const mark = BLOCK.exec(line)?.[1] ?? ''
      if (fence) {
        if (!mark.startsWith(fence) || line.trim() !== mark) {
          held += `${line} `
          return []
        }
        fence = ''
        return only?.test(fold(held)) ? [fold(held), `-${HIDDEN}`] : HIDDEN
      }
      if (/^[`~]/.test(mark)) {
        fence = mark
        held = ''
        quoted = false
        return []
      }
      quoted = mark === '>' || (quoted && /\S/.test(line))
      return quoted ? HIDDEN : mark ? '-' : line
    })
  return without(without(lines.join('\n'), '<!--', '-->'), '<pre', '</pre>')
}

// Agents repeat a tag as they received it, and some clients send everything as XML.
const SPELLED_OUT = /(?:<|&lt;)(\/?(?:promise|ask))(?:>|&gt;)/g

// Three backticks closed on their own line are inline code and open nothing.
const BLOCK = /^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(`{3,}(?![^`]*`)|~{3,}|>|\[ \]|☐)/

function without(text: string, open: string, close: string): string {
  return text.split(open).reduce((kept, part) => {
    const end = part.indexOf(close)
    return kept + (end < 0 ? open + part : part.slice(end + close.length))
  })
}

function fold(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
