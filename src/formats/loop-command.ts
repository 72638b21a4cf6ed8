/** Parses what a user types after `/ralph:loop` in an agent's session. No shell ever sees it. */

import { type Grade, REQUIRABLE } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { parseCommandLine } from './command-line.ts'
import { globTrouble } from './glob.ts'
import { nearest } from './nearest.ts'

export type LoopCommand = {
  /** Empty if a file is given. */
  prompt: string
  file?: string
  /** 0: no count limit. Absent: the default. */
  maxIterations?: number
  promise?: string
  checks: string[]
  timeoutMinutes?: number
  maxTokens?: number
  context?: 'same' | 'fresh' | 'process'
  proof?: 'off' | 'seal' | 'full'
  require?: Grade
  protect?: string[]
  mayChange?: string[]
  /** Pi subagents that take turns, for `--context process`. */
  subagents?: string[]
}

const OPTIONS = [
  'max-iterations',
  'completion-promise',
  'verify',
  'timeout',
  'max-tokens',
  'context',
  'subagent',
  'file',
  'require',
  'protect',
  'may-change',
  'proof',
] as const
type Option = (typeof OPTIONS)[number]
type Given = [Option, string][]

/**
 * Options come before or after the prompt; what looks like one in the middle belongs to the prompt, which is kept as
 * typed. Quotes around the whole prompt are removed. `typed`: the command as this host names it.
 */
export function parseLoopCommand(text: string, typed = '/ralph:loop'): LoopCommand {
  const words = wordsOf(text)
  const first = whole(optionsFrom(words, 0))
  const behind = trailingOptions(words, first.end)
  const [from, to] = [words[first.end]?.start ?? text.length, words[behind.start - 1]?.end ?? 0]
  const prompt = unquoted(text.slice(from, Math.max(from, to)))
  const settings = settingsOf([...first.given, ...behind.given])
  if (!prompt.trim() && settings.file === undefined)
    throw new RalphError('usage', `No prompt given. Say what to do: ${typed} Make the tests pass --verify "npm test"`)
  if (prompt.trim() && settings.file !== undefined)
    throw new RalphError('usage', 'Give either a prompt or --file, not both.')
  return { prompt, ...settings }
}

/** `name` if the word is an option or close to one; without `value`, the next word is the value. */
type Word = { start: number; end: number; text: string; name?: string; value?: string }

const WORD =
  /--([a-z][a-z_-]*)(?:=("(?:[^"\\]|\\.)*"|'[^']*'|\S*))?(?=\s|$)|"(?:[^"\\]|\\.)*"(?=\s|$)|'[^']*'(?=\s|$)|\S+/g

function wordsOf(text: string): Word[] {
  return [...text.matchAll(WORD)].map(({ 0: word, 1: name, 2: value, index: start }) => {
    const known = name !== undefined && (isOption(name) || meant(name) !== undefined)
    return {
      start,
      end: start + word.length,
      text: word,
      ...(known ? { name } : {}),
      ...(value === undefined ? {} : { value }),
    }
  })
}

/** `end` is the word after them; `lacks` is the option without a value. */
type Row = { given: Given; end: number; lacks?: string }

/** The options that start at a word. */
function optionsFrom(words: readonly Word[], start: number): Row {
  const row: Row = { given: [], end: start }
  for (let word = words[start]; word?.name !== undefined; word = words[row.end]) {
    const option = mustBeOption(word.name)
    const following = words[row.end + 1]
    const value = word.value ?? (following?.name === undefined ? following?.text : undefined)
    if (value === undefined) row.lacks ??= option
    else row.given.push([option, unquoted(value)])
    row.end += word.value === undefined && value !== undefined ? 2 : 1
  }
  return row
}

function whole(row: Row): Row {
  if (row.lacks !== undefined) throw new RalphError('usage', `--${row.lacks} needs a value.`)
  return row
}

/** The longest run of options at the end. */
function trailingOptions(words: readonly Word[], least: number): { given: Given; start: number } {
  for (let start = least; start < words.length; start++) {
    if (words[start]?.name === undefined) continue
    const row = optionsFrom(words, start)
    if (row.end >= words.length) return { ...whole(row), start }
  }
  return { given: [], start: words.length }
}

function isOption(name: string): name is Option {
  return OPTIONS.some((known) => known === name)
}

/** Or a prefix of one. Short words are too close to too many options. */
function meant(name: string): string | undefined {
  const whole = name.length > 4 && OPTIONS.find((option) => option.startsWith(name) || option.endsWith(name))
  return (
    whole ||
    nearest(
      name,
      OPTIONS.filter((option) => option.length > 4),
    )
  )
}

function mustBeOption(name: string): Option {
  if (isOption(name)) return name
  throw new RalphError(
    'usage',
    `Unknown option: --${name}. Did you mean --${meant(name)}? If it is part of the prompt, put the prompt in quotes.`,
  )
}

function unquoted(text: string): string {
  const [, double, single] = /^(?:"((?:[^"\\]|\\.)*)"|'([^']*)')$/s.exec(text) ?? []
  return double?.replace(/\\(["\\])/g, '$1') ?? single ?? text
}

function settingsOf(given: Given): Omit<LoopCommand, 'prompt'> {
  const last = (option: Option) => given.findLast(([name]) => name === option)?.[1]
  const [most, minutes, tokens] = [last('max-iterations'), last('timeout'), last('max-tokens')]
  const [promise, context, subagent, file] = [
    last('completion-promise'),
    last('context'),
    last('subagent'),
    last('file'),
  ]
  if (most !== undefined && !/^\d{1,9}$/.test(most))
    throw new RalphError('usage', `--max-iterations must be a whole number, got "${most}".`)
  if (minutes !== undefined && !(/^\d{1,9}(\.\d+)?$/.test(minutes) && Number(minutes) > 0))
    throw new RalphError('usage', `--timeout must be a number of minutes above 0, got "${minutes}".`)
  if (tokens !== undefined && !/^0*[1-9]\d{0,11}$/.test(tokens))
    throw new RalphError('usage', `--max-tokens must be a whole number above 0, got "${tokens}".`)
  if (promise !== undefined && !promise.trim()) throw new RalphError('usage', '--completion-promise must not be empty.')
  if (context !== undefined && context !== 'same' && context !== 'fresh' && context !== 'process')
    throw new RalphError('usage', `--context must be same, fresh or process, got "${context}".`)
  const subagents = subagent?.split(',').map((name) => name.trim())
  if (subagents && !subagents.every((name) => /^[\w][\w.-]{0,63}$/.test(name)))
    throw new RalphError('usage', `--subagent must be an agent name, or several, comma-separated, got "${subagent}".`)
  if (subagent !== undefined && context !== 'process')
    throw new RalphError('usage', '--subagent needs --context process, which runs each iteration in its own process.')
  const checks = given.flatMap(([name, value]) => (name === 'verify' ? [value] : []))
  for (const check of checks) if (check !== 'auto') parseCommandLine(check)
  return {
    checks,
    ...(most === undefined ? {} : { maxIterations: Number(most) }),
    ...(promise === undefined ? {} : { promise }),
    ...(minutes === undefined ? {} : { timeoutMinutes: Number(minutes) }),
    ...(tokens === undefined ? {} : { maxTokens: Number(tokens) }),
    ...(context === undefined ? {} : { context }),
    ...(subagents === undefined ? {} : { subagents }),
    ...(file === undefined ? {} : { file }),
    ...proofOf(given),
  }
}

const PROOFS = ['off', 'seal', 'full'] as const

function proofOf(given: Given): Pick<LoopCommand, 'proof' | 'require' | 'protect' | 'mayChange'> {
  const all = (option: Option) => given.flatMap(([name, value]) => (name === option ? [value] : []))
  const [proof, require] = [
    oneOf('proof', all('proof').at(-1), PROOFS),
    oneOf('require', all('require').at(-1), REQUIRABLE),
  ]
  const [protect, mayChange] = [all('protect'), all('may-change')]
  for (const [option, value] of given) {
    const trouble = option === 'protect' || option === 'may-change' ? globTrouble(value) : undefined
    if (trouble && !value.trim()) throw new RalphError('usage', `--${option} must not be empty. Give a glob.`)
    if (trouble) throw new RalphError('usage', `--${option} "${value}" ${trouble}. Example: "test/**".`)
  }
  return {
    ...(proof === undefined ? {} : { proof }),
    ...(require === undefined ? {} : { require }),
    ...(protect.length > 0 ? { protect } : {}),
    ...(mayChange.length > 0 ? { mayChange } : {}),
  }
}

function oneOf<Choice extends string>(
  option: Option,
  text: string | undefined,
  choices: readonly Choice[],
): Choice | undefined {
  const found = choices.find((choice) => choice === text)
  if (text === undefined || found !== undefined) return found
  throw new RalphError(
    'usage',
    `--${option} must be ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}, got "${text}".`,
  )
}
