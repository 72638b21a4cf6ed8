/** Puts agents' text into Markdown: on one line, shown as written, never as structure. */
import { oneLine } from './one-line.ts'

/** Text for the middle or the beginning of a line. */
export function inline(text: string): string {
  return oneLine(text)
    .replace(/[\\`*|<[\]]|&(?=#?\w+;)|~(?=~)|(?<=~)~/g, '\\$&')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/^(?:#{1,6}(?= |$)|[-+>=~])/, '\\$&')
    .replace(/^(\d{1,9})([.)])(?= |$)/, '$1\\$2')
}

/** Text as code, even in a table. */
export function code(text: string): string {
  return typed(oneLine(text).replaceAll('|', '\\|'))
}

/** The same outside tables: what to type, character by character. */
export function typed(text: string): string {
  const line = text.replace(/\p{Cc}/gu, ' ')
  const runs = (line.match(/`+/g) ?? []).map(({ length }) => length)
  let ticks = 1
  while (runs.includes(ticks)) ticks++
  const fence = '`'.repeat(ticks)
  return runs.length > 0 || line === '' ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`
}

/** A sentence with code between backticks; it mentions nobody and contains no links. `as`: how code is printed. */
export function prose(text: string, as: (text: string) => string = typed): string {
  return oneLine(text)
    .split(/`([^`]+)`/)
    .map((part, at) => (at % 2 === 1 ? as(part) : part.replace(/\S(?:.*\S)?/s, (words) => unlinked(inline(words)))))
    .join('')
}

/** Pull request pages find mentions, issues, URLs and formulas in plain text: a zero-width space hides them. */
function unlinked(markdown: string): string {
  return markdown.replace(/@|#(?=\d)|\bGH-(?=\d)|:(?=\/\/)|\bwww(?=\.)|\$/gi, (found) =>
    found === '$' ? '&#36;' : `${found}&#8203;`,
  )
}

/** A fenced block that none of its lines can end. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}text\n${text.replace(/\n+$/, '')}\n${fence}\n`
}
