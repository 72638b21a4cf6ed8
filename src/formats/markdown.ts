/** Texts of agents inside Markdown: one line, read as they were written, and never taken for structure. */
import { oneLine } from './one-line.ts'

/** A text for the middle or the beginning of a line. */
export function inline(text: string): string {
  return oneLine(text)
    .replace(/[\\`*|<[\]]|&(?=#?\w+;)|~(?=~)|(?<=~)~/g, '\\$&')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/^(?:#{1,6}(?= |$)|[-+>=~])/, '\\$&')
    .replace(/^(\d{1,9})([.)])(?= |$)/, '$1\\$2')
}

/** A text as code, also in a table. */
export function code(text: string): string {
  return typed(oneLine(text).replaceAll('|', '\\|'))
}

/** The same outside of tables: what is to be typed, letter by letter. */
export function typed(text: string): string {
  const line = text.replace(/\p{Cc}/gu, ' ')
  const runs = (line.match(/`+/g) ?? []).map(({ length }) => length)
  let ticks = 1
  while (runs.includes(ticks)) ticks++
  const fence = '`'.repeat(ticks)
  return runs.length > 0 || line === '' ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`
}
