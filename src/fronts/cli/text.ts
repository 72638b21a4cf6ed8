/** Small things every command prints: durations, money, tables, colours. */
import { stripVTControlCharacters, styleText } from 'node:util'
import { cellsOf } from '../../formats/cells.ts'
import type { Machine } from './context.ts'

export type Output = { write(text: string): void; color: boolean; columns: number; live: boolean }

export function openOutput({ stdout: stream, env }: Pick<Machine, 'stdout' | 'env'>): Output {
  stream.on('error', () => {}) // whoever was reading is gone; the work goes on
  const live = stream.isTTY === true && env.TERM !== 'dumb'
  return {
    write: (text) => void stream.write(text),
    live,
    color: live && !env.NO_COLOR,
    // Only a terminal has an edge; what is read by a program is never cut.
    columns: stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY,
  }
}

export type Style = 'green' | 'red' | 'yellow' | 'cyan' | 'dim' | 'bold'

export function paint(output: Output, style: Style, text: string): string {
  return output.color ? styleText(style, text, { validateStream: false }) : text
}

/** `0:07`, `12:40`, `3:05:00`. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
  const [hours = 0, minutes = 0, rest = 0] = parts
  const two = (value: number) => String(value).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`
}

/** `3 days ago`, `just now`. */
export function ago(ms: number): string {
  const steps: [number, string][] = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
  ]
  const [size, unit] = steps.find(([step]) => ms >= step) ?? [0, '']
  return size === 0 ? 'just now' : `${Math.floor(ms / size)} ${unit} ago`
}

export function money(usd: number): string {
  return usd === 0 ? '-' : usd < 0.01 ? '<$0.01' : `$${usd.toFixed(2)}`
}

/** One line that takes at most so many cells of a terminal; colours and control characters are left out. */
export function short(text: string, width: number): string {
  const line = harmless(text).replace(/\s+/g, ' ').trim()
  if (cellsOf(line) <= width) return line
  let kept = ''
  let room = width - 1
  for (const char of line) {
    room -= cellsOf(char)
    if (room < 0) break
    kept += char
  }
  return `${kept}…`
}

/** Without the sequences by which a text could move the cursor, clear the screen or ring the bell. */
export function harmless(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  return stripVTControlCharacters(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
}

/** Columns as wide as their widest cell; the last one may be cut to fit. */
export function table(rows: readonly (readonly string[])[], columns: number): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => cellsOf(row[column] ?? ''))))
  return rows
    .map((row) => {
      const line = row
        .map((cell, column) =>
          column === row.length - 1 ? cell : cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - cellsOf(cell))),
        )
        .join('  ')
      return line.length > columns ? `${line.slice(0, columns - 1)}…` : line.trimEnd()
    })
    .map((line) => `${line}\n`)
    .join('')
}

export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`
}
