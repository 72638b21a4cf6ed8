/** Masks secrets in what ralph stores and shows: known forms, private keys, and known values. */
import { type KeyState, markPrivateKeys } from './private-key.ts'
import { type Mark, markShapes } from './secret-shapes.ts'
import type { Known } from './secret-values.ts'

/** Known secrets, prepared for searching. */
export type KnownSecrets = { pattern: RegExp; nameOf: ReadonlyMap<string, string> }

const MASKED: Mark = () => '…masked…'

export function maskSecrets(text: string, known?: KnownSecrets): string {
  return markSecrets(text, known, (body, lead, name) => (name ? `…masked:${name}…` : MASKED(body, lead)))
}

/** The same with other marks. `name`: the variable that contains it. */
export function markSecrets(
  text: string,
  known: KnownSecrets | undefined,
  mark: (body: string, lead: string, name?: string) => string,
  state: KeyState = {},
): string {
  const isKnown = known?.pattern.test(text) === true
  const marked = isKnown ? text.replaceAll(all(known), (value) => mark(value, '', known.nameOf.get(value))) : text
  const plainMark: Mark = (body, lead) => mark(body, lead)
  const isKey = state.inside !== undefined || marked.includes('PRIVATE KEY')
  const keyless = isKey ? markPrivateKeys(marked, plainMark, state) : marked
  return markShapes(keyless, plainMark)
}

function all({ pattern }: KnownSecrets): RegExp {
  return new RegExp(pattern.source, 'g')
}

/** Undefined if none are known. A value is also found JSON-escaped and percent-encoded. */
export function knownSecrets(values: readonly Known[]): KnownSecrets | undefined {
  const nameOf = new Map<string, string>()
  for (const { value, name = '' } of values)
    for (const text of [value, ...value.split(/\r?\n/).filter((line) => line.length >= 16)])
      for (const form of [text, inJson(text), inJson(inJson(text)), inAddress(text)])
        if (!nameOf.has(form)) nameOf.set(form, name)
  // The longest first, so that of two values with the same beginning the whole one matches.
  const forms = [...nameOf.keys()].sort((a, b) => b.length - a.length)
  if (forms.length === 0) return undefined
  return { nameOf, pattern: new RegExp(forms.map((form) => form.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|')) }
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function inAddress(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : text
}

/** Masks a sequence of texts: a private key may start in one and end in another. */
export type Masking = {
  /** A complete text, such as a line or an event. */
  text(whole: string): string
  /** A piece of a longer text. What may be half a secret is held back until more arrives. */
  piece(text: string): string
  /** What was held back. */
  rest(): string
}

/** How much of an unfinished line is held back. */
const KEPT_BACK = 4_096
/** Characters that may continue a secret. */
const MORE = /^[\w.~+/=-]+/

export function openMasking(known?: KnownSecrets): Masking {
  const state: KeyState = {}
  let held = ''
  let isCut = false
  const mask = (text: string) =>
    markSecrets(text, known, (body, lead, name) => (name ? `…masked:${name}…` : MASKED(body, lead)), state)
  return {
    text: mask,
    piece(text) {
      const masked = mask(held + (isCut ? text.replace(MORE, '') : text))
      isCut = masked.endsWith('…masked…')
      const line = masked.length - masked.lastIndexOf('\n') - 1
      const cut = masked.length - (isCut ? 0 : Math.min(line, KEPT_BACK))
      held = masked.slice(cut)
      return masked.slice(0, cut)
    },
    rest() {
      const last = held
      held = ''
      return last
    },
  }
}
