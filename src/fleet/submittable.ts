/** Validates submissions to the fleet before anything is stored. */
import { RalphError } from '../error.ts'
import { commandTrouble } from '../formats/command-line.ts'
import { globTrouble } from '../formats/glob.ts'
import { mustBeRepo } from '../host/repo-url.ts'
import type { Submitting } from './submit.ts'

/** Agents are validated when parsed, dependencies by `mustBeGraph`. */
export function mustBeSubmittable(submitting: Submitting): void {
  if (submitting.repo !== undefined) mustBeRepo(submitting.repo)
  for (const [field, trouble] of RULES) {
    const value = submitting[field]
    const [found] = value === undefined ? [] : [value].flat().flatMap((one) => trouble(one) ?? [])
    if (found !== undefined) throw refusal(submitting, field, Array.isArray(value) ? `: ${found}` : ` ${found}`)
  }
  if (submitting.repo === undefined && submitting.base !== undefined)
    throw refusal(submitting, 'base', ' needs a repository: set repo as well')
}

/** Whose share and budget tasks use. */
export function mustBeSubmitter(name: string): void {
  const trouble = nameTrouble(name, 200)
  if (trouble !== undefined)
    throw new RalphError('input-invalid', `The name of a submitter ${trouble}.`, { field: 'submitter' })
}

/** The labels of a worker. */
export function mustBeLabels(labels: readonly string[]): void {
  for (const label of labels) {
    const trouble = labelTrouble(label)
    if (trouble !== undefined) throw new RalphError('usage', `A label ${trouble}.`)
  }
}

function refusal({ id }: Pick<Submitting, 'id'>, field: string, words: string): RalphError {
  const whose = id === undefined ? '' : `Task ${id}: `
  return new RalphError('input-invalid', `${whose}${field}${words}.`, { field })
}

type Rule = (value: unknown) => string | undefined

const MOST_PRIORITY = 1_000_000

const RULES: readonly (readonly [field: keyof Submitting, trouble: Rule])[] = [
  ['id', idTrouble],
  ['prompt', (text) => (String(text).trim() === '' ? 'is empty: say what to do' : undefined)],
  ['base', branchTrouble],
  ['submitter', (text) => (text === '*' ? 'cannot be "*", which stands for every submitter' : nameTrouble(text, 200))],
  ['project', (text) => nameTrouble(text, 200)],
  ['title', (text) => nameTrouble(text, 500)],
  ['labels', (text) => labelTrouble(text)?.replace(/^/, 'a label ')],
  ['touches', (text) => inQuotes(text, globTrouble(String(text)))],
  ['checks', (text) => commandTrouble(String(text))?.replace(/\.$/, '')],
  ['depends_on', idTrouble],
  ['priority', priorityTrouble],
  ['mcp', (value) => (value === true ? 'is not available in the fleet' : undefined)],
]

/** An id becomes part of a branch name. */
function idTrouble(value: unknown): string | undefined {
  const isName = /^\w[\w.-]{0,99}$/.test(String(value)) && !/\.\.|\.$|\.lock$/.test(String(value))
  return isName
    ? undefined
    : inQuotes(value, 'is not a valid id: use up to 100 letters and digits, with . _ - between them')
}

/** The rules of git for branch names. */
function branchTrouble(value: unknown): string | undefined {
  const text = String(value)
  const isBranch =
    /^[^\s\p{Cc}~^:?*[\\-][^\s\p{Cc}~^:?*[\\]{0,199}$/u.test(text) &&
    !/\.\.|@\{|\/\/|^\/|\/$|\.$|^@$|(^|\/)\.|\.lock(\/|$)/.test(text)
  if (!isBranch) return inQuotes(text, 'is not a valid branch name')
  return text.startsWith('ralph/')
    ? inQuotes(text, 'is the branch of a task. Name the branch to start from')
    : undefined
}

function nameTrouble(value: unknown, most: number): string | undefined {
  const text = String(value)
  if (text.trim() === '') return 'must not be empty'
  if (/\p{Cc}/u.test(text)) return `must not contain control characters, got ${JSON.stringify(text)}`
  return text.length > most ? `must have at most ${most} characters, got ${text.length}` : undefined
}

/** No commas: they separate labels. */
function labelTrouble(value: unknown): string | undefined {
  const text = String(value)
  const trouble = nameTrouble(text, 100)
  if (trouble !== undefined) return trouble
  return /[\s,]/.test(text) ? `must not contain spaces or commas, got ${JSON.stringify(text)}` : undefined
}

function priorityTrouble(value: unknown): string | undefined {
  const isFine = Number.isInteger(value) && Math.abs(Number(value)) <= MOST_PRIORITY
  return isFine ? undefined : `must be a whole number between -${MOST_PRIORITY} and ${MOST_PRIORITY}, got ${value}`
}

function inQuotes(value: unknown, trouble: string | undefined): string | undefined {
  return trouble === undefined ? undefined : `${JSON.stringify(value)} ${trouble}`
}
