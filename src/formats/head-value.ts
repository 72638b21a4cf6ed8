/** A value in the head of a Markdown file, as people write it by hand: with quotes or without. Empty: there is none. */
export function headValue(text: string): string {
  if (text === 'null' || text === '~') return ''
  if (/^'.*'$/s.test(text)) return text.slice(1, -1).replaceAll("''", "'")
  if (!/^".*"$/s.test(text)) return text
  try {
    return String(JSON.parse(text))
  } catch {
    return text.slice(1, -1) // a quoted text that a person wrote without thinking of escapes
  }
}
