/** One value in the head of a Markdown file, on one line, where YAML has a say: a text in quotes, a list in brackets. */
import { isScalar, isSeq, parseDocument } from 'yaml'

/** Texts stay texts, whatever they look like. Undefined: it is nothing of that kind. */
export function parseYaml(text: string): string | string[] | undefined {
  if (text.length > MOST) return undefined
  const document = parseDocument(`value: ${text.trim()}`, {
    schema: 'failsafe',
    logLevel: 'silent',
    prettyErrors: false,
  })
  // `"grep \d x"` was written without thinking of escapes.
  if (document.errors.some(({ code }) => code !== 'BAD_DQ_ESCAPE')) return undefined
  const value = document.get('value', true)
  if (isScalar(value)) return String(value.value)
  if (!isSeq(value) || !value.items.every(isScalar)) return undefined
  return value.items.map((item) => String(item.value))
}

/** A value of this kind has a few dozen characters; deep nesting would take long. */
const MOST = 10_000
