/** Reads an agent's final text: does it claim to be done, does it ask for a person? Prose about a claim is no claim. */
import type { Ask, Claim, Tally } from './loop.ts'

/** What may be claimed: the promise of the loop, its signals, and the names of its open stages. */
export type Claimable = { promise: string; signals: readonly string[]; stages: readonly string[] }

/** The first clear claim counts, that of an open stage before others; without one, a weak one. */
export function readClaim(words: string, claimable: Claimable): Claim {
  const text = withoutCode(words).trimEnd()
  const claims = occurrences(text, claimable).map((place) => judgeOccurrence(text, place))
  const clear = claims.filter(({ kind }) => kind === 'clear')
  const found = clear.find(({ stage }) => stage !== undefined) ?? clear[0] ?? claims.find(({ kind }) => kind === 'weak')
  if (found) return found
  return hasWeakPhrase(text) ? { kind: 'weak' } : { kind: 'none' }
}

/** Whether a claim is enough where there is nothing to check with. A tree that has come to rest supports a weak one. */
export function isAccepted(tally: Tally): boolean {
  if (tally.claim.kind === 'clear') return true
  return tally.claim.kind === 'weak' && (tally.weak >= 2 || (tally.changed === true && tally.stalled >= 2))
}

/** An explicit request for a person, or a text that ends in a question. */
export function readAsk(words: string): Ask | undefined {
  const text = withoutCode(words)
  const explicit = fold(/^[ \t]*<ask>((?:(?!<\/?ask>)[\s\S])+)<\/ask>[ \t]*$/m.exec(text)?.[1] ?? '')
  if (explicit) return { kind: 'person', words: explicit.slice(0, 2_000) }
  const last = sentences(text).at(-1)
  if (!last || !(/\?[*_`"'”’»)]{0,9}$/.test(last) || POLITE_QUESTION.test(last))) return undefined
  return { kind: 'question', words: last.slice(-500) }
}

/** The text without the prompt, for agents that print what they were asked before they answer. */
export function withoutEcho(words: string, prompt: string): string {
  const lines = words.split('\n')
  const spoken = lines.map(fold)
  const asked = prompt.split('\n').map(fold).filter(Boolean)
  const runs = echoRuns(spoken, asked)
  let echoed = 0
  const kept = lines.filter((_, at) => {
    if (spoken[at] === '') return echoed === 0
    const run = runs[at] ?? 0
    if (echoed === 0 && run >= Math.min(3, asked.length)) echoed = run
    return echoed === 0 || echoed-- === 0
  })
  return kept.join('\n')
}

/** How a promise is written. */
export function claimTag(promise: string): string {
  return `<promise>${promise}</promise>`
}

type Place = { start: number; end: number; stage?: string }

function occurrences(text: string, { promise, signals, stages }: Claimable): Place[] {
  return [
    ...stages.flatMap((stage) => tagPlaces(text, stage).map((place) => ({ ...place, stage }))),
    ...tagPlaces(text, promise),
    ...signals.flatMap((signal) => places(text, signal, ['(?<![\\p{L}\\p{N}_])', '(?![\\p{L}\\p{N}_])'])),
  ].sort((a, b) => a.start - b.start)
}

function tagPlaces(text: string, name: string): Place[] {
  return places(text, name, ['<promise>\\s*', '\\s*</promise>'])
}

/** Where these words stand between these patterns, whatever the white space among them. */
function places(text: string, words: string, [before, after]: [string, string]): Place[] {
  const literal = fold(words)
    .replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
    .replaceAll(' ', '\\s+')
  if (!literal) return []
  const found = text.matchAll(new RegExp(`${before}${literal}${after}`, 'gu'))
  return Array.from(found, ({ index, 0: { length } }) => ({ start: index, end: index + length }))
}

// How far around a claim its sentence is looked for, so that a long text full of claims is read in one go.
const REACH = 1_000

function judgeOccurrence(text: string, { start, end, stage }: Place): Claim {
  const left = text.slice(Math.max(0, start - REACH), start)
  const right = text.slice(end, end + REACH)
  const before = left.slice(left.lastIndexOf('\n') + 1)
  const after = right.split('\n', 1)[0] ?? ''
  const alone = DECORATION.test(before) && DECORATION.test(after)
  const endsText = DECORATION.test(after) && end + after.length === text.length
  if (DISCLAIMED.test(alone ? runOn(left, right) : sentenceAround(left, right))) return { kind: 'none' }
  if (UNFINISHED.test(left.slice(left.lastIndexOf('\n\n') + 1))) return { kind: 'none' }
  const kind = alone || endsText ? 'clear' : 'weak'
  return stage === undefined ? { kind } : { kind, stage }
}

// Bold, list and heading marks, a tick, a full stop: what may stand around a claim that still stands alone; a quote may not.
const DECORATION = /^[\uFE0F\s*_#✅✓✔☑🎉.!-]*$/u

// Negations, conditions, plans and questions speak about a claim; they make none.
const DISCLAIMED =
  /\?|n[o']t\b|n’t\b|\b(never|cannot|without|until|unless|yet|if|when|whenever|once|as soon as|would|should|could|might|will|going to|plan|want|need|must|shall|about to|let me|(says?|told|asked|instructed) to|instructions?|no\s*$)\b|['’]ll\b|\bno\s*$/i

// A text that says in the same breath that it is not done takes its claim back.
const UNFINISHED =
  /\b(not|isn['’]t|aren['’]t|hasn['’]t|cannot|can['’]t) (\w+ ){0,3}(done|finish(ed)?|completed?|ready)\b|\bnothing is (done|finished)\b/i

/** For a claim on a line of its own: the line above and the line below, where the sentence runs on. */
function runOn(left: string, right: string): string {
  const above =
    left
      .slice(0, left.lastIndexOf('\n') + 1)
      .trimEnd()
      .split('\n')
      .at(-1) ?? ''
  const below = /^[^\n]*\n[ \t]*(\p{Ll}.*)/u.exec(right)?.[1] ?? ''
  return `${RUNS_ON.test(above) ? above : ''} ${below}`
}

const RUNS_ON = /([:,;?–—-]|\b(output|print|say|write|emit|send|return|reply|respond|answer|with))[*_`\s]*$/i

function sentenceAround(left: string, right: string): string {
  const breaks = [...left.matchAll(/[.!?]\s|\n\s*\n|\n\s*[-*•]\s/g)]
  const opening = breaks.map((match) => match.index + match[0].length).at(-1) ?? 0
  const closing = right.search(/[.!?](\s|$)|\n\s*\n|\n\s*[-*•]\s/)
  return `${left.slice(opening)} ${closing < 0 ? right : right.slice(0, closing + 1)}`
}

const WEAK_PHRASES = [
  /^all (the )?tests (are )?(now )?pass(ing|ed)?$/i,
  /^(it is |this is |everything is )?ready for review$/i,
  /^no (further |more )?changes (are )?needed$/i,
  /^all tasks( .{1,60})? (are )?(now )?completed?$/i,
]

const HEDGED = /\b(but|except|almost|nearly|partly|partially)\b/i

function hasWeakPhrase(text: string): boolean {
  return sentences(text).some((sentence) => {
    if (sentence.length > 200) return false
    const bare = sentence.replace(/^[^\p{L}]+/u, '').replace(/[^\p{L}?]+$/u, '')
    return WEAK_PHRASES.some((phrase) => phrase.test(bare)) && !DISCLAIMED.test(bare) && !HEDGED.test(bare)
  })
}

const POLITE_QUESTION =
  /\b(let me know|please (confirm|advise|clarify|provide|tell me|choose|specify)|(awaiting|waiting for) (your|an?|further) (\w+ )?(answer|reply|input|decision|confirmation|instructions))\b/i

function sentences(text: string): string[] {
  return text
    .split(/\n+|(?<=[.!?])\s+/)
    .map(fold)
    .filter(Boolean)
}

/** Blanks out fenced code and quoted lines, which repeat other texts. A fence that is never closed hides the rest. */
function withoutCode(words: string): string {
  let fence = ''
  return words
    .split('\n')
    .map((line) => {
      const mark = FENCE.exec(line)?.[1] ?? ''
      if (fence) {
        if (mark.startsWith(fence) && line.trim() === mark) fence = ''
        return ''
      }
      if (mark) fence = mark
      return mark || /^\s*>/.test(line) ? '' : line
    })
    .join('\n')
}

// Three backticks that are closed on their own line are code within a sentence and open nothing.
const FENCE = /^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(`{3,}(?![^`]*`)|~{3,})/

function fold(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** For each line: how many from there on repeat the prompt, blank ones apart. Read backwards, so that each pair is met once. */
function echoRuns(spoken: readonly string[], asked: readonly string[]): number[] {
  const places = Map.groupBy(asked.keys(), (at) => asked[at])
  let below = new Map<number, number>()
  const runs = spoken.toReversed().map((line) => {
    if (line === '') return 0
    const here = new Map<number, number>()
    let longest = 0
    for (const at of places.get(line) ?? []) {
      const run = (below.get(at + 1) ?? 0) + 1
      here.set(at, run)
      longest = Math.max(longest, run)
    }
    below = here
    return longest
  })
  return runs.reverse()
}
