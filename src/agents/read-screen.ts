/** What the screen of an interactive client tells, by the patterns of its agent. */
import type { Screen } from './agent.ts'

/**
 * `asks`: what it wants to know; `close` are the keys that close the question, where it needs no answer. `input`: whether
 * something is typed already; unknown where no line can be typed into.
 */
export type Sight = { working: boolean; asks?: string; close?: string[]; input: 'empty' | 'typed' | 'unknown' }

/** `text` is the visible screen. */
export function readScreen(screen: Screen, text: string): Sight {
  const { working, asks, closable = [], input, placeholders = [] } = screen
  const lines = text.split('\n').map((line) => line.trimEnd())
  const typedInto = lines.findLastIndex((line) => input.test(line))
  // What stands above the line is of the conversation, in which anybody may have used these words.
  const below = lines.slice(typedInto + 1)
  const has = (pattern: RegExp) => below.findLast((line) => pattern.test(line))
  const question = asks.map(has).find((line) => line !== undefined)
  const isWorking = lines.some((line) => working.some((pattern) => pattern.test(line)))
  if (question !== undefined) {
    const keys = closable.find((one) => has(one.question) !== undefined)?.keys
    return { working: isWorking, asks: question.trim(), ...(keys ? { close: keys } : {}), input: 'unknown' }
  }
  const words = input.exec(lines[typedInto] ?? '')?.[1]?.trim()
  if (typedInto < 0 || words === undefined) return { working: isWorking, input: 'unknown' }
  const isEmpty = words === '' || placeholders.some((pattern) => pattern.test(words))
  return { working: isWorking, input: isEmpty ? 'empty' : 'typed' }
}
