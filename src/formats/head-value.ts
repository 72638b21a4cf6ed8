/** A frontmatter value as people write it: with or without quotes. Empty: there is none. */
export function headValue(text: string): string {
  if (text === 'null' || text === '~') return ''
  if (/^'.*'$/s.test(text)) return text.slice(1, -1).replaceAll("''", "'")
  if (!/^".*"$/s.test(text)) return text
  try {
    return String(JSON.parse(text))
  } catch {
    return text.slice(1, -1) // a quoted string written without escapes in mind
  }
}
