/** Text helpers for all commands: durations, tables, colors, and safe output. */
import { randomInt } from 'node:crypto'
import { cellsOf } from '../../formats/cells.ts'
import { harmless, jsonText } from '../../formats/harmless.ts'
import type { Machine } from './context.ts'

/** `write` is the only way to the terminal: it neutralizes every control sequence that is not ralph's own. */
export type Output = { write(text: string): void; bell(): void; color: boolean; columns: number; live: boolean }

export function openOutput({ stdout: stream, env }: Pick<Machine, 'stdout' | 'env'>): Output {
  stream.on('error', () => {}) // the reader closed the pipe; the work continues
  const live = stream.isTTY === true && env.TERM !== 'dumb'
  return {
    ...openWriter(stream),
    bell: () => void (live && stream.write('\u0007')),
    live,
    color: live && !env.NO_COLOR,
    // Only a terminal has a width; output for programs is never cut.
    columns: stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY,
  }
}

export function openWriter(stream: Machine['stderr']): Pick<Output, 'write'> {
  return { write: (text) => void stream.write(printable(text)) }
}

// An agent may print any sequence, but cannot know this number: each process draws its own and never prints it.
const KEY = randomInt(2 ** 40)
const OWN = new RegExp(`\\u001b\\[(\\d*);${KEY}(\\w)`, 'g')

/** A control sequence of ralph's own. */
function own(letter: string, number: number | '' = ''): string {
  return `\u001b[${number};${KEY}${letter}`
}

/** Text as written to a terminal: with ralph's own control sequences and no others. */
export function printable(text: string): string {
  const parts: string[] = []
  let from = 0
  for (const { 0: found, 1: number, 2: letter, index } of text.matchAll(OWN)) {
    parts.push(harmless(text.slice(from, index)), letter === 'G' ? '\r' : `\u001b[${number}${letter}`)
    from = index + found.length
  }
  return [...parts, harmless(text.slice(from))].join('')
}

/** Moves the cursor to the start of its line and clears the line. */
export const EMPTY_LINE: string = own('G') + own('K', 2)

export const EMPTY_SCREEN: string = own('H') + own('J', 2)

/** Clears the last lines, including the cursor line. */
export function withoutLines(lines: number): string {
  return lines > 0 ? `${lines > 1 ? own('A', lines - 1) : ''}${own('G')}${own('J')}` : ''
}

/** A value as one line of JSON. */
export function jsonLine(value: unknown): string {
  return `${jsonText(value)}\n`
}

export type Style = keyof typeof STYLES

/** The codes that turn each style on and off. */
const STYLES = {
  green: [32, 39],
  red: [31, 39],
  yellow: [33, 39],
  cyan: [36, 39],
  dim: [2, 22],
  bold: [1, 22],
} as const

export function paint(output: Pick<Output, 'color'>, style: Style, text: string): string {
  if (!output.color) return text
  const [on, off] = STYLES[style]
  return `${own('m', on)}${text}${own('m', off)}`
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

/** One line, cut to at most `width` terminal cells, without colors and control characters. */
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
