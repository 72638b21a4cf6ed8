/** A vault's task file: Markdown, with optional frontmatter that sets how the task is worked on. */
import { type Grade, REQUIRABLE } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { parseCommandLine } from './command-line.ts'
import { splitFrontmatter } from './frontmatter.ts'
import { GLOBS_SUCH_AS, globTrouble } from './glob.ts'
import { headValue } from './head-value.ts'
import { quote } from './json-file.ts'
import { unwrapPrompt } from './wrapped-prompt.ts'
import { parseYaml } from './yaml-value.ts'

export type TaskHead = {
  /** One name, or several, comma-separated. */
  agent?: string
  maxIterations?: number
  timeoutMinutes?: number
  maxCostUsd?: number
  checks?: string[]
  /** A claim with a weaker proof is refused. */
  require?: Grade
  /** Globs of files that count as tests, and of files that this task may change. */
  protect?: string[]
  mayChange?: string[]
  /** Higher first; default 1. */
  priority: number
}

/** A wrapped prompt is a task with a limit; its promise is ignored: here the file is the claim. Frontmatter wins. */
export function parseTaskFile(text: string, file: string): { head: TaskHead; body: string } {
  const task = splitHead(text, file)
  const wrapped = unwrapPrompt(task.body)
  if (!wrapped) return task
  const limit = above0(whole(String(wrapped.maxIterations)))
  return { head: { ...(limit === undefined ? {} : { maxIterations: limit }), ...task.head }, body: wrapped.prompt }
}

/** Unknown keys are ignored; a known key with an invalid value is an error, so that no limit is silently ignored. */
function splitHead(text: string, file: string): { head: TaskHead; body: string } {
  const plain = text.replace(/^\uFEFF?(?:[ \t]*\r?\n)*(?=---[ \t]*\r?\n)/, '').replace(/^\uFEFF/, '')
  const [head, body = ''] = splitFrontmatter(plain)
  if (head === undefined && OPEN_HEAD.test(plain))
    throw new RalphError(
      'input-invalid',
      `${file}: its frontmatter starts with --- but never ends. Add a closing --- line.`,
    )
  // Text between two Markdown rules is not frontmatter.
  const isHead = head !== undefined && (head.trim() === '' || head.split('\n').some((line) => KEY.test(line)))
  if (!isHead) return { head: { priority: NORMAL }, body: plain }
  return { head: parseHead(head, file), body: body.replace(/^\r?\n/, '') }
}

/** Whether it would set something as frontmatter. */
const OPEN_HEAD =
  /^---[ \t]*\r?\n(?:.*\n){0,40}?[ \t]*["']?(?:agent|max_iterations|timeout_minutes|max_cost_usd|verify|checks|priority|require|protect|may_change)["']?[ \t]*:/
/** Indented lines belong to the key above. */
const KEY = /^([^\s#:-][^:]*):(.*)$/s
const MOST_MINUTES = 525_600
const NORMAL = 1
const PRIORITIES: Readonly<Record<string, number>> = { urgent: 3, high: 2, medium: NORMAL, normal: NORMAL, low: 0 }

function parseHead(text: string, file: string): TaskHead {
  const lines = linesByKey(text)
  function read<Taken>(key: string, expected: string, take: (value: Value) => Taken | undefined): Taken | undefined {
    const given = lines.get(key)
    const value = given && parseValue(given)
    if (!given || (value === '' && !(expected === GLOBS_EXPECTED && isSaid(given)))) return undefined
    const taken = value === undefined ? undefined : take(value)
    if (taken !== undefined) return taken
    const found = quote(
      value ??
        given
          .map((line) => line.trim())
          .filter(Boolean)
          .join(' '),
    )
    throw new RalphError('input-invalid', `${file}: ${key} must be ${expected}, got ${found}.`)
  }
  const agent = read('agent', AGENT_EXPECTED, agentNames)
  const maxIterations = read('max_iterations', 'a whole number above 0', (value) => above0(whole(value)))
  const timeoutMinutes = read('timeout_minutes', `a number above 0, at most ${MOST_MINUTES}`, (value) => {
    const minutes = above0(amount(value))
    return minutes !== undefined && minutes <= MOST_MINUTES ? minutes : undefined
  })
  const maxCostUsd = read('max_cost_usd', 'a number above 0', (value) => above0(amount(value)))
  const checks = [read('verify', CHECKS_EXPECTED, commands), read('checks', CHECKS_EXPECTED, commands)]
  const require = read('require', `one of ${REQUIRABLE.join(', ')}`, (value) => REQUIRABLE.find((one) => one === value))
  const [protect, mayChange] = [read('protect', GLOBS_EXPECTED, globs), read('may_change', GLOBS_EXPECTED, globs)]
  const priority = read('priority', `${Object.keys(PRIORITIES).join(', ')} or a whole number`, toPriority)
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(maxIterations === undefined ? {} : { maxIterations }),
    ...(timeoutMinutes === undefined ? {} : { timeoutMinutes }),
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
    ...(checks.some(Boolean) ? { checks: checks.flatMap((some) => some ?? []) } : {}),
    ...(require === undefined ? {} : { require }),
    ...(protect === undefined ? {} : { protect }),
    ...(mayChange === undefined ? {} : { mayChange }),
    priority: priority ?? NORMAL,
  }
}

/** The value next to a key and the lines below it. A repeated key has both, which is never valid. */
function linesByKey(text: string): Map<string, string[]> {
  const lines = new Map<string, string[]>()
  let current: string[] = []
  for (const line of text.split(/\r?\n/).filter((some) => /^\s*[^\s#]/.test(some))) {
    const [, name, beside = ''] = KEY.exec(line) ?? []
    if (name === undefined) current.push(line)
    else {
      const key = headValue(name.trim()).toLowerCase().replaceAll('-', '_')
      current = lines.get(key) ?? []
      current.push(beside)
      lines.set(key, current)
    }
  }
  return lines
}

type Value = string | string[]

/** The part of YAML that people write by hand. Empty: no value. Undefined: something else. */
function parseValue([beside = '', ...below]: readonly string[]): Value | undefined {
  const value = beside.trim()
  if (below.length === 0) return value.startsWith('[') ? inBrackets(value) : scalar(value)
  const items = below.map((line) => /^\s*-(?:\s+(.*))?$/s.exec(line))
  if (scalar(value) !== '' || items.includes(null)) return undefined
  return items.map((item) => scalar(item?.[1] ?? ''))
}

/** Unquoted values that YAML rejects are taken literally: `"./my prog" --flag`, `make: all`. */
function scalar(text: string): string {
  const quoted = /^["']/.test(text.trim()) ? parseYaml(text) : undefined
  if (typeof quoted === 'string') return quoted
  const plain = text.replace(/(?:^|\s)#.*$/s, '').trim()
  return plain === 'null' || plain === '~' ? '' : plain
}

/** `[a, "b, c"]`, on one line. */
function inBrackets(text: string): string[] | undefined {
  const list = parseYaml(text)
  return typeof list === 'string' ? undefined : list
}

const AGENT_EXPECTED =
  'an agent name such as claude, or several, as in claude,codex (a task file cannot name other programs)'

function agentNames(value: Value): string | undefined {
  const names = [value].flat().flatMap((some) => some.split(',').map((name) => name.trim()))
  return names.length > 0 && names.every((name) => /^[a-z][a-z0-9-]*$/.test(name)) ? names.join(',') : undefined
}

function whole(value: Value): number | undefined {
  return typeof value === 'string' && /^-?\d{1,9}$/.test(value) ? Number(value) : undefined
}

function amount(value: Value): number | undefined {
  return typeof value === 'string' && /^(?:\d{1,9}(?:\.\d{1,9})?|\.\d{1,9})$/.test(value) ? Number(value) : undefined
}

function above0(number: number | undefined): number | undefined {
  return number !== undefined && number > 0 ? number : undefined
}

const CHECKS_EXPECTED = "a command or a list of commands, each on one line (shell syntax needs sh -c '…')"

function commands(value: Value): string[] | undefined {
  const list = [value].flat()
  return list.every(isCommand) ? list : undefined
}

const GLOBS_EXPECTED = `a glob or a list of globs ${GLOBS_SUCH_AS}`

function globs(value: Value): string[] | undefined {
  const list = [value].flat()
  return list.every((glob) => globTrouble(glob) === undefined && !NO_TEXT.test(glob)) ? list : undefined
}

/** What YAML reads as a number or boolean. */
const NO_TEXT = /^(?:[-+]?[\d.]+|true|false)$/i

/** An empty quoted string is not an empty list of globs. */
function isSaid([beside = '']: readonly string[]): boolean {
  return /^\s*["']/.test(beside)
}

function isCommand(text: string): boolean {
  if (/[^\P{Cc}\t]/u.test(text)) return false
  try {
    return parseCommandLine(text).length > 0
  } catch {
    return false // empty, or shell syntax; checks run without a shell
  }
}

function toPriority(value: Value): number | undefined {
  const name = String(value).toLowerCase()
  return Object.hasOwn(PRIORITIES, name) ? PRIORITIES[name] : whole(value)
}
