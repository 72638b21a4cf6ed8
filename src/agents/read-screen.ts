/** What the screen of an interactive client tells, by the patterns of its agent. */
import type { Screen } from './agent.ts'

/** `input`: whether something is typed there already; unknown where no line can be typed into. */
export type Sight = { working: boolean; asks?: string; input: 'empty' | 'typed' | 'unknown' }

/** `text` is the visible screen. */
export function readScreen({ working, asks, input, placeholders = [] }: Screen, text: string): Sight {
  const lines = text.split('\n').map((line) => line.trimEnd())
  const question = lines.findLast((line) => asks.some((pattern) => pattern.test(line)))
  const typed = lines.map((line) => input.exec(line)).findLast((found) => found !== null)
  const words = typed?.[1]?.trim()
  const isEmpty = words === '' || (words !== undefined && placeholders.some((pattern) => pattern.test(words)))
  return {
    working: lines.some((line) => working.some((pattern) => pattern.test(line))),
    ...(question === undefined ? {} : { asks: question.trim() }),
    input: words === undefined ? 'unknown' : isEmpty ? 'empty' : 'typed',
  }
}
