/** The texts in a source file that people or agents may read: string literals and the text between JSX tags, but no comments. */

/** `text`: with `…` for whatever is inserted. `raw`: as it is in the source. */
export type SourceText = { text: string; raw: string; line: number }

const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y
const QUOTED = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/y
const REGEX = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y
/** A slash after these starts a regular expression; elsewhere it divides or closes a tag. */
const BEFORE_REGEX = /(?:^|[(,=:[!&|?{};]|=>|\breturn|\bcase)\s*$/
const BETWEEN_TAGS = /[>}]([^<>{}=]*[a-z][^<>{}=]*)(?=[<{])/g

export function sourceTexts(source: string, { jsx = false }: { jsx?: boolean } = {}): SourceText[] {
  const found: { text: string; from: number; to: number }[] = []
  const code = source.split('')
  const blank = (from: number, to: number) => code.fill(' ', from, to)
  const length = (pattern: RegExp, at: number) => {
    pattern.lastIndex = at
    return pattern.exec(source)?.[0].length ?? 0
  }

  /** Returns where the code ends: with the file, or with the brace that closes a `${`. */
  const readCode = (from: number): number => {
    let depth = 0
    for (let at = from; at < source.length; ) {
      const sign = source[at]
      if (sign === '/') {
        const comment = length(COMMENT, at)
        const isRegex = !comment && BEFORE_REGEX.test(source.slice(Math.max(0, at - 40), at))
        const end = at + (comment || (isRegex ? length(REGEX, at) : 0) || 1)
        blank(at, end)
        at = end
      } else if (sign === "'" || sign === '"') {
        const isApostrophe = /[a-z]/i.test(source[at - 1] ?? '')
        const end = at + ((!isApostrophe && length(QUOTED, at)) || 1)
        if (end > at + 1) {
          found.push({ text: source.slice(at + 1, end - 1), from: at, to: end })
          blank(at, end)
        }
        at = end
      } else if (sign === '`') at = readTemplate(at)
      else if (sign === '}' && depth === 0 && from > 0) return at
      else {
        depth += sign === '{' ? 1 : sign === '}' ? -1 : 0
        at += 1
      }
    }
    return source.length
  }

  const readTemplate = (from: number): number => {
    let text = ''
    let at = from + 1
    while (at < source.length && source[at] !== '`') {
      const start = at
      if (source.startsWith('${', at)) {
        text += '…'
        at = readCode(at + 2) + 1
      } else {
        at += source[at] === '\\' ? 2 : 1
        text += source.slice(start, at)
      }
    }
    found.push({ text, from, to: at + 1 })
    blank(from, at + 1)
    return at + 1
  }

  readCode(0)
  if (jsx)
    for (const { 1: text = '', index } of code.join('').matchAll(BETWEEN_TAGS))
      if (!/\n\n|\bas const\b/.test(text)) found.push({ text, from: index + 1, to: index + 1 + text.length }) // else code
  return found
    .sort((a, b) => a.from - b.from)
    .map(({ text, from, to }) => ({
      text,
      raw: source.slice(from, to),
      line: source.slice(0, from).split('\n').length,
    }))
}
