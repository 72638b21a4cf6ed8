/** A one-line YAML value in frontmatter: a quoted string or a list in brackets. */
import { isScalar, isSeq, parseDocument } from 'yaml'

/** Strings stay strings, whatever they look like. Undefined: neither of these. */
export function parseYaml(text: string): string | string[] | undefined {
  if (text.length > MOST) return undefined
  const document = parseDocument(`value: ${text.trim()}`, {
    schema: 'failsafe',
    logLevel: 'silent',
    prettyErrors: false,
  })
  // `"grep \d x"` was written without escapes in mind.
  if (document.errors.some(({ code }) => code !== 'BAD_DQ_ESCAPE')) return undefined
  const value = document.get('value', true)
  if (isScalar(value)) return String(value.value)
  if (!isSeq(value) || !value.items.every(isScalar)) return undefined
  return value.items.map((item) => String(item.value))
}

/** Such a value has a few dozen characters; deep nesting would take long. */
const MOST = 10_000
