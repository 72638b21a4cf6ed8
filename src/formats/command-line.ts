/** Splits command lines as people write them into words, without a shell. */
import { RalphError } from '../error.ts'

/** Quotes and backslashes work as in a shell; syntax that needs a shell is refused, not passed on. */
export function parseCommandLine(text: string): string[] {
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? ''
    if (/\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (char === "'" || char === '"') {
      const close = closingQuote(text, at, char)
      word = (word ?? '') + withoutEscapes(text.slice(at + 1, close), char)
      at = close
    } else if (char === '\\') {
      at++
      word = (word ?? '') + (text[at] ?? '\\')
    } else if (SHELL_ONLY.test(char)) throw needsShell(text, char)
    else word = (word ?? '') + char
  }
  if (word !== undefined) words.push(word)
  const [program] = words
  if (program === undefined)
    throw new RalphError('usage', 'The command is empty. Name a program, for example "npm test".')
  if (SETS_VARIABLE.test(program))
    throw new RalphError(
      'usage',
      `The command \`${text}\` sets a variable, which needs a shell. Use env instead: env ${text.trim()}`,
    )
  return words
}

/** Why a text is not a valid command line; undefined: it is valid. */
export function commandTrouble(text: string): string | undefined {
  try {
    parseCommandLine(text)
    return undefined
  } catch (cause) {
    if (cause instanceof RalphError) return cause.message
    throw cause
  }
}

const SETS_VARIABLE = /^[A-Za-z_]\w*=/
const SHELL_ONLY = /[|&;<>`$()]/

function closingQuote(text: string, open: number, quote: string): number {
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === quote) return at
    if (text[at] === '\\' && quote === '"') at++
  }
  throw new RalphError('usage', `The command \`${text}\` has a ${quote} that is never closed.`)
}

function withoutEscapes(text: string, quote: string): string {
  return quote === '"' ? text.replace(/\\(["\\$`])/g, '$1') : text
}

function needsShell(text: string, found: string): RalphError {
  return new RalphError(
    'usage',
    `The command \`${text}\` has "${found}", which needs a shell, and ralph runs commands without one. Split it into several commands, quote the character, or use a shell: sh -c '…'.`,
  )
}

/** A command line that can be pasted into a shell and parses into these words. */
export function printCommandLine(words: readonly string[]): string {
  return words.map((word) => (PLAIN.test(word) ? word : quoteWord(word))).join(' ')
}

const PLAIN = /^[\p{L}\p{N}_@%+:,./-]+$/u

/** Quotes one word for a shell. */
export function quoteWord(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
