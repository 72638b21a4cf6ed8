/** The text users read in Pi. */
import { harmless } from '../../formats/harmless.ts'
import type { Answer, Verdict } from './answer.ts'
import type { Level, Theme } from './host.ts'

export function statusWords({ iteration, maxIterations }: Pick<Answer, 'iteration' | 'maxIterations'>): string {
  return `Ralph iteration: ${iteration}${limit(maxIterations)}`
}

/** Shown when a loop ends, before the program's own words. */
export function endWords({ status, reason, promise, maxIterations }: Answer): string | undefined {
  if (status === 'completed' && promise !== undefined)
    return `Ralph: Completion detected: <promise>${promise}</promise>`
  if (status === 'halted' && reason === 'max-iterations') return `Ralph: Max iterations (${maxIterations}) reached`
  return undefined
}

export type Notice = { level: Level; text: string }

/** Of several notices of one kind in a row Pi shows only the last, so they are merged. */
export function joinNotices(notices: readonly Notice[]): Notice[] {
  const joined: Notice[] = []
  for (const { level, text } of notices) {
    const last = joined.at(-1)
    if (last?.level !== level) joined.push({ level, text })
    else if (!last.text.split('\n').includes(text)) last.text += `\n${text}`
  }
  return joined
}

export type Progress = {
  iteration: number
  maxIterations: number
  elapsedMs: number
  costUsd: number
  /** What is happening now. */
  doing: string
  checks: readonly Verdict[]
}

const PLAIN: Theme = { fg: (_, text) => text, bg: (_, text) => text }

/** The lines above the editor while a loop runs. */
export function progressLines({ checks, ...progress }: Progress, theme: Theme = PLAIN): string[] {
  const { iteration, maxIterations, elapsedMs, costUsd, doing } = progress
  const numbers = [clock(elapsedMs), ...(costUsd > 0 ? [money(costUsd)] : [])]
  const head = `${theme.fg('accent', `↻ ralph ${iteration}${limit(maxIterations)}`)} ${theme.fg('dim', `· ${numbers.join(' · ')} · ${short(doing, 200)}`)}`
  if (checks.length === 0) return [head]
  const verdicts = checks.map(({ check, result }) => {
    const passed = result === 'pass'
    return theme.fg(
      passed ? 'success' : 'error',
      `${passed ? '✓' : '✗'} ${short(check)}${passed || result === 'fail' ? '' : ` (${result})`}`,
    )
  })
  return [head, `${theme.fg('dim', '  last check:')} ${verdicts.join('  ')}`]
}

export function clock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const two = (value: number) => String(value).padStart(2, '0')
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor(seconds / 60) % 60
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`
}

function money(usd: number): string {
  return `$${usd < 0.01 ? usd.toFixed(4) : usd.toFixed(2)}`
}

export function short(text: string, most = 60): string {
  const line = harmless(text).replace(/\s+/g, ' ').trim()
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}

function limit(maxIterations: number): string {
  return maxIterations > 0 ? `/${maxIterations}` : ''
}
