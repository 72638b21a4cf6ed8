/** A recorded value for others to see: secrets masked in every string, structure unchanged. */
import { maskSecrets } from './secrets.ts'

/** `edit`: also applied to each string; it masks secrets too. */
export function shareable<Value>(value: Value, edit: (text: string) => string = maskSecrets): Value {
  return changed(value, edit) as Value // only strings change
}

function changed(value: unknown, edit: (text: string) => string, field = ''): unknown {
  if (typeof value === 'string') return isOwnWord(value, field) ? value : edit(withoutKeyLines(value))
  if (Array.isArray(value)) return maskKeyLines(value).map((item) => changed(item, edit, field))
  if (!isRecord(value)) return value
  const fields = Object.entries(value).map(([name, item]) => [
    FIELD.test(name) ? name : edit(name),
    changed(item, edit, name),
  ])
  return Object.fromEntries(fields)
}

const FIELD = /^[a-z_][a-z0-9_]*$/i

// Fields that the page branches on. Someone may be named like one of their values.
const OWN_WORDS: ReadonlySet<string> = new Set(
  [
    'against because change claim context costSource end experiments form grade heard kind level owner permissions proof reason',
    'red require result role run side size source stage status type why',
  ].flatMap((line) => line.split(' ')),
)

function isOwnWord(text: string, field: string): boolean {
  return OWN_WORDS.has(field) && /^[a-z]+(?:-[a-z]+)*$/.test(text)
}

const BEGIN = /-----BEGIN [A-Z ]*PRIVATE KEY-----/
const END = /-----END [A-Z ]*PRIVATE KEY-----/
const OF_A_KEY = /^[+\- ]?\s*(?:[A-Za-z0-9+/=]+|[\w-]+: .*)?\s*$/

/** A private key whose end was cut off. Complete ones are masked as a whole. */
function withoutKeyLines(text: string): string {
  const masked = maskSecrets(text)
  return BEGIN.test(masked) ? maskKeyLines(masked.split('\n')).join('\n') : masked
}

/** A private key given line by line, as in a diff. Lines are strings, or contain one. */
function maskKeyLines<Item>(lines: readonly Item[]): Item[] {
  let inside = false
  return lines.map((line) => {
    const text = textOf(line)
    if (inside && text !== undefined && OF_A_KEY.test(text)) return withText(line, `${text.slice(0, 1)}…masked…`)
    inside = text !== undefined && BEGIN.test(text) && !END.test(text)
    return line
  })
}

function textOf(line: unknown): string | undefined {
  if (typeof line === 'string') return line
  return isRecord(line) && typeof line.text === 'string' ? line.text : undefined
}

function withText<Item>(line: Item, text: string): Item {
  return (typeof line === 'string' ? text : { ...line, text }) as Item // strings stay strings
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
