/** Small things every command prints: durations, money, tables, colours. */
import { styleText } from 'node:util'

export type Output = { write(text: string): void; color: boolean; columns: number; live: boolean }

export function openOutput(stream: NodeJS.WriteStream, env: Readonly<Record<string, string | undefined>>): Output {
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

/** One line of at most so many characters, control characters left out. */
export function short(text: string, width: number): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  return line.length > width ? `${line.slice(0, Math.max(0, width - 1))}…` : line
}

/** Columns as wide as their widest cell; the last one may be cut to fit. */
export function table(rows: readonly (readonly string[])[], columns: number): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) => {
      const line = row
        .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
        .join('  ')
      return line.length > columns ? `${line.slice(0, columns - 1)}…` : line.trimEnd()
    })
    .map((line) => `${line}\n`)
    .join('')
}

export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`
}
