/** Masks secrets, so that what ralph keeps and shows can be shown around: known forms, private keys, and values that ralph knows. */
import { type KeyState, markPrivateKeys } from './private-key.ts'
import { type Mark, markShapes } from './secret-shapes.ts'
import type { Known } from './secret-values.ts'

/** What is known to be secret, made ready for a search. */
export type KnownSecrets = { pattern: RegExp; nameOf: ReadonlyMap<string, string> }

const MASKED: Mark = () => '…masked…'

export function maskSecrets(text: string, known?: KnownSecrets): string {
  return markSecrets(text, known, (body, lead, name) => (name ? `…masked:${name}…` : MASKED(body, lead)))
}

/** The same with other marks. `name`: that of the variable which holds it. */
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

/** Undefined where nothing is known. A value is also found as it stands in JSON and in an address. */
export function knownSecrets(values: readonly Known[]): KnownSecrets | undefined {
  const nameOf = new Map<string, string>()
  for (const { value, name = '' } of values)
    for (const text of [value, ...value.split(/\r?\n/).filter((line) => line.length >= 16)])
      for (const form of [text, inJson(text), inJson(inJson(text)), inAddress(text)])
        if (!nameOf.has(form)) nameOf.set(form, name)
  // The longest first: of two values that begin alike, the whole one counts.
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

/** Masks what comes one after another: a private key may begin in one text and end in another. */
export type Masking = {
  /** A text that is whole, such as a line or an event. */
  text(whole: string): string
  /** A piece of a longer text. What may be half a secret is kept back until more comes. */
  piece(text: string): string
  /** What was kept back. */
  rest(): string
}

/** So much of a line without an end is kept back. */
const KEPT_BACK = 4_096
/** What a secret may go on with. */
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
