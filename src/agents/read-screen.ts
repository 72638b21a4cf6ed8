/** Reads the screen of an interactive client, with the patterns of its agent. */
import type { Screen } from './agent.ts'

/**
 * `asks`: what it wants to know; `close`: the keys that close the question, if it needs no answer. `input`: whether
 * something is already typed; undefined if there is no input line.
 */
export type Sight = { working: boolean; asks?: string; close?: string[]; input: 'empty' | 'typed' | 'unknown' }

/** `text` is the visible screen. */
export function readScreen(screen: Screen, text: string): Sight {
  const { working, asks, closable = [], input, placeholders = [] } = screen
  const lines = text.split('\n').map((line) => line.trimEnd())
  const line = typedInto(input, lines)
  // The text above the line is the conversation, in which anybody may have used these words.
  const below = lines.slice(line?.below ?? 0)
  const has = (pattern: RegExp) => below.findLast((one) => pattern.test(one))
  const question = asks.map(has).find((one) => one !== undefined)
  const isWorking = lines.some((one) => working.some((pattern) => pattern.test(one)))
  if (question !== undefined) {
    const keys = closable.find((one) => has(one.question) !== undefined)?.keys
    return { working: isWorking, asks: question.replace(EDGES, ''), ...(keys ? { close: keys } : {}), input: 'unknown' }
  }
  if (!line) return { working: isWorking, input: 'unknown' }
  const isEmpty = line.words === '' || placeholders.some((pattern) => pattern.test(line.words))
  return { working: isWorking, input: isEmpty ? 'empty' : 'typed' }
}

/** The edges of the box around a question. */
const EDGES = /^[\s│]+|[\s│]+$/g

/** The last match, its content, and where questions start: a match of several lines may contain one itself. */
function typedInto(input: RegExp, lines: readonly string[]): { words: string; below: number } | undefined {
  if (!input.multiline) {
    const at = lines.findLastIndex((line) => input.test(line))
    const found = input.exec(lines[at] ?? '')
    return found ? { words: found[1]?.trim() ?? '', below: at + 1 } : undefined
  }
  const found = [...lines.join('\n').matchAll(new RegExp(input, 'gm'))].at(-1)
  if (!found) return undefined
  const below = found.input.slice(0, found.index).split('\n').length - 1
  return { words: found[1]?.trim() ?? '', below }
}
